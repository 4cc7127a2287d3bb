"""Requests to products over HTTP: the only room that writes a byte to one.

A call is prepared, sent once and classified; what is certain about it is never guessed.
"""

from activities.products.breaker import Breaker
from activities.products.calls import NotPrepared
from activities.products.outcomes import Sent
from activities.products.products import Products

__all__ = ["Breaker", "NotPrepared", "Products", "Sent"]
