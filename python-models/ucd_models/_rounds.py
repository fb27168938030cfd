"""What a rank sends and receives in each round of a redistribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ucd_models import _routes
from ucd_models._fans import Fan
from ucd_models._routing import Cut, Routing

# Where the elements of a route begin in a message: at a multiple of this, so that they can be converted there.
_ALIGNMENT = 16


class Share(NamedTuple):
    """What a rank exchanges with others of an array, or of a part of it, in one round."""

    name: str
    routing: Routing
    fan: Fan
    """Its places are ranks."""

    @property
    def nbytes(self) -> int:
        """Bytes in a message."""
        return self.fan.elements * self.routing.wire_element.size


class Round(NamedTuple):
    """What a rank sends, receives, and keeps in one round."""

    sends: list[Share]
    receives: list[Share]
    keeps: list[Share]

    def without(self, peers: Sequence[int]) -> Round | None:
        """What is left if this rank moves by itself what it keeps and what it exchanges with some peers; None: nothing."""
        sends, receives = [
            [
                share._replace(fan=fan)
                for share in way
                for fan in share.fan.moved_to([None if place in peers else place for place in share.fan.places])
            ]
            for way in (self.sends, self.receives)
        ]
        return Round(sends, receives, []) if sends or receives else None


def round_of(members: Iterable[tuple[str, Routing, Cut]], rank: int) -> Round:
    """What a rank does of some arrays and parts of arrays in a round."""
    made = Round([], [], [])
    for name, of_array, cut in members:
        for side, way in ((0, made.sends), (1, made.receives)):
            fans, kept = of_array.fans(side, rank)
            way.extend([Share(name, of_array, fan) for fan in of_array.cut(fans, rank, cut)])
        if kept:
            made.keeps.extend([Share(name, of_array, fan) for fan in of_array.cut([kept], rank, cut)])
    return made


class Messages:
    """The messages of some shares, one after the other in memory.

    stretches  shares of peers that lie at equal distances: with the first byte, and the distance
    nbytes     of all
    """

    def __init__(self, shares: Sequence[Share]) -> None:
        def room(share: Share) -> int:
            return -(-share.nbytes // _ALIGNMENT) * _ALIGNMENT

        fans = [(share.fan.place, share.fan.step, share.fan.number, room(share)) for share in shares]
        peers, begins, found = _routes.layout(fans)
        self.peers, self._begins = memoryview(peers).cast('q'), memoryview(begins).cast('q')
        self.nbytes = self._begins[-1]
        self.stretches: list[tuple[Share, int, int]] = []
        for share, some in zip(shares, found):
            for k, number, stride, at, step in some:
                fan = share.fan if number == share.fan.number else share.fan.part(k, number, stride)
                if step < 0:  # ranks in descending order
                    fan, at, step = fan.part(number - 1, number, -1), at + (number - 1) * step, -step
                self.stretches.append((share._replace(fan=fan), at, step))

    def of_peers(self, memory: Any) -> dict[int, Any]:
        """The parts of a memory of nbytes that are the message of each peer."""
        return {peer: memory[self._begins[k] : self._begins[k + 1]] for k, peer in enumerate(self.peers)}
