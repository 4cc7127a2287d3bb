"""The operations a definition may call: their contracts and the facts to carry them out."""

from activities.catalogue.catalogue import Catalogue
from activities.catalogue.entries import AdapterName, CatalogueEntry
from activities.catalogue.http_call import HttpCall, Outcome, Situation
from activities.catalogue.problems import CatalogueRefused
from activities.catalogue.reading import ANY_REFUSAL

__all__ = [
    "ANY_REFUSAL",
    "AdapterName",
    "Catalogue",
    "CatalogueEntry",
    "CatalogueRefused",
    "HttpCall",
    "Outcome",
    "Situation",
]
