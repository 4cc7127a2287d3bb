"""Names the fixture plug-ins; the fixtures themselves live in `tests/fixtures/`."""

from __future__ import annotations

pytest_plugins = [
    "tests.fixtures.order",
    "tests.fixtures.environment",
    "tests.fixtures.servers",
    "tests.fixtures.postgres",
    "tests.fixtures.products",
    "tests.fixtures.temporal",
]
