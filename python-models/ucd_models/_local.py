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
    meaning: Meaning | None = None,
    in_their_place: Mapping[str, Place] | None = None,
) -> list[tuple[bool, Any, Any, ucd.Type, ucd.Type]]:
    """The copies of all routes: whether one converts, both arrays, and their types. of_arrays: for each array, what the ranks of
    both sides have, and what that is called. meaning: as Routing.place_of. in_their_place: as require_apart."""
    copies = []
    places: tuple[dict[tuple[str, int], Place], dict[tuple[str, int], Place]] = ({}, {})
    for of_array, arrays, names in of_arrays:
        for given, held, what in zip(arrays, (of_array.source, of_array.target), names):
            if len(given) != held.size:
                raise ValueError(f'{what} has {len(given)} arrays for {held.size} ranks')
        for route in of_array.routes:
            at = route._places
            types = []
            for side in (0, 1):
                key = names[side], at[side]
                if key not in places[side]:
                    rank, what = (route.source, route.target)[side], f'{names[side]}[{at[side]}]'
                    places[side][key] = of_array.place_of(arrays[side][at[side]], side, rank, what, meaning)
                types.append(route._type(side, places[side][key].strides))
            copies.append((of_array.converts, arrays[0][at[0]], arrays[1][at[1]], types[0], types[1]))
    # All types are made first: an array of a wrong shape leaves the others as they were.
    require_apart(places[1].values(), places[0].values(), in_their_place)
    return copies


class Local:
    """Each route is a copy from layout to layout."""

    direct_peers: tuple[int, ...] = ()

    def __init__(
        self, plan: Plan, sources: Mapping[str, Any], targets: Mapping[str, Any], places: Mapping[str, Place] | None = None
    ) -> None:
        """places: as ScaledRun has them."""
        require_known(plan.routings, sources, targets)
        of_arrays = [
            (of_array, (sources[name], targets[name]), (f'sources[{name!r}]', f'targets[{name!r}]'))
            for name, of_array in plan.routings.items()
        ]
        self._moves: dict[tuple[str, str], Moves] = {}
        for converts, a, b, send, receive in _copies(of_arrays, in_their_place=places):
            moves = self._moves.setdefault((ucd.memory(a), ucd.memory(b)), Moves(plan.saturate))
            moves.add(converts, 'copy', a, b, send, 1, receive, 1)
        for moves in self._moves.values():
            moves.prepare()

    def run(self) -> None:
        for moves in self._moves.values():
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
    the target's ranks: out, or new ones of the library and memory of the first of arrays that is not None.

    arrays has what each rank of the source has, in the order of the mesh; memory-mapped files will do. An entry may
    be None where no route begins or ends. Arrays have the local shapes, and any strides. Done on return.

    Raises ValueError if a shape is not the local one, if elements differ in size, or if an array of out has bytes in
    common with another array; NotSupported if elements differ in byte order or in the unit of dates; and what ucd.copy
    raises.
    """
    like = next((array for array in arrays if array is not None), None)
    if like is None:
        raise ValueError('arrays has no array')
    element = interop.Element(*interop.described(like)[1:])
    of_array = routing(source, target, element.type)
    if out is None:
        out = [interop.new_like(like, target.local_shape(rank)) for rank in target.ranks]
    for _, a, b, send, receive in _copies([(of_array, (arrays, out), ('arrays', 'out'))], meaning_of(element)):
        ucd.copy_bytes(a, b, src_type=send, dst_type=receive, hints=hints, wait=True)
    return out
