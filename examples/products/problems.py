"""Problem documents (RFC 9457) as every product answers them."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse

from examples.products.tracing import Trace


class Problem(Exception):
    """A refusal on its way to the caller.

    ``code`` is stable and hyphenated; ``detail`` says what to change and holds no value of the
    request; ``headers`` are added to the answer (for example ``Retry-After``).
    """

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})

    def response(self, trace: Trace) -> JSONResponse:
        """The answer: type, title, status, detail, traceId and code, never cached."""
        document = {
            "type": f"https://problems.example.org/{self.code}",
            "title": self.code.replace("-", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "traceId": trace.trace_id,
            "code": self.code,
        }
        return JSONResponse(
            document,
            status_code=self.status,
            headers={"cache-control": "no-store", **self.headers},
            media_type="application/problem+json",
        )
