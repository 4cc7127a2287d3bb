"""Keys, sealed values and keyed commitments: the only folder that imports cryptography."""

from __future__ import annotations

from adapter.crypto.envelopes import SealError
from adapter.crypto.journal_keys import PublicKeys, SigningKeys
from adapter.crypto.keyed import Keyed
from adapter.crypto.keys import KeyRing, new_secret
from adapter.crypto.run_keys import RunKeyWrapping, RunSealer, new_data_key
from adapter.crypto.sealing import Sealer

__all__ = [
    "KeyRing",
    "Keyed",
    "PublicKeys",
    "RunKeyWrapping",
    "RunSealer",
    "SealError",
    "Sealer",
    "SigningKeys",
    "new_data_key",
    "new_secret",
]
