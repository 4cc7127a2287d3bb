"""Everybody around the deployment: callers, reviewers, operators, products and strangers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from standardwebhooks import Webhook

from adapter.cli.credentials import credential_in
from adapter.cli.exchange import ask_once
from adapter.cli.local_access import APPLICATION_CLIENT, write_profile
from examples.products.client import PretendProducts
from tests.canary.deployment import Deployment
from tests.canary.markers import CONTROL
from tests.fixtures.deployment import ROOT

_PATIENCE = 90.0
_FINAL = frozenset({"finished", "failed", "cancelled", "cancelled-after-effect", "expired"})


@dataclass
class Callers:
    """Who speaks to the service; ``heard`` are its answers that are not meant to carry a value."""

    made: Deployment
    heard: list[tuple[str, bytes]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        keep: bool = True,
    ) -> tuple[int, Any]:
        """One request with the deployment's API key, and headers that carry markers."""
        markers = self.made.markers
        sent = {
            "X-API-Key": markers("api key"),
            "User-Agent": markers("user agent"),
            "baggage": f"user={markers('baggage')}",
            "tracestate": f"vendor={markers('trace state')}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        answer = ask_once(self.made.addresses.api, method, path, body, sent)
        if keep:
            self.heard.append((f"{method} {answer.status} {len(self.heard)}", answer.body))
        with suppress(ValueError):
            return answer.status, json.loads(answer.body)
        return answer.status, None

    def as_bearer(self, token: str) -> int:
        """List runs with an access token; gives the status."""
        headers = {"Authorization": f"Bearer {token}"}
        answer = ask_once(self.made.addresses.api, "GET", "/v1/runs", None, headers)
        self.heard.append((f"GET {answer.status} by token", answer.body))
        return answer.status

    def start(self, mode: str, record: str, note: str) -> str:
        """Start a run of a kind; gives its id."""
        workflow, revision = self._active()
        asked = {"recordId": record, "note": note, "mode": mode}
        body = {"workflow": workflow, "revision": revision, "input": asked}
        status, run = self.ask("POST", "/v1/runs", json.dumps(body).encode(), self._key())
        assert status == 202, run
        return str(run["runId"])

    def _active(self) -> tuple[str, str]:
        _, found = self.ask("GET", "/v1/workflows")
        [workflow] = found["workflows"]
        return workflow["workflow"], workflow["revision"]

    def _key(self) -> dict[str, str]:
        return {
            "Idempotency-Key": f"{self.made.markers('idempotency key')}-{next(self._numbers)}",
            "traceparent": f"00-{next(self._numbers):032x}-{1:016x}-01",
        }

    def act(self, run: str, kind: str, reason: str) -> None:
        """Do something about a run, for a reason that nobody else shall read."""
        body = json.dumps({"reason": reason}).encode()
        # An act's answer shows its reason to whoever gave it.
        path = f"/v1/runs/{run}/{kind}"
        status, answer = self.ask("POST", path, body, self._key(), keep=False)
        assert status in (200, 202), answer

    def signal(self, run: str, payload: dict[str, Any]) -> int:
        """Send the signal that a run waits for; gives the status."""
        key = {"Idempotency-Key": self.made.markers("signal id")}
        body = json.dumps(payload).encode()
        # A signal that is taken is answered under the id that its sender gave.
        path = f"/v1/runs/{run}/signals/paid"
        status, answer = self.ask("POST", path, body, key, keep=False)
        if status >= 400:
            self.heard.append((path, json.dumps(answer).encode()))
        return status

    def announce(self, data: dict[str, Any]) -> str:
        """Send the signed event that starts a run; gives its id."""
        markers = self.made.markers
        event = {
            "specversion": "1.0",
            "id": markers("event id"),
            "source": "urn:example:registry",
            "type": "registry.application.submitted",
            "subject": markers("event subject"),
            "data": data,
        }
        path = f"/v1/events/{markers(CONTROL)}/announced"
        secret = self.made.files.secret("registry-events")
        status, run = self.ask("POST", path, *_signed(json.dumps(event), secret, "msg_1"))
        assert status == 202, run
        return str(run["runId"])

    def run(self, run: str, *, keep: bool = False) -> Any:
        """A run in detail, which an operator may see with its reasons and receipts."""
        return self.ask("GET", f"/v1/runs/{run}/inspect", keep=keep)[1]

    def until(self, run: str, good: Callable[[Any], Any]) -> Any:
        """Wait until a run is as it shall be; AssertionError with its state otherwise."""
        end = time.monotonic() + _PATIENCE
        while not good(seen := self.run(run)):
            run_now = seen["run"]
            over = run_now["state"] in _FINAL or time.monotonic() > end
            assert not over, (run_now["state"], run_now["failureCode"], run_now["failurePlace"])
            time.sleep(0.2)
        return seen

    def ended(self, run: str) -> str:
        """Wait until a run is over; gives how."""
        state: str = self.until(run, lambda seen: seen["run"]["state"] in _FINAL)["run"]["state"]
        return state


def _signed(body: str, secret: str, id: str) -> tuple[bytes, dict[str, str]]:
    now = datetime.now(UTC)
    return body.encode(), {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, now, body),
    }


