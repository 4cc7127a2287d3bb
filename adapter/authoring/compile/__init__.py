"""From a checked draft to the definition of a package."""

from adapter.authoring.compile.lower import lower

__all__ = ["lower"]
