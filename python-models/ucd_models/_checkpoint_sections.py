"""Which bytes of a file are read together, and how they lie in memory then."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import ucd
from ucd_models import _routes
from ucd_models._fans import Runs, along

# performance only: a call for a piece, with its step in Python, takes the time of reading so many bytes of the page cache.
_BYTES_OF_CALL = 12 << 10
# performance only: pieces of this length are read in the time in which they are moved from a mapped file. A file is mapped and
# unmapped in the time of reading so many short ones.
_SHORT = 32 << 10
_LEAST_MAPPED = 128 << 10


class Run(NamedTuple):
    """One of `_fans.Runs`."""

    source: int
    target: int
    block: int
    source_step: int
    target_step: int
    count: int  # type: ignore[assignment] # hides tuple.count


def named(runs: Runs) -> tuple[Run, ...]:
    return tuple([Run(*run) for run in runs])


class Axis(NamedTuple):
    """A dimension of what moves from a part to a target."""

    runs: tuple[Run, ...]
    source: int
    """Bytes from an index to the next, in the file."""
    target: int
    """The same, in the target."""

    @property
    def low(self) -> int:
        return self.runs[0].source

    @property
    def high(self) -> int:
        """The index behind the last one."""
        return max([run.source + (run.count - 1) * run.source_step + run.block for run in self.runs])

    @property
    def length(self) -> int:
        """How many indices there are."""
        return sum([run.block * run.count for run in self.runs])

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Each block's index in the source, in the target, and its length."""
        for run in self.runs:
            for k in range(run.count):
                yield run.source + k * run.source_step, run.target + k * run.target_step, run.block

    def indices(self) -> Iterator[tuple[int, int]]:
        for source, target, length in self.blocks():
            yield from zip(range(source, source + length), range(target, target + length))

    def halves(self) -> Iterator[Axis]:
        middle = (self.low + self.high) // 2
        for start, stop in ((self.low, middle), (middle, self.high)):
            runs = named(_routes.clipped(self.runs, start, stop))
            if runs:
                yield self._replace(runs=runs)


Piece = tuple[int, int, int]
"""Consecutive bytes of a file: where they are from the part's first element on; where they go in the chunk or, if they
go there directly, in the target; and how many there are. Pieces of a section do not follow each other."""


class Section:
    """Elements that are read together: which bytes of the file, and how they lie in a chunk.

    The inner dimensions from `inner` on are read with what lies between their elements, the outer ones index by
    index, or block by block.
    """

    def __init__(self, axes: Sequence[Axis], item: int, gap: int) -> None:
        self.axes = axes
        self.item = item
        span = item
        inner = len(axes)
        while inner:
            axis = axes[inner - 1]
            covered = (axis.high - axis.low - 1) * axis.source + span
            reads = sum([run.count for run in axis.runs]) if axis.source == span else axis.length
            if covered - axis.length * span > gap * (reads - 1):
                break
            span = covered
            inner -= 1
        self.inner, self.span = inner, span
        self._by_block = inner > 0 and axes[inner - 1].source - span <= gap
        # Distances in a chunk, of the outer dimensions.
        self._steps: list[int] = []
        step = span
        for k in reversed(range(inner)):
            if k == inner - 1 and self._by_block:
                step = axes[k].source
            self._steps.insert(0, step)
            step *= axes[k].length
        self.nbytes = step
        self._types: tuple[ucd.Type, ucd.Type] | None = None

    @property
    def elements(self) -> int:
        return math.prod([axis.length for axis in self.axes])

    @property
    def count(self) -> int:
        """How many pieces there are."""
        if self.inner == 0:
            return 1
        last = self.axes[self.inner - 1]
        blocks = sum([run.count for run in last.runs]) if self._by_block else last.length
        return math.prod([axis.length for axis in self.axes[: self.inner - 1]]) * blocks

    @property
    def is_direct(self) -> bool:
        """Whether each piece is also consecutive in the target."""
        expected = self.item
        for k in reversed(range(len(self.axes))):
            axis = self.axes[k]
            if k < self.inner and not (k == self.inner - 1 and self._by_block):
                break
            longest = max([run.block for run in axis.runs]) if k < self.inner else axis.length
            if longest > 1 and (axis.source != expected or axis.target != expected):
                return False
            if k >= self.inner:
                if len(axis.runs) > 1 or axis.runs[0].count > 1:
                    return False
                expected *= axis.length
        return True

    def _base(self, side: int) -> int:
        """Where the inner dimensions begin."""
        return sum([axis.runs[0][side] * (axis.source, axis.target)[side] for axis in self.axes[self.inner :]])

    def pieces(self, direct: bool) -> list[Piece]:
        base, there = self._base(0), self._base(1) if direct else 0
        if self.inner == 0:
            return [(base, there, self.span)]
        *outer, last = self.axes[: self.inner]
        *steps, step = self._steps
        blocks = last.blocks() if self._by_block else [(source, target, 1) for source, target in last.indices()]
        row: list[Piece] = []
        at = 0
        for source, target, length in blocks:
            place = target * last.target if direct else at
            row.append((base + source * last.source, there + place, (length - 1) * last.source + self.span))
            at += length * step
        if not outer:
            return row
        found: list[Piece] = []
        for indices in itertools.product(*[enumerate(axis.indices()) for axis in outer]):
            offset = place = 0
            for axis, in_chunk, (number, (source, target)) in zip(outer, steps, indices):
                offset += source * axis.source
                place += target * axis.target if direct else number * in_chunk
            found += [(offset + a, place + b, length) for a, b, length in row]
        return found

    def types(self, source: ucd.Type, target: ucd.Type) -> tuple[ucd.Type, ucd.Type]:
        """What lies in a chunk, and where it goes in the target: elements in the same order."""
        if self._types:
            return self._types
        send, receive = source, target
        for k in reversed(range(len(self.axes))):
            axis = self.axes[k]
            if k < self.inner:
                send = ucd.Type.hvector(axis.length, 1, self._steps[k], send)
            else:
                send = along(send, axis.runs, 0, axis.source, axis.low)
            receive = along(receive, axis.runs, 1, axis.target)
        self._types = send, receive
        return self._types