@dataclass
class Story:
    """Runs of every end, each full of markers, and requests that are refused."""

    made: Deployment
    callers: Callers
    products: PretendProducts
    states: dict[str, str] = field(default_factory=dict)

    def tell(self) -> None:
        """All of it, one thing after another; AssertionError where a run does not go its way."""
        self._plant_records()
        self._pass_through_waits()
        self._fail()
        self._doubt()
        self._be_refused()
        self._look_around()
        self._hold()

    def tell_shortly(self) -> None:
        """The waits, a failure, and requests that are refused."""
        self._plant_records()
        self._pass_through_waits()
        self._throw()
        self._be_refused()
        self._look_around()

    @property
    def _note(self) -> str:
        return self.made.markers("input")

    @property
    def _record(self) -> str:
        return self.made.markers("record id")

    def _plant_records(self) -> None:
        markers = self.made.markers
        fields = {
            "name": markers("record field"),
            "email": f"{markers('record email')}@example.org",
            "history": [{"said": markers("nested record field")}],
        }
        self.products.put_record("applications", self._record, fields)
        suppressed = {**fields, "email": f"{markers('record email')}@suppressed.example"}
        self.products.put_record("applications", "SUPPRESSED", suppressed)
        # So large that Temporal is given a reference to it alone.
        large = f"{markers('large external body')} " * 2_500
        said = {"said": markers("external body"), "more": large}
        self.products.answer_external("offices", said, 502)

    def _pass_through_waits(self) -> None:
        markers, callers = self.made.markers, self.callers
        whole = callers.start("whole", self._record, self._note)
        event = callers.announce(
            {
                "recordId": self._record,
                "note": markers("event data"),
                "more": markers("event member of no use"),
            }
        )
        cancelled = callers.start("whole", self._record, self._note)
        waiting = callers.start("whole", self._record, self._note)
        for run in (whole, event):
            self._decide(run)
        callers.until(cancelled, _awaits("result"))
        callers.act(cancelled, "cancel", markers("cancel reason"))
        callers.until(whole, _awaits("payment"))
        assert callers.signal(whole, {"reference": markers("refused signal") * 9}) == 422
        assert callers.signal(whole, {"reference": markers("signal payload")}) in (200, 202)
        callers.until(event, _awaits("payment"))
        callers.until(waiting, _awaits("result"))
        assert callers.ended(whole) == "finished"
        assert callers.ended(cancelled) == "cancelled-after-effect"
        for run in (whole, cancelled, event, waiting):
            self._note_state(run)

    def _decide(self, run: str) -> None:
        markers = self.made.markers
        self.callers.until(run, _awaits("result"))
        [review] = [
            one for one in self.products.reviews("pending") if one.document["correlationId"] == run
        ]
        self.products.decide(
            review.review_request_id,
            "approved",
            markers("review comment"),
            markers("reviewer"),
        )

    def _throw(self) -> None:
        thrown = self.callers.start("throw", self._record, self._note)
        assert self.callers.ended(thrown) == "failed"
        self._note_state(thrown)

    def _fail(self) -> None:
        callers = self.callers
        self._throw()
        missing = callers.start("direct", f"{self._record}-absent", self._note)
        self.products.fault("breg.read-record", "malformed", count=5)
        garbled = callers.start("direct", self._record, self._note)
        for run in (missing, garbled):
            assert callers.ended(run) == "failed"
            self._note_state(run)
        self.products.clear_faults()
        declared = callers.start("direct", "SUPPRESSED", self._note)
        assert callers.ended(declared) == "finished"
        self.products.fault("messaging.submit-message", "refuse", status=422, code="unheard-of")
        refused = callers.start("direct", self._record, self._note)
        assert callers.ended(refused) == "failed"
        self.products.clear_faults()

    def _doubt(self) -> None:
        markers, callers = self.made.markers, self.callers
        doubtful = []
        for _ in range(3):
            self.products.fault("messaging.submit-message", "lost-response", count=1)
            run = callers.start("direct", self._record, self._note)
            callers.until(run, lambda seen: seen["run"]["state"] == "attention")
            doubtful.append(run)
        self.products.clear_faults()
        for run, kind in zip(doubtful, ("reconcile", "retry-same"), strict=False):
            callers.act(run, kind, markers(f"{kind} reason"))
            assert callers.ended(run) == "finished"
        self._note_state(doubtful[-1])

    def _note_state(self, run: str) -> None:
        self.states[run] = self.callers.run(run)["run"]["state"]

    def _be_refused(self) -> None:
        """Requests that are wrong in every way, with values that no answer may repeat."""
        markers, ask = self.made.markers, self.callers.ask
        key = {"Idempotency-Key": f"{markers('idempotency key')}-0"}
        workflow, revision = self.callers._active()
        whole = {"workflow": workflow, "revision": revision}
        for body in (
            b'{"input": "' + markers("malformed body").encode(),
            json.dumps({**whole, "input": {"note": markers("refused input")}}).encode(),
            json.dumps({**whole, "input": {markers("refused member"): 1}}).encode(),
            json.dumps({markers("unknown member"): markers("unknown value")}).encode(),
            json.dumps({"workflow": markers("unknown workflow"), "revision": revision}).encode(),
        ):
            assert ask("POST", "/v1/runs", body, key)[0] >= 400
        conflicting = {"recordId": markers("conflicting input"), "note": "x", "mode": "direct"}
        taken = {"Idempotency-Key": f"{markers('idempotency key')}-1"}
        body = json.dumps({**whole, "input": conflicting}).encode()
        assert ask("POST", "/v1/runs", body, taken)[0] == 409
        for path in (
            f"/{markers('path')}",
            f"/v1/runs/{markers('path')}",
            f"/v1/runs?workflow={markers('query')}",
            f"/v1/runs?{markers('query')}=1",
            f"/v1/runs?cursor={markers('cursor')}",
            f"/v1/runs?limit={markers('query')}",
        ):
            ask("GET", path)
        self._be_denied()

    def _be_denied(self) -> None:
        markers, ask = self.made.markers, self.callers.ask
        assert ask("GET", "/v1/runs", headers={"X-API-Key": markers("wrong api key")})[0] == 401
        claims = {"sub": markers("token subject"), "iss": "https://issuer.example.org"}
        header = {"alg": "RS256", "kid": markers("token key")}
        parts = [urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in (header, claims)]
        token = b".".join([*parts, markers("token signature").encode()]).decode()
        assert self.callers.as_bearer(token) == 401
        assert self.callers.as_bearer(self._access_token()) == 200
        forged, headers = _signed(
            f'{{"data": "{markers("forged event")}"}}', "whsec_" + "A" * 32, "x"
        )
        assert ask("POST", "/v1/review-completions", forged, headers)[0] == 401

    def _hold(self) -> None:
        """What operators say of the whole deployment; nothing runs any more afterwards."""
        markers, ask = self.made.markers, self.callers.ask
        held = json.dumps({"reason": markers("hold reason")}).encode()
        assert ask("POST", "/v1/restore-hold", held)[0] == 200
        attested = {
            "recoveryReference": markers("recovery reference"),
            "executionHistoryComplete": True,
            "priorDeploymentFenced": True,
        }
        body = json.dumps(attested).encode()
        assert ask("POST", "/v1/complete-execution-recovery", body)[0] == 200

    def _access_token(self) -> str:
        made = self.made
        profile = made.folder / "application.yaml"
        write_profile(profile, APPLICATION_CLIENT, made.addresses.issuer, made.addresses.api)
        return credential_in(profile, {}).headers()["Authorization"].removeprefix("Bearer ")

    def _look_around(self) -> None:
        """What lists, states, journals and the doctor say."""
        paths = ["/health", "/ready", "/v1/runs?limit=100", "/v1/workflows", "/v1/doctor"]
        for run, state in self.states.items():
            paths.append(f"/v1/runs/{run}/events")
            # What a run has published is for whoever reads its status.
            paths += [f"/v1/runs/{run}"] if state != "finished" else []
        for path in paths:
            status, answer = self.callers.ask("GET", path)
            assert status == 200, (path, answer)


