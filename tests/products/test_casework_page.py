"""The page on which a person decides, as a browser without scripts uses it."""

from __future__ import annotations

import httpx

from examples.products.client import PretendProducts

BODY = {
    "title": "<b>Bakery</b>",
    "instructions": "Look at the <i>floor plan</i>.",
    "subject": {"id": "APP-1001"},
    "data": {"purpose": "bread"},
}


def open_review(caller: httpx.Client) -> str:
    answer = caller.post(
        "/casework/v1/review-requests", json=BODY, headers={"idempotency-key": "key-1"}
    )
    return str(answer.json()["reviewRequestId"])


def browser(products: PretendProducts) -> httpx.Client:
    return httpx.Client(base_url=products.base_url, headers={"origin": products.base_url})


def test_the_page_shows_a_waiting_review_escaped(
    caller: httpx.Client, products: PretendProducts
) -> None:
    review_id = open_review(caller)
    with browser(products) as person:
        page = person.get("/casework/")
    assert "&lt;b&gt;Bakery&lt;/b&gt;" in page.text
    assert "<b>" not in page.text
    assert f'action="/casework/_decide/{review_id}"' in page.text
    assert "bread" in page.text


def test_the_page_tells_what_the_reviewer_is_asked_to_do(
    caller: httpx.Client, products: PretendProducts
) -> None:
    open_review(caller)
    with browser(products) as person:
        page = person.get("/casework/")
    assert "Look at the &lt;i&gt;floor plan&lt;/i&gt;." in page.text


def test_the_page_loads_nothing_and_runs_nothing(products: PretendProducts) -> None:
    with browser(products) as person:
        page = person.get("/casework/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert "http" not in page.text


def test_a_form_decides_and_leads_back_to_the_page(
    caller: httpx.Client, products: PretendProducts
) -> None:
    review_id = open_review(caller)
    form = {"decision": "rejected", "comment": "No floor plan"}
    with browser(products) as person:
        answer = person.post(f"/casework/_decide/{review_id}", data=form)
        page = person.get(answer.headers["location"])
    assert answer.status_code == 303
    assert "The request was rejected." in page.text
    assert "No floor plan" in page.text


def test_a_second_form_changes_nothing(caller: httpx.Client, products: PretendProducts) -> None:
    review_id = open_review(caller)
    products.decide(review_id, "approved")
    with browser(products) as person:
        answer = person.post(f"/casework/_decide/{review_id}", data={"decision": "rejected"})
        page = person.get(answer.headers["location"])
    assert "already closed" in page.text
    assert products.reviews()[0].decision == "approved"


def test_a_page_of_another_origin_can_not_decide(
    caller: httpx.Client, products: PretendProducts
) -> None:
    review_id = open_review(caller)
    foreign = {"origin": "https://elsewhere.example"}
    path = f"/casework/_decide/{review_id}"
    answer = httpx.post(
        f"{products.base_url}{path}", data={"decision": "approved"}, headers=foreign
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "origin-forbidden")
    assert products.reviews()[0].state == "pending"


def test_a_wrong_decision_is_refused(caller: httpx.Client, products: PretendProducts) -> None:
    review_id = open_review(caller)
    path = f"/casework/_decide/{review_id}"
    answer = caller.post(path, json={"decision": "perhaps"})
    assert (answer.status_code, answer.json()["code"]) == (422, "decision-invalid")
