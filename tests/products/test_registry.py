"""The pretend registry: records, its description, preconditions and actions."""

from __future__ import annotations

import re

import httpx

from examples.products.client import PretendProducts

PROFILE = {"accessProfile": "reviewer"}
RECORD = "/registry/v1/records/applications/APP-1001"
ACTION = "/registry/v1/actions/record-outcome"
INPUT = {"applicationId": "APP-1001", "outcome": "approved"}


def invoke(caller: httpx.Client, key: str, if_match: str = '"1"') -> httpx.Response:
    body = {"input": INPUT, "preconditions": {"application": {"ifMatch": if_match}}}
    return caller.post(ACTION, params=PROFILE, json=body, headers={"idempotency-key": key})


def test_a_record_shows_its_fields_under_domain_data(caller: httpx.Client) -> None:
    record = caller.get(RECORD, params=PROFILE).json()
    assert record["recordId"] == "APP-1001"
    assert record["data"]["domainData"]["applicant"]["name"] == "Maya Lindqvist"
    assert record["data"]["domainData"]["complete"] is True


def test_a_record_read_carries_the_contract_headers(caller: httpx.Client) -> None:
    answer = caller.get(RECORD, params=PROFILE)
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", answer.headers["traceparent"])
    assert answer.headers["etag"] == '"1"'
    assert 'rel="self"' in answer.headers["link"]


def test_the_trace_of_the_caller_is_continued(caller: httpx.Client) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    sent = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    answer = caller.get(RECORD, params=PROFILE, headers=sent)
    assert answer.headers["traceparent"].split("-")[1] == trace
    assert answer.headers["traceparent"].split("-")[2] != "00f067aa0ba902b7"


def test_a_problem_agrees_with_its_answer(caller: httpx.Client) -> None:
    answer = caller.get("/registry/v1/records/applications/none", params=PROFILE)
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    assert set(problem) == {"type", "title", "status", "detail", "traceId", "code"}
    assert problem["status"] == answer.status_code == 404
    assert problem["traceId"] == answer.headers["traceparent"].split("-")[1]
    assert problem["type"].endswith(problem["code"])


def test_a_caller_without_credentials_is_refused(caller: httpx.Client) -> None:
    del caller.headers["authorization"]
    answer = caller.get(RECORD, params=PROFILE)
    assert (answer.status_code, answer.json()["code"]) == (401, "credentials-missing")


def test_a_read_without_a_profile_is_refused(caller: httpx.Client) -> None:
    answer = caller.get(RECORD)
    assert (answer.status_code, answer.json()["code"]) == (400, "access-profile-required")


def test_the_description_names_actions_and_their_refusals(caller: httpx.Client) -> None:
    described = caller.get("/registry/v1/registry", params=PROFILE).json()
    action = described["actions"]["record-outcome"]
    assert action["accessProfile"] == "reviewer"
    assert "application-already-decided" in action["noEffectRefusals"]
    assert described["actions"]["propose-correction"]["kind"] == "proposal"


def test_publishing_changes_revision_and_fingerprint(
    caller: httpx.Client, products: PretendProducts
) -> None:
    before = caller.get("/registry/v1/registry", params=PROFILE).json()
    products.publish_registry()
    after = caller.get("/registry/v1/registry", params=PROFILE).json()
    assert after["revision"] == before["revision"] + 1
    assert after["fingerprint"] != before["fingerprint"]


def test_target_conditions_give_the_present_revision(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.put_record("applications", "APP-1001", {"status": "submitted"})
    answer = caller.post(f"{ACTION}/target-conditions", params=PROFILE, json={"input": INPUT})
    assert answer.json() == {"preconditions": {"application": {"ifMatch": '"2"'}}}


def test_an_action_changes_its_record(caller: httpx.Client) -> None:
    answer = invoke(caller, "key-1").json()
    assert answer["action"] == "record-outcome"
    changed = {"entity": "application", "recordId": "APP-1001", "revision": 2}
    assert answer["results"] == {"application": changed}
    record = caller.get(RECORD, params=PROFILE).json()
    assert record["data"]["domainData"]["status"] == "approved"


def test_an_action_on_a_changed_record_has_no_effect(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.put_record("applications", "APP-1001", {"status": "submitted"})
    answer = invoke(caller, "key-1")
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition-failed")
    assert products.effects() == []


def test_a_decided_application_is_a_declared_refusal(caller: httpx.Client) -> None:
    assert invoke(caller, "key-1").status_code == 200
    again = invoke(caller, "key-2", if_match='"2"')
    assert (again.status_code, again.json()["code"]) == (409, "application-already-decided")


def test_an_input_that_is_not_declared_is_refused(caller: httpx.Client) -> None:
    body = {"input": {**INPUT, "extra": "x"}}
    answer = caller.post(f"{ACTION}/target-conditions", params=PROFILE, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "action-input-invalid")


def test_a_proposal_is_not_applied(caller: httpx.Client) -> None:
    answer = caller.post(
        "/registry/v1/actions/propose-correction",
        params=PROFILE,
        json={"input": {"applicationId": "APP-1001", "correction": "x"}},
        headers={"idempotency-key": "key-1"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "action-is-proposal")
