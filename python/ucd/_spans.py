"""Strided runs of indices, and what two lists of them have in common: by arithmetic, not index by index."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """Blocks of consecutive indices of an axis that one part has: block k covers [start + k stride,
    start + k stride + block), and lies at index local + k step of the part."""

    start: int
    local: int
    block: int
    stride: int
    step: int
    count: int  # type: ignore[assignment] # hides tuple.count
    turn: int = 0
    """Several parts may have the same span. Then this is the number of the part among them."""
    turns: int = 1
    """How many parts have the same span."""

    @property
    def size(self) -> int:
        """How many indices there are."""
        return self.block * self.count

    def inverse(self) -> Span:
        """From the part's indices to those of the axis."""
        return Span(self.local, self.start, self.block, self.step, self.stride, self.count, self.turn, self.turns)


class Run(NamedTuple):
    """Blocks that two parts have in common: block k is at index source + k source_step of the first part, and
    at target + k target_step of the second."""

    source: int
    target: int
    block: int
    source_step: int
    target_step: int
    count: int  # type: ignore[assignment] # hides tuple.count

    @property
    def size(self) -> int:
        """How many indices there are."""
        return self.block * self.count


def interval(start: int, stop: int, local: int = 0) -> list[Span]:
    """The indices from start to stop, as one block."""
    return [Span(start, local, stop - start, 0, 0, 1)] if start < stop else []


def size(spans: Iterable[Span]) -> int:
    """How many indices a part has."""
    return sum([span.block * span.count for span in spans])


def _of_block(a: Span, k: int, b: Span) -> Iterator[Run]:
    """What block k of a has in common with b: at most two blocks of b that are cut, and the whole ones between."""
    start = a.start + k * a.stride
    stop = start + a.block
    if b.count == 1:
        first = last = 0
    else:
        first = max((start - b.start - b.block) // b.stride + 1, 0)
        last = min((stop - 1 - b.start) // b.stride, b.count - 1)
    image = a.local + k * a.step - start

    def run(j: int, count: int) -> Run | None:
        at = b.start + j * b.stride
        low, high = max(at, start), min(at + b.block, stop)
        if low >= high:
            return None
        return Run(image + low, b.local + j * b.step + low - at, high - low, b.stride, b.step, count)

    if last - first < 2:
        parts = [run(j, 1) for j in range(first, last + 1)]
    else:
        parts = [run(first, 1), run(first + 1, last - first - 1), run(last, 1)]
    yield from [part for part in parts if part]


def _of_periods(a: Span, b: Span, g: int) -> Iterator[Run]:
    """As overlap(), for each distance between a block of a and one of b at which they meet: the pairs of blocks
    at one distance are a progression, by the extended Euclidean algorithm. g: the gcd of the strides."""
    period_a, period_b = b.stride // g, a.stride // g  # in blocks of a and of b
    inverse = pow(a.stride // g, -1, period_a) if period_a > 1 else 0
    lowest = 1 - b.block
    for distance in range(lowest + (b.start - a.start - lowest) % g, a.block, g):
        c = b.start - a.start - distance
        i = c // g * inverse % period_a
        j = (i * a.stride - c) // b.stride
        skipped = max(-(j // period_b), 0) if j < 0 else 0
        i, j = i + skipped * period_a, j + skipped * period_b
        if i >= a.count or j >= b.count:
            continue
        count = min((a.count - 1 - i) // period_a, (b.count - 1 - j) // period_b) + 1
        low = max(distance, 0)
        length = min(a.block, distance + b.block) - low
        yield Run(
            a.local + i * a.step + low,
            b.local + j * b.step + low - distance,
            length,
            period_a * a.step,
            period_b * b.step,
            count,
        )


def overlap(a: Span, b: Span) -> Iterable[Run]:
    """What two spans have in common. The number of runs is bounded by three times the blocks of either span,
    and by the distances at which blocks can meet."""
    if a.count == 1:
        return _of_block(a, 0, b)
    if b.count == 1:
        return [Run(r.target, r.source, r.block, r.target_step, r.source_step, r.count) for r in _of_block(b, 0, a)]
    g = math.gcd(a.stride, b.stride)
    distances = (a.block + b.block) // g + 1
    if distances <= min(a.count, b.count):
        return _of_periods(a, b, g)
    if a.count <= b.count:
        return [run for k in range(a.count) for run in _of_block(a, k, b)]
    return [
        Run(r.target, r.source, r.block, r.target_step, r.source_step, r.count)
        for k in range(b.count)
        for r in _of_block(b, k, a)
    ]


def simplified(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The same blocks in fewer runs, in the order of the source: those that follow each other are joined, and
    those at equal distances counted."""
    ordered = sorted(runs)
    found: list[Run] = []
    for run in ordered:
        if run.count > 1 and run.source_step == run.target_step == run.block:
            run = Run(run.source, run.target, run.block * run.count, 0, 0, 1)
        if found and run.count == 1:
            last = found[-1]
            steps = run.source - last.source, run.target - last.target
            if last.count == 1 and steps == (last.block, last.block):
                found[-1] = last._replace(block=last.block + run.block)
                continue
            if last.block == run.block and (
                (last.count == 1 and steps[1] > 0)
                or steps == (last.source_step * last.count, last.target_step * last.count)
            ):
                each = steps if last.count == 1 else last[3:5]
                found[-1] = Run(last.source, last.target, last.block, *each, last.count + 1)
                continue
        found.append(run)
    return tuple(found)


def composed(outer: Iterable[Span], inner: Iterable[Span]) -> list[Span]:
    """Inner spans of a part's indices, as spans of the axis that outer spans are of."""
    found = []
    for a in outer:
        of_part = a.inverse()
        for b in inner:
            turn = (b.turn, b.turns) if b.turns > 1 else (a.turn, a.turns)
            for r in overlap(of_part, b):
                found.append(Span(r.source, r.target, r.block, r.source_step, r.target_step, r.count, *turn))
    return found


def clipped(runs: Iterable[Run], start: int, stop: int) -> tuple[Run, ...]:
    """Of runs, what lies at the source's indices from start to stop."""
    window = Span(start, start, stop - start, 0, 0, 1)
    found: list[Run] = []
    for r in runs:
        span = Span(r.source, r.target, r.block, r.source_step, r.target_step, r.count)
        found += overlap(window, span)
    return simplified(found)
