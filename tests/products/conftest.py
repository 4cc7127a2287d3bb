"""A caller of the pretend products: plain HTTP with the bearer that they take."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from tests.fixtures.products import products, products_server

__all__ = ["caller", "products", "products_server"]


@pytest.fixture
def caller(products: PretendProducts) -> Iterator[httpx.Client]:
    """An HTTP client with good credentials and a short time-out."""
    headers = {"authorization": f"Bearer {DEVELOPMENT_BEARER}"}
    with httpx.Client(base_url=products.base_url, headers=headers, timeout=3) as client:
        yield client