def _awaits(node: str) -> Callable[[Any], bool]:
    def open_wait(seen: Any) -> bool:
        return any(node in wait["id"] and not wait["resolution"] for wait in seen["waits"])

    return open_wait


@dataclass
class Commander:
    """Whoever uses the commands; ``said`` is all that they have printed."""

    made: Deployment
    said: list[tuple[str, bytes]] = field(default_factory=list)

    async def work(self, run: str, *, short: bool) -> None:
        """Commands that look, and commands that are given wrong values; a few of them if short."""
        wrong = self.made.folder / "wrong.json"
        wrong.write_text(json.dumps({"note": self.made.markers("input file")}))
        runtime = self.made.folder / "wrong.yaml"
        text = self.made.files.runtime.read_text()
        clear = self.made.markers("secret in clear")
        runtime.write_text(text.replace("secret:file/products-token", clear))
        workflow = self.made.markers(CONTROL)
        commands: list[tuple[str, ...]] = [
            ("list", "--format", "json"),
            ("start", "--workflow", workflow, "--input", str(wrong)),
            ("audit", "export"),
            ("check", "--runtime", str(runtime)),
        ]
        if not short:
            commands += [
                ("list",),
                ("status", run),
                ("doctor",),
                ("audit", "export", "--format", "ocsf"),
                ("signal", "--run", run, "--name", "paid", "--payload", str(wrong)),
                ("doctor", "--runtime", str(runtime)),
            ]
        for command in commands:
            await asyncio.to_thread(self._say, command)

    def _say(self, command: tuple[str, ...]) -> None:
        given = command if "--runtime" in command else (*command, "--runtime", self._runtime)
        done = subprocess.run(
            [sys.executable, "-m", "adapter.cli.main", *given],
            capture_output=True,
            cwd=ROOT,
            check=False,
            timeout=60,
        )
        assert done.stdout + done.stderr, command
        self.said.append((" ".join(command[:1]), done.stdout + done.stderr))

    @property
    def _runtime(self) -> str:
        return str(self.made.files.runtime)
