"""Descriptor lists of pages, for libraries that transfer ranges of memory."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models._cache_factors import _contiguous, _factors, ordered
from ucd_models._cache_format import Placed
from ucd_models._cache import Cache, Pages, pieces, require_equal_axes
from ucd_models._cache_tensor import Tensor

# 256 MiB of addresses on each side.
MAX_ROWS = 1 << 25


class _Boxes(NamedTuple):
    """Equal ranges at equal distances, on one side or on several: arrays of int64 of one length."""

    lengths: Any
    counts: Any
    addresses: tuple[Any, ...]
    """Of the first range, for each side."""
    strides: tuple[Any, ...]

    def expanded(self) -> tuple[Any, ...]:
        """Lengths and addresses of all ranges, in order."""
        import numpy

        _require_few(int(self.counts.sum()))
        at: Any = numpy.repeat(numpy.arange(len(self.counts)), self.counts)
        number = numpy.arange(len(at)) - (numpy.cumsum(self.counts) - self.counts)[at]
        return (self.lengths[at], *[a[at] + number * s[at] for a, s in zip(self.addresses, self.strides)])

    def joined(self) -> _Boxes:
        """The same ranges in fewer boxes: those joined that continue each other on all sides."""
        import numpy

        lengths, counts, addresses, strides = self.lengths, self.counts, self.addresses, self.strides
        for _ in range(2):
            is_one = numpy.logical_and.reduce([counts > 0, *[s == lengths for s in strides]])
            lengths, counts = numpy.where(is_one, lengths * counts, lengths), numpy.where(is_one, 1, counts)
            strides = tuple([numpy.where(counts == 1, lengths, s) for s in strides])
            begins: Any = numpy.ones(len(lengths), bool)
            apart = [counts[1:] != counts[:-1]]
            apart += [a[1:] != a[:-1] + lengths[:-1] for a in addresses]
            apart += [(s[1:] != s[:-1]) & (counts[1:] > 1) for s in strides]
            begins[1:] = numpy.logical_or.reduce(apart)
            if len(lengths):
                lengths = numpy.add.reduceat(lengths, numpy.flatnonzero(begins))
            counts, addresses = counts[begins], tuple([a[begins] for a in addresses])
            strides = tuple([s[begins] for s in strides])
        return _Boxes(lengths, counts, addresses, strides)


class Descriptors:
    """Ranges of memory in a fixed order, as the lists that transfer libraries take. len() of it is the number of
    rows."""

    def __init__(self, boxes: _Boxes, side: int) -> None:
        self._boxes = boxes
        self._side = side

    @functools.cached_property
    def rows(self) -> Any:
        """An N x 2 array of uint64: address and length in bytes."""
        import numpy

        lengths, *addresses = self._boxes.expanded()
        if len(addresses) > 1:
            order = numpy.argsort(addresses[0], kind='stable')
            lengths, addresses = lengths[order], [side[order] for side in addresses]
        lengths, *addresses = _merged(lengths, *addresses)
        return numpy.stack([addresses[self._side].astype(numpy.uint64), lengths.astype(numpy.uint64)], axis=1)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f'<ucd_models.cache.Descriptors: {len(self)} rows, {self.nbytes} bytes>'

    @property
    def nbytes(self) -> int:
        """The bytes of all ranges."""
        return int((self._boxes.lengths * self._boxes.counts).sum())

    def nixl(self, device: int = 0, *, strided: bool = False) -> Any:
        """For nixl_agent.get_xfer_descs and get_reg_descs: an N x 3 array of uint64, of address, length and device
        id.

        strided  an N x 5 array instead, of address, length, device id, stride and count: each row is `count` ranges, whose
                 addresses are `stride` bytes apart. There are fewer of them, and they are made without a list of all ranges.
        """
        import numpy

        if strided:
            boxes = self._boxes
            columns: list[Any] = [boxes.addresses[self._side], boxes.lengths, device, boxes.strides[self._side], boxes.counts]
        else:
            columns = [self.rows[:, 0], self.rows[:, 1], device]
        made: Any = numpy.empty((len(columns[0]), len(columns)), numpy.uint64)
        for k, column in enumerate(columns):
            made[:, k] = column
        return made

    def mooncake(self) -> tuple[list[int], list[int]]:
        """For the batch_transfer functions of Mooncake's TransferEngine: a list of addresses and one of lengths."""
        return self.rows[:, 0].tolist(), self.rows[:, 1].tolist()

    def ucx(self) -> Any:
        """For UCX's ucp_dt_iov_t: a C-contiguous N x 2 array of uint64, of buffer and length, on 64-bit machines. Its
        address is the buffer of an operation with the datatype ucp_dt_make_iov() and N as its count."""
        import numpy

        return numpy.ascontiguousarray(self.rows)


