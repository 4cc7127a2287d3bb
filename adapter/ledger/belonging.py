"""Whether a database, a deployment and its keys belong together."""

from __future__ import annotations

from dataclasses import dataclass

from adapter.crypto import Keyed, Sealer
from adapter.errors import Refused
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries

_SQL = queries("run_keys")
_CONTROL = queries("control")
_REMEDY = "start with the key set that this database was written with"


@dataclass(frozen=True, slots=True)
class _Deployment:
    """Which deployment a database belongs to, and the mark of its admission key."""

    deployment: str | None
    custody: str | None


@dataclass(frozen=True, slots=True)
class _StateKey:
    version: int
    custody: str
    used: bool


@dataclass(frozen=True, slots=True)
class _Version:
    version: int


async def require_ours(pool: Pool, keyed: Keyed, sealer: Sealer) -> None:
    """Compare deployment and keys with the marks in the database; an empty one takes ours.

    A start is the place to find a wrong key set: later it would be one error for each run. Refused
    ``ledger.other-deployment``; ``ledger.other-keys`` for an admission or sealing key that is not
    the one of its version; ``seal.key-missing`` for a sealing key version that is still in use and
    not in the key set.
    """
    custody = keyed.custody()
    ours = {"deployment": sealer.deployment, "custody": custody}
    await pool.ask(Question(_CONTROL["bind_deployment"], ours, _Deployment))
    bound = await pool.one(Question(_CONTROL["deployment"], {}, _Deployment))
    if bound is None or bound.deployment != sealer.deployment:
        raise Refused(
            "ledger.other-deployment",
            "the database belongs to another deployment",
            place="ledger",
            remedy="check the database address and the deployment's name",
        )
    if bound.custody != custody:
        raise Refused(
            "ledger.other-keys",
            "the database was written with another admission key",
            place="ledger",
            remedy=_REMEDY,
        )
    await _require_state_keys(pool, sealer)


async def _require_state_keys(pool: Pool, sealer: Sealer) -> None:
    marks = sealer.marks()
    known = await _require_known(pool, marks)
    if sealer.active not in known:
        noted = {"version": sealer.active, "custody": marks[sealer.active]}
        await pool.ask(Question(_SQL["note_state_key"], noted, _Version))
        # Somebody else may have begun with the same version and another key in this instant.
        await _require_known(pool, marks)


async def _require_known(pool: Pool, marks: dict[int, str]) -> set[int]:
    known = await pool.ask(Question(_SQL["state_keys"], {}, _StateKey))
    for key in known:
        mark = marks.get(key.version)
        if mark is None and key.used:
            raise Refused(
                "seal.key-missing",
                f"the database still uses sealing key version {key.version}",
                place=f"/keys/state/versions/{key.version}",
                remedy="start with that version in the key set; `coordinatorctl keys reseal` makes"
                " it unnecessary",
            )
        if mark is not None and mark != key.custody:
            raise Refused(
                "ledger.other-keys",
                f"the database was written with another sealing key version {key.version}",
                place=f"/keys/state/versions/{key.version}",
                remedy=_REMEDY,
            )
    return {key.version for key in known}
