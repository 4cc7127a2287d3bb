"""A client with the project's own converter, and both ways to run workflows."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner

from tests.fixtures.clear import clear_converter
from tests.fixtures.sandbox import sandboxed_runner


@pytest.fixture
async def client(temporal_address: str) -> Client:
    """A client with the project's own converter."""
    return await Client.connect(temporal_address, data_converter=clear_converter())


@pytest.fixture(params=["unsandboxed", "sandboxed"])
def runner(request: pytest.FixtureRequest) -> Any:
    """Both ways to run workflows: production's and the checking one."""
    made: dict[str, Any] = {
        "unsandboxed": UnsandboxedWorkflowRunner,
        "sandboxed": sandboxed_runner,
    }
    return made[request.param]()
