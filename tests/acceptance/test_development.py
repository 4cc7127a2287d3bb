"""The main job over processes: runs survive the death of a worker, of the service and of all."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.cli.credentials import Token
from adapter.cli.service_client import ServiceClient
from adapter.embedded import free_port
from adapter.errors import Refused
from tests.acceptance.conftest import (
    ROOT,
    START_SECONDS,
    Development,
    command,
    develop,
    environment,
    eventually,
    processes_of,
)

pytestmark = pytest.mark.timeout(START_SECONDS)


def test_a_person_decides_and_the_notice_is_sent(development: Development) -> None:
    (development.folder / "input.json").write_text('{"applicationId": "APP-1001"}')
    arguments = ("--workflow", "reviewed-notice", "--input", "input.json", "--key", "good")
    run = development.json("start", *arguments)["runId"]
    review = development.waits(run)
    development.ctl("decide", "approved", "--review", review)
    last = development.ctl("watch", run).stdout
    assert "run.finished" in last
    inspected = development.json("inspect", run)
    assert (inspected["run"]["outcome"], inspected["run"]["status"]) == ("notified", "finished")
    sent = inspected["effects"][-1]
    assert (sent["operation"], sent["state"]) == ("messaging.submit-message/v1", "accepted")
    assert sent["receipt"] == inspected["run"]["output"]["messageId"]
    assert "Maya" not in json.dumps(inspected)


def test_payloads_are_sealed_and_shown_to_the_developer_alone(development: Development) -> None:
    run = development.start("sealed")
    development.waits(run)
    workflow = development.inspection(run)["execution"]["workflowId"]
    shown = development.ctl("temporal", "workflow", "show", "-w", workflow, "-o", "json").stdout
    [payload] = json.loads(shown)["events"][0]["workflowExecutionStartedEventAttributes"]["input"][
        "payloads"
    ]
    assert b"APP-1001" in base64.b64decode(payload["data"])
    for file in (development.folder / "temporal").iterdir():
        assert b"APP-1001" not in file.read_bytes()


def test_temporals_ui_is_given_a_codec_server_that_answers_its_pages(
    development: Development,
) -> None:
    ui = development.addresses["Temporal UI"]
    with urllib.request.urlopen(f"{ui}/api/v1/settings") as answer:
        endpoint = json.load(answer)["Codec"]["Endpoint"]
    headers = {"Content-Type": "application/json", "X-Namespace": "default", "Origin": ui}
    asked = urllib.request.Request(f"{endpoint}/decode", b'{"payloads": []}', headers)
    with urllib.request.urlopen(asked) as answer:
        assert json.load(answer) == {"payloads": []}
        assert answer.headers["Access-Control-Allow-Origin"] == ui


def test_the_same_key_gives_the_same_run_and_another_input_a_conflict(
    development: Development,
) -> None:
    run = development.start("again")
    assert development.start("again") == run
    (development.folder / "other.json").write_text('{"applicationId": "APP-1002"}')
    arguments = ("--workflow", "reviewed-notice", "--input", "other.json", "--key", "again")
    # A key is one of its caller alone: the same API key started the run.
    same_caller = ("--api-key-file", str(development.folder / "secrets" / "api-key"))
    refused = development.ctl("start", *arguments, *same_caller, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error[idempotency.key-reused]")


def test_an_input_outside_the_schema_is_named_by_its_pointer(development: Development) -> None:
    (development.folder / "wrong.json").write_text('{"applicationId": ""}')
    arguments = ("--workflow", "reviewed-notice", "--input", "wrong.json")
    refused = development.ctl("start", *arguments, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error[input.invalid]: /input/applicationId: ")


def test_temporals_own_command_finds_the_deployment(development: Development) -> None:
    run = development.start("listed")
    development.waits(run)
    listed = development.ctl("temporal", "workflow", "list", "--output", "json").stdout
    types = {w["execution"]["workflowId"]: w["type"] for w in json.loads(listed)}
    assert types[f"reviewed-notice/{run}/1"] == {"name": "reviewed-notice"}


def test_a_key_is_revoked_and_given_back_by_a_change_of_the_file(development: Development) -> None:
    runtime = development.folder / "runtime.yaml"
    text = runtime.read_text()
    document = yaml.safe_load(text)
    del document["authentication"]["apiKeys"]["developer"]
    try:
        _replace(runtime, yaml.safe_dump(document))
        eventually(lambda: not _is_known(development))
        assert "healthy" in development.json("doctor")
    finally:
        _replace(runtime, text)
    eventually(lambda: _is_known(development))


def _replace(file: Path, text: str) -> None:
    draft = file.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(file)


def _is_known(development: Development) -> bool:
    try:
        development.client.get("/v1/workflows")
    except Refused as error:
        return error.code != "access.unauthenticated"
    return True


def test_people_see_their_own_runs_alone(development: Development) -> None:
    development.start("of-the-developer")
    token = development.ctl("token", "--person", "ann").stdout.strip()
    ann = ServiceClient(development.addresses["service"], Token(token))
    assert ann.get("/v1/runs")["runs"] == []
    with pytest.raises(Refused) as raised:
        ann.get("/v1/doctor")
    assert raised.value.code == "access.denied"


def test_another_worker_finishes_when_one_is_killed_during_the_review(
    development: Development,
) -> None:
    run = development.start("killed-worker")
    review = development.waits(run)
    [victim, *_] = [
        pid
        for pid, line in processes_of(development.folder).items()
        if " worker " in line and "keeper" not in line
    ]
    os.kill(victim, signal.SIGKILL)
    development.desk.decide(review, "rejected")
    development.ends_as(run, "finished")


def test_a_cancel_withdraws_the_review(development: Development) -> None:
    run = development.start("cancelled")
    development.waits(run)
    development.ctl("cancel", run, "--reason", "moved away")
    development.ends_as(run, "cancelled-after-effect")
    assert development.inspection(run)["run"]["outcome"] == "cancelled"
    again = development.ctl("cancel", run, "--reason", "again", check=False)
    assert again.stderr.startswith("error[act.closed]: RUN: ")


def test_a_run_starts_although_the_service_died_right_after_its_admission(
    development: Development,
) -> None:
    runtime = _another_service(development.folder)
    service = subprocess.Popen(
        command("service", "serve", "--runtime", str(runtime)),
        env=environment(COORDINATOR_FAULT="after-admission-commit"),
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    try:
        origin = yaml.safe_load(runtime.read_text())["api"]["publicUrl"]
        eventually(lambda: _answers(f"{origin}/health"))
        known = _runs(development)
        [workflow] = development.client.get("/v1/workflows")["workflows"]
        with pytest.raises(OSError, match=r"."):
            _post_run(development, origin, workflow["revision"])
        assert service.wait(timeout=30) == -signal.SIGKILL
    finally:
        service.kill()
    [run] = _runs(development) - known
    development.waits(run)


def _another_service(folder: Path) -> Path:
    """A runtime file of the same deployment whose service listens elsewhere."""
    document = yaml.safe_load((folder / "runtime.yaml").read_text())
    port = free_port()
    document["api"] = {"bind": f"127.0.0.1:{port}", "publicUrl": f"http://127.0.0.1:{port}"}
    runtime = folder / "another.yaml"
    runtime.write_text(yaml.safe_dump(document))
    return runtime


def _runs(development: Development) -> set[str]:
    return {run["runId"] for run in development.client.get("/v1/runs", limit=100)["runs"]}


def _answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(url, timeout=5).status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _post_run(development: Development, origin: str, revision: str) -> Any:
    body = {
        "workflow": "reviewed-notice",
        "revision": revision,
        "input": {"applicationId": "APP-1001"},
    }
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": "died",
        "X-API-Key": (development.folder / "secrets" / "api-key").read_text().strip(),
    }
    request = urllib.request.Request(f"{origin}/v1/runs", json.dumps(body).encode(), headers)
    return urllib.request.urlopen(request, timeout=30)


def test_several_worker_processes_live_and_die_with_their_parent(
    development: Development,
) -> None:
    runtime = _another_service(development.folder)
    options = ("--processes", "2", "--runtime", str(runtime))
    parent = subprocess.Popen(
        command("service", "worker", *options),
        env=environment(),
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )

    def children() -> list[int]:
        return [p for p, line in processes_of(runtime).items() if " --child " in line]

    try:
        first = eventually(lambda: children() if len(children()) == 2 else None)
        os.kill(first[0], signal.SIGKILL)
        eventually(lambda: len(set(children()) - set(first)) == 1)
    finally:
        parent.kill()
        parent.wait(timeout=30)
    eventually(lambda: children() == [])


def test_everything_stops_on_a_signal_goes_on_after_a_restart_and_dies_with_a_kill(
    development: Development,
) -> None:
    run = development.start("restarted")
    review = development.waits(run)
    assert development.stop(signal.SIGINT) == 0
    assert processes_of(development.folder) == {}
    again = develop(development.folder)
    try:
        assert again.addresses == development.addresses
        again.desk.decide(review, "approved")
        again.ends_as(run, "finished")
    finally:
        # No chance to clean up: what it started has to notice by itself.
        again.process.kill()
        again.process.communicate()
    eventually(lambda: processes_of(development.folder) == {})
