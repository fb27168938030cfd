"""Which part of one dimension of a global array each rank of a distribution has, and what two such
partitions have in common."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

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


class Partition(NamedTuple):
    """A dimension of n indices as pieces, which repeat after each period."""

    n: int
    period: int
    pieces: list[Piece]
    """Of one period, in ascending order."""
    counts: list[int]
    """How many indices of a period each part has."""

    def size(self, part: int) -> int:
        """How many of the n indices a part has."""
        if self.n == 0:
            return 0
        repeats, tail = divmod(self.n, self.period)
        rest = sum(min(p.stop, tail) - p.start for p in self.pieces if p.part == part and p.start < tail)
        return repeats * self.counts[part] + rest


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
    owned = [[(0, n)]]
    for split in splits:
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


class Common(NamedTuple):
    """What the parts of two partitions of a dimension have in common: runs of one period, `repeats`
    times, and then those that begin below `tail`."""

    runs: dict[tuple[int, int], list[Run]]
    """By (part of the source, part of the target); pairs with nothing in common are not there."""
    repeats: int
    tail: int
    source_steps: list[int]
    """By how many indices of a part each period is farther on."""
    target_steps: list[int]

    def size(self, pair: tuple[int, int]) -> int:
        """How many indices a pair has in common."""
        runs = self.runs[pair]
        whole = sum(run.length for run in runs)
        return self.repeats * whole + sum(run.length for run in self.tail_of(runs))

    def tail_of(self, runs: list[Run]) -> list[Run]:
        """The runs of a list that belong to the last period, which is not whole."""
        return [r._replace(length=min(r.length, self.tail - r.start)) for r in runs if r.start < self.tail]


def _repeated(p: Partition, length: int) -> list[Piece]:
    """The pieces of as many periods as fill a length."""
    return [
        Piece(q.start + k * p.period, q.stop + k * p.period, q.part, q.local + k * p.counts[q.part])
        for k in range(length // p.period)
        for q in p.pieces
    ]


@functools.lru_cache(maxsize=4096)
def common(n: int, source: tuple[Split, ...], target: tuple[Split, ...]) -> Common:
    """What the parts of two partitions of n indices have in common, in time proportional to the
    number of runs."""
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
    return Partition(p.n, p.n, pieces, [p.size(part) for part in range(len(p.counts))])
