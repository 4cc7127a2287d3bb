"""From an event's data to the input of the run that it admits; pure, like every mapping."""

from __future__ import annotations

from interpreter.contract.values import JsonValue
from interpreter.definition.document import Trigger
from interpreter.errors import MappingError
from interpreter.machine.bounds import fits_in_a_step
from interpreter.machine.mappings import Evaluation
from interpreter.machine.program import Program
from interpreter.machine.state import RunFacts


def trigger_input(program: Program, name: str, trigger: Trigger, data: JsonValue) -> JsonValue:
    """The input that a trigger's mapping makes of an event's data.

    Raises MappingError with the code of what went wrong, or ``mapping.input-size`` for more than
    256 KiB. There is no run yet: a mapping that reads a fact of one gets an empty text, and the
    checker refuses such a mapping.
    """
    place = f"triggers.{name}.input"
    facts = RunFacts(
        run_id="",
        workflow=program.definition.id,
        version="",
        input=data,
        admitted_at="",
        deadline_at="",
        deadline_ms=0,
    )
    value = Evaluation(program, facts, {}, place).value(trigger.input)
    if not fits_in_a_step(value):
        raise MappingError("mapping.input-size", "the input is larger than 256 KiB", place=place)
    return value
