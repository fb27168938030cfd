"""Formats of caches: where the elements of named axes lie in an engine's tensors."""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import ucd
from ucd import Corrupt, interop
from ucd_models._cache_bytes import MAX_NAME, body_of, bytes_of, read
from ucd_models._cache_names import VALUES_THEN_SCALES, depth_of, dims_of, leaves, named, names_of
from ucd_models._cache_tensor import (
    AXES,
    ELEMENTS,
    MAX_NUMBER,
    MAX_TENSORS,
    Dim,
    Tensor,
    check_tensor,
    element_name,
    part_of,
    place_of,
    words_of,
)
from ucd_models._untrusted import distinct


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

        format = ucd_models.cache.Format.of(kv_caches, 'kv page token head dim')         # a tensor for each layer
        format = ucd_models.cache.Format.of_shapes('bfloat16', 'page head token dim', [(1000, 8, 16, 128)] * 32)

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
                 inner ones are, or all but one: token=16. An axis that is split has several names: 'page head dim token dim'.
                 Axes that are not named have one index. Or one of cache.NAMES: 'LBNHC' of vLLM,
                 'NL_X_TWO_NB_BS_NH_HS' of LMCache. With keys and values side by side in C or CS, and latent attention: kv=1.
        lists    the axes along which lists go on, the outermost first; ('layer',) if there is one list. Along an axis
                 that arrays have, too, their parts follow each other: ('layer', 'dim') is for a list for each layer of
                 two arrays with 512 and 64 of 576 dims.
        name     what the engine calls it

        Raises ValueError if names and shapes do not fit, if arrays have different elements or overlap themselves, or
        for negative strides.
        """
        found = _described(tensors, axes, lists, isinstance(tensors, (list, tuple)), sizes, _of_array)
        return _made(*found, name)

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
        type = interop.type_of_dtype(element)

        def of_shape(shape: Any) -> tuple[ucd.Type, tuple[int, ...], tuple[int, ...]]:
            shape = tuple(operator.index(n) for n in shape)
            own = [math.prod(shape[i + 1 :]) * type.extent for i in range(len(shape))] if strides is None else strides
            if len(own) != len(shape):
                raise ValueError(f'{len(own)} strides for shape {shape}')
            return type, shape, tuple(operator.index(n) for n in own)

        is_list = len(shapes) > 0 and isinstance(shapes[0], (list, tuple))
        return _made(*_described(shapes, axes, lists, is_list, sizes, of_shape), name)

    # ---- what it says ---------------------------------------------------------------------------

    @property
    def type(self) -> ucd.Type:
        """The type of the elements."""
        return ucd.predefined[self.element]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many indices each axis has, in the layer that has most of them. Of pages, as many as the smallest tensor
        has."""
        ends = {a: max(t.start(a) + t.size(a) for t in self.tensors) for a in AXES}
        return ends | {'page': min(t.size('page') for t in self.tensors)}

    @property
    def pages(self) -> int:
        """How many pages each tensor has, at least."""
        return self.sizes['page']

    @property
    def page_size(self) -> int:
        """How many tokens a page has; where layers differ, of those with the longest ones."""
        return self.sizes['token']

    @property
    def page_bytes(self) -> int:
        """The bytes of data of a page: of all layers, keys and values, tokens, heads and dims."""
        return self.type.size * sum([math.prod([t.size(axis) for axis in AXES if axis != 'page']) for t in self.tensors])

    @cached_property
    def layers(self) -> list[list[Tensor]]:
        """For each layer, the tensors that have a part of it."""
        found: list[list[Tensor]] = [[] for _ in range(self.sizes['layer'])]
        for tensor in self.tensors:
            for layer in range(tensor.start('layer'), tensor.start('layer') + tensor.size('layer')):
                found[layer].append(tensor)
        return found

    def sizes_of(self, layer: int) -> dict[str, int]:
        """How many indices each axis but layer has in a layer."""
        return self._sizes[layer]

    @cached_property
    def _sizes(self) -> list[dict[str, int]]:
        ends = [{a: t.start(a) + t.size(a) for a in AXES if a != 'layer'} for t in self.tensors]
        of = {id(tensor): end for tensor, end in zip(self.tensors, ends)}
        return [{a: max([of[id(t)][a] for t in some]) for a in ends[0]} for some in self.layers]

    @cached_property
    def id(self) -> str:
        """SHA-256 of the layout, numbers of pages included, in hexadecimal: the content id. Equal layouts have equal
        ids, whatever their names, in all processes and versions that read this version of the format's bytes."""
        return hashlib.sha256(body_of(self.element, self.tensors)).hexdigest()

    @cached_property
    def page_id(self) -> str:
        """The content id of what does not depend on how many pages there are: the order and sizes of axes, and the
        bytes within a page. Pools of different lengths with the same format have equal ones."""
        return hashlib.sha256(body_of(self.element, self.tensors, with_pages=False)).hexdigest()

    def __repr__(self) -> str:
        sizes = ' '.join(f'{axis}={n}' for axis, n in self.sizes.items() if n > 1)
        name = f'{self.name!r}: ' if self.name else ''
        tensors = f', {len(self.tensors)} tensors' if len(self.tensors) > 1 else ''
        order = self.tensors[0].order()
        return f'<ucd_models.cache.Format {name}{self.element} {sizes}, order {order}{tensors}, id {self.id[:12]}>'

    def difference(self, other: Format, *, pages: bool = False) -> Difference | None:
        """Where another format differs first, in the order element, layer, kv, page, token, head, dim; None if both are
        the same layout. The number of pages, and strides that follow from it, are compared with pages=True only:
        without, the answer is None if both have one page_id, with it, if they have one id."""
        if self.element != other.element:
            return Difference('element', self.element, other.element)
        for axis in AXES:
            if self.sizes[axis] != other.sizes[axis] and (pages or axis != 'page'):
                return Difference(axis, str(self.sizes[axis]), str(other.sizes[axis]))
        if len(self.tensors) != len(other.tensors):
            return Difference('tensors', str(len(self.tensors)), str(len(other.tensors)))
        for axis in AXES:
            for mine, theirs in zip(self.tensors, other.tensors):
                here, there = place_of(mine, axis, pages), place_of(theirs, axis, pages)
                if here != there:
                    return Difference(axis, words_of(mine, here), words_of(theirs, there))
        for mine, theirs in zip(self.tensors, other.tensors):
            if (mine.address, mine.offset) != (theirs.address, theirs.offset):
                first, second = (f'byte {t.offset} of tensor {t.address}' for t in (mine, theirs))
                return Difference('tensors', first, second)
        return None

    def require_same(self, other: Format, *, pages: bool = False) -> None:
        """Raises ValueError, with both names and the first axis that differs, unless both are the same layout. pages:
        as difference."""
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
            parts = [part_of(tensor, axis, begin, end) for tensor in made.tensors]
            made = replace(made, tensors=tuple(part for part in parts if part is not None))
        return made

    def at(self, addresses: Iterable[int]) -> Placed:
        """The cache of this format whose tensors begin at these addresses, of another process perhaps."""
        return Placed(self, tuple(operator.index(a) for a in addresses))

    # ---- bytes ----------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The format as bytes, for other processes."""
        return bytes_of(self.name, self.element, self.tensors)

    @staticmethod
    def from_bytes(data: Any) -> Format:
        """A format from bytes that may come from anyone. Raises Corrupt if they are none, and NotSupported for a newer
        version."""
        given = bytes(memoryview(data))
        name, element, tensors = read(given)
        try:
            format = Format(element, tensors, name)
        except ValueError as error:
            raise Corrupt(f'no cache format: {error}') from None
        # One form for each layout, so that equal layouts have equal bytes.
        if format.to_bytes() != given:
            raise Corrupt('the bytes of a cache format are not in the form that is written')
        return format