def _host_pages(pages: Any, what: str, known: int) -> Any:
    """A list of pages as an array of int64 on the host. One on a device is copied."""
    import numpy

    listed = Pages(pages, what)
    if not listed.on_host:
        copied: Any = numpy.empty(listed.count, _dtype_of(listed.list))
        ucd.pack_into(listed.list, copied)
        listed = Pages(copied, what)
    listed.check(known)
    return numpy.asarray(listed.list, numpy.int64)


def _dtype_of(array: Any) -> str:
    return {'INT32_T': 'i4', 'UINT32_T': 'u4', 'INT64_T': 'i8', 'UINT64_T': 'u8'}[interop.element_of(array).name or '']


def _require_few(rows: int) -> None:
    if rows > MAX_ROWS:
        raise ValueError(f'{rows} rows; at most {MAX_ROWS} are made')


def _sums(dims: Iterable[tuple[int, int]]) -> Any:
    """All sums of an offset of each dimension, the first outermost."""
    import numpy

    found: Any = numpy.zeros(1, numpy.int64)
    for size, stride in dims:
        _require_few(len(found) * size)
        found = (found[:, None] + (numpy.arange(size) * stride)[None, :]).ravel()
    return found


def _merged(lengths: Any, *addresses: Any) -> tuple[Any, ...]:
    """Neighbouring rows joined where all sides are contiguous: lengths and addresses."""
    import numpy

    if len(lengths) == 0:
        return (lengths, *addresses)
    begins: Any = numpy.ones(len(lengths), bool)
    begins[1:] = numpy.logical_or.reduce([side[1:] != side[:-1] + lengths[:-1] for side in addresses])
    return (numpy.add.reduceat(lengths, numpy.flatnonzero(begins)), *(side[begins] for side in addresses))


def _progressions(sides: Sequence[Any], least: int) -> tuple[Any, Any, list[Any]]:
    """Where runs of numbers at equal positive distances of at least `least` bytes begin, on all sides at once; how many
    numbers each has; and the distances."""
    import numpy

    count = len(sides[0])
    steps: list[Any] = [side[1:] - side[:-1] for side in sides]
    is_step: Any = numpy.logical_and.reduce([step >= least for step in steps])
    differs: Any = numpy.ones(max(count - 1, 0), bool)
    differs[1:] = numpy.logical_or.reduce([step[1:] != step[:-1] for step in steps])
    ends: Any = numpy.append(numpy.flatnonzero(differs)[1:], max(count - 1, 0)) if count > 1 else numpy.zeros(0, int)
    # A number is in one run only, so the next run of equal distances loses its first one.
    begins, lengths, at = [], [], 0
    for end in ends.tolist():
        if end < at:
            continue
        if is_step[at] if at < count - 1 else False:
            begins.append(at)
            lengths.append(end - at + 1)
            at = end + 1
        else:
            begins += range(at, end)
            lengths += [1] * (end - at)
            at = end
    begins += range(at, count)
    lengths += [1] * (count - at)
    first, many = numpy.array(begins, numpy.int64), numpy.array(lengths, numpy.int64)
    return first, many, [numpy.where(many > 1, step[numpy.minimum(first, count - 2)], 0) if count > 1 else many * 0 for step in steps]


