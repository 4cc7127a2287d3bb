"""A worker that dies, or a line that breaks, with a request or an answer half way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from adapter.ledger import ActKind
from examples.products.client import PretendProducts
from interpreter.contract.records import RunState
from tests.crash.conftest import Crashing, crashing_deployment
from tests.crash.lines import CutLine
from tests.crash.test_effects import one_call
from tests.recovery.conftest import SEND

_MARK = b"/messaging/v1/messages"
# The request's first byte, its middle and all but its last byte; the same of the answer.
CUTS = [("request", 1), ("request", 200), ("request", -1), ("answer", 1), ("answer", -1)]

pytestmark = [pytest.mark.timeout(240), pytest.mark.exhaustive]
Deploy = Callable[[str], AbstractAsyncContextManager[Crashing]]
LineTo = Callable[[str, int], CutLine]


@pytest.fixture
def line_to(products: PretendProducts) -> LineTo:
    """Makes a line to the products that is cut after so many bytes of a direction."""

    def made(direction: str, after: int) -> CutLine:
        line = CutLine(products.base_url, _MARK)
        setattr(line, direction, after)
        return line

    return made


@pytest.fixture
def deploy(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
) -> Deploy:
    """Makes the deployment, given the address at which it finds its products."""
    parts = (tmp_path, database_url, temporal_address, task_queue, products)
    return lambda address: crashing_deployment(*parts, address)


@pytest.mark.parametrize(("direction", "after"), CUTS)
async def test_a_worker_that_dies_with_bytes_on_the_line_sends_once_more_under_one_key(
    line_to: LineTo,
    deploy: Deploy,
    direction: str,
    after: int,
) -> None:
    line = line_to(direction, after)
    async with line.open() as address, deploy(address) as crashing:
        run_id = await crashing.start(one_call(SEND))
        first = await crashing.worker()
        line.on_cut = first.kill
        await line.cut.wait()
        await first.wait()
        await crashing.worker()
        assert await crashing.settled(run_id) is RunState.FINISHED
    assert crashing.applied(SEND) == [1]
    assert len(set(crashing.keys(SEND))) == 1


@pytest.mark.parametrize(("direction", "after"), CUTS)
async def test_a_line_that_breaks_leaves_unknown_and_a_retry_applies_it_once(
    line_to: LineTo,
    deploy: Deploy,
    direction: str,
    after: int,
) -> None:
    line = line_to(direction, after)
    async with line.open() as address, deploy(address) as crashing:
        run_id = await crashing.start(one_call(SEND))
        await crashing.worker()
        assert await crashing.settled(run_id) is RunState.ATTENTION
        assert crashing.applied(SEND) == ([1] if direction == "answer" else [])
        assert (await crashing.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        assert await crashing.settled(run_id) is RunState.FINISHED
    assert crashing.applied(SEND) == [1]
    assert len(set(crashing.keys(SEND))) == 1
