"""The service on a real ledger, for tests of who may call."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.adapter.access.deployed import Deployed, deployed


@pytest.fixture
async def site(
    database_url: str, owner_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Deployed]:
    """The service, which waits for no outcome: Temporal is away."""
    monkeypatch.setattr("adapter.api.acts._WAIT_SECONDS", 0.0)
    monkeypatch.setattr("adapter.api.signals._WAIT_SECONDS", 0.0)
    async with deployed(database_url, owner_url) as running:
        yield running
