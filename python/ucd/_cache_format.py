"""Formats of caches: where the elements of named axes lie in an engine's tensors."""

from __future__ import annotations

import hashlib
import math
import operator
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ucd import _core, _dtypes
from ucd._errors import Corrupt, NotSupported

AXES = ('layer', 'kv', 'page', 'token', 'head', 'dim')
# Bounds on what a format of another process may make this one keep.
MAX_TENSORS = 4096
MAX_DIMS = 16
_MAX_NUMBER = 1 << 48
_MAX_NAME = 255

_MAGIC = b'UCDcache'
_VERSION = 1
_HEAD = struct.Struct('<8sHHHH')  # magic, version, bytes of the name, bytes of the element's name, tensors
_TENSOR = struct.Struct('<HHQ')  # address, dims, offset
_DIM = struct.Struct('<BQQ')  # axis, size, stride
_DIGEST = 32


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


@dataclass(frozen=True)
class Difference:
    """Where two formats differ first. str() of it is a sentence."""

    axis: str
    """One of AXES, or 'element' or 'tensors'."""
    here: str
    there: str

    def __str__(self) -> str:
        return f'{self.axis}: {self.here} here, {self.there} there'


@dataclass(frozen=True)
class Format:
    """The layout of a cache of keys and values: in which of an engine's tensors, and how many bytes from its beginning,
    the element with given indices of layer, kv, page, token, head and dim lies.

        format = ucd.cache.Format.of(kv_caches, 'kv page token head dim')         # a tensor for each layer
        format = ucd.cache.Format.of_shapes('bfloat16', 'page head token dim', [(1000, 8, 16, 128)] * 32)

    A format has no addresses, so processes can exchange it: to_bytes and from_bytes. Equal layouts have equal `id`s,
    whatever their names.
    """

    element: str
    """The name of the predefined type of the elements: 'BFLOAT16'."""
    tensors: tuple[Tensor, ...]
    name: str = ''
    """What the engine calls it. Not a part of the layout."""

    def __post_init__(self) -> None:
        _check(self)

    # ---- making ---------------------------------------------------------------------------------

    @classmethod
    def of(
        cls, tensors: Any, axes: str, *, lists: Sequence[str] | None = None, name: str = '', **sizes: int
    ) -> Format:
        """The format of the tensors of an engine.

        tensors  an array, or a list of arrays (of NumPy, PyTorch, CuPy, …), or lists of lists of them
        axes     names of each array's dimensions, of layer, kv, page, token, head and dim: 'kv page token head dim'.
                 A dimension of several axes is in parentheses: '(page token) head dim', and `sizes` says how long the
                 inner ones are: token=16. An axis that is split has several names: vLLM's keys are
                 'page head dim token dim'. Axes that are not named have one index.
        lists    the axes along which lists go on, the outermost first; ('layer',) if there is one list. Along an axis
                 that arrays have, too, their parts follow each other: ('layer', 'dim') is for a list for each layer of
                 two arrays with 512 and 64 of 576 dims.
        name     what the engine calls it

        Raises ValueError if names and shapes do not fit, if arrays have different elements or overlap themselves, or
        for negative strides.
        """
        depth = _depth(lists, isinstance(tensors, (list, tuple)))
        leaves = [(index, *_of_array(array)) for index, array in _leaves(tensors, depth)]
        return _made(leaves, _names(axes), depth, name, sizes)

    @classmethod
    def of_shapes(
        cls,
        element: Any,
        axes: str,
        shapes: Any,
        strides: Sequence[int] | None = None,
        *,
        lists: Sequence[str] | None = None,
        name: str = '',
        **sizes: int,
    ) -> Format:
        """The format of tensors that need not exist.

        element  what names an element: 'bfloat16', a Type, a dtype
        shapes   the shape of one array, or lists of shapes as `tensors` of Format.of
        strides  of each array, in bytes; without: C-contiguous. Longer ones than needed are padding.

        axes, lists, name and sizes: as Format.of.
        """
        type = _dtypes.of(element)
        depth = _depth(lists, len(shapes) > 0 and isinstance(shapes[0], (list, tuple)))
        leaves = []
        for index, shape in _leaves(shapes, depth):
            shape = tuple(operator.index(n) for n in shape)
            own = [math.prod(shape[i + 1 :]) * type.extent for i in range(len(shape))] if strides is None else strides
            if len(own) != len(shape):
                raise ValueError(f'{len(own)} strides for shape {shape}')
            leaves.append((index, type, shape, tuple(operator.index(n) for n in own)))
        return _made(leaves, _names(axes), depth, name, sizes)

    # ---- what it says ---------------------------------------------------------------------------

    @property
    def type(self) -> _core.Type:
        """The type of the elements."""
        return _core.predefined[self.element]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many indices each axis has. Of pages, as many as the smallest tensor has."""
        ends = {a: max(t.start(a) + t.size(a) for t in self.tensors) for a in AXES}
        return ends | {'page': min(t.size('page') for t in self.tensors)}

    @property
    def pages(self) -> int:
        """How many pages each tensor has, at least."""
        return self.sizes['page']

    @property
    def page_size(self) -> int:
        """How many tokens a page has."""
        return self.sizes['token']

    @property
    def page_bytes(self) -> int:
        """The bytes of data of a page: of all layers, keys and values, tokens, heads and dims."""
        return self.type.size * math.prod(n for axis, n in self.sizes.items() if axis != 'page')

    @cached_property
    def id(self) -> str:
        """SHA-256 of the layout, numbers of pages included, in hexadecimal: the content id. Equal layouts have equal ids,
        whatever their names, in all processes and versions that read this version of the format's bytes."""
        return hashlib.sha256(_body(self)).hexdigest()

    @cached_property
    def page_id(self) -> str:
        """The content id of what does not depend on how many pages there are: the order and sizes of axes, and the bytes
        within a page. Pools of different lengths with the same format have equal ones."""
        return hashlib.sha256(_body(self, with_pages=False)).hexdigest()

    def __repr__(self) -> str:
        sizes = ' '.join(f'{axis}={n}' for axis, n in self.sizes.items() if n > 1)
        name = f'{self.name!r}: ' if self.name else ''
        tensors = f', {len(self.tensors)} tensors' if len(self.tensors) > 1 else ''
        return f'<ucd.cache.Format {name}{self.element} {sizes}, order {self.tensors[0].order()}{tensors}, id {self.id[:12]}>'

    def difference(self, other: Format, *, pages: bool = False) -> Difference | None:
        """Where another format differs first, in the order element, layer, kv, page, token, head, dim; None if both are the
        same layout. The number of pages, and strides that follow from it, are compared with pages=True only: without, the
        answer is None if both have one page_id, with it, if they have one id."""
        if self.element != other.element:
            return Difference('element', self.element, other.element)
        for axis in AXES:
            if self.sizes[axis] != other.sizes[axis] and (pages or axis != 'page'):
                return Difference(axis, str(self.sizes[axis]), str(other.sizes[axis]))
        if len(self.tensors) != len(other.tensors):
            return Difference('tensors', str(len(self.tensors)), str(len(other.tensors)))
        for axis in AXES:
            for mine, theirs in zip(self.tensors, other.tensors):
                here, there = _axis_of(mine, axis, pages), _axis_of(theirs, axis, pages)
                if here != there:
                    return Difference(axis, _words(mine, here), _words(theirs, there))
        for mine, theirs in zip(self.tensors, other.tensors):
            if (mine.address, mine.offset) != (theirs.address, theirs.offset):
                return Difference(
                    'tensors', f'byte {mine.offset} of tensor {mine.address}', f'byte {theirs.offset} of {theirs.address}'
                )
        return None

    def require_same(self, other: Format, *, pages: bool = False) -> None:
        """Raises ValueError, with both names and the first axis that differs, unless both are the same layout. pages: as
        difference."""
        found = self.difference(other, pages=pages)
        if found is None:
            return
        if self.name and self.name == other.name:
            raise ValueError(f'both sides say {self.name!r} and mean different layouts: {found}')
        raise ValueError(f'the formats {self.name!r} and {other.name!r} differ: {found}')

    def select(self, **axes: slice | int) -> Format:
        """The format of a part of a cache, whose indices begin with 0 again: format.select(head=slice(2, 4)).

        axes: of layer, kv, head and dim a slice, or an index (that of an axis which then has one). The part has the
        addresses of the whole. Raises ValueError for other axes, steps, empty parts, and a part that begins or ends
        within a dimension of an axis that is split."""
        made = self
        for axis, chosen in axes.items():
            if axis not in ('layer', 'kv', 'head', 'dim'):
                raise ValueError(f'parts are chosen of layer, kv, head and dim, not of {axis!r}')
            if not isinstance(chosen, slice):
                index = operator.index(chosen)
                chosen = slice(index, index + 1 or None)
            begin, end, step = chosen.indices(made.sizes[axis])
            if step != 1 or begin >= end:
                raise ValueError(f'{axis}={chosen} of {made.sizes[axis]} is no part without gaps')
            parts = [_part(tensor, axis, begin, end) for tensor in made.tensors]
            made = replace(made, tensors=tuple(part for part in parts if part is not None))
        return made

    def at(self, addresses: Iterable[int]) -> Placed:
        """The cache of this format whose tensors begin at these addresses, of another process perhaps."""
        return Placed(self, tuple(operator.index(a) for a in addresses))

    # ---- bytes ----------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The format as bytes, for other processes."""
        name, body = self.name.encode(), _body(self)
        head = _HEAD.pack(_MAGIC, _VERSION, len(name), len(self.element), len(self.tensors))
        return head + name + body + hashlib.sha256(head + name + body).digest()

    @staticmethod
    def from_bytes(data: Any) -> Format:
        """A format from bytes that may come from anyone. Raises Corrupt if they are none, and NotSupported for a newer
        version."""
        return _read(bytes(memoryview(data)))


