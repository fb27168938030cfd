"""How the elements of a page lie in two formats at once: dimensions that both sides have, in the order that leaves the
longest rows contiguous on both."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from ucd import NotSupported
from ucd_models._cache_tensor import Tensor

# Longer rows are moved no faster.
_LONG_ROW = 512
# What a kernel takes in its parameters beside the list of pages.
_LEVELS = 2
_MAX_ORDERED = 6


class Factor(NamedTuple):
    """A dimension of both sides."""

    size: int
    source: int
    """Stride in bytes."""
    target: int


class Side(NamedTuple):
    """What a page of one side holds, in the order of the stream: the sizes and strides of its dimensions, the outermost
    first."""

    dims: tuple[tuple[int, int], ...]

    @property
    def reach(self) -> int:
        """From the first element to behind the last one, without that one's own size."""
        return sum((size - 1) * stride for size, stride in self.dims)


class Inside(NamedTuple):
    """The streams of both sides' pages, one after the other, have the same elements in the same order."""

    source: Side
    target: Side


def _inner_sizes(split: tuple[tuple[int, int], ...]) -> set[int]:
    """For each dimension of an axis, how many indices of the axis are within one of it."""
    sizes = [size for size, _ in split]
    return {math.prod(sizes[i + 1 :]) for i in range(len(sizes))}


def _stride_at(split: tuple[tuple[int, int], ...], apart: int) -> int:
    """Bytes between indices of an axis that are so far apart."""
    within = 1
    for size, stride in reversed(split):
        if apart < within * size:
            return apart // within * stride
        within *= size
    return 0


def _levels(axis: str, cuts: set[int]) -> list[tuple[int, int]]:
    """Of an axis that is divided at some numbers of indices, how many are within each dimension and with it, the outermost
    first."""
    ordered = sorted(cuts)
    levels = list(zip(ordered, ordered[1:]))
    if any(outer % inner for inner, outer in levels):
        raise NotSupported(f'{axis} is split into {" and ".join(map(str, ordered))}, which do not divide each other')
    return levels[::-1]


def _factors(axis: str, source: Tensor, target: Tensor, size: int) -> list[Factor]:
    """An axis of which both sides have so many indices."""
    a, b = source.split(axis), target.split(axis)
    cuts = {1, size, *[cut for cut in _inner_sizes(a) | _inner_sizes(b) if cut < size]}
    return [Factor(outer // inner, _stride_at(a, inner), _stride_at(b, inner)) for inner, outer in _levels(axis, cuts)]


def _rest_of_page(tensor: Tensor, tokens: int) -> tuple[tuple[int, int], ...]:
    """The dimension of a page's parts of so many tokens."""
    split = tensor.split('token')
    cuts = {tokens, tensor.size('token'), *[cut for cut in _inner_sizes(split) if cut > tokens]}
    return tuple((outer // inner, _stride_at(split, inner)) for inner, outer in _levels('token', cuts))


def _contiguous(dims: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """The bytes of the innermost block, and how many dimensions are around it."""
    block, levels, last = width, 0, 0
    for size, stride in reversed(dims):
        if levels == 0 and stride == block:
            block *= size
        elif levels and stride == last:
            last *= size
        else:
            levels += 1
            last = size * stride
    return block, levels


def ordered(factors: list[Factor], outer: tuple[int, int], widths: tuple[int, int]) -> tuple[Factor, ...]:
    """The factors in the best order. outer: how many levels each side has around them."""
    by_target = sorted(factors, key=lambda f: -f.target)
    if len(factors) > _MAX_ORDERED:
        return tuple(by_target)

    def cost(order: tuple[Factor, ...]) -> tuple[int, int, int]:
        source, source_levels = _contiguous([(f.size, f.source) for f in order], widths[0])
        target, target_levels = _contiguous([(f.size, f.target) for f in order], widths[1])
        row = math.gcd(source // widths[0], target // widths[1]) * min(widths)
        levels = source_levels + outer[0], target_levels + outer[1]
        return -min(row, _LONG_ROW), sum(max(n - _LEVELS, 0) for n in levels), sum(levels)

    # Of equally good ones, the first: that of the target's memory.
    return min(itertools.permutations(by_target), key=cost)


def inside(source: Tensor, target: Tensor, widths: tuple[int, int]) -> Inside:
    """What pages of both sides hold of the same layer, keys or values, heads and dims. widths: bytes of the
    elements."""
    common = [f for axis in ('head', 'dim') for f in _factors(axis, source, target, source.size(axis))]
    source_tokens, target_tokens = source.size('token'), target.size('token')
    tokens = min(source_tokens, target_tokens)
    if source_tokens % tokens == 0 and target_tokens % tokens == 0:
        common += _factors('token', source, target, tokens)
        around = _rest_of_page(source, tokens), _rest_of_page(target, tokens)
    else:  # pages begin anywhere in the other side's
        around = source.split('token'), target.split('token')
    common = [f for f in common if f.size > 1]
    order = ordered(common, (len(around[0]), len(around[1])), widths)
    return Inside(
        Side((*around[0], *((f.size, f.source) for f in order))),
        Side((*around[1], *((f.size, f.target) for f in order))),
    )