def _boxes_of(length: int, bases: Sequence[int], inside: Sequence[Any], pages: Sequence[Any], runs: Any) -> _Boxes:
    """Boxes of every offset inside of a part of a page, and every run of parts."""
    import numpy

    first, counts, steps = runs
    many = len(inside[0]), len(first)
    _require_few(many[0] * many[1])
    addresses = [(base + own[:, None] + side[first][None, :]).ravel() for base, own, side in zip(bases, inside, pages)]
    return _Boxes(
        numpy.full(many[0] * many[1], length, numpy.int64),
        numpy.tile(counts, many[0]),
        tuple(addresses),
        tuple([numpy.tile(step, many[0]) for step in steps]),
    )


def _all(boxes: list[_Boxes], by_address: bool) -> _Boxes:
    import numpy

    lengths, counts = [numpy.concatenate([b[k] for b in boxes]) for k in (0, 1)]
    addresses, strides = [[numpy.concatenate(side) for side in zip(*[b[k] for b in boxes])] for k in (2, 3)]
    if by_address:
        order = numpy.argsort(addresses[0], kind='stable')
        lengths, counts = lengths[order], counts[order]
        addresses, strides = [[side[order] for side in some] for some in (addresses, strides)]
    return _Boxes(lengths, counts, tuple(addresses), tuple(strides)).joined()


def _placed(cache: Cache | Placed) -> Placed:
    return cache.placed if isinstance(cache, Cache) else cache


def descriptors(cache: Cache | Placed, pages: Any) -> Descriptors:
    """The memory of pages, in as few rows as there are contiguous ranges in this order: tensor by tensor, axes by their
    strides, the longest first, and pages last, in the order of the list; those below 0 are left out. So two sides of one
    format (equal page_id) list corresponding bytes in the same order, but not always in rows of the same lengths:
    descriptor_pair makes these.

    cache  a Cache, or Format.at(addresses) of another process, with all tokens of its pages or those that are chosen
    pages  as in relayout; a list on a device is copied to the host, which waits for it

    Needs NumPy. Raises IndexError for a page that the cache does not have, and ValueError for more than 2^25 rows
    before they are merged.
    """
    import numpy

    placed = _placed(cache)
    numbers = _host_pages(pages, 'pages', placed.format.pages)
    if placed.tokens is not None:
        pairs = _pair_boxes((placed, placed), (numbers, numbers), True)
        sides = [_Boxes(b.lengths, b.counts, b.addresses[:1], b.strides[:1]) for b in pairs]
        return Descriptors(_all(sides, False), 0)
    numbers = numbers[numbers >= 0]
    boxes = []
    runs: dict[tuple[int, int], Any] = {}
    # Tensors that are alike are taken together: each step of NumPy takes some us.
    for _, alike in itertools.groupby(placed.format.tensors, key=lambda tensor: tensor.dims):
        tensors = list(alike)
        tensor = tensors[0]
        by_stride = sorted((d for d in tensor.dims if d.size > 1 and d.axis != 'page'), key=lambda d: -d.stride)
        block, around = _block_of([(d.size, d.stride) for d in by_stride if d.stride <= tensor.page_stride], placed.format.type.size)
        outer = [(d.size, d.stride) for d in by_stride if d.stride > tensor.page_stride]
        own = numbers * tensor.page_stride
        key = tensor.page_stride, block
        if key not in runs:
            runs[key] = _progressions([own], block)
        bases: Any = numpy.array([placed.addresses[t.address] + t.offset for t in tensors], numpy.int64)
        _require_few(len(bases) * len(_sums(outer + around)))
        inside = (bases[:, None] + _sums(outer + around)[None, :]).ravel()
        boxes.append(_boxes_of(block, [0], [inside], [own], runs[key]))
    return Descriptors(_all(boxes, False), 0)


def _block_of(dims: list[tuple[int, int]], width: int) -> tuple[int, list[tuple[int, int]]]:
    """The bytes of the innermost contiguous block, and the dimensions around it."""
    around = list(dims)
    while around and around[-1][1] == width:
        width *= around.pop()[0]
    return width, around


