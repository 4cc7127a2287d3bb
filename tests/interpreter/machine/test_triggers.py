"""From an event's data to an input: the mapping language, and nothing of a run."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.definition.document import Definition, Functions, Trigger
from interpreter.errors import MappingError
from interpreter.language import LANGUAGE_PROFILE
from interpreter.machine import prepare
from interpreter.machine.bounds import LARGEST_STEP_BYTES
from interpreter.machine.triggers import trigger_input
from tests.fixtures.definitions import definition, finish

SOURCE = "fn greeting(name) { `Dear ${name}` }"


def mapped(mapping: dict[str, Any], data: Any) -> Any:
    """The input that a mapping makes of some data."""
    plain = definition({"done": finish()}).to_json()
    functions = Functions(profile=LANGUAGE_PROFILE, source=SOURCE)
    program = prepare(Definition.model_validate(plain | {"functions": functions.to_json()}))
    trigger = Trigger.model_validate({"event": "e", "schema": True, "input": mapping})
    return trigger_input(program, "start", trigger, data)


def test_members_literals_and_functions_make_an_input() -> None:
    mapping = {
        "object": {
            "id": {"input": "/record/id"},
            "kind": {"literal": "new"},
            "name": {"function": "greeting", "arguments": [{"input": "/name"}]},
        }
    }
    made = mapped(mapping, {"record": {"id": 7}, "name": "ada"})
    assert made == {"id": 7, "kind": "new", "name": "Dear ada"}


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"input": "/absent"}, "mapping.missing-value"),
        ({"step": "done"}, "mapping.missing-output"),
        ({"function": "unheard_of"}, "function.runtime"),
    ],
)
def test_what_can_not_be_mapped_says_where(mapping: dict[str, Any], code: str) -> None:
    with pytest.raises(MappingError) as error:
        mapped(mapping, {})
    assert (error.value.code.partition(".")[0], error.value.place) == (
        code.partition(".")[0],
        "triggers.start.input",
    )


def test_an_input_is_no_larger_than_a_step_may_carry() -> None:
    with pytest.raises(MappingError) as error:
        mapped({"literal": "a" * LARGEST_STEP_BYTES}, {})
    assert error.value.code == "mapping.input-size"
