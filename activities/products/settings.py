"""What a call needs to know of a connection, read from the deployment's settings."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from activities.errors import ConnectionFault
from interpreter.contract.values import JsonValue

LARGEST_BODY_BYTES = 65_536
_PRODUCT_NAMES = {"external-http": "external", "decision": "evaluation"}


class ConnectionSettings(BaseModel):
    """The members of a connection that shape its requests; other members are not ours.

    ``profile`` belongs to breg; ``paths``, ``query_parameters`` and ``response_schema`` to
    external connections; ``protocol`` and ``model`` to evaluation. Who calls is not among them.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )

    base_url: str
    product: str | None = None
    profile: str | None = None
    attempt_timeout_milliseconds: int | None = Field(default=None, ge=1)
    maximum_request_bytes: int = Field(default=LARGEST_BODY_BYTES, ge=1)
    maximum_response_bytes: int = Field(default=LARGEST_BODY_BYTES, ge=1)
    paths: tuple[str, ...] = ()
    query_parameters: tuple[str, ...] = ()
    response_schema: JsonValue = True
    protocol: Literal["system-one", "openai-decisions"] | None = None
    model: str | None = None

    def serves(self, product: str) -> bool:
        """Whether operations of a product may use this connection."""
        return self.product is None or _PRODUCT_NAMES.get(self.product, self.product) == product


def read_settings(value: JsonValue, connection: str) -> ConnectionSettings:
    """The settings in a JSON object; ConnectionFault ``connection.settings`` if it has others."""
    try:
        return ConnectionSettings.model_validate(value)
    except ValidationError as error:
        place = "/".join(str(part) for part in error.errors()[0]["loc"])
        raise ConnectionFault(
            "connection.settings",
            "the settings of the connection can not be used",
            place=f"{connection} /{place}",
            remedy="correct the connection in runtime.yaml",
        ) from None