def _parts(tensor: Tensor, pages: Any, tokens: range, each: int) -> Any:
    """Offsets of parts of so many tokens, and whether they are in a page that is there."""
    import numpy

    at: Any = numpy.array(tokens[::each], numpy.int64)
    size = tensor.size('token')
    numbers, within = pages[at // size], at % size
    offsets = numbers * tensor.page_stride
    for count, stride in reversed(tensor.split('token')):
        offsets, within = offsets + within % count * stride, within // count
    return offsets, numbers >= 0


def descriptor_pair(
    source: Cache | Placed, target: Cache | Placed, source_pages: Any, target_pages: Any
) -> tuple[Descriptors, Descriptors]:
    """What a transfer of pages between two formats reads and writes: two lists with as many rows, of which row i of
    the one and row i of the other are equally long. Rows are as few as the formats allow: joined wherever both
    sides are contiguous, in the order of the source's addresses.

    Arguments and errors: as relayout, without conversion, and as descriptors.
    """
    a, b = _placed(source), _placed(target)
    require_equal_axes(a.format, b.format)
    if a.format.element != b.format.element:
        raise ValueError(
            f'the source has {a.format.element}, the target {b.format.element}; a transfer converts nothing'
        )
    here = _host_pages(source_pages, 'source_pages', a.format.pages)
    there = _host_pages(target_pages, 'target_pages', b.format.pages)
    made = _all(_pair_boxes((a, b), (here, there), False), True)
    return Descriptors(made, 0), Descriptors(made, 1)


def _pair_boxes(sides: tuple[Placed, Placed], pages: tuple[Any, Any], by_token: bool) -> list[_Boxes]:
    """What corresponds on two sides. by_token: token by token, so that the order depends on the format alone, and not on which
    tokens are chosen."""
    a, b = sides
    width = a.format.type.size
    known: dict[tuple[bytes, bytes], Any] = {}
    boxes = []
    for piece in pieces(a.format, b.format):
        tensors = piece.source, piece.target
        key = piece.source.layout, piece.target.layout
        if key not in known:
            known[key] = _layout_of(tensors, (a.tokens, b.tokens), pages, width, by_token)
        block, insides, parts, runs = known[key]
        bases = [side.addresses[tensor.address] + tensor.offset for side, tensor in zip((a, b), tensors)]
        boxes.append(_boxes_of(block, bases, insides, parts, runs))
    return boxes


def _layout_of(
    tensors: tuple[Tensor, Tensor], chosen: tuple[range | None, range | None], pages: tuple[Any, Any], width: int, by_token: bool
) -> tuple[int, list[Any], list[Any], Any]:
    """What all pieces of a layout have in common: the bytes of a range, the offsets of ranges in a part of a page, the offsets
    of parts, and the runs of these."""
    sizes = [tensor.size('token') for tensor in tensors]
    held = [len(some) * size for some, size in zip(pages, sizes)]
    tokens = [range(n) if some is None else some for some, n in zip(chosen, held)]
    if len(tokens[0]) != len(tokens[1]):
        raise ValueError(
            f'{len(pages[0])} pages of {sizes[0]} tokens for {len(pages[1])} pages of {sizes[1]}: '
            f'{len(tokens[0])} tokens for {len(tokens[1])}'
        )
    for some, n in zip(tokens, held):
        if some and some[-1] >= n:
            raise ValueError(f'token {some[-1]} is chosen; the pages hold {n}')
    together = not by_token and all([some.step == 1 for some in tokens])
    each = math.gcd(len(tokens[0]), *[n for some, size in zip(tokens, sizes) for n in (some.start, size)]) if together else 1
    common = [f for axis in ('head', 'dim') for f in _factors(axis, *tensors, tensors[0].size(axis))]
    common += _factors('token', *tensors, each)
    order = ordered([f for f in common if f.size > 1], (0, 0), (width, width))
    sides = [[(f.size, stride) for f, stride in zip(order, strides)] for strides in zip(*[(f.source, f.target) for f in order])]
    sides = sides or [[], []]
    block = math.gcd(*[_contiguous(side, width)[0] for side in sides])
    insides = []
    for side in sides:
        own, around = _block_of(side, width)
        insides.append(_sums([*around, (own // block, block)]))
    found = [_parts(tensor, some, chosen, each) for tensor, some, chosen in zip(tensors, pages, tokens)]
    is_there = found[0][1] & found[1][1]
    parts = [offsets[is_there] for offsets, _ in found]
    return block, insides, parts, _progressions(parts, block)
