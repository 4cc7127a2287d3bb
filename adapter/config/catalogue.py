"""The operations that a deployment knows: the standard ones and its own documents."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from activities.catalogue import Catalogue
from activities.yaml import LARGEST_FILE_BYTES
from adapter.config.files import read_named_file
from adapter.config.loading import Runtime


def catalogue_of(runtime: Runtime | None) -> Catalogue:
    """The standard catalogue and the deployment's own documents.

    Raises Usage ``catalogue.unreadable`` and CatalogueRefused.
    """
    documents = {} if runtime is None else read_documents(runtime.catalogue_files())
    return Catalogue.with_documents(documents) if documents else Catalogue.standard()


def read_documents(files: Iterable[Path]) -> dict[str, bytes]:
    """The contents of catalogue documents, by path; Usage ``catalogue.unreadable``."""
    return {
        str(path): read_named_file(
            path, LARGEST_FILE_BYTES, code="catalogue.unreadable", what="catalogue document"
        )
        for path in files
    }
