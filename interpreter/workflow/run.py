"""The one dynamic workflow that serves every definition."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, CancelledError

from interpreter.contract import names
from interpreter.contract.calls import PlainValue
from interpreter.contract.records import Closed, RunState
from interpreter.contract.runs import StartRun
from interpreter.contract.values import JsonValue
from interpreter.machine import events as e
from interpreter.workflow.driver import PLAIN_SIGNAL, Driver
from interpreter.workflow.programs import PROGRAMS

# A gate of what executions of before go on without (its name stands in histories).
_MET_AT_ONCE = "early-wishes-met"
_CANCELLED = (RunState.CANCELLED, RunState.CANCELLED_AFTER_EFFECT)


@workflow.defn(dynamic=True)
class InterpretedRun:
    """Runs the definition that its start input names; the Temporal type is the workflow id."""

    def __init__(self) -> None:
        # A signal may be handled before run() starts, so what handlers touch exists here.
        self._inbox: list[e.Event] = []
        self._driver: Driver | None = None
        self._early: list[tuple[str, Sequence[RawValue]]] = []
        self._plain_signals = False
        self._hand_over_wished = False

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> JsonValue:
        """Drive the run to its end.

        The result is ``{state, outcome, output}``; a failed or expired run fails with its code as
        the failure's type, a cancelled one is cancelled (see the table of states in the docs).
        """
        start = _start_of(args)
        program = PROGRAMS.get(start.revision)
        if program is None:
            raise _not_admitted("the ledger holds no definition of this revision")
        self._driver = Driver(start, program, self._inbox)
        self._plain_signals = start.binding.plain_signals
        if self._hand_over_wished and not workflow.patched(_MET_AT_ONCE):
            self._driver.wish_hand_over()
        for name, given in self._early:
            self._receive(self._driver, name, given)
        closed = await self._driver.drive()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return _ended(closed)

    @workflow.signal(name=names.HINT_SIGNAL, description="look again at what is waited for")
    def hint(self) -> None:
        """Bring the next read of an open completion wait forward; carries nothing."""
        if self._driver is not None:
            self._driver.hint()

    @workflow.signal(name=names.HAND_OVER_SIGNAL, description="go on under the current build")
    def hand_over(self) -> None:
        """Continue as new as soon as no attempt is out, once; carries nothing (protocol rule 8).

        One that comes before the first task is met already: that task is on the current build. To
        continue as new for it too would keep a run that is asked often from ever going on.
        """
        if self._driver is None:
            self._hand_over_wished = True
        else:
            self._driver.wish_hand_over()

    @workflow.update(
        name=names.RETRY_SAME, description="send the saved command of an unknown effect again"
    )
    def retry_same(self, act: JsonValue) -> JsonValue:
        """Take ``{visit, generation, act}``: the ledger has opened the effect for that generation.

        It records and returns; what becomes of the effect stands in the ledger (protocol rule 8).
        """
        self._present.retry_same(act["visit"], act["generation"], act.get("act", ""))
        return {"taken": True}

    @retry_same.validator
    def _check_retry_same(self, act: JsonValue) -> None:
        driver = self._present
        if not _fits(act):
            raise _not_in_attention()
        if not driver.may_retry(act["visit"], act["generation"], act.get("act", "")):
            raise _not_in_attention()

    @workflow.update(
        name=names.RECONCILE, description="read the product's receipt for an unknown effect"
    )
    def reconcile(self, act: JsonValue) -> JsonValue:
        """Take ``{visit, generation, act}``: an activity reads the receipt, nothing is sent."""
        self._present.reconcile(act["visit"], act["generation"], act["act"])
        return {"taken": True}

    @reconcile.validator
    def _check_reconcile(self, act: JsonValue) -> None:
        driver = self._present
        if not _fits(act, "act") or not driver.may_reconcile(act["visit"]):
            raise _not_in_attention()

    @workflow.update(name=names.SIGNAL, description="complete a wait on a signal contract")
    def take_signal(self, given: JsonValue) -> JsonValue:
        """Take ``{name, id, payload}`` that the ledger holds; gives ``{verdict}``.

        What was taken before answers as it did, also after continue-as-new. One that is told again
        names the ``visit`` that it has ended.
        """
        assert self._driver is not None
        name, identity, payload = given["name"], given["id"], given["payload"]
        visit = given.get("visit", "")
        return {"verdict": self._driver.signal(name, identity, payload, visit).value}

    @take_signal.validator
    def _check_signal(self, given: JsonValue) -> None:
        whole = isinstance(given, dict) and "payload" in given
        texts = (given.get("name"), given.get("id"), given.get("visit", "")) if whole else ()
        if not whole or not all(isinstance(text, str) for text in texts):
            raise ApplicationError("a signal is {name, id, payload}", type=names.NOT_READY)
        if self._driver is None or not self._driver.takes_signals:
            raise ApplicationError("the execution is between two states", type=names.NOT_READY)

    @property
    def _present(self) -> Driver:
        if self._driver is None:
            raise _not_in_attention()
        return self._driver

    @workflow.signal(dynamic=True)
    def any_signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Complete a wait on the signal contract of this name; kept when it comes early.

        A payload that can not be read, or is not sealed where that is asked for, is dropped, so
        that nobody with the Temporal UI can wedge a run.
        """
        if self._driver is None:
            self._early.append((name, args))
        else:
            self._receive(self._driver, name, args)

    def _value(self, given: RawValue) -> JsonValue:
        converter = workflow.payload_converter()
        if self._plain_signals:
            return converter.from_payload(given.payload, PlainValue)
        return converter.from_payload(given.payload)

    def _receive(self, driver: Driver, name: str, args: Sequence[RawValue]) -> None:
        try:
            payload = self._value(args[0]) if args else None
        except Exception:  # a stranger's bytes are not a reason to fail a task for ever
            driver.note_dropped(name, "unreadable")
            return
        identity = f"{PLAIN_SIGNAL}{workflow.uuid4()}"
        self._inbox.append(e.Signalled(name, identity, payload, int(workflow.time() * 1000)))


