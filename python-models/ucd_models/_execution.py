"""What makes a redistribution, by the engine that a program has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ucd_models._agreement import attempted
from ucd_models._engine import Engine, Execution
from ucd_models._exchange import Exchange, Plan
from ucd_models._local import Local
from ucd_models._mpi_engine import MpiEngine
from ucd_models._torch_engine import TorchEngine
from ucd_models._ucx_engine import UcxEngine, UcxMessages


def engine_of(given: Any, timeout: float | None) -> Engine:
    if hasattr(given, 'Get_rank') and hasattr(given, 'Isend'):
        return MpiEngine(given, timeout)
    if isinstance(given, UcxEngine):
        return UcxMessages(given, timeout)
    if given is sys.modules.get('torch.distributed'):
        return TorchEngine(None, timeout)
    if any(cls.__name__ == 'ProcessGroup' for cls in type(given).__mro__):
        return TorchEngine(given, timeout)
    raise TypeError(f'{given!r} is neither a process group of torch.distributed, a communicator of mpi4py, nor a UcxEngine')


def execution_of(
    plan: Plan,
    engine: Any,
    sources: Mapping[str, Any],
    targets: Mapping[str, Any],
    timeout: float | None,
    direct: bool,
) -> Execution:
    """engine: None if all ranks are in this process."""
    if engine is None:
        scaled = plan.scaled(None, sources, targets)
        if scaled is None:
            return Local(plan, sources, targets)
        if scaled.problem:
            raise scaled.problem
        return scaled.around(Local(plan, *scaled.arrays, scaled.places), True)
    problem = attempted(lambda: _require_time_out(timeout))
    via = engine_of(engine, None if problem else timeout)
    scaled = plan.scaled(via.rank, sources, targets)
    if scaled is not None:
        problem = problem or scaled.problem
        sources, targets = scaled.arrays
    if direct and isinstance(via, UcxMessages):
        direct, problem = False, problem or ValueError('direct needs torch.distributed or mpi4py; for a UcxEngine, set ucd.ucx.direct')
    places = None if scaled is None else scaled.places
    move = Exchange(plan, via, sources, targets, direct, problem, places)
    return move if scaled is None else scaled.around(move, via.in_stream)


def _require_time_out(timeout: float | None) -> None:
    if timeout is not None and not timeout > 0:
        raise ValueError(f'timeout is {timeout}; it must be > 0')
