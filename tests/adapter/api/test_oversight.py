"""The deployment's own resources: operators alone, strict bodies, plain answers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adapter.api import Finding
from tests.adapter.api.conftest import Running

VOUCHED = {"recoveryReference": "ticket 7", "priorDeploymentFenced": True}


async def test_the_doctor_is_for_operators(service: Running) -> None:
    async with service.client("desk") as client:
        assert (await client.get("/v1/doctor")).json()["code"] == "access.denied"
    async with service.client("boss") as client:
        answer = (await client.get("/v1/doctor")).json()
    assert (answer["healthy"], answer["states"], answer["counter"]) == (True, {"finished": 2}, 7)
    assert answer["namespaceRetentionSeconds"] is None


async def test_findings_make_a_deployment_unwell(service: Running) -> None:
    service.oversight.findings.append(Finding("doctor.attention", 2, None, "settle them"))
    async with service.client("boss") as client:
        answer = (await client.get("/v1/doctor")).json()
    assert not answer["healthy"]
    assert answer["findings"][0]["code"] == "doctor.attention"


async def test_a_hold_needs_a_reason_and_tells_how_it_stands(service: Running) -> None:
    async with service.client("boss") as client:
        refused = await client.post("/v1/restore-hold", json={"reason": ""})
        held = await client.post("/v1/restore-hold", json={"reason": "restored"})
    assert refused.json()["code"] == "act.reason-invalid"
    assert (held.status_code, held.json()["restoreHold"]) == (200, True)
    assert service.oversight.asked == [("hold", "boss", "restored")]


async def test_statements_that_are_not_made_are_refused(service: Running) -> None:
    body = {**VOUCHED, "executionHistoryComplete": False}
    async with service.client("boss") as client:
        answer = await client.post("/v1/complete-execution-recovery", json=body)
        good = await client.post(
            "/v1/complete-execution-recovery", json={**body, "executionHistoryComplete": True}
        )
    assert (answer.status_code, answer.json()["code"]) == (409, "recovery.not-attested")
    assert good.json()["executionRecoveryReviewed"] is True


async def test_releases_tell_how_the_holds_stand(service: Running) -> None:
    body = {**VOUCHED, "admissionHistoryComplete": True}
    async with service.client("boss") as client:
        first = await client.post("/v1/release-restore-hold", json={"reason": "reviewed"})
        second = await client.post("/v1/release-admission-hold", json=body)
    assert (first.json()["restoreHold"], first.json()["admissionsHold"]) == (False, True)
    assert second.json()["admissionsHold"] is False


async def test_retention_takes_an_instant_with_an_offset(service: Running) -> None:
    async with service.client("boss") as client:
        done = await client.post("/v1/retention", json={"before": "2026-01-01T00:00:00Z"})
    assert done.json() == {"erased": 4}
    assert service.oversight.asked == [("retain", datetime(2026, 1, 1, tzinfo=UTC), 100)]


@pytest.mark.parametrize("before", ["2026-01-01T00:00:00", "yesterday", 1_767_225_600, None])
async def test_retention_refuses_anything_else(service: Running, before: object) -> None:
    async with service.client("boss") as client:
        answer = await client.post("/v1/retention", json={"before": before})
    assert (answer.status_code, answer.json()["code"]) == (400, "request.invalid")
