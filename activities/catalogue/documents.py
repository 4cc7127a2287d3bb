"""The authored form of a catalogue: product, operations, and what each promises."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from activities.catalogue.entries import AdapterName
from activities.catalogue.http_call import HttpCall
from interpreter.contract.operations import Attempts, Completion, EffectClass, Recovery
from interpreter.contract.values import Document, JsonValue

API_VERSION = "coordinator/v1"
KIND = "CoordinatorCatalogue"

ProductName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,63}$")]


class OperationDocument(Document):
    """One operation as a deployer writes it.

    ``http.refusals`` are the declared refusals (problem code -> status); ``http.receipt`` makes
    it an operation with a receipt read. A request schema describes an object. ``proposal`` marks
    an action that decides or applies a proposal of the product: no workflow may call it.
    """

    title: str = Field(default="", max_length=200)
    effect: EffectClass
    recovery: Recovery
    key: bool = False
    proposal: bool = False
    receipt_window_seconds: int | None = Field(default=None, ge=1)
    completions: dict[str, Completion] = Field(default_factory=dict)
    attempts: Attempts = Attempts()
    http: HttpCall
    request: JsonValue
    response: JsonValue


class StandardOperation(OperationDocument):
    """An operation of the project itself: it may also name an adapter and a v1alpha1 alias."""

    adapter: AdapterName | None = None
    alias: str | None = None
    preparation: bool = False
    open_refusals: bool = False
    """The product declares the refusal codes of each call at run time (``*`` in the contract)."""


class CatalogueDocument(Document):
    """A deployer's document: operations of one product of their own."""

    api_version: Literal["coordinator/v1"]
    kind: Literal["CoordinatorCatalogue"]
    product: ProductName
    operations: dict[str, OperationDocument] = Field(min_length=1)


class StandardDocument(Document):
    """A document of the project itself."""

    api_version: Literal["coordinator/v1"]
    kind: Literal["CoordinatorCatalogue"]
    product: ProductName
    operations: dict[str, StandardOperation] = Field(min_length=1)
