"""What all ranks do, or none: one that cannot says so before the others wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ucd_models._engine import Engine
from ucd_models._errors import Naming

# Of a rank's reason, as many bytes reach the others.
_REASON = 1000
# And of so many ranks.
_NAMED = 4


def attempted(work: Callable[[], None]) -> Exception | None:
    """What it raised."""
    try:
        work()
    except Exception as problem:
        return problem
    return None


def agreed(engine: Engine, mine: bytes, problem: Exception | None, like: Any) -> list[bytes]:
    """What all ranks say: as many bytes each. Raises on every rank if one has a problem: its own exception on that one,
    ValueError with rank and reason on the others. Raises RedistributionError if the ranks do not all come."""
    found = _gathered(engine, (b'-' if problem is None else b'!') + mine, like)
    if all([said.startswith(b'-') for said in found]):
        return [said[1:] for said in found]
    reason = '' if problem is None else f'{type(problem).__name__}: {problem}'
    reasons = _gathered(engine, reason.encode('utf-8', 'replace')[:_REASON].ljust(_REASON, b'\0'), like)
    if problem is not None:
        if len(problem.args) == 1 and isinstance(problem.args[0], str):
            problem.args = (f'on rank {engine.rank}: {problem.args[0]}',)
        raise problem
    told = [
        f'on rank {rank}: ' + text.rstrip(b'\0').decode('utf-8', 'replace')
        for rank, said, text in zip(engine.ranks, found, reasons)
        if not said.startswith(b'-')
    ]
    more = f'; and on {len(told) - _NAMED} more ranks' if len(told) > _NAMED else ''
    raise ValueError('; '.join(told[:_NAMED]) + more)


def _gathered(engine: Engine, mine: bytes, like: Any) -> list[bytes]:
    with Naming('the ranks could not compare what they are about to do', ()):
        found = engine.gather(mine, like)
        if len(found) != len(engine.ranks) or any([len(said) != len(mine) for said in found]):
            raise ValueError(f'what came is not {len(mine)} bytes of each rank')
    return found
