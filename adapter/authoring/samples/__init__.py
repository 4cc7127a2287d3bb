"""Values made up from JSON Schemas (draft 2020-12): each one fits its schema, or there is none."""

from __future__ import annotations

from adapter.authoring.samples.choices import Choices, Seeded
from adapter.authoring.samples.generator import NoSample, generate
from adapter.authoring.samples.variants import variants

__all__ = ["Choices", "NoSample", "Seeded", "generate", "variants"]
