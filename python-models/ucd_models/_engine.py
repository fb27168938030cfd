"""A redistribution that is prepared, and what carries its messages."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Wait = Callable[[], None]


class Engine(Protocol):
    """What carries messages."""

    rank: int
    ranks: Sequence[int]
    """All ranks, in the order of gather."""
    in_stream: bool
    """Whether messages follow the work in the current stream. After settle."""
    number: int
    """Of the move, among those of this engine's ranks. Set after the first gather. Messages that another move has given up
    are told from those of this one by it, where messages have tags."""

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        """The bytes of all ranks, which have as many each. like: an array of this rank, if it has one."""

    def settle(self, memories: frozenset[str]) -> None:
        """memories: where the arrays of all ranks are, "host" and "device". Collective, after the first gather."""

    def barrier(self) -> None:
        """What follows begins, in the current stream if in_stream, when all ranks have come here. After settle."""

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        """Starts messages to and from peers. Returns waits, each with the peers that it is for: none, if the engine does
        not tell them apart. A message that does not start fails in its wait."""


class Execution(Protocol):
    """A redistribution of certain arrays, which may be made as often as wanted."""

    direct_peers: tuple[int, ...]
    """The ranks with which this rank exchanges data without messages."""

    def run(self) -> None:
        """Moves what the arrays hold now: as Redistribution.execute."""


_last = 0
_counting = threading.Lock()


def next_number() -> int:
    """More than each number that this rank knows of a move."""
    return _last + 1


def count(number: int) -> None:
    """A move has this number, which is that of all its ranks."""
    global _last
    with _counting:
        _last = max(_last, number)


# Memory of messages that were given up, which an engine may still read and write, and their requests.
given_up: list[Any] = []


def started_with(peer: int, begin: Callable[[], Any], wait: Callable[[Any], None]) -> tuple[list[int], Wait]:
    """A message to or from a peer, and the wait for what begins it. If it does not begin, since the peer is gone for
    example, the wait raises, which names this peer and no other."""
    try:
        work = begin()
    except Exception as error:
        return [peer], functools.partial(_fail, error)
    return [peer], functools.partial(wait, work)


def _fail(error: Exception) -> None:
    raise error


def split(found: bytes, length: int) -> list[bytes]:
    """What ranks have given, one after the other."""
    return [found[at : at + length] for at in range(0, len(found), length)]
