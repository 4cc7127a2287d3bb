"""The rules of effects offline are those of the ledger: both are asked the same questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from activities.ports import Limits as LedgerLimits
from activities.ports import Retry
from adapter.ledger import verdicts
from adapter.ledger.book import limits_of as ledger_limits_of
from adapter.ledger.entry import RunRow
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.definition.nodes import Policy
from interpreter.scenario.effects import Again, Effect, Limits, limits_of
from tests.fixtures.definitions import SEND

NOW = datetime(2027, 1, 15, 8, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
LIMITS = Limits(attempts=3, send_budget=10_000, delay=1000, growth=2.0, longest_delay=300_000)
LEDGER_LIMITS = LedgerLimits(3, 10.0, 1.0, 2.0, 300.0)
EFFECTS = [
    (EffectClass.READ, Recovery.READ_AGAIN),
    (EffectClass.MUTATION, Recovery.SAME_COMMAND),
    (EffectClass.MUTATION, Recovery.SAME_COMMAND_AND_RECEIPT),
    (EffectClass.EVALUATION, Recovery.HOLD_AFTER_DISPATCH),
]


def contract(effect: EffectClass, recovery: Recovery, window: int | None) -> OperationContract:
    """A contract of this class."""
    members = {"effect": effect, "recovery": recovery, "receipt_window_seconds": window}
    return SEND.model_copy(update=members)


def run_row(forbidden: str, deadline: datetime) -> RunRow:
    """A run that has lost its permission, or has not."""
    members = dict.fromkeys(RunRow.__dataclass_fields__)
    cancelled = NOW if forbidden == "cancel" else None
    known = {"deadline_at": deadline, "cancel_requested_at": cancelled, "state": "running"}
    row = RunRow(**{**members, **known, "held": False})  # type: ignore[arg-type]
    return row


def facts(failed: int, unresolved: int, first: datetime | None) -> verdicts.EffectFacts:
    """An effect in the ledger that has come this far."""
    return verdicts.EffectFacts(
        now=NOW,
        uncertain_elsewhere=False,
        withdrawn=False,
        known=[],
        stored=True,
        after_cancel=False,
        sealed_command=None,
        outcome=None,
        code="",
        sealed_reply=None,
        uncertain=False,
        attempts=failed + unresolved,
        failed=failed,
        unresolved=unresolved,
        later=0,
        lease_until=None,
        first_dispatched_at=first,
        own_attempt=1,
        own_settled_as=None,
    )


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize("forbidden", ["", "cancel", "deadline"])
@pytest.mark.parametrize("unresolved", [0, 1])
@pytest.mark.parametrize("sent_before", [None, 10, 100_000])
def test_an_attempt_is_permitted_as_the_ledger_permits_it(
    kind: tuple[EffectClass, Recovery],
    forbidden: str,
    unresolved: int,
    sent_before: int | None,
) -> None:
    made = contract(*kind, window=86_400)
    first = None if sent_before is None else NOW - timedelta(seconds=sent_before)
    first_ms = None if sent_before is None else NOW_MS - sent_before * 1000
    run = run_row(forbidden, NOW + timedelta(hours=0 if forbidden == "deadline" else 1))
    theirs = verdicts.claim_verdict(
        run, facts(0, unresolved, first), made, 10.0, after_cancel=False
    )
    effect = Effect(made, LIMITS, unresolved=unresolved, first_sent_ms=first_ms)
    assert effect.claim(NOW_MS, forbidden) == _reply_of(theirs)


def _reply_of(verdict: verdicts.ClaimVerdict) -> Reply | None:
    match verdict:
        case verdicts.Declare(reply):
            return reply
        case verdicts.Forbid(code):
            return Reply(ReplyKind.NOT_PERMITTED, code=code)
        case _:
            return None


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize("answer", [one for one in ReplyKind if one != "not-permitted"])
@pytest.mark.parametrize("unresolved", [0, 1])
@pytest.mark.parametrize("failed", [0, 2])
@pytest.mark.parametrize("retry_after", [None, 20, 4000])
def test_an_answer_means_what_the_ledger_makes_of_it(
    kind: tuple[EffectClass, Recovery],
    answer: ReplyKind,
    unresolved: int,
    failed: int,
    retry_after: int | None,
) -> None:
    made = contract(*kind, window=None)
    reply = Reply(answer, code="some-code")
    deadline = NOW + timedelta(hours=1)
    theirs = verdicts.settle_verdict(
        run_row("", deadline),
        facts(failed, unresolved, NOW),
        made,
        LEDGER_LIMITS,
        reply,
        retry_after,
    )
    effect = Effect(made, LIMITS, failed=failed, unresolved=unresolved, first_sent_ms=NOW_MS)
    wanted = None if retry_after is None else retry_after * 1000
    ours = effect.settle(reply, wanted, NOW_MS, NOW_MS + 3_600_000)
    match theirs:
        case Retry(delay, _):
            assert ours == Again(round(delay * 1000))
        case verdicts.Conclude(expected, _) | verdicts.Pass(expected):
            assert ours == expected
        case verdicts.Stored():
            pytest.fail("nothing is stored yet")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(attempts=5, attempt_timeout_seconds=2.5),
        Policy(retry_delay_seconds=30, retry_growth=1),
    ],
)
def test_limits_are_those_of_the_ledger(policy: Policy) -> None:
    ours, theirs = limits_of(policy, SEND), ledger_limits_of(policy, SEND)
    assert ours.attempts == theirs.attempts
    assert ours.send_budget == theirs.send_budget * 1000
    pauses = [verdicts.backoff(theirs, failed) * 1000 for failed in (1, 2, 9)]
    assert [ours.pause(failed) for failed in (1, 2, 9)] == pauses
