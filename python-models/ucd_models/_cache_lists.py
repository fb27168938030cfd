"""Descriptor lists of pages, for libraries that transfer ranges of memory."""

from __future__ import annotations

import math
from typing import Any

import ucd
from ucd import interop
from ucd_models._cache_factors import Side, _contiguous, inside
from ucd_models._cache_format import Placed
from ucd_models._cache import Cache, Pages, pieces, require_equal_axes
from ucd_models._cache_tensor import Tensor

# 256 MiB of addresses on each side.
MAX_ROWS = 1 << 25


class Descriptors:
    """Ranges of memory in a fixed order, as the lists that transfer libraries take. len() of it is the number of
    rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        """An N x 2 array of uint64: address and length in bytes."""

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f'<ucd_models.cache.Descriptors: {len(self)} rows, {self.nbytes} bytes>'

    @property
    def nbytes(self) -> int:
        """The bytes of all ranges."""
        return int(self.rows[:, 1].sum())

    def nixl(self, device: int = 0) -> Any:
        """For nixl_agent.get_xfer_descs and get_reg_descs: an N x 3 array of uint64, of address, length and device
        id."""
        import numpy

        made: Any = numpy.empty((len(self), 3), numpy.uint64)
        made[:, :2] = self.rows
        made[:, 2] = device
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


def _sums(first: Any, dims: list[tuple[int, int]]) -> Any:
    """All sums of one of `first` and an offset of each dimension, the first outermost."""
    import numpy

    for size, stride in dims:
        first = (first[:, None] + (numpy.arange(size) * stride)[None, :]).ravel()
    return first


def _merged(lengths: Any, *addresses: Any) -> tuple[Any, ...]:
    """Neighbouring rows joined where all sides are contiguous: lengths and addresses."""
    import numpy

    if len(lengths) == 0:
        return (lengths, *addresses)
    begins: Any = numpy.ones(len(lengths), bool)
    begins[1:] = numpy.logical_or.reduce([side[1:] != side[:-1] + lengths[:-1] for side in addresses])
    return (numpy.add.reduceat(lengths, numpy.flatnonzero(begins)), *(side[begins] for side in addresses))


def _rows(lengths: Any, addresses: Any) -> Descriptors:
    import numpy

    return Descriptors(numpy.stack([addresses.astype(numpy.uint64), lengths.astype(numpy.uint64)], axis=1))


def _placed(cache: Cache | Placed) -> Placed:
    return cache.placed if isinstance(cache, Cache) else cache


def descriptors(cache: Cache | Placed, pages: Any) -> Descriptors:
    """The memory of pages, in as few rows as there are contiguous ranges in this order: tensor by tensor, axes by their
    strides, the longest first, pages in the order of the list. So two sides of one format (equal page_id) list
    corresponding bytes in the same order, but not always in rows of the same lengths: descriptor_pair makes these.

    cache  a Cache, or Format.at(addresses) of another process
    pages  as in relayout; a list on a device is copied to the host, which waits for it

    Needs NumPy. Raises IndexError for a page that the cache does not have, and ValueError for more than 2^25 rows
    before they are merged.
    """
    import numpy

    placed = _placed(cache)
    numbers = _host_pages(pages, 'pages', placed.format.pages)
    width = placed.format.type.size
    lengths: list[Any] = []
    addresses: list[Any] = []
    for tensor in placed.format.tensors:
        by_stride = sorted((d for d in tensor.dims if d.size > 1 and d.axis != 'page'), key=lambda d: -d.stride)
        outer = [(d.size, d.stride) for d in by_stride if d.stride > tensor.page_stride]
        inner = [(d.size, d.stride) for d in by_stride if d.stride <= tensor.page_stride]
        block, inner = _block_of(inner, width)
        _require_few(len(numbers) * math.prod(size for size, _ in outer + inner))
        base = numpy.array([placed.addresses[tensor.address] + tensor.offset], numpy.int64)
        first = (_sums(base, outer)[:, None] + (numbers * tensor.page_stride)[None, :]).ravel()
        addresses.append(_sums(first, inner))
        lengths.append(numpy.full(len(addresses[-1]), block, numpy.int64))
    return _rows(*_merged(numpy.concatenate(lengths), numpy.concatenate(addresses)))


def _block_of(dims: list[tuple[int, int]], width: int) -> tuple[int, list[tuple[int, int]]]:
    """The bytes of the innermost contiguous block, and the dimensions around it."""
    around = list(dims)
    while around and around[-1][1] == width:
        width *= around.pop()[0]
    return width, around


def descriptor_pair(
    source: Cache | Placed, target: Cache | Placed, source_pages: Any, target_pages: Any
) -> tuple[Descriptors, Descriptors]:
    """What a transfer of pages between two formats reads and writes: two lists with as many rows, of which row i of
    the one and row i of the other are equally long. Rows are as few as the formats allow: joined wherever both
    sides are contiguous, in the order of the source's addresses.

    Arguments and errors: as relayout, without conversion, and as descriptors.
    """
    import numpy

    a, b = _placed(source), _placed(target)
    require_equal_axes(a.format, b.format)
    if a.format.element != b.format.element:
        raise ValueError(
            f'the source has {a.format.element}, the target {b.format.element}; a transfer converts nothing'
        )
    here = _host_pages(source_pages, 'source_pages', a.format.pages)
    there = _host_pages(target_pages, 'target_pages', b.format.pages)
    if len(here) * a.format.page_size != len(there) * b.format.page_size:
        raise ValueError(
            f'{len(here)} pages of {a.format.page_size} tokens for {len(there)} pages of {b.format.page_size}'
        )
    width = a.format.type.size
    orders: dict[tuple[bytes, bytes], Any] = {}
    lengths: list[Any] = []
    reads: list[Any] = []
    writes: list[Any] = []
    rows = 0
    for piece in pieces(a.format, b.format):
        key = piece.source.layout, piece.target.layout
        if key not in orders:
            orders[key] = inside(piece.source, piece.target, (width, width))
        sides = orders[key]
        block = math.gcd(*(_contiguous(list(side.dims), width)[0] for side in sides))
        rows += len(here) * math.prod(size for size, _ in sides.source.dims) * width // block
        _require_few(rows)
        reads.append(_of_side(a, piece.source, sides.source, here, width, block))
        writes.append(_of_side(b, piece.target, sides.target, there, width, block))
        lengths.append(numpy.full(len(reads[-1]), block, numpy.int64))
    all_reads, all_writes, all_lengths = map(numpy.concatenate, (reads, writes, lengths))
    order = numpy.argsort(all_reads, kind='stable')
    merged = _merged(all_lengths[order], all_reads[order], all_writes[order])
    return _rows(merged[0], merged[1]), _rows(merged[0], merged[2])


def _of_side(placed: Placed, tensor: Tensor, side: Side, pages: Any, width: int, block: int) -> Any:
    """The addresses of blocks of so many bytes, in the order of the stream."""
    own, around = _block_of(list(side.dims), width)
    first = placed.addresses[tensor.address] + tensor.offset + pages * tensor.page_stride
    return _sums(first, [*around, (own // block, block)])
