"""Which part of one dimension of a global array each rank of a distribution has, and what two such
partitions have in common."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Pair = tuple[int, int]
"""A part of the source and a part of the target."""

Split = tuple[int, int]
"""Into how many parts a dimension is split, and the block size of a cyclic split; 0: one block for
each part, as large as needed."""


class Piece(NamedTuple):
    """Consecutive indices [start, stop) that one part has."""

    start: int
    stop: int
    part: int
    local: int
    """The index of `start` in the part."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A dimension of n indices as pieces, which repeat after each period."""

    n: int
    period: int
    pieces: list[Piece]
    """Of one period, in ascending order."""
    counts: list[int]
    """How many indices of a period each part has."""

    @functools.cached_property
    def sizes(self) -> list[int]:
        """How many of the n indices each part has."""
        repeats, tail = divmod(self.n, self.period)
        sizes = [repeats * count for count in self.counts]
        for piece in self.pieces:
            if piece.start < tail:
                sizes[piece.part] += min(piece.stop, tail) - piece.start
        return sizes


def _unit(n: int, splits: tuple[Split, ...]) -> int:
    """A number of indices that all pieces begin and end at multiples of: the largest, but where parts
    of different sizes are split again."""
    unit = n
    for at, (parts, block) in enumerate(splits):
        if unit <= 1:
            break
        block = block or max(-(-n // parts), 1)
        if n % (parts * block) and at + 1 < len(splits):
            return 1
        unit = math.gcd(unit, block)
        n //= parts
    return max(unit, 1)


def _in_units(splits: tuple[Split, ...], unit: int) -> tuple[Split, ...]:
    return tuple([(parts, block // unit) for parts, block in splits])


def _block(n: int, splits: tuple[Split, ...]) -> int:
    """The block size if each part has one block of the n indices, in the order of parts; else 0."""
    if not splits:
        return max(n, 1)
    parts, block = splits[0]
    return 0 if block or len(splits) > 1 else max(-(-n // parts), 1)


def size(n: int, splits: tuple[Split, ...], part: int) -> int:
    """How many of n indices a part has."""
    block = _block(n, splits)
    if block:
        return max(min(block, n - part * block), 0)
    unit = _unit(n, splits)
    return unit * partition(n // unit, _in_units(splits, unit)).sizes[part]


def _intervals(n: int, split: Split) -> list[list[tuple[int, int]]]:
    """For each part, its intervals [start, stop) of n indices."""
    parts, block = split
    block = block or max(-(-n // parts), 1)
    return [[(s, min(s + block, n)) for s in range(k * block, n, parts * block)] for k in range(parts)]


def _within(outer: list[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    """Where the positions [start, stop) of the concatenated outer intervals are."""
    found = []
    at = 0
    for first, last in outer:
        length = last - first
        low, high = max(start - at, 0), min(stop - at, length)
        if low < high:
            found.append((first + low, first + high))
        at += length
    return found


@functools.lru_cache(maxsize=4096)
def partition(n: int, splits: tuple[Split, ...]) -> Partition:
    """n indices, split by the first split, each part by the second, and so on. Parts are numbered
    row-major: the last split varies fastest."""
    if len(splits) == 1 and splits[0][1] and 0 < splits[0][0] * splits[0][1] < n:
        parts, block = splits[0]
        pieces = [Piece(k * block, (k + 1) * block, k, 0) for k in range(parts)]
        return Partition(n, parts * block, pieces, [block] * parts)
    owned = _intervals(n, splits[0]) if splits else [[(0, n)]]
    for split in splits[1:]:
        finer: list[list[tuple[int, int]]] = []
        for outer in owned:
            size = sum(stop - start for start, stop in outer)
            for inner in _intervals(size, split):
                finer.append([piece for a, b in inner for piece in _within(outer, a, b)])
        owned = finer
    pieces = []
    counts = []
    for part, intervals in enumerate(owned):
        local = 0
        for start, stop in intervals:
            pieces.append(Piece(start, stop, part, local))
            local += stop - start
        counts.append(local)
    return Partition(n, max(n, 1), sorted(p for p in pieces if p.start < p.stop), counts)


class Run(NamedTuple):
    """Consecutive indices that two parts have in common."""

    start: int
    source: int
    """The index of `start` in the part of the source; likewise of the target."""
    target: int
    length: int


@dataclass(frozen=True, eq=False)
class Common:
    """What the parts of two partitions of a dimension have in common: runs of one period, `repeats`
    times, and then those that begin below `tail`. A pair is a part of the source and one of the target."""

    runs: dict[tuple[int, int], list[Run]]
    """Pairs with nothing in common are not there."""
    repeats: int
    tail: int
    source_steps: list[int]
    """By how many indices of a part each period is farther on."""
    target_steps: list[int]

    def pairs(self) -> Iterable[Pair]:
        """The pairs that have something in common."""
        return self.runs

    def pairs_of_source(self, part: int) -> Iterable[Pair]:
        """Those of one part of the source."""
        return self._by_part[0].get(part, ())

    def pairs_of_target(self, part: int) -> Iterable[Pair]:
        """Those of one part of the target."""
        return self._by_part[1].get(part, ())

    def size(self, pair: Pair) -> int:
        """How many indices a pair has in common."""
        return self._sizes[pair]

    def period(self, pair: Pair) -> list[Run]:
        """The runs of a pair in one period."""
        return self.runs[pair]

    def rest(self, pair: Pair) -> list[Run]:
        """Its runs in the last period, which is not whole."""
        runs = self.runs[pair]
        return [r._replace(length=min(r.length, self.tail - r.start)) for r in runs if r.start < self.tail]

    def steps(self, pair: Pair) -> tuple[int, int]:
        """By how many indices of the part of the source, and of the target, each period is farther on."""
        return self.source_steps[pair[0]], self.target_steps[pair[1]]

    @functools.cached_property
    def _sizes(self) -> dict[Pair, int]:
        return {
            pair: self.repeats * sum([r.length for r in runs]) + sum([r.length for r in self.rest(pair)])
            for pair, runs in self.runs.items()
        }

    @functools.cached_property
    def _by_part(self) -> tuple[dict[int, list[Pair]], dict[int, list[Pair]]]:
        found: tuple[dict[int, list[Pair]], dict[int, list[Pair]]] = ({}, {})
        for pair in self.runs:
            for listed, part in zip(found, pair):
                listed.setdefault(part, []).append(pair)
        return found


@dataclass(frozen=True)
class CommonBlocks:
    """As Common, where every part is one block: nothing need be listed."""

    n: int
    source: int
    """The block size; likewise of the target."""
    target: int
    repeats = 1

    def pairs(self) -> Iterable[Pair]:
        n, ours, theirs = self.n, self.source, self.target
        return [
            (part, q)
            for part, start in enumerate(range(0, n, ours))
            for q in range(start // theirs, -(-min(start + ours, n) // theirs))
        ]

    def pairs_of_source(self, part: int) -> Iterable[Pair]:
        start, stop = part * self.source, min((part + 1) * self.source, self.n)
        return [(part, q) for q in range(start // self.target, -(-stop // self.target))] if start < stop else ()

    def pairs_of_target(self, part: int) -> Iterable[Pair]:
        start, stop = part * self.target, min((part + 1) * self.target, self.n)
        return [(p, part) for p in range(start // self.source, -(-stop // self.source))] if start < stop else ()

    def size(self, pair: Pair) -> int:
        ours, theirs = pair[0] * self.source, pair[1] * self.target
        return min(ours + self.source, theirs + self.target, self.n) - max(ours, theirs)

    def period(self, pair: Pair) -> list[Run]:
        ours, theirs = pair[0] * self.source, pair[1] * self.target
        start = max(ours, theirs)
        return [Run(start, start - ours, start - theirs, self.size(pair))]

    def rest(self, pair: Pair) -> list[Run]:
        return []

    def steps(self, pair: Pair) -> tuple[int, int]:
        return self.source, self.target


def _repeated(p: Partition, length: int) -> list[Piece]:
    """The pieces of as many periods as fill a length."""
    if length == p.period:
        return p.pieces
    return [
        Piece(q.start + k * p.period, q.stop + k * p.period, q.part, q.local + k * p.counts[q.part])
        for k in range(length // p.period)
        for q in p.pieces
    ]


def common(n: int, source: tuple[Split, ...], target: tuple[Split, ...]) -> tuple[int, Common | CommonBlocks]:
    """What the parts of two partitions of n indices have in common, and the unit that it counts in:
    dimensions of different lengths that are split in the same proportions have one Common."""
    unit = math.gcd(_unit(n, source), _unit(n, target))
    ours, theirs = _block(n, source), _block(n, target)
    if ours and theirs:
        return unit, CommonBlocks(n // unit, ours // unit or 1, theirs // unit or 1)
    return unit, _common(n // unit, _in_units(source, unit), _in_units(target, unit))


@functools.lru_cache(maxsize=4096)
def _common(n: int, source: tuple[Split, ...], target: tuple[Split, ...]) -> Common:
    """In time proportional to the number of runs."""
    a, b = partition(n, source), partition(n, target)
    if n == 0:
        return Common({}, 0, 0, a.counts, b.counts)
    length = math.lcm(a.period, b.period)
    if length > n:  # no whole period of both: everything is one
        length = n
        a, b = (_whole(p) for p in (a, b))
    ours, theirs = _repeated(a, length), _repeated(b, length)
    runs: dict[tuple[int, int], list[Run]] = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        p, q = ours[i], theirs[j]
        start, stop = max(p.start, q.start), min(p.stop, q.stop)
        if start < stop:
            found = runs.setdefault((p.part, q.part), [])
            run = Run(start, p.local + start - p.start, q.local + start - q.start, stop - start)
            last = found[-1] if found else None
            if last and (last.start + last.length, last.source + last.length, last.target + last.length) == run[:3]:
                found[-1] = last._replace(length=last.length + run.length)
            else:
                found.append(run)
        i += p.stop == stop
        j += q.stop == stop
    steps = [[count * (length // p.period) for count in p.counts] for p in (a, b)]
    return Common(runs, n // length, n % length, steps[0], steps[1])


def _whole(p: Partition) -> Partition:
    """A partition whose period is all n indices."""
    if p.period >= p.n:
        return p
    pieces = [
        Piece(q.start + k * p.period, min(q.stop + k * p.period, p.n), q.part, q.local + k * p.counts[q.part])
        for k in range(-(-p.n // p.period))
        for q in p.pieces
        if q.start + k * p.period < p.n
    ]
    return Partition(p.n, p.n, pieces, p.sizes)
