"""Layouts as lists for transfer libraries: I/O vectors, strided boxes, runs of elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from ucd import _core, _dtypes


class ElementRun(NamedTuple):
    """A stretch of elements of one predefined type in a packed stream."""

    element: _core.Type | None
    """None: this machine has no type of that representation."""
    element_bytes: int
    elements: int
    offset: int
    """Of the first byte in the packed stream."""


class SGL(NamedTuple):
    """A layout as the arrays of a scatter-gather list: entry i is counts[i] blocks of lengths[i] bytes,
    of which the first is at buffers[i], and the others strides[i] bytes from one to the next. All are
    contiguous arrays of uint64 of one length. (Without NumPy memoryviews.)"""

    buffers: Any
    lengths: Any
    counts: Any
    strides: Any
    """0 where there is one block."""
    offsets: Any
    """Of the first byte in the packed stream."""


def _placed(source: Any, type: _core.Type | None) -> tuple[int, _core.Type]:
    """The address and the type of an array, or of a type at an address."""
    if not isinstance(source, int):
        return _core.address(source), type if type is not None else _core.Type.from_view(source)
    if type is None:
        raise TypeError('an address needs a type')
    return source, type


def _column(data: bytearray, format: str = 'Q') -> Any:
    numpy = _dtypes.installed_numpy()
    if numpy is None:
        return memoryview(data).cast(format)  # type: ignore[call-overload]
    return numpy.frombuffer(data, dtype={'q': numpy.int64, 'Q': numpy.uint64}[format])


def _table(data: bytearray, columns: int, format: str) -> Any:
    flat = _column(data, format)
    if isinstance(flat, memoryview):  # which cannot have an empty shape
        return memoryview(data).cast(format, (len(flat) // columns, columns)) if flat else flat  # type: ignore[call-overload]
    return flat.reshape(-1, columns)


def iov(source: Any, type: _core.Type | None = None, count: int = 1) -> Any:
    """The contiguous pieces of a layout in packed order: an N x 2 array of uint64, with the columns
    address and bytes. (Without NumPy a memoryview, here and in boxes.)

    source is an array, whose own layout is listed unless a type is given, or an address, such as 0
    for displacements. Data is not accessed. Raises NotSupported for types of indexed_block_ref.
    """
    address, layout = _placed(source, type)
    return _table(_core.iov(layout, address, count), 2, 'Q')


def boxes(source: Any, type: _core.Type | None = None, count: int = 1) -> Any:
    """A layout as rows of strided blocks in packed order: an N x 5 array of int64, with the columns

    address  of the first block
    block    bytes of each
    count    how many blocks
    stride   bytes from one to the next; may be negative or 0
    offset   of the first byte in the packed stream; the row's blocks follow each other there

    That is what descriptor lists of transfer libraries take. source, type, count and errors: as iov.
    """
    address, layout = _placed(source, type)
    return _table(_core.boxes(layout, address, count), 5, 'q')


def sgl(source: Any, type: _core.Type | None = None, count: int = 1, *, expand: bool = False) -> SGL:
    """What boxes gives, as one array for each column: the form of UCX's scatter-gather lists
    (buffers, lengths, counts and strides of ucp_dt_local_sgl_t). Strides are not negative there: rows
    with such a stride become a row for each block.

    expand  a row for each contiguous piece, as in iov, so that all counts are 1 and all strides 0: for
            what takes no counts and strides. UCX has these fields, but its transports of August 2026
            refuse lists that use them.

    source, type, count and errors: as iov."""
    address, layout = _placed(source, type)
    return SGL(*map(_column, _core.columns(layout, address, count, expand)))


def element_runs(type: _core.Type, count: int = 1) -> list[ElementRun]:
    """What the packed stream of count of a type is made of: stretches, as long as can be, of
    elements of one predefined type."""
    return [ElementRun(*run) for run in _core.element_runs(type, count)]
