"""Completion events of pretend Casework, received on a real socket."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from standardwebhooks import Webhook

from examples.products.client import ControlRefused, PretendProducts

SECRET = "whsec_cHJldGVuZC1wcm9kdWN0cy1zZWNyZXQ="


class Receiver:
    """A listener that keeps each event and answers the statuses it was given, then 204."""

    def __init__(self) -> None:
        self.events: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        self.answers: queue.Queue[int] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.events.put((dict(self.headers), body))
                status = 204 if receiver.answers.empty() else receiver.answers.get()
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing on the terminal."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/completions"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, daemon=True)
    thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    thread.join()


def open_review(caller: httpx.Client) -> str:
    answer = caller.post(
        "/casework/v1/review-requests",
        json={"subject": {"id": "APP-1001"}},
        headers={"idempotency-key": "key-1"},
    )
    return str(answer.json()["reviewRequestId"])


def delivered(products: PretendProducts) -> dict[str, object]:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        found = products.deliveries()
        if found and found[0]["state"] != "pending":
            return dict(found[0])
        time.sleep(0.02)
    raise AssertionError("nothing was delivered")


def test_a_decision_is_announced_signed_and_without_its_result(
    caller: httpx.Client, products: PretendProducts, receiver: Receiver
) -> None:
    products.webhook(receiver.url, SECRET)
    review_id = open_review(caller)
    products.decide(review_id, "approved")
    headers, body = receiver.events.get(timeout=5)
    event = Webhook(SECRET).verify(body, headers)
    assert event["type"] == "casework.review-request.completed"
    assert event["data"] == {"reviewRequestId": review_id}
    assert b"approved" not in body


def test_a_failed_delivery_is_repeated_with_the_same_id(
    caller: httpx.Client, products: PretendProducts, receiver: Receiver
) -> None:
    receiver.answers.put(500)
    review_id = open_review(caller)
    products.webhook(receiver.url, SECRET, review_id)
    products.decide(review_id, "approved")
    first, second = (receiver.events.get(timeout=5)[0]["webhook-id"] for _ in range(2))
    assert first == second
    assert delivered(products)["attempts"] == 2


def test_an_event_can_be_sent_once_more(
    caller: httpx.Client, products: PretendProducts, receiver: Receiver
) -> None:
    products.webhook(receiver.url, SECRET)
    review_id = open_review(caller)
    message_id = products.announce(review_id)
    headers, _ = receiver.events.get(timeout=5)
    assert headers["webhook-id"] == message_id


def test_a_new_record_is_announced_by_a_signed_event_once(
    products: PretendProducts, receiver: Receiver
) -> None:
    products.registry_events(receiver.url, SECRET, "urn:example:registry")
    for name in ("Ada", "Ada Lovelace"):
        products.put_record("applications", "APP-9000", {"name": name, "submittedVia": "post"})
    headers, body = receiver.events.get(timeout=5)
    event = Webhook(SECRET).verify(body, headers)
    assert (event["type"], event["source"], event["subject"]) == (
        "registry.application.submitted",
        "urn:example:registry",
        "APP-9000",
    )
    assert event["data"] == {"recordId": "APP-9000", "submittedVia": "post"}
    assert len(products.deliveries()) == 1


def test_without_a_target_nothing_is_announced(
    caller: httpx.Client, products: PretendProducts
) -> None:
    review_id = open_review(caller)
    products.decide(review_id, "approved")
    assert products.deliveries() == []
    with pytest.raises(ControlRefused) as refused:
        products.announce(review_id)
    assert refused.value.code == "webhook-not-configured"


@pytest.mark.parametrize(("url", "secret"), [("ftp://x", SECRET), ("http://x", "whsec_%")])
def test_a_wrong_target_is_refused(products: PretendProducts, url: str, secret: str) -> None:
    with pytest.raises(ControlRefused) as refused:
        products.webhook(url, secret)
    assert refused.value.code == "webhook-invalid"