def _start_of(args: Sequence[RawValue]) -> StartRun:
    try:
        start = workflow.payload_converter().from_payload(args[0].payload, StartRun)
    except Exception as error:
        raise _not_admitted("the start input is not one that the coordinator wrote") from error
    if not isinstance(start, StartRun):
        raise _not_admitted("the start input is not one that the coordinator wrote")
    try:
        return start.as_execution(workflow.info().workflow_id)
    except ValueError as error:
        raise _not_admitted("the workflow id is not one that the coordinator gave") from error


def _fits(act: JsonValue, *texts: str) -> bool:
    """True when an act names a visit, a generation and the other members that are asked for."""
    return (
        isinstance(act, dict)
        and isinstance(act.get("generation"), int)
        and isinstance(act.get("act", ""), str)
        and all(isinstance(act.get(name), str) for name in ("visit", *texts))
    )


def _not_in_attention() -> ApplicationError:
    return ApplicationError(
        "no unknown effect of this run needs a person under that id", type=names.NOT_IN_ATTENTION
    )


def _not_admitted(message: str) -> ApplicationError:
    return ApplicationError(
        f"{message}; start runs through the coordinator's API",
        type=names.NOT_ADMITTED,
        non_retryable=True,
    )


def _ended(closed: Closed) -> JsonValue:
    if closed.state is RunState.FINISHED:
        return {"state": closed.state.value, "outcome": closed.outcome, "output": closed.output}
    if closed.state in _CANCELLED:
        raise CancelledError(f"the run is {closed.state.value}")
    code = closed.failure_code or closed.state.value
    raise ApplicationError(f"the run is {closed.state.value}", type=code, non_retryable=True)
