"""Routes of one rank to many, as few entries: fans of routes that differ only in where they begin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import ucd

Runs = tuple[tuple[int, int, int, int, int, int], ...]
"""Blocks that two parts of an axis have in common, in the order of the packed stream: (source, target, block,
source_step, target_step, count). Block k is at index source + k source_step of the first part, and at target + k
target_step of the second."""


class Group(NamedTuple):
    """Parts of one axis that have something in common with a part, as `_routes.partners` gives them."""

    place: int
    step: int
    number: int
    runs: Runs
    source_shift: int
    target_shift: int


class Fan(NamedTuple):
    """Routes between one place of a mesh and places of the other mesh, at equal distances there."""

    place: int
    step: int
    number: int
    """How many routes there are. Number k is that of place + k step."""
    runs: tuple[Runs, ...]
    """For each dimension, what the first route moves."""
    axis: int
    """The dimension along which routes differ."""
    shifts: tuple[int, int]
    """By how many indices a route begins there behind the one before: in the source and in the target."""

    @property
    def places(self) -> list[int]:
        return [self.place + k * self.step for k in range(self.number)]

    @property
    def elements(self) -> int:
        """Of each route."""
        return math.prod([sum([run[2] * run[5] for run in runs]) for runs in self.runs])

    def part(self, k: int, number: int, step: int = 1) -> Fan:
        """So many routes from number k on, each `step` numbers behind the one before."""
        runs = self.runs
        if k and any(self.shifts):
            moved = _moved(runs[self.axis], k * self.shifts[0], k * self.shifts[1])
            runs = (*runs[: self.axis], moved, *runs[self.axis + 1 :])
        shifts = self.shifts[0] * step, self.shifts[1] * step
        return Fan(self.place + k * self.step, self.step * step, number, runs, self.axis, shifts)

    def moved_to(self, places: Iterable[int | None]) -> Iterator[Fan]:
        """The same routes with other places: one for each route, or None where there is no such route."""
        listed = list(places)
        first, second = (*listed, None, None)[:2]
        if first is not None and second is not None and first != second:
            if listed == list(range(first, first + len(listed) * (second - first), second - first)):  # usually
                yield self._replace(place=first, step=second - first)
                return
        kept = [(k, place) for k, place in enumerate(listed) if place is not None]
        while kept:
            step = kept[1][0] - kept[0][0] if len(kept) > 1 else 1
            distance = kept[1][1] - kept[0][1] if len(kept) > 1 else 0
            number = 1
            while number < len(kept) and kept[number] == (kept[0][0] + number * step, kept[0][1] + number * distance):
                number += 1
            yield self.part(kept[0][0], number, step)._replace(place=kept[0][1], step=distance)
            del kept[:number]

    def on_ranks(self, ranks: Sequence[int]) -> Iterator[Fan]:
        """The same, with ranks in place of places in their mesh."""
        if not isinstance(ranks, range):
            yield from self.moved_to([ranks[place] for place in self.places])
            return
        yield self._replace(place=ranks[self.place], step=self.step * ranks.step)

    def without(self, place: int) -> tuple[list[Fan], Fan | None]:
        """The routes but the one of a place, and that one."""
        k, rest = divmod(place - self.place, self.step or 1)
        if rest or not 0 <= k < self.number:
            return [self], None
        sides = [self.part(0, k), self.part(k + 1, self.number - k - 1)]
        return [fan for fan in sides if fan.number], self.part(k, 1)

    def type(self, side: int, strides: Sequence[int], element: ucd.Type) -> ucd.Type:
        """What the routes move, one after the other, in an array of the source (side 0) or the target."""
        made = element
        begin = 0
        for runs, stride in reversed(list(zip(self.runs, strides, strict=True))):
            begin += runs[0][side] * stride
            made = along(made, runs, side, stride, runs[0][side])
        if self.number > 1:
            step = self.shifts[side] * strides[self.axis] if self.shifts[side] else 0  # arrays may have no dimension
            made = ucd.Type.hvector(self.number, 1, step, made)
        return ucd.Type.hindexed_block(1, [begin], made) if begin else made


def along(inner: ucd.Type, runs: Runs, side: int, stride: int, begin: int = 0) -> ucd.Type:
    """The runs of one dimension, from index `begin` on: inner types that lie a stride of bytes apart."""
    unit = ucd.Type.resized(inner, 0, stride)
    if len(runs) > 1 and all([run[5] == 1 for run in runs]):
        return ucd.Type.indexed([run[2] for run in runs], [run[side] - begin for run in runs], unit)
    parts = [ucd.Type.hvector(run[5], run[2], run[3 + side] * stride, unit) for run in runs]
    places = [(run[side] - begin) * stride for run in runs]
    if len(parts) == 1:
        return parts[0] if places[0] == 0 else ucd.Type.hindexed_block(1, places, parts[0])
    return ucd.Type.struct([1] * len(parts), places, parts)


def _moved(runs: Runs, source: int, target: int) -> Runs:
    return tuple([(run[0] + source, run[1] + target, *run[2:]) for run in runs])


def fans_of(of_axes: Sequence[Sequence[Group]]) -> Iterator[Fan]:
    """The routes for each choice of one part in every dimension, the last dimension's parts changing fastest."""
    if not of_axes:
        yield Fan(0, 0, 1, (), 0, (0, 0))
    for groups in itertools.product(*of_axes) if of_axes else ():
        axis = max(range(len(groups)), key=lambda k: groups[k].number)
        if groups[axis].number == 1:
            yield Fan(sum([group.place for group in groups]), 0, 1, tuple([group.runs for group in groups]), 0, (0, 0))
            continue
        for numbers in itertools.product(*[range(g.number) if k != axis else (0,) for k, g in enumerate(groups)]):
            chosen = [(g, k) for g, k in zip(groups, numbers)]
            place = sum([g.place + k * g.step for g, k in chosen])
            runs = tuple([_moved(g.runs, k * g.source_shift, k * g.target_shift) if k else g.runs for g, k in chosen])
            of_axis = groups[axis]
            yield Fan(place, of_axis.step, of_axis.number, runs, axis, (of_axis.source_shift, of_axis.target_shift))


def repeated(fan: Fan, distances: Sequence[int], turn: int, turns: int) -> Iterator[Fan]:
    """The same routes at each of some distances, of which the first is 0: those whose place at distance 0, added to the
    number of the distance, leaves `turn` if it is divided by `turns`."""
    if len(distances) >= fan.number:
        for k in range(fan.number):
            one = fan.part(k, 1)
            places = [one.place + distance for distance in distances[(turn - one.place) % turns :: turns]]
            yield from Fan(one.place, 0, len(places), one.runs, fan.axis, (0, 0)).moved_to(places)
        return
    period = turns // math.gcd(fan.step, turns)
    for number, distance in enumerate(distances):
        for k in range(min(period, fan.number)):
            some = fan.part(k, -(-(fan.number - k) // period), period)
            if (some.place + number - turn) % turns == 0:
                yield some._replace(place=some.place + distance)
