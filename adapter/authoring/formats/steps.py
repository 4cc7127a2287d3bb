"""The steps of ``coordinator/v1``: one form each, to nodes of the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from activities.yaml.tree import Table
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from adapter.authoring.formats.mappings import MappingReader
from adapter.authoring.formats.shape import (
    EXTERNAL_ID,
    LOCAL_ID,
    PROSE,
    TITLE,
    Section,
    local_names,
    read_text,
)
from interpreter.definition import nodes as n

LONGEST_WAIT_SECONDS = 31_536_000
MOST_CASES = 32
MOST_REFUSALS = 32

_TYPES = ("call", "choose", "wait-until", "wait-for", "approve", "finish")

W = TypeVar("W", bound=n.WaitSource)


class StepReader:
    """Reads the steps of one project."""

    def __init__(self, draft: Draft, mappings: MappingReader) -> None:
        self._draft = draft
        self._mappings = mappings

    def read(self, name: str, section: Section) -> n.AnyNode | None:
        """The node of a step, or None after a finding."""
        readers: dict[str, Callable[[str, Section], n.AnyNode | None]] = {
            "call": self._call,
            "choose": self._choose,
            "wait-until": self._wait_until,
            "wait-for": self._wait_for,
            "approve": self._approve,
            "finish": self._finish,
        }
        kind = section.word("type", _TYPES)
        title = section.text("title", TITLE, required=False)
        section.text("description", PROSE, required=False)
        if kind is None:
            return None
        node = readers[kind](f"/nodes/{name}", section)
        section.close()
        if title:
            self._draft.titles[name] = title
        return None if section.broken else node

    def _outlet(
        self,
        at: str,
        section: Section,
        outlets: dict[str, str],
        key: str,
        outlet: str,
        *,
        required: bool = True,
    ) -> None:
        target = section.text(key, LOCAL_ID, required=required)
        self._draft.origins.put(f"{at}/outlets/{outlet}", section.place(key))
        if target is not None:
            outlets[outlet] = target

    def _call(self, at: str, section: Section) -> n.CallNode | None:
        operation = section.text("operation", LOCAL_ID)
        self._draft.origins.put(f"{at}/operation", section.place("operation"))
        if operation is not None and operation not in self._draft.declared("operations"):
            message = f"operation `{operation}` is not declared"
            remedy = suggestion(operation, self._draft.declared("operations"))
            place = section.place("operation")
            section.report.add("coordinator.definition.operation", place, message, remedy)
        value = self._mappings.read(section, "input", f"{at}/input")
        outlets: dict[str, str] = {}
        self._outlet(at, section, outlets, "next", "next")
        self._refusals(at, section, outlets)
        self._outlet(at, section, outlets, "onFailed", "failed", required=False)
        policy = self._policy(section)
        if operation is None or value is None:
            return None
        return n.CallNode(operation=operation, input=value, outlets=outlets, policy=policy)

    def _refusals(self, at: str, section: Section, outlets: dict[str, str]) -> None:
        table = section.table("onDeclaredRefusal", required=False)
        if table is None:
            return
        self._draft.origins.put(f"{at}/refusals", table.spot)
        if not 1 <= len(table.entries) <= MOST_REFUSALS:
            message = f"there must be 1 to {MOST_REFUSALS} refusals"
            section.refuse("config.invalid-length", table.spot, message)
        for code, entry in table.entries.items():
            outlet = n.REFUSAL_OUTLET + code
            target = read_text(section, entry.value, "a step's name", LOCAL_ID)
            self._draft.origins.put(f"{at}/outlets/{outlet}", entry.value.spot)
            self._draft.origins.put(f"{at}/refusals/{code}", entry.key)
            if target is not None:
                outlets[outlet] = target

    def _policy(self, section: Section) -> n.Policy:
        inner = section.section("policy", "`policy`", required=False)
        if inner is None:
            return n.Policy()
        policy = n.Policy(
            attempts=inner.integer("attempts", 1, 100, required=False),
            attempt_timeout_seconds=inner.number(
                "attemptTimeoutSeconds", 0.1, 3600, required=False
            ),
            retry_delay_seconds=inner.number("retryDelaySeconds", 0.1, 86_400, required=False),
            retry_growth=inner.number("retryGrowth", 1, 10, required=False),
        )
        inner.close()
        section.broken = section.broken or inner.broken
        return policy

    def _choose(self, at: str, section: Section) -> n.ChooseNode | None:
        mapping = self._mappings.read(section, "choose", f"{at}/choose")
        outlets = read_cases(self._draft, at, section)
        if outlets is not None and "failed" in outlets:
            # The machine leaves a choose through this outlet when its mapping gives no value.
            message = "a case may not be called `failed`"
            place = self._draft.origins.find(f"{at}/outlets/failed")
            section.refuse("coordinator.definition.cases", place, message, "use another label")
        if mapping is None or outlets is None:
            return None
        return n.ChooseNode(choose=mapping, outlets=outlets)

    def _wait_until(self, at: str, section: Section) -> n.WaitNode | None:
        instant = self._mappings.read(section, "waitUntil", f"{at}/wait/at")
        outlets: dict[str, str] = {}
        self._outlet(at, section, outlets, "next", "elapsed")
        if instant is None:
            return None
        return n.WaitNode(wait=n.UntilInstant(at=instant), outlets=outlets)

    def _wait_for(self, at: str, section: Section) -> n.WaitNode | None:
        timeout = self._timeout(at, section)
        outlets: dict[str, str] = {}
        source: n.WaitSource | None
        if section.has("signal"):
            source = self._signal(at, section, timeout)
            self._outlet(at, section, outlets, "next", "resumed")
        else:
            source = self._completion(at, section, timeout)
            self._outlet(at, section, outlets, "next", "completed")
        self._outlet(at, section, outlets, "onTimeout", "expired", required=False)
        self._outlet(at, section, outlets, "onCancel", "cancelled", required=False)
        return None if source is None else n.WaitNode(wait=source, outlets=outlets)

    def _timeout(self, at: str, section: Section) -> int | None:
        self._draft.origins.put(f"{at}/wait/timeoutSeconds", section.place("timeoutSeconds"))
        return section.integer("timeoutSeconds", 1, LONGEST_WAIT_SECONDS)

    def _signal(self, at: str, section: Section, timeout: int | None) -> n.ForSignal | None:
        for key in ("call", "completion"):
            if section.has(key):
                message = "a wait names a call's completion or a signal, not both"
                section.refuse("config.unknown-key", section.place(key), message)
        inner = section.section("signal", "`signal`")
        if inner is None:
            return None
        name = inner.text("name", LOCAL_ID)
        schema = inner.foreign("schema")
        self._draft.origins.put(f"{at}/wait/schema", inner.place("schema"))
        inner.close()
        section.broken = section.broken or inner.broken
        if name is None or timeout is None or inner.broken:
            return None
        return n.ForSignal(signal=name, signal_schema=schema, timeout_seconds=timeout)

    def _completion(self, at: str, section: Section, timeout: int | None) -> n.ForCompletion | None:
        call = section.text("call", LOCAL_ID)
        completion = section.text("completion", EXTERNAL_ID)
        self._draft.origins.put(f"{at}/wait/call", section.place("call"))
        self._draft.origins.put(f"{at}/wait/completion", section.place("completion"))
        if call is None or completion is None or timeout is None:
            return None
        return n.ForCompletion(call=call, completion=completion, timeout_seconds=timeout)

    def _approve(self, at: str, section: Section) -> n.WaitNode | None:
        plan = self._mappings.read(section, "plan", f"{at}/wait/plan")
        timeout = self._timeout(at, section)
        outlets: dict[str, str] = {}
        self._outlet(at, section, outlets, "next", "approved")
        self._outlet(at, section, outlets, "onRejected", "rejected")
        self._outlet(at, section, outlets, "onTimeout", "expired", required=False)
        self._outlet(at, section, outlets, "onCancel", "cancelled", required=False)
        if plan is None or timeout is None:
            return None
        wait = n.ForApproval(plan=plan, timeout_seconds=timeout)
        return n.WaitNode(wait=wait, outlets=outlets)

    def _finish(self, at: str, section: Section) -> n.FinishNode | None:
        return read_finish(self._draft, self._mappings, at, section)


def read_cases(draft: Draft, at: str, section: Section) -> dict[str, str] | None:
    """The cases of a choose: label -> step; both project formats write them alike."""
    table: Table | None = section.table("cases")
    if table is None:
        return None
    draft.origins.put(f"{at}/outlets", table.spot)
    outlets = {}
    if not 1 <= len(table.entries) <= MOST_CASES:
        message = f"a choose has 1 to {MOST_CASES} cases, not {len(table.entries)}"
        section.refuse("coordinator.definition.cases", table.spot, message)
    for label in local_names(section, table, "case", len(table.entries), 0):
        entry = table.entries[label]
        draft.origins.put(f"{at}/outlets/{label}", entry.value.spot)
        target = read_text(section, entry.value, "a step's name", LOCAL_ID)
        if target is not None:
            outlets[label] = target
    return outlets


def read_finish(
    draft: Draft, mappings: MappingReader, at: str, section: Section
) -> n.FinishNode | None:
    """A finish; both project formats write it alike."""
    outcome = section.text("outcome", LOCAL_ID)
    draft.origins.put(f"{at}/outcome", section.place("outcome"))
    output = mappings.read(section, "output", f"{at}/output", required=False)
    return None if outcome is None else n.FinishNode(outcome=outcome, output=output)