def from_first(runs: Sequence[Runs], strides: Sequence[tuple[int, ...]]) -> tuple[list[Runs], int, int]:
    """The runs of each dimension with indices counted from the first ones that are needed on, and how many bytes these are
    behind the first elements of the part and of the array: what is moved is often alike but for this."""
    near = []
    source = target = 0
    for of_axis, in_file, in_target in zip(runs, *strides, strict=True):
        first, begin = of_axis[0][:2]
        if first or begin:
            source, target = source + first * in_file, target + begin * in_target
            of_axis = tuple([(run[0] - first, run[1] - begin, *run[2:]) for run in of_axis])
        near.append(of_axis)
    return near, source, target


def windows(axes: Sequence[Axis], limit: int) -> Iterator[tuple[list[Axis], int, int, int]]:
    """What moves, by windows that take at most `limit` bytes of the file, unless an index of the last dimension takes more.
    Windows that are alike are one entry: the axes of the first one, the bytes from one to the next in the file and in the
    target, and how many there are."""
    k = next((k for k, axis in enumerate(axes) if axis.length > 1), None)
    if k is None or (axes[k].high - axes[k].low) * axes[k].source <= limit:
        yield list(axes), 0, 0, 1
        return
    axis, step = axes[k], max(limit // axes[k].source, 1)
    start, count = axis.low, axis.length // step
    if axis.length == axis.high - axis.low and axis.runs[0].block == axis.length and step > 1:  # consecutive on both sides
        first = axis._replace(runs=(axis.runs[0]._replace(block=step),))
        yield [*axes[:k], first, *axes[k + 1 :]], step * axis.source, step * axis.target, count
        start += count * step
    for begin in range(start, axis.high, step):
        if runs := named(_routes.clipped(axis.runs, begin, begin + step)):
            part = [*axes[:k], axis._replace(runs=runs), *axes[k + 1 :]]
            yield from windows(part, limit) if step == 1 else ((part, 0, 0, 1),)


def is_for_mapping(axes: Sequence[Axis], item: int, may_be_direct: bool) -> bool:
    """Whether what is needed is moved from a mapped file in less time than it is read: if it is much, and in short pieces, or
    cannot be read straight into the target."""
    piece = item
    for axis in reversed(axes):
        if axis.length > 1 and axis.source != piece:
            break
        may_be_direct &= axis.length == 1 or axis.target == piece
        piece *= axis.runs[0].block
        if len(axis.runs) > 1 or axis.runs[0].count > 1:
            break
    nbytes = math.prod([axis.length for axis in axes]) * item
    return nbytes >= _LEAST_MAPPED and not (may_be_direct and piece >= _SHORT)


def chosen_gap(axes: Sequence[Axis], item: int, may_be_direct: bool) -> int:
    """How many bytes that are not needed are read at most to save a call: as many as take its time. What could be read
    straight into the target is moved once more if gaps are read, which takes the time of as many bytes."""
    pieces = Section(axes, item, 0)
    moved = pieces.elements * item // pieces.count if may_be_direct and pieces.is_direct else 0
    return max(_BYTES_OF_CALL - moved, 0)


def sections(axes: Sequence[Axis], item: int, gap: int, limit: int, may_be_direct: bool) -> Iterator[tuple[Section, bool]]:
    """What moves, in sections that are direct or have at most `limit` bytes in a chunk, in the order of the file."""
    waiting = [list(axes)]
    while waiting:
        now = waiting.pop()
        section = Section(now, item, gap)
        direct = may_be_direct and section.is_direct
        if direct or section.nbytes <= limit:
            yield section, direct
            continue
        k = next(k for k, axis in enumerate(now) if axis.length > 1)
        waiting += [[*now[:k], half, *now[k + 1 :]] for half in now[k].halves()][::-1]
