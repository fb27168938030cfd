"""Redistributions that convert with scales: a rank's own arrays become floats of 8 bits before they move, or wider ones
behind that."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models._agreement import attempted
from ucd_models._engine import Execution
from ucd_models._kernel_moves import SMALL, Digit, KernelMove, Member, one_memory
from ucd_models._overlap import Place
from ucd_models._placements import arithmetic
from ucd_models._routing import Routing, common
from ucd_models._scales import Scales, require_scalable


class Scaled(NamedTuple):
    """An array whose elements are converted with scales."""

    routing: Routing
    """With the elements of both sides, as the program has them."""
    scales: Scales | None
    """Of the whole array; None: this rank converts nothing."""

    @property
    def side(self) -> int:
        """Whose arrays are converted: the source's (0) or the target's (1)."""
        require_scalable(self.routing.element, self.routing.target_element)
        return 1 if self.routing.element.name in SMALL else 0

    @property
    def small(self) -> ucd.Type:
        return (self.routing.target_element, self.routing.element)[self.side]

    def converted(self, array: Any, rank: int, saturate: bool, what: str) -> tuple[Any, KernelMove | None, Place]:
        """Memory for the floats of 8 bits of a rank's local array, what converts them, and where the array lies."""
        if self.scales is None:
            raise ValueError(f'{what} is converted on this rank, which has no scales of it')
        side, routing = self.side, self.routing
        place = routing.place_of(array, side, rank, what)
        small = interop.new_bytes(array, math.prod(place.shape)).reshape(place.shape)
        if 0 in place.shape:
            return small, None, place
        interop.placed(array, side == 1)  # raises if a target is read-only
        scales = self.scales.placed(routing.source.shape)
        like = one_memory([array, *self.scales.arrays()])
        spans = self._spans(rank, scales[2])
        strides = place.strides, interop.shape_and_strides(small)[1]
        addresses = place.address, interop.address(small)
        if side == 1:
            strides, addresses = strides[::-1], addresses[::-1]
        members = list(_members(spans, addresses, strides, scales))
        kept = array, small, self.scales
        return small, KernelMove(routing.element, routing.target_element, saturate, members, like, kept), place

    def _spans(self, rank: int, blocks: Sequence[tuple[int, int]]) -> list[list[tuple[int, int, int, int, int]]]:
        """For each dimension, the indices of the local array in spans: global and local index of the first block, how long
        blocks are, how many there are, and from which of the array's indices to the next one."""
        held = (self.routing.source, self.routing.target)[self.side]
        at = held.position(rank)
        assert at is not None
        found = []
        for n, splits, part, (block, _) in zip(held.shape, held.roles.arithmetic, held.roles.parts(at), blocks):
            spans = []
            for first, local, length, step, local_step, count in common(n, arithmetic(()), 0, splits, part):
                if count > 1 and step % block == 0 and local_step == length:
                    spans.append((first, local, length, count, step))
                else:
                    spans += [(first + k * step, local + k * local_step, length, 1, 0) for k in range(count)]
            found.append(spans)
        return found


def _members(
    spans: Sequence[Sequence[tuple[int, int, int, int, int]]],
    addresses: tuple[int, int],
    strides: tuple[Sequence[int], Sequence[int]],
    scales: tuple[int, float, Sequence[tuple[int, int]]],
) -> Iterator[Member]:
    """scales: as Scales.placed gives them."""
    scales_at, number, blocks = scales
    for chosen in itertools.product(*spans):
        starts = list(addresses)
        scale = scales_at
        digits = []
        for (first, local, length, count, step), a, b, (block, scale_step) in zip(chosen, *strides, blocks):
            starts = [starts[0] + local * a, starts[1] + local * b]
            scale += first // block * scale_step
            digits.append(Digit(length, a, b, block, first % block, scale_step))
            if count > 1:
                digits.append(Digit(count, length * a, length * b, 1, 0, step // block * scale_step))
        yield Member(starts[0], starts[1], digits, scale, number)


class ScaledRun:
    """A redistribution with what converts before and after it."""

    def __init__(self, scaled: Mapping[str, Scaled], rank: int | None, saturate: bool, given: Sequence[Mapping[str, Any]]) -> None:
        """rank: None if all ranks are in this process. given: sources and targets."""
        self._scaled = scaled
        self._rank = rank
        self._saturate = saturate
        self._given = given
        self.arrays: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        self.places: dict[str, Place] = {}
        """Of arrays that others stand for in `arrays`, by the name that messages have for them."""
        self._moves: tuple[list[KernelMove], list[KernelMove]] = ([], [])
        self._written: list[Any] = []
        self._move: Execution | None = None
        self.problem = attempted(self._prepare)
        self.direct_peers: tuple[int, ...] = ()

    def _prepare(self) -> None:
        self.arrays = dict(self._given[0]), dict(self._given[1])
        for name, of_array in self._scaled.items():
            side = of_array.side
            held = (of_array.routing.source, of_array.routing.target)[side]
            arrays = self.arrays[side].get(name)
            what = f'{("sources", "targets")[side]}[{name!r}]'
            if self._rank is not None:
                if arrays is not None and held.position(self._rank) is not None:
                    self.arrays[side][name] = self._converted(of_array, arrays, self._rank, what)
                continue
            if arrays is None or len(arrays) != held.size:
                raise ValueError(f'{what} has {len(arrays or [])} arrays for {held.size} ranks')
            self.arrays[side][name] = [
                array if array is None else self._converted(of_array, array, rank, f'{what}[{k}]')
                for k, (rank, array) in enumerate(zip(held.ranks, arrays))
            ]

    def _converted(self, of_array: Scaled, array: Any, rank: int, what: str) -> Any:
        small, move, self.places[what] = of_array.converted(array, rank, self._saturate, what)
        if move is not None:
            self._moves[of_array.side].append(move)
            if of_array.side == 1:
                self._written.append(array)
        return small

    def around(self, move: Execution, in_stream: bool) -> ScaledRun:
        """in_stream: whether the caller orders what follows by the stream."""
        self._move, self._in_stream = move, in_stream
        self.direct_peers = move.direct_peers
        return self

    def run(self) -> None:
        assert self._move is not None
        for convert in self._moves[0]:
            convert.run()
        self._move.run()
        for convert in self._moves[1]:
            convert.run()
        if not self._in_stream:
            for array in self._written:
                interop.synchronize(array)
