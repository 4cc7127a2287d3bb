"""Keys, sealed values and keyed commitments: the only folder that imports cryptography."""

from __future__ import annotations

from adapter.crypto.keyed import Keyed
from adapter.crypto.keys import KeyRing, new_secret
from adapter.crypto.sealing import Sealer, SealError

__all__ = ["KeyRing", "Keyed", "SealError", "Sealer", "new_secret"]
