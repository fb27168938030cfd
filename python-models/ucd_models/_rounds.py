"""What a rank sends and receives in each round of a redistribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ucd_models._routing import Cut, Route

# Where the elements of a route begin in a message: at a multiple of this, so that they can be converted there.
_ALIGNMENT = 16


class Share(NamedTuple):
    """A route of an array, or a part of it, in one round."""

    name: str
    route: Route
    cut: Cut

    @property
    def nbytes(self) -> int:
        """Bytes in a message."""
        return self.route._elements(self.cut) * self.route._routing.wire_element.size


class Round(NamedTuple):
    """What a rank sends, receives, and keeps in one round: shares by peer."""

    sends: dict[int, list[Share]]
    receives: dict[int, list[Share]]
    keeps: list[Share]

    def without(self, peers: Sequence[int]) -> Round | None:
        """What is left if this rank moves by itself what it keeps and what it exchanges with some peers; None: nothing."""
        sends, receives = [{p: s for p, s in way.items() if p not in peers} for way in (self.sends, self.receives)]
        return Round(sends, receives, []) if sends or receives else None


def places(shares: Sequence[Share]) -> tuple[list[int], int]:
    """Where the shares of a message begin, and how long it is."""
    found = []
    at = 0
    for share in shares:
        found.append(at)
        at += -(-share.nbytes // _ALIGNMENT) * _ALIGNMENT
    return found, at
