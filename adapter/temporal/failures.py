"""Failures as Temporal keeps them: their words and stacks in an attribute that a codec can seal."""

from __future__ import annotations

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DefaultFailureConverter
from temporalio.converter import PayloadConverter as Converter
from temporalio.exceptions import ApplicationError

from adapter.temporal.refusals import CODE, without_refused

CONCEALED = "Encoded failure"
"""What stands where the words were: the SDKs' own, so that Temporal's UI knows where to look."""


class FailureConverter(DefaultFailureConverter):
    """Temporal's own, with three differences.

    Messages and stacks stand in the encoded attributes, of every cause too. An error that this
    project raises on purpose has no stack: a poll that found nothing yet is no fault, and people
    who look at it in the UI need its words, and no paths of the machine that it ran on. Details
    that somebody else wrote into a failure are left out, since they are no reason to fail a task.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: Converter, failure: Failure
    ) -> None:
        """Write the failure."""
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError):
            failure.stack_trace = ""
        _conceal(failure, payload_converter)

    def from_failure(self, failure: Failure, payload_converter: Converter) -> BaseException:
        """Read a failure, whoever wrote it.

        What can not be read (a number outside its enumeration, a time without end, details of an
        unknown kind) is ``payload.refused``: only a stranger writes it, and an error raised here
        would fail the task again and again.
        """
        try:
            return super().from_failure(without_refused(failure), payload_converter)
        except Exception:
            return ApplicationError("a failure that can not be read", type=CODE, non_retryable=True)


def _conceal(failure: Failure, payload_converter: Converter) -> None:
    one = failure
    while True:
        if one.message != CONCEALED or one.stack_trace:
            words = {"message": one.message, "stack_trace": one.stack_trace}
            one.encoded_attributes.CopyFrom(payload_converter.to_payloads([words])[0])
            one.message, one.stack_trace = CONCEALED, ""
        if not one.HasField("cause"):
            return
        one = one.cause
