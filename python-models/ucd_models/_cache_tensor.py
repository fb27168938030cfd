"""The part of a cache that one tensor holds: where the elements of named axes lie in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ucd
from ucd_models._untrusted import key_of

AXES = ('layer', 'kv', 'page', 'token', 'head', 'dim')
ELEMENTS = (
    'INT8_T', 'UINT8_T', 'INT16_T', 'UINT16_T', 'INT32_T', 'UINT32_T', 'INT64_T', 'UINT64_T',
    'FLOAT8_E4M3', 'FLOAT8_E5M2', 'FLOAT16', 'BFLOAT16', 'FLOAT', 'DOUBLE',
)  # fmt: skip
# Bounds on what a format of another process may make this one keep.
MAX_TENSORS = 4096
MAX_DIMS = 16
MAX_NUMBER = 1 << 48


@dataclass(frozen=True)
class Dim:
    """A dimension of a tensor. An axis that is split has several, the outermost first."""

    axis: str
    size: int
    stride: int
    """In bytes."""


@dataclass(frozen=True)
class Tensor:
    """The part of a cache that one tensor holds."""

    address: int
    """Number of the tensor in the engine's list, whose address it begins at."""
    offset: int
    """Bytes from that address to the first element."""
    starts: tuple[int, ...]
    """The first index of each of AXES that it holds."""
    dims: tuple[Dim, ...]
    """The outermost first, as the engine indexes them."""

    def size(self, axis: str) -> int:
        """How many indices of an axis it holds."""
        return math.prod(dim.size for dim in self.dims if dim.axis == axis)

    def split(self, axis: str) -> tuple[tuple[int, int], ...]:
        """Sizes and strides of an axis, the outermost first: without those of size 1, and with those that continue
        each other joined."""
        joined: list[tuple[int, int]] = []
        for dim in self.dims:
            if dim.axis != axis or dim.size == 1:
                continue
            if joined and joined[-1][1] == dim.size * dim.stride:
                joined[-1] = (joined[-1][0] * dim.size, dim.stride)
            else:
                joined.append((dim.size, dim.stride))
        return tuple(joined)

    @property
    def layout(self) -> bytes:
        """The key of its dimensions in a dict."""
        return key_of((AXES.index(dim.axis), int(dim.size), int(dim.stride)) for dim in self.dims)

    @property
    def page_stride(self) -> int:
        """Bytes from one page to the next."""
        return next((dim.stride for dim in self.dims if dim.axis == 'page'), 0)

    def start(self, axis: str) -> int:
        """The first index of an axis that it holds."""
        return self.starts[AXES.index(axis)]

    def order(self) -> str:
        """The axes by stride, the longest first: 'page token head dim'."""
        by_stride = sorted((dim for dim in self.dims if dim.size > 1), key=lambda dim: -dim.stride)
        names = [dim.axis for dim in by_stride]
        return ' '.join(name for i, name in enumerate(names) if i == 0 or name != names[i - 1])


# One name for each representation: LONG and INT64_T are one on this machine.
_BY_BYTES = {ucd.predefined[name].flatten(): name for name in ELEMENTS}
_BY_BYTES |= {ucd.predefined[name].flatten(): f'{sign}INT8_T' for name, sign in (('CHAR', ''), ('BYTE', 'U'), ('C_BOOL', 'U'))}


def element_name(type: ucd.Type) -> str:
    """The one of ELEMENTS that has the representation of a type."""
    name = _BY_BYTES.get(type.flatten()) if type.name else None
    if name is None:
        raise ValueError(f'elements are {", ".join(ELEMENTS)}, not {type.name or "of several members"}')
    return name


def check_tensor(tensor: Tensor, width: int) -> None:
    if len(tensor.starts) != len(AXES) or not 0 <= tensor.address < MAX_TENSORS:
        raise ValueError('a tensor has no place')
    if len(tensor.dims) > MAX_DIMS:
        raise ValueError(f'a tensor has more than {MAX_DIMS} dimensions')
    numbers = [tensor.offset, *tensor.starts]
    for dim in tensor.dims:
        if dim.axis not in AXES:
            raise ValueError(f'{dim.axis!r} is none of {", ".join(AXES)}')
        if dim.size < 1:
            raise ValueError(f'{dim.axis} has {dim.size} indices; there must be one at least')
        if dim.size > 1 and dim.stride < width:
            raise ValueError(f'{dim.axis} has a stride of {dim.stride} bytes; elements have {width}')
        if dim.size * dim.stride >= MAX_NUMBER:
            raise ValueError(f'{dim.axis} reaches too far')
        numbers += [dim.size, dim.stride]
    if any(not 0 <= n < MAX_NUMBER for n in numbers):
        raise ValueError('a size, a stride or an offset is negative or too large')
    if sum(dim.axis == 'page' for dim in tensor.dims) != 1:
        raise ValueError('a tensor must have one dimension of pages')
    if tensor.start('page') or tensor.start('token'):
        raise ValueError('pages are in one piece')
    reach = width
    for dim in sorted((d for d in tensor.dims if d.size > 1), key=lambda d: d.stride):
        if dim.stride < reach:
            raise ValueError(f'elements overlap: {dim.axis} has a stride of {dim.stride} bytes over {reach}')
        reach += (dim.size - 1) * dim.stride
    if reach >= MAX_NUMBER:
        raise ValueError('a tensor reaches too far')


def place_of(tensor: Tensor, axis: str, pages: bool) -> tuple[Any, ...]:
    """Where an axis lies in a tensor; without pages, strides beyond a page are only said to be that."""
    split = tensor.split(axis)
    if axis == 'page':
        return (0, 0, *(split if pages else ((0, tensor.page_stride),)))
    if not pages and tensor.page_stride > 0:
        split = tuple((size, 0 if stride > tensor.page_stride else stride) for size, stride in split)
    return (tensor.start(axis), tensor.size(axis), *split)


def words_of(tensor: Tensor, place: tuple[Any, ...]) -> str:
    start, size, *split = place
    numbers = [f'{n} at ' if n else '' for n, _ in split]
    strides = ' and '.join(f'{n}a stride of {stride} bytes' for n, (_, stride) in zip(numbers, split)) or 'one'
    part = f' from {start} on' if start else ''
    return f'{strides}{part} (order {tensor.order()})'


def part_of(tensor: Tensor, axis: str, begin: int, end: int) -> Tensor | None:
    """What a tensor has of a range of an axis."""
    first, size = tensor.start(axis), tensor.size(axis)
    low, high = max(begin, first), min(end, first + size)
    if low >= high:
        return None
    starts = list(tensor.starts)
    starts[AXES.index(axis)] = low - begin
    dims = list(tensor.dims)
    places = [i for i, dim in enumerate(dims) if dim.axis == axis]
    low, high, offset = low - first, high - first, tensor.offset
    inner = size
    for i in places:
        inner //= dims[i].size
        if low // inner == (high - 1) // inner:  # within one
            offset += low // inner * dims[i].stride
            dims[i] = Dim(axis, 1, dims[i].stride)
            low, high = low % inner, (high - 1) % inner + 1
        elif low % inner or high % inner:
            raise ValueError(f'{axis} {begin} to {end} begins or ends within {inner} of a dimension that is split')
        else:
            offset += low // inner * dims[i].stride
            dims[i] = Dim(axis, (high - low) // inner, dims[i].stride)
            break
    return Tensor(tensor.address, offset, tuple(starts), tuple(dims))
