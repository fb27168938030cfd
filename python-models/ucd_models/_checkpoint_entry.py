"""What a checkpoint says of its arrays: shapes, dtypes, and where the parts of each are."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import ucd
from ucd import Corrupt, NotSupported, interop
from ucd_models._checkpoint_files import File
from ucd_models._placements import Distribution, Placement, Replicate, Shard
from ucd_models._untrusted import distinct

# The elements that libucd does not know. These are bytes, which can be moved but not converted.
OPAQUE = {'float8_e4m3fnuz': 1, 'float8_e5m2fnuz': 1, 'float8_e8m0fnu': 1, 'float4_e2m1fn_x2': 1}
# Bits of those that are not read: parts of bytes, and what torch stores in forms of its own.
UNREADABLE = {
    'float4_e2m1fn': 4, 'float6_e2m3fn': 6, 'float6_e3m2fn': 6,
    'quint2x4': 2, 'quint4x2': 4, 'quint8': 8, 'qint8': 8, 'qint32': 32, 'complex32': 32,
    'bits1x8': 8, 'bits2x4': 8, 'bits4x2': 8, 'bits8': 8, 'bits16': 16,
    **{f'{sign}int{n}': 8 for sign in ('', 'u') for n in range(1, 8)},
}  # fmt: skip
# Of the work of finding out whether parts that are no grid cover an array: steps for each part.
_MAX_STEPS = 64


@functools.lru_cache(maxsize=64)
def element_of(dtype: str) -> ucd.Type:
    """The element of a dtype of a checkpoint. Raises NotSupported if there is none."""
    if dtype in UNREADABLE:
        raise NotSupported(f'elements of {dtype} are not read')
    return interop.type_of_bytes(OPAQUE[dtype]) if dtype in OPAQUE else interop.type_of_dtype(dtype)


def bits_of(dtype: str) -> int:
    """Bits of an element."""
    return UNREADABLE[dtype] if dtype in UNREADABLE else 8 * element_of(dtype).size


class Part(NamedTuple):
    """A part of an array, in one file."""

    offsets: tuple[int, ...] | None
    """Where the part begins in the array. None: it is no box, and the placements say what it has."""
    shape: tuple[int, ...]
    file: File
    start: int
    """Which bytes of the file have it, with what the format puts around it."""
    stop: int


@dataclass(frozen=True)
class Entry:
    """An array of a checkpoint."""

    shape: tuple[int, ...]
    dtype: str
    """'float32', 'bfloat16': as numpy.dtype and torch have it."""
    parts: tuple[Part, ...]
    source: Distribution | None
    """How the parts lie: part k is that of the k-th rank of the mesh. None: they are boxes, but no mesh's."""

    @property
    def placements(self) -> tuple[Placement, ...] | None:
        """Those of the source, as far as there is one."""
        return self.source.placements if self.source else None

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * bits_of(self.dtype) // 8


Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Where it begins, and its shape."""


def whole(shape: Sequence[int]) -> Distribution:
    """All of an array on one rank."""
    return Distribution(shape, 1, Replicate())


def arranged(what: str, shape: tuple[int, ...], boxes: Sequence[Box]) -> tuple[list[int], Distribution | None]:
    """The order of boxes, all of which have elements, and the distribution that they are in this order, if they are a grid
    of shards. Raises Corrupt if they overlap, leave gaps, or leave the array."""
    for box in boxes:
        if any(map(operator.gt, map(operator.add, *box), shape)):
            raise Corrupt(f'{what} has a part that is not within its shape')
    if sum([math.prod(sizes) for _, sizes in boxes]) != math.prod(shape):
        raise Corrupt(f'the parts of {what} overlap or leave gaps')
    ordered = list(range(len(boxes)))
    if len(boxes) < 2:
        return ordered, whole(shape) if boxes else None
    by_axis = zip(zip(*[starts for starts, _ in boxes]), zip(*[sizes for _, sizes in boxes]))
    edges = [distinct(zip(starts, sizes)) for starts, sizes in by_axis]
    if math.prod(map(len, edges)) != len(boxes) or not all(_tile(of_axis, n) for of_axis, n in zip(edges, shape)):
        if not _disjoint(boxes):
            raise Corrupt(f'the parts of {what} overlap or leave gaps')
        return ordered, None
    # As many different places as there are in the grid, and as many boxes: a box at each, row-major.
    ordered.sort(key=lambda k: boxes[k][0])
    if any(boxes[a][0] == boxes[b][0] for a, b in itertools.pairwise(ordered)):
        raise Corrupt(f'the parts of {what} overlap or leave gaps')
    split = [axis for axis, of_axis in enumerate(edges) if len(of_axis) > 1]
    if not all(_even(edges[axis], shape[axis]) for axis in split):
        return ordered, None
    return ordered, Distribution(shape, [len(edges[axis]) for axis in split], [Shard(axis) for axis in split])


def _tile(intervals: Sequence[tuple[int, int]], n: int) -> bool:
    end = 0
    for start, size in intervals:
        if start != end:
            return False
        end = start + size
    return end == n


def _even(intervals: Sequence[tuple[int, int]], n: int) -> bool:
    block = -(-n // len(intervals))
    return all(start == k * block for k, (start, _) in enumerate(intervals))


def _disjoint(boxes: Sequence[Box]) -> bool:
    """Whether no two boxes have a common element, by cutting along planes that cut no box, axis after axis. Where
    there are no such planes, each pair is looked at."""
    left = _MAX_STEPS * len(boxes)
    groups = [(boxes, 0, 0)]  # with the axis to be cut next, and how many axes were of no use
    while groups:
        members, axis, tried = groups.pop()
        if len(members) < 2:
            continue
        left -= len(members)
        ndim = len(members[0][0])
        if tried == ndim:
            left -= len(members) ** 2 // 2 * (1 + ndim // 4)
        if left < 0:
            raise NotSupported(f'{len(boxes)} parts of an array lie in a way that is too costly to check')
        if tried == ndim:
            if any(_meet(a, b) for a, b in itertools.combinations(members, 2)):
                return False
            continue
        found: list[list[Box]] = []
        end = -1
        for box in sorted(members, key=lambda b: b[0][axis]):
            start = box[0][axis]
            if not found or start >= end:
                found.append([])
            found[-1].append(box)
            end = max(end, start + box[1][axis])
        useless = tried + 1 if len(found) == 1 else 0
        groups += [(group, (axis + 1) % ndim, useless) for group in found]
    return True


def _meet(a: Box, b: Box) -> bool:
    return all(s < t + m and t < s + n for s, n, t, m in zip(*a, *b))