@dataclass(frozen=True)
class Placed:
    """A format with the addresses of its tensors."""

    format: Format
    addresses: tuple[int, ...]
    tokens: range | None = None
    """As Cache.select chooses them."""

    def __post_init__(self) -> None:
        needed = 1 + max(tensor.address for tensor in self.format.tensors)
        if len(self.addresses) < needed:
            raise ValueError(f'{len(self.addresses)} addresses for {needed} tensors')
        if any(not 0 <= address < 1 << 64 for address in self.addresses):
            raise ValueError('an address does not fit 64 bits')

    def select(self, *, token: range | slice | None = None, **axes: slice | int) -> Placed:
        """A part of it: see Cache.select."""
        return replace(self, format=self.format.select(**axes), tokens=tokens_of(self.tokens, token))


def tokens_of(chosen: range | None, token: range | slice | None) -> range | None:
    """Of tokens that are chosen before, or all, those with the given numbers. Raises ValueError for what is no range of
    ascending numbers."""
    if token is None:
        return chosen
    start, stop, step = token.start or 0, token.stop, 1 if token.step is None else token.step
    if stop is None or min(start, stop) < 0 or step < 1:
        raise ValueError(f'tokens are chosen by range(first, end, step), ascending, not by {token}')
    if chosen is None:
        return range(start, stop, step)
    if len(range(start, stop, step)) and range(start, stop, step)[-1] >= len(chosen):
        raise ValueError(f'{token} of {len(chosen)} tokens')
    return chosen[start:stop:step]