@dataclass(frozen=True)
class Placed:
    """A format with the addresses of its tensors."""

    format: Format
    addresses: tuple[int, ...]

    def __post_init__(self) -> None:
        needed = 1 + max(tensor.address for tensor in self.format.tensors)
        if len(self.addresses) < needed:
            raise ValueError(f'{len(self.addresses)} addresses for {needed} tensors')
        if any(not 0 <= address < 1 << 64 for address in self.addresses):
            raise ValueError('an address does not fit 64 bits')

    def select(self, **axes: slice | int) -> Placed:
        """A part of it: see Format.select."""
        return replace(self, format=self.format.select(**axes))


# ---- from names and shapes --------------------------------------------------------------------------


def _depth(lists: Sequence[str] | None, is_list: bool) -> tuple[str, ...]:
    depth = (('layer',) if is_list else ()) if lists is None else tuple(lists)
    for axis in depth:
        if axis not in AXES or axis in ('page', 'token'):
            raise ValueError(f'lists go along layer, kv, head or dim, not {axis!r}')
    if len(set(depth)) != len(depth):
        raise ValueError(f'lists name an axis twice: {depth}')
    return depth


def _leaves(nested: Any, depth: tuple[str, ...], index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if len(index) == len(depth):
        yield index, nested
        return
    if not isinstance(nested, (list, tuple)):
        raise ValueError(f'lists along {" and ".join(depth)} are needed; there is no list along {depth[len(index)]}')
    for i, inner in enumerate(nested):
        yield from _leaves(inner, depth, (*index, i))


def _of_array(array: Any) -> tuple[_core.Type, tuple[int, ...], tuple[int, ...]]:
    return (_core.element_of(array), *_core.shape_and_strides(array))


def _names(axes: str) -> list[tuple[str, ...]]:
    """For each dimension of an array, the axes that it has."""
    found: list[tuple[str, ...]] = []
    inside: list[str] | None = None
    for word in axes.replace('(', ' ( ').replace(')', ' ) ').split():
        if word == '(' and inside is None:
            inside = []
        elif word == ')' and inside:
            found.append(tuple(inside))
            inside = None
        elif word not in AXES:
            raise ValueError(f'{word!r} in {axes!r} is none of {", ".join(AXES)}')
        elif inside is None:
            found.append((word,))
        else:
            inside.append(word)
    if inside is not None:
        raise ValueError(f'{axes!r} has a parenthesis that is not closed')
    if sum(axis == 'page' for names in found for axis in names) != 1:
        raise ValueError(f'{axes!r} must have page once')
    return found


def _dims(names: list[tuple[str, ...]], shape: Sequence[int], strides: Sequence[int], sizes: dict[str, int]) -> tuple[Dim, ...]:
    if len(shape) != len(names):
        raise ValueError(f'a tensor of shape {tuple(shape)} for {len(names)} dimensions')
    dims: list[Dim] = []
    for axes, size, stride in zip(names, shape, strides):
        inner: list[Dim] = []
        for axis in reversed(axes[1:]):
            if axis not in sizes:
                raise ValueError(f'({" ".join(axes)}) needs {axis}=')
            inner.append(Dim(axis, sizes[axis], stride))
            stride *= sizes[axis]
            if sizes[axis] < 1 or size % sizes[axis]:
                raise ValueError(f'a dimension of {size} does not have {axis}={sizes[axis]}')
            size //= sizes[axis]
        dims += [Dim(axes[0], size, stride), *reversed(inner)]
    return tuple(dims)


def _made(leaves: Any, names: list[tuple[str, ...]], depth: tuple[str, ...], name: str, sizes: dict[str, int]) -> Format:
    for axis in sizes:
        if axis not in AXES:
            raise ValueError(f'{axis!r} is none of {", ".join(AXES)}')
    made: list[tuple[tuple[int, ...], tuple[Dim, ...]]] = []
    elements = set()
    for index, type, shape, strides in leaves:
        elements.add(_element_name(type))
        made.append((index, _dims(names, shape, strides, sizes)))
    if not made:
        raise ValueError('there are no tensors')
    if len(elements) != 1:
        raise ValueError(f'the tensors have different elements: {", ".join(sorted(elements))}')
    # Along an axis of lists, a part begins where the one before it ends.
    lengths: list[dict[int, int]] = [{} for _ in depth]
    for index, dims in made:
        for along, axis, i in zip(lengths, depth, index):
            size = math.prod(dim.size for dim in dims if dim.axis == axis)
            if along.setdefault(i, size) != size:
                raise ValueError(f'tensors at {i} along {axis} have {along[i]} and {size} of it')
    tensors = []
    for number, (index, dims) in enumerate(made):
        starts = dict.fromkeys(AXES, 0)
        for along, axis, i in zip(lengths, depth, index):
            starts[axis] = sum(along[k] for k in range(i))
        tensors.append(Tensor(number, 0, tuple(starts.values()), dims))
    return Format(elements.pop(), tuple(tensors), name)


def _element_name(type: _core.Type) -> str:
    """One name for each representation: LONG and INT64_T are one on this machine."""
    known = {
        'CHAR': 'INT8_T', 'SIGNED_CHAR': 'INT8_T', 'UNSIGNED_CHAR': 'UINT8_T', 'BYTE': 'UINT8_T', 'C_BOOL': 'UINT8_T',
        'SHORT': 'INT16_T', 'UNSIGNED_SHORT': 'UINT16_T', 'INT': 'INT32_T', 'UNSIGNED': 'UINT32_T',
        'LONG': 'INT64_T', 'UNSIGNED_LONG': 'UINT64_T', 'LONG_LONG': 'INT64_T', 'UNSIGNED_LONG_LONG': 'UINT64_T',
    }  # fmt: skip
    name = known.get(type.name or '', type.name or '')
    if name not in ELEMENTS:
        raise ValueError(f'elements are {", ".join(ELEMENTS)}, not {type.name or "of several members"}')
    return name


ELEMENTS = (
    'INT8_T', 'UINT8_T', 'INT16_T', 'UINT16_T', 'INT32_T', 'UINT32_T', 'INT64_T', 'UINT64_T',
    'FLOAT8_E4M3', 'FLOAT8_E5M2', 'FLOAT16', 'BFLOAT16', 'FLOAT', 'DOUBLE',
)  # fmt: skip


# ---- rules ------------------------------------------------------------------------------------------


def _check(format: Format) -> None:
    """Raises ValueError unless the format is one: elements have one place each."""
    if format.element not in ELEMENTS:
        raise ValueError(f'elements are {", ".join(ELEMENTS)}, not {format.element!r}')
    if len(format.name.encode()) > _MAX_NAME:
        raise ValueError(f'the name has more than {_MAX_NAME} bytes')
    if not 1 <= len(format.tensors) <= MAX_TENSORS:
        raise ValueError(f'{len(format.tensors)} tensors; there must be 1 to {MAX_TENSORS}')
    width = format.type.size
    for tensor in format.tensors:
        _check_tensor(tensor, width)
    lengths = {tensor.size('token') for tensor in format.tensors}
    if len(lengths) != 1:
        raise ValueError(f'the tensors have pages of different lengths: {min(lengths)} and {max(lengths)} tokens')
    # Parts are the cells of a grid: along each axis their ranges follow each other, and no cell is missing or twice.
    cells = set()
    ranges: dict[str, set[tuple[int, int]]] = {axis: set() for axis in AXES if axis != 'page'}
    for tensor in format.tensors:
        cells.add(tuple(tensor.start(axis) for axis in ranges))
        for axis, known in ranges.items():
            known.add((tensor.start(axis), tensor.size(axis)))
    for axis, known in ranges.items():
        end = 0
        for start, size in sorted(known):
            if start != end:
                raise ValueError(f'the tensors overlap or leave a gap at {axis} {min(start, end)}')
            end = start + size
        if end >= _MAX_NUMBER:
            raise ValueError(f'{axis} has too many indices')
    expected = math.prod(len(known) for known in ranges.values())
    if len(cells) != len(format.tensors) or expected != len(cells):
        raise ValueError(f'{len(cells)} different parts in {len(format.tensors)} tensors, where {expected} are needed')


def _check_tensor(tensor: Tensor, width: int) -> None:
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
        if dim.size * dim.stride >= _MAX_NUMBER:
            raise ValueError(f'{dim.axis} reaches too far')
        numbers += [dim.size, dim.stride]
    if any(not 0 <= n < _MAX_NUMBER for n in numbers):
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
    if reach >= _MAX_NUMBER:
        raise ValueError('a tensor reaches too far')


def _axis_of(tensor: Tensor, axis: str, pages: bool) -> tuple[Any, ...]:
    """Where an axis lies in a tensor; without pages, strides beyond a page are only said to be that."""
    split = tensor.split(axis)
    if axis == 'page':
        return (0, 0, *(split if pages else ((0, tensor.page_stride),)))
    if not pages and tensor.page_stride > 0:
        split = tuple((size, 0 if stride > tensor.page_stride else stride) for size, stride in split)
    return (tensor.start(axis), tensor.size(axis), *split)


def _words(tensor: Tensor, place: tuple[Any, ...]) -> str:
    start, size, *split = place
    strides = ' and '.join(f'{n} by {stride} bytes' if n else f'by {stride} bytes' for n, stride in split) or 'one'
    part = f' from {start} on' if start else ''
    return f'{strides}{part} (order {tensor.order()})'


def _part(tensor: Tensor, axis: str, begin: int, end: int) -> Tensor | None:
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


# ---- bytes ------------------------------------------------------------------------------------------


def _body(format: Format, with_pages: bool = True) -> bytes:
    """The layout, in one way only: axes in order, dims of size 1 left out, and those joined that continue each other."""
    parts = [struct.pack('<H', _VERSION), format.element.encode(), b'\0']
    for tensor in format.tensors:
        entries = []
        for number, axis in enumerate(AXES):
            places = _axis_of(tensor, axis, with_pages)[2:]
            entries += [_DIM.pack(number, size, stride) for size, stride in places]
        parts.append(_TENSOR.pack(tensor.address, len(entries), tensor.offset))
        parts += [struct.pack('<6Q', *tensor.starts), *entries]
    return b''.join(parts)


def _read(data: bytes) -> Format:
    def take(count: int) -> bytes:
        nonlocal at
        if len(data) - at < count:
            raise Corrupt('the bytes of a cache format are cut off')
        at += count
        return data[at - count : at]

    at = 0
    magic, version, name_bytes, element_bytes, count = _HEAD.unpack(take(_HEAD.size))
    if magic != _MAGIC:
        raise Corrupt('these bytes are no cache format')
    if version != _VERSION:
        raise NotSupported(f'the cache format is of version {version}; this library reads {_VERSION}')
    if name_bytes > _MAX_NAME or not 1 <= count <= MAX_TENSORS:
        raise Corrupt('the bytes of a cache format have a name or tensors beyond the bounds')
    try:
        name = take(name_bytes).decode()
        take(2)
        element = take(element_bytes).decode('ascii')
        take(1)
        tensors = []
        for _ in range(count):
            address, dims, offset = _TENSOR.unpack(take(_TENSOR.size))
            if dims > MAX_DIMS:
                raise Corrupt(f'a tensor of a cache format has more than {MAX_DIMS} dimensions')
            starts = struct.unpack('<6Q', take(48))
            entries = [_DIM.unpack(take(_DIM.size)) for _ in range(dims)]
            if any(axis >= len(AXES) for axis, _, _ in entries):
                raise Corrupt('a cache format has an axis that is not known')
            made = [Dim(AXES[axis], size, stride) for axis, size, stride in entries]
            if all(dim.axis != 'page' for dim in made):
                made.insert(0, Dim('page', 1, 0))
            tensors.append(Tensor(address, offset, starts, tuple(made)))
        digest = take(_DIGEST)
        if at != len(data) or hashlib.sha256(data[:-_DIGEST]).digest() != digest:
            raise Corrupt('the digest of a cache format does not fit its bytes')
        format = Format(element, tuple(tensors), name)
    except (UnicodeDecodeError, ValueError) as error:
        raise error if isinstance(error, Corrupt) else Corrupt(f'no cache format: {error}') from None
    # One form for each layout, so that equal layouts have equal bytes.
    if format.to_bytes() != data:
        raise Corrupt('the bytes of a cache format are not in the form that is written')
    return format
