"""Messages over mpi4py."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ucd_models._engine import Wait, given_up, split, started_with

# mpi4py's messages count in int.
_MAX_MESSAGE = 1 << 30


class MpiEngine:
    """An mpi4py communicator. timeout: of each message, in seconds; None: MPI decides."""

    in_stream = False
    number = 0

    def __init__(self, comm: Any, timeout: float | None) -> None:
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.ranks: Sequence[int] = range(comm.Get_size())
        self._timeout = timeout

    def settle(self, memories: frozenset[str]) -> None:
        pass

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        from mpi4py import MPI

        found = bytearray(len(mine) * self.comm.Get_size())
        request = self.comm.Iallgather([mine, MPI.BYTE], [found, MPI.BYTE])
        try:
            self._wait(request)
        except BaseException:
            given_up.append((request, mine, found))
            raise
        return split(bytes(found), len(mine))

    def barrier(self) -> None:
        self._wait(self.comm.Ibarrier())

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        from mpi4py import MPI

        # From the greatest tag down: programs have small ones.
        greatest = MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 32767
        tag = greatest - self.number % (greatest + 1)
        started: list[tuple[list[int], Wait]] = []
        for peers, start in ((receives, self.comm.Irecv), (sends, self.comm.Isend)):
            for peer, whole in peers.items():
                for piece in _pieces(whole):
                    begin = functools.partial(start, [piece, MPI.BYTE], peer, tag)
                    started.append(started_with(peer, begin, self._wait))
        return started

    def _wait(self, request: Any) -> None:
        if self._timeout is None:
            request.Wait()
            return
        began = time.monotonic()
        for tries in itertools.count():
            if request.Test():
                return
            if time.monotonic() - began > self._timeout:
                raise TimeoutError(f'nothing came or went for {self._timeout} seconds')
            if tries > 100:
                time.sleep(1e-4)


def _pieces(whole: Any) -> list[Any]:
    whole = memoryview(whole) if isinstance(whole, bytearray) else whole
    return [whole[at : at + _MAX_MESSAGE] for at in range(0, len(whole), _MAX_MESSAGE)]
