"""Redistributions of which all ranks are in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ucd
from ucd import interop
from ucd.interop import Meaning, meaning_of
from ucd_models._exchange import Plan, require_known
from ucd_models._launches import Moves
from ucd_models._overlap import Place, require_apart
from ucd_models._placements import Distribution
from ucd_models._routing import Routing, routing


def _copies(
    of_arrays: Iterable[tuple[Routing, tuple[Sequence[Any], Sequence[Any]], tuple[str, str]]],
    saturate: bool = False,
    hints: ucd.Hints | None = None,
    meaning: Meaning | None = None,
) -> list[Moves]:
    """The copies of all routes, prepared. of_arrays: for each array, what the ranks of both sides have, and what that is called.
    meaning: as Routing.place_of."""
    by_memory: dict[tuple[str, str], Moves] = {}
    places: tuple[dict[str, Place], dict[str, Place]] = ({}, {})
    for of_array, arrays, names in of_arrays:
        for given, held, what in zip(arrays, (of_array.source, of_array.target), names):
            if len(given) != held.size:
                raise ValueError(f'{what} has {len(given)} arrays for {held.size} ranks')
        for route in of_array.routes:
            ends = []
            for side, (k, rank) in enumerate(zip(route._places, (route.source, route.target))):
                what = f'{names[side]}[{k}]'
                if what not in places[side]:
                    places[side][what] = of_array.place_of(arrays[side][k], side, rank, what, meaning)
                ends.append((arrays[side][k], route._type(side, places[side][what].strides)))
            (a, send), (b, receive) = ends
            moves = by_memory.setdefault((ucd.memory(a), ucd.memory(b)), Moves(saturate, (hints, hints)))
            moves.add(of_array.converts, 'copy', a, b, send, 1, receive, 1)
    require_apart(places[1].values(), places[0].values())
    for moves in by_memory.values():
        moves.prepare()
    return list(by_memory.values())


class Local:
    """Each route is a copy from layout to layout."""

    direct_peers: tuple[int, ...] = ()

    def __init__(self, plan: Plan, sources: Mapping[str, Any], targets: Mapping[str, Any]) -> None:
        require_known(plan.routings, sources, targets)
        of_arrays = [
            (of_array, (sources[name], targets[name]), (f'sources[{name!r}]', f'targets[{name!r}]'))
            for name, of_array in plan.routings.items()
        ]
        self._moves = _copies(of_arrays, plan.saturate)

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
    for moves in _copies([(of_array, (arrays, out), ('arrays', 'out'))], hints=hints, meaning=meaning_of(element)):
        moves.run(False)
    return out