def _of_array(array: Any) -> tuple[ucd.Type, tuple[int, ...], tuple[int, ...]]:
    return (interop.element_of(array), *interop.shape_and_strides(array))


class _Leaf(NamedTuple):
    """An array of an engine, or a part of one."""

    place: tuple[int, ...]
    """In the lists."""
    type: ucd.Type
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    """Number of the array."""
    offset: int = 0
    """Bytes from its beginning."""


def _described(
    nested: Any,
    axes: str,
    lists: Sequence[str] | None,
    is_list: bool,
    sizes: dict[str, int],
    describe: Callable[[Any], tuple[ucd.Type, tuple[int, ...], tuple[int, ...]]],
) -> tuple[list[_Leaf], list[tuple[str, ...]], tuple[str, ...], dict[str, int]]:
    """The arrays, the axes of their dimensions, those along which lists go on, and sizes."""
    apart = axes == VALUES_THEN_SCALES
    axes, lists, sizes = named(axes, lists, is_list, sizes)
    depth = depth_of(lists, is_list)
    inner = depth[:1] if apart else depth
    found = [_Leaf(index, *describe(array), k) for k, (index, array) in enumerate(leaves(nested, inner))]
    if apart:
        found = [part for leaf in found for part in _values_and_scales(leaf, sizes)]
    return found, names_of(axes), depth, {} if apart else sizes


def _values_and_scales(leaf: _Leaf, sizes: dict[str, int]) -> list[_Leaf]:
    """The two parts of pages of bytes: values of all tokens, and behind them the scales of all."""
    if leaf.type.size != 1 or len(leaf.shape) != 3 or not 0 < sizes.get('dim', 0) < leaf.shape[2]:
        raise ValueError(f'{VALUES_THEN_SCALES} is pages x tokens x bytes, and needs dim=, the values of a token: {leaf.shape}')
    pages, tokens, width = leaf.shape
    values = sizes['dim']
    return [
        leaf._replace(place=(*leaf.place, k), shape=(pages, tokens, n), strides=(leaf.strides[0], n, 1), offset=offset)
        for k, (n, offset) in enumerate([(values, 0), (width - values, tokens * values)])
    ]


