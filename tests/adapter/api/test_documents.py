"""Tests that the document about the API names what the service has."""

from __future__ import annotations

import re
from pathlib import Path

from adapter.api.problems import KINDS
from tests.adapter.api.conftest import Running

_TEXT = (Path(__file__).parents[3] / "docs" / "http-api.md").read_text()


def test_the_table_of_problems_is_the_one_that_the_service_answers_with() -> None:
    rows = re.findall(r"^\| (\d{3}) \| (.+) \|$", _TEXT, re.MULTILINE)
    documented = {code: int(status) for status, codes in rows for code in codes.split("`")[1::2]}
    assert documented == {code: kind.status for code, kind in KINDS.items()}


async def test_every_resource_is_described(service: Running) -> None:
    async with service.client() as client:
        document = (await client.get("/openapi.json")).json()
    served = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    described = set(re.findall(r"`((?:GET|POST) /[^`]*)`", _TEXT)) - {"GET /openapi.json"}
    # The codec server is off unless it is configured.
    assert served == {one for one in described if not one.endswith("=N") and "/codec/" not in one}
