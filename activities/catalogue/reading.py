"""From the text of a catalogue document to entries, with every mistake named."""

from __future__ import annotations

import difflib

from pydantic import BaseModel, TypeAdapter, ValidationError

from activities.catalogue.documents import (
    CatalogueDocument,
    OperationDocument,
    StandardDocument,
    StandardOperation,
)
from activities.catalogue.entries import CatalogueEntry
from activities.catalogue.http_call import (
    BodySource,
    HttpCall,
    Outcome,
    QuerySource,
    ReceiptRead,
    Rule,
)
from activities.catalogue.problems import CatalogueRefused
from activities.catalogue.rules import Mistake, operation_mistakes
from activities.catalogue.schemas import pointer_of
from activities.errors import CatalogueError
from activities.yaml import Problems, Tree, find, read_yaml
from activities.yaml.sources import pointer_parts
from interpreter.contract.operations import (
    Attempts,
    Completion,
    Condition,
    OperationContract,
    OperationId,
)

RESERVED_PRODUCTS = frozenset(
    {"breg", "casework", "messaging", "scheduling", "evaluation", "external", "coordinator"}
)
ANY_REFUSAL = "*"
"""In a contract's refusals: the product declares the codes of each call at run time."""

_MOST_MISTAKES = 100
"""Of one document; a file with more of them is of another kind."""

_OPERATION_ID: TypeAdapter[str] = TypeAdapter(OperationId)
_MODELS: tuple[type[BaseModel], ...] = (
    CatalogueDocument,
    OperationDocument,
    HttpCall,
    Rule,
    QuerySource,
    BodySource,
    ReceiptRead,
    Outcome,
    Attempts,
    Completion,
    Condition,
)
_KNOWN_MEMBERS = sorted(
    {field.alias or name for model in _MODELS for name, field in model.model_fields.items()}
)
_CODES = {
    "extra_forbidden": ("unknown-member", "the member is not known", "remove it or correct it"),
    "missing": ("missing-member", "the member is missing", "add it"),
}


def read_document(text: str | bytes, name: str, *, standard: bool = False) -> list[CatalogueEntry]:
    """The entries of one document, in its order.

    ``name`` stands for the document in places (``name:line /pointer``). Raises CatalogueRefused
    with every mistake: of the YAML with the reader's own codes, else of the document.
    """
    source = _tree(text, name)
    model = StandardDocument if standard else CatalogueDocument
    try:
        document = model.model_validate(source.to_json())
    except ValidationError as error:
        raise CatalogueRefused(_shape_mistakes(error, source, name)) from None
    mistakes: list[Mistake] = []
    if not standard and document.product in RESERVED_PRODUCTS:
        mistakes.append(
            Mistake(
                "/product",
                "reserved-product",
                "the product name is taken by the standard catalogue",
                "name the product otherwise",
            )
        )
    for operation_id, operation in document.operations.items():
        mistakes += _identity_mistakes(operation_id, document.product)
        mistakes += operation_mistakes(pointer_of(["operations", operation_id]), operation)
    if mistakes:
        raise CatalogueRefused([_refusal(mistake, source, name) for mistake in mistakes])
    return [_entry(key, document.product, value) for key, value in document.operations.items()]


def _tree(text: str | bytes, name: str) -> Tree:
    problems = Problems()
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    tree, _ = read_yaml(data, name, problems, substitution=True)
    if tree is None or problems.found:
        raise CatalogueRefused(
            [
                CatalogueError(
                    one.code,
                    one.message,
                    place=_place(name, one.spot.line, one.spot.pointer),
                    remedy=one.remedy,
                )
                for one in problems.found
            ]
        )
    return tree


def _place(name: str, line: int, pointer: str) -> str:
    return f"{name}:{line} {pointer or '/'}"


def _identity_mistakes(operation_id: str, product: str) -> list[Mistake]:
    place = pointer_of(["operations", operation_id])
    try:
        _OPERATION_ID.validate_python(operation_id)
    except ValidationError:
        remedy = "write product.operation/v1 in lower case"
        return [Mistake(place, "operation-id", "not an operation id", remedy)]
    if operation_id.partition(".")[0] != product:
        message = "the id belongs to another product"
        return [Mistake(place, "operation-id", message, f"begin it with {product}.")]
    return []


def _shape_mistakes(error: ValidationError, source: Tree, name: str) -> list[CatalogueError]:
    mistakes = []
    details = error.errors(include_url=False, include_input=False, include_context=False)
    for detail in details[:_MOST_MISTAKES]:
        location = [part for part in detail["loc"] if part != "[key]"]
        code, message, remedy = _CODES.get(
            detail["type"], ("invalid-value", detail["msg"].lower(), "correct it")
        )
        if code == "unknown-member":
            near = difflib.get_close_matches(str(location[-1]), _KNOWN_MEMBERS, 1, 0.75)
            remedy = f"did you mean {near[0]}" if near else remedy
        mistake = Mistake(pointer_of(location), code, message, remedy)
        mistakes.append(_refusal(mistake, source, name))
    return mistakes


def _refusal(mistake: Mistake, source: Tree, name: str) -> CatalogueError:
    return CatalogueError(
        f"catalogue.{mistake.code}",
        mistake.message,
        place=_place(name, find(source, pointer_parts(mistake.pointer)).line, mistake.pointer),
        remedy=mistake.remedy,
    )


def _entry(operation_id: str, product: str, operation: OperationDocument) -> CatalogueEntry:
    standard = (
        operation
        if isinstance(operation, StandardOperation)
        else StandardOperation(
            **{name: getattr(operation, name) for name in OperationDocument.model_fields}
        )
    )
    refusals = tuple(sorted(operation.http.refusals))
    contract = OperationContract(
        id=operation_id,
        product=product,
        title=operation.title,
        effect=operation.effect,
        recovery=operation.recovery,
        key=operation.key,
        preparation=standard.preparation,
        receipt=operation.http.receipt is not None,
        proposal=operation.proposal,
        receipt_window_seconds=operation.receipt_window_seconds,
        refusals=(ANY_REFUSAL,) if standard.open_refusals else refusals,
        completions=operation.completions,
        attempts=operation.attempts,
        request=operation.request,
        response=operation.response,
    )
    return CatalogueEntry(contract, operation.http, standard.adapter, standard.alias)