def _made(
    found: list[_Leaf], names: list[tuple[str, ...]], depth: tuple[str, ...], sizes: dict[str, int], name: str
) -> Format:
    for axis in sizes:
        if axis not in AXES:
            raise ValueError(f'{axis!r} is none of {", ".join(AXES)}')
    elements = {element_name(leaf.type) for leaf in found}
    if not found:
        raise ValueError('there are no tensors')
    if len(elements) != 1:
        raise ValueError(f'the tensors have different elements: {", ".join(sorted(elements))}')
    # Along an axis of lists, a part begins where the one before it in the same list ends.
    begins: dict[tuple[int, ...], int] = {}
    ends: dict[tuple[int, ...], int] = {}
    tensors = []
    for leaf in found:
        dims = dims_of(names, leaf.shape, leaf.strides, sizes)
        _check_sizes(leaf.shape, dims, {axis: n for axis, n in sizes.items() if axis not in depth})
        starts = dict.fromkeys(AXES, 0)
        for k, axis in enumerate(depth):
            among, here = leaf.place[:k], leaf.place[: k + 1]
            if here not in begins:
                begins[here] = ends.get(among, 0)
                ends[among] = begins[here] + math.prod(dim.size for dim in dims if dim.axis == axis)
            starts[axis] = begins[here]
        tensors.append(Tensor(leaf.address, leaf.offset, tuple(starts.values()), dims))
    return Format(elements.pop(), tuple(tensors), name)


def _check_sizes(shape: tuple[int, ...], dims: Sequence[Dim], sizes: dict[str, int]) -> None:
    """Raises ValueError if an axis that is one dimension has another size than the one that was said."""
    for axis, size in sizes.items():
        found = [dim.size for dim in dims if dim.axis == axis]
        if len(found) == 1 and found[0] != size:
            raise ValueError(f'a tensor of shape {shape} has {found[0]} of {axis}, not {size}')


def _check(format: Format) -> None:
    """Raises ValueError unless the format is one: elements have one place each."""
    if format.element not in ELEMENTS:
        raise ValueError(f'elements are {", ".join(ELEMENTS)}, not {format.element!r}')
    if len(format.name.encode()) > MAX_NAME:
        raise ValueError(f'the name has more than {MAX_NAME} bytes')
    if not 1 <= len(format.tensors) <= MAX_TENSORS:
        raise ValueError(f'{len(format.tensors)} tensors; there must be 1 to {MAX_TENSORS}')
    width = format.type.size
    for tensor in format.tensors:
        check_tensor(tensor, width)
    for tensor in format.tensors:
        if any(tensor.start(axis) + tensor.size(axis) >= MAX_NUMBER for axis in AXES):
            raise ValueError('an axis has too many indices')
    end = 0
    by_layer = sorted(format.tensors, key=_layers_of)
    for (start, size), tensors in itertools.groupby(by_layer, key=_layers_of):
        if start != end:
            raise ValueError(f'the tensors overlap or leave a gap at layer {min(start, end)}')
        end = start + size
        _check_layer(list(tensors))


def _layers_of(tensor: Tensor) -> tuple[int, int]:
    return tensor.start('layer'), tensor.size('layer')


def _check_layer(tensors: Sequence[Tensor]) -> None:
    """Raises ValueError unless the parts are the cells of a grid: along each axis their ranges follow each other, and no
    cell is missing or twice. So each element has one place."""
    lengths = {tensor.size('token') for tensor in tensors}
    if len(lengths) != 1:
        raise ValueError(f'the tensors of a layer have pages of different lengths: {min(lengths)} and {max(lengths)} tokens')
    axes = [axis for axis in AXES if axis not in ('page', 'layer')]
    cells = distinct(tuple(tensor.start(axis) for axis in axes) for tensor in tensors)
    ranges = [distinct((tensor.start(axis), tensor.size(axis)) for tensor in tensors) for axis in axes]
    for axis, known in zip(axes, ranges):
        end = 0
        for start, size in known:
            if start != end:
                raise ValueError(f'the tensors overlap or leave a gap at {axis} {min(start, end)}')
            end = start + size
    expected = math.prod(map(len, ranges))
    if len(cells) != len(tensors) or expected != len(cells):
        raise ValueError(f'{len(cells)} different parts in {len(tensors)} tensors, where {expected} are needed')
