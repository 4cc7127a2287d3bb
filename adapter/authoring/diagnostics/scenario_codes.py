"""The codes of scenario files, of cases that can not be played and of cases that fail."""

from __future__ import annotations

from activities.yaml.code import Code, Severity

_READING = (
    Code(
        "coordinator.scenarios.invalid-length",
        "there are too few or too many items",
        "change their number",
    ),
    Code(
        "coordinator.scenarios.invalid-timestamp",
        "the text is no instant",
        'write an RFC 3339 instant with an offset, such as "2026-03-02T08:00:00Z"',
    ),
    Code(
        "coordinator.scenarios.invalid-moment",
        "the moment of this is not clear",
        "write either `at` with an instant after admission, or `afterSeconds`",
    ),
    Code(
        "coordinator.scenarios.unknown-reference",
        "the workflow has no such step or outcome",
        "name a step or outcome that the workflow declares",
    ),
)

_PLAYING = (
    Code("coordinator.scenario.read", "the scenario file can not be read", "check its name"),
    Code(
        "coordinator.scenario.bound",
        "the case does not end",
        "let its replies lead to a finish",
    ),
    Code(
        "coordinator.scenario.reply-step",
        "a step that is no call has replies",
        "give replies to call steps only",
    ),
    Code(
        "coordinator.scenario.reply",
        "a reply is missing, or can not be given here",
        "correct the replies of this step",
    ),
    Code(
        "coordinator.scenario.recovery",
        "an operator can not act like this here",
        "use `retry-same`, or remove the act",
    ),
    Code(
        "coordinator.scenario.receipt-expired",
        "a reply follows an expired receipt",
        "remove the replies that follow",
    ),
    Code(
        "coordinator.scenario.step",
        "a step is of another type than this needs",
        "name a step of the right type",
    ),
    Code(
        "coordinator.scenario.act",
        "a person acts at a moment when nobody can",
        "move the act",
    ),
    Code(
        "coordinator.scenario.signal",
        "no wait takes this signal",
        "send what a `wait-for` step declares under `signal`",
    ),
    Code(
        "coordinator.scenario.plan",
        "the plan that is open is another one",
        "correct the plan's mapping, or what the person is said to have seen",
    ),
    Code(
        "coordinator.scenario.request",
        "a call's input does not fit its operation",
        "correct the step's input mapping or its function",
    ),
    Code(
        "coordinator.scenario.response",
        "a scripted value is none that the product gives",
        "write a value that fits the operation's contract",
    ),
    Code(
        "coordinator.scenario.response-schema",
        "a scripted answer does not fit its connection's responseSchema",
        "correct the reply, or the connection in the runtime file",
        Severity.WARNING,
    ),
    Code(
        "coordinator.scenario.expectation",
        "the run went otherwise than expected",
        "correct the workflow, or the expectation",
    ),
    Code(
        "coordinator.scenario.unused",
        "the run ended without something that the case scripts",
        "remove it, or correct the case",
        Severity.WARNING,
    ),
)

_RUNNING = (
    Code(
        "coordinator.definition.input",
        "the workflow does not admit this input",
        "give it an input that fits its input schema",
    ),
    Code(
        "coordinator.mapping.branch",
        "a choose got a value that names none of its cases",
        "let the mapping give one of the labels",
    ),
    Code(
        "coordinator.mapping.timestamp",
        "a wait got a value that is no instant",
        "map an RFC 3339 instant with an offset",
    ),
    Code(
        "coordinator.mapping.call-shape",
        "a call got an input that is no object",
        "map an object",
    ),
    Code(
        "coordinator.mapping.call-size",
        "a call got an input of more than 256 KiB",
        "pass less",
    ),
    Code(
        "coordinator.mapping.missing-value",
        "a mapping points at a member that is not there",
        "pick the member in a function that says what to use instead",
    ),
    Code(
        "coordinator.function.execution",
        "a function failed or threw",
        "correct the function at the line that the message names",
    ),
    Code(
        "coordinator.function.resource-limit",
        "a function used more operations, depth or data than it may",
        "make it do less",
    ),
    Code(
        "coordinator.function.input",
        "a function got a value that is no JSON",
        "correct what is passed in",
    ),
    Code(
        "coordinator.function.output",
        "a function gave a value that is no JSON",
        "return text, numbers, booleans, arrays, maps or nothing",
    ),
)

SCENARIO_CODES = (*_READING, *_PLAYING, *_RUNNING)
"""Every code that reading or playing a scenario can report besides those of its file's YAML."""
