"""Redistributions of which all ranks are in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ucd
from ucd import interop
from ucd.interop import meaning_of
from ucd_models._exchange import Plan, require_known
from ucd_models._launches import Moves
from ucd_models._overlap import Place, require_apart
from ucd_models._placements import Distribution
from ucd_models._routing import WHOLE, Route, routing


class Local:
    """Each route is a copy from layout to layout."""

    direct_peers: tuple[int, ...] = ()

    def __init__(self, plan: Plan, sources: Mapping[str, Any], targets: Mapping[str, Any]) -> None:
        by_memory: dict[tuple[str, str], Moves] = {}
        written: dict[tuple[str, int], Place] = {}
        read: dict[tuple[str, int], Place] = {}
        require_known(plan.routings, sources, targets)
        for name, of_array in plan.routings.items():
            ours, theirs = sources[name], targets[name]
            for given, held, what in ((ours, of_array.source, 'sources'), (theirs, of_array.target, 'targets')):
                if len(given) != held.size:
                    raise ValueError(f'{what}[{name!r}] has {len(given)} arrays for {held.size} ranks')
            for route in of_array.routes:
                at = route._places
                a, b = ours[at[0]], theirs[at[1]]
                if (name, at[0]) not in read:
                    read[name, at[0]] = of_array.place_of(a, 0, route.source, f'sources[{name!r}][{at[0]}]')
                if (name, at[1]) not in written:
                    written[name, at[1]] = of_array.place_of(b, 1, route.target, f'targets[{name!r}][{at[1]}]')
                send = route.send_type(read[name, at[0]].strides)
                receive = route.receive_type(written[name, at[1]].strides)
                moves = by_memory.setdefault((ucd.memory(a), ucd.memory(b)), Moves(plan.saturate))
                moves.add(of_array.converts, 'copy', a, b, send, 1, receive, 1)
        require_apart(written.values(), read.values())
        self._moves = list(by_memory.values())
        for moves in self._moves:
            moves.prepare()

    def run(self) -> None:
        for moves in self._moves:
            moves.run(True)


def redistribute(
    arrays: Sequence[Any],
    source: Distribution,
    target: Distribution,
    out: Sequence[Any] | None = None,
    *,
    hints: ucd.Hints | None = None,
) -> Sequence[Any]:
    """Moves an array from one distribution to another within this process, and returns the arrays of
    the target's ranks: out, or new ones of the library and memory of arrays[0].

    arrays has what each rank of the source has, in the order of the mesh; memory-mapped files will do. An entry may
    be None where no route begins or ends. Arrays have the local shapes, and any strides. Done on return.

    Raises ValueError if a shape is not the local one, if elements differ in size, or if an array of out has bytes in
    common with another array; NotSupported if elements differ in byte order or in the unit of dates; and what ucd.copy
    raises.
    """
    element = interop.Element(*interop.described(arrays[0])[1:])
    of_array = routing(source, target, element.type)
    if out is None:
        out = [interop.new_like(arrays[0], target.local_shape(rank)) for rank in target.ranks]
    for given, held, what in ((arrays, source, 'arrays'), (out, target, 'out')):
        if len(given) != held.size:
            raise ValueError(f'{what} has {len(given)} arrays for {held.size} ranks')
    places: list[dict[int, Place]] = [{}, {}]

    def type_of(route: Route, side: int) -> ucd.Type:
        at = route._places[side]
        if at not in places[side]:
            what = f'{("arrays", "out")[side]}[{at}]'
            rank = (route.source, route.target)[side]
            places[side][at] = of_array.place_of((arrays, out)[side][at], side, rank, what, meaning_of(element))
        return route._type(side, places[side][at].strides, WHOLE)

    # All types are made first: an array of a wrong shape leaves the others as they were.
    moves = [(route, type_of(route, 0), type_of(route, 1)) for route in of_array.routes]
    require_apart(places[1].values(), places[0].values())
    for route, send, receive in moves:
        ucd.copy_bytes(arrays[route._places[0]], out[route._places[1]], src_type=send, dst_type=receive, hints=hints)
    return out
