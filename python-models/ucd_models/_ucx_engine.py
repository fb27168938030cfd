"""Redistributions over UCX, by pipelines of libucd-ucx."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ucd import NotSupported, interop
from ucd_models._agreement import attempted
from ucd_models._engine import Wait, started_with

class UcxEngine:
    """A worker of UCX for Redistribution.execute, with a pipeline of libucd-ucx: between processes that have no MPI and
    no torch.distributed, on the host and on devices.

    rank      this process's, of 0 to the number of processes - 1
    exchange  a function that takes this rank's bytes and returns those of all ranks, in order: comm.allgather of
              mpi4py, or what a program makes of a store of its own. Called once here, and once in each execute or
              prepare, by all ranks; and once more there if one of them refuses its arguments.
    keys      of libucd-ucx, such as {'ucd.ucx.direct': 'yes'} if all ranks trust each other

    Collective. Raises NotSupported if the package ucd was built without UCX, ValueError for an unknown key or a rank that
    another process has, RuntimeError if UCX refuses; on the other ranks ValueError with the reason.
    """

    def __init__(
        self, rank: int, exchange: Callable[[bytes], Sequence[bytes]], keys: Mapping[str, str] | None = None
    ) -> None:
        self.rank = rank
        self._exchange = exchange
        problem = attempted(lambda: self._open(keys))
        mine = str(problem).encode('utf-8', 'replace') if problem else self._worker.address()
        found = exchange((b'!' if problem else b'-') + str(rank).encode() + b' ' + mine)
        if problem:
            raise problem
        self._addresses = [_address_of(number, len(found), said) for number, said in enumerate(found)]

    def _open(self, keys: Mapping[str, str] | None) -> None:
        try:
            from ucd import ucx
        except ImportError as e:
            raise NotSupported(f'the package ucd was built without UCX: {e}') from None
        self._worker = ucx.Worker(dict(keys or {}))

    def __repr__(self) -> str:
        return f'<ucd_models.UcxEngine, rank {self.rank} of {len(self._addresses)}>'


def _address_of(number: int, ranks: int, said: bytes) -> bytes:
    """The address that a rank has given. Raises ValueError, as all ranks do, if it is another rank or has none."""
    rank, _, what = bytes(said[1:]).partition(b' ')
    if rank != str(number).encode():
        raise ValueError(f'rank {rank.decode("utf-8", "replace")} of {ranks} says that it is the one in place {number}')
    if said[:1] != b'-':
        raise ValueError(f'on rank {number}: {what.decode("utf-8", "replace")}')
    return what


class UcxMessages:
    """The messages of a move over an engine, each with a time-out in seconds. None: UCX decides."""

    in_stream = False
    number = 0

    def __init__(self, engine: UcxEngine, timeout: float | None) -> None:
        self.rank = engine.rank
        self.ranks: Sequence[int] = range(len(engine._addresses))
        self._engine = engine
        self._timeout = timeout

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        return list(self._engine._exchange(mine))

    def settle(self, memories: frozenset[str]) -> None:
        pass

    def barrier(self) -> None:
        self._engine._exchange(b'')

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        worker = self._engine._worker
        started: list[tuple[list[int], Wait]] = []
        for peers, start in ((receives, worker.receive), (sends, worker.send)):
            for peer, whole in peers.items():
                # Messages of a move from one rank to another are matched in their order, by the sender's rank.
                tag = self.number % 2**32 << 32 | (self.rank if peers is sends else peer)
                begin = functools.partial(self._begin, start, peer, whole, tag)
                started.append(started_with(peer, begin, self._wait))
        if sends:  # of all endpoints together
            started.append((list(sends) if len(sends) == 1 else [], functools.partial(self._wait, worker.flush)))
        return started

    def _begin(self, start: Callable[..., int], peer: int, whole: Any, tag: int) -> Callable[[float | None], bool]:
        worker = self._engine._worker
        worker.connect(peer, self._engine._addresses[peer])
        return functools.partial(worker.wait, start(peer, interop.address(whole), len(whole), tag))

    def _wait(self, wait: Callable[[float | None], bool]) -> None:
        if not wait(self._timeout):
            raise TimeoutError(f'nothing came or went for {self._timeout} seconds')
