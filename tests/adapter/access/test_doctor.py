"""Tests that the doctor tells of callers what this process knows."""

from __future__ import annotations

from adapter.access import Trouble
from tests.adapter.access.deployed import Deployed


async def test_the_doctor_tells_what_is_wrong_about_callers(site: Deployed) -> None:
    site.troubles.append(Trouble("doctor.issuer-away", 2, None, "look at the issuers"))
    async with site.client(site.key("operator")) as client:
        found = (await client.get("/v1/doctor")).json()
    [told] = [one for one in found["findings"] if one["code"] == "doctor.issuer-away"]
    assert (told["count"], told["remedy"], found["healthy"]) == (2, "look at the issuers", False)
