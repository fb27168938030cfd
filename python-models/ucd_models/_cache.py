"""Caches: formats with the arrays of an engine, and lists of their pages."""

from __future__ import annotations

import array
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models import _cache_overlap as overlap
from ucd_models._cache_format import Format, Placed, tokens_of
from ucd_models._cache_names import flattened
from ucd_models._cache_tensor import Dim, Tensor, element_name, part_of


class Cache:
    """A format with the arrays of an engine that it describes.

        cache = ucd_models.cache.Cache.of(kv_caches, 'kv page token head dim')
    """

    def __init__(self, format: Format, arrays: Sequence[Any], tokens: range | None = None) -> None:
        """arrays: those whose numbers the format's tensors have. Each is taken as memory that begins with its first
        element, so an array of bytes will do. tokens: as select chooses them."""
        needed = 1 + max(tensor.address for tensor in format.tensors)
        if len(arrays) < needed:
            raise ValueError(f'{len(arrays)} arrays for {needed} tensors')
        self.format = format
        self.arrays = tuple(arrays)
        self.tokens = tokens

    @classmethod
    def of(
        cls, tensors: Any, axes: str, *, lists: Sequence[str] | None = None, name: str = '', **sizes: int
    ) -> Cache:
        """The cache that an engine has in these tensors. Arguments and errors: as Format.of."""
        format = Format.of(tensors, axes, lists=lists, name=name, **sizes)
        return cls(format, list(flattened(tensors)))

    def __repr__(self) -> str:
        return f'<ucd_models.cache.Cache of {self.format!r}>'

    @classmethod
    def of_pages_with_scales(
        cls, tensors: Sequence[Any], *, token: int, head: int = 1, dim: int, element: Any = 'float8_e4m3fn', block: int | None = None
    ) -> tuple[Cache, Cache]:
        """The caches of values and of scales in pages that have the one behind the other.

        tensors  for each layer an array of bytes, pages x bytes. A page has values of token x head x dim, and then a float32
                 for each token, head and block of dims; after that, anything.
        block    how many dims have one scale; None: all
        element  of the values
        """
        sizes = token, head, dim
        values = Format.of_shapes(element, 'page token head dim', [(1, *sizes)])
        scales = Format.of_shapes('float32', 'page token head dim', [(1, token, head, -(-dim // (block or dim)))])
        offsets = 0, values.page_bytes
        made: tuple[list[Tensor], list[Tensor]] = ([], [])
        for layer, array in enumerate(tensors):
            shape, strides = interop.shape_and_strides(array)
            if len(shape) != 2 or strides[1] != 1 or shape[1] < values.page_bytes + scales.page_bytes:
                raise ValueError(f'pages of {values.page_bytes} bytes and {scales.page_bytes} of scales in an array of shape {shape}')
            for into, format, offset in zip(made, (values, scales), offsets):
                dims = tuple([Dim('page', shape[0], strides[0]), *format.tensors[0].dims[1:]])
                into.append(Tensor(layer, offset, (layer, 0, 0, 0, 0, 0), dims))
        first, second = [cls(Format(f.element, tuple(some)), tensors) for f, some in zip((values, scales), made)]
        return first, second

    def select(self, *, token: range | slice | None = None, **axes: slice | int) -> Cache:
        """A part of it, with the same arrays: see Format.select.

        token: of the tokens that the pages of a table hold, one page after the other, those with these numbers. For rank r
        of several among which tokens are interleaved, range(r, n, ranks) of n tokens; where the last page is not full,
        range(n)."""
        return Cache(self.format.select(**axes), self.arrays, tokens_of(self.tokens, token))

    def _places(self, part: int) -> list[overlap.Place]:
        """Where its tensors lie. part: of a move."""
        addresses = list(map(interop.address, self.arrays))
        width = self.format.type.size
        return [overlap.Place(addresses[t.address] + t.offset, t, width, part) for t in self.format.tensors]

    @property
    def placed(self) -> Placed:
        """The format with the addresses of the arrays, to be sent to another process or made into descriptors."""
        return replace(self.format.at(map(interop.address, self.arrays)), tokens=self.tokens)


class Piece(NamedTuple):
    """What two tensors have of one layer, of keys or of values."""

    source: Tensor
    target: Tensor
    layer: int
    kv: int
    head: int
    """The first one."""
    dim: int
    """The first one."""


def require_equal_axes(source: Format, target: Format) -> None:
    """Raises ValueError unless both have as many layers, and each has as many heads and dims, and keys and values."""
    if source.sizes['layer'] != target.sizes['layer']:
        raise ValueError(f'the source has {source.sizes["layer"]} of layer, the target {target.sizes["layer"]}')
    for layer in range(source.sizes['layer']):
        ours, theirs = source.sizes_of(layer), target.sizes_of(layer)
        for axis in ('kv', 'head', 'dim'):
            if ours[axis] != theirs[axis]:
                raise ValueError(f'the source has {ours[axis]} of {axis}, the target {theirs[axis]}, in layer {layer}')


def pieces(source: Format, target: Format) -> Iterator[Piece]:
    """The parts of two formats with equal axes that are in one tensor on either side, by layer, keys and values."""
    for layer, (here, there) in enumerate(zip(source.layers, target.layers)):
        for kv in range(source.sizes['kv']):
            for a in here:
                for b in there:
                    ranges = {'layer': (layer, layer + 1), 'kv': (kv, kv + 1)}
                    for axis in ('head', 'dim'):
                        ranges[axis] = (
                            max(a.start(axis), b.start(axis)),
                            min(a.start(axis) + a.size(axis), b.start(axis) + b.size(axis)),
                        )
                    part = cut(a, ranges), cut(b, ranges)
                    if part[0] is not None and part[1] is not None:
                        yield Piece(part[0], part[1], layer, kv, ranges['head'][0], ranges['dim'][0])


def cut(tensor: Tensor, ranges: dict[str, tuple[int, int]]) -> Tensor | None:
    """What a tensor has of ranges of its axes; None: nothing."""
    part: Tensor | None = tensor
    for axis, (begin, end) in ranges.items():
        if part is None or begin >= end:
            return None
        if part.start(axis) != begin or part.size(axis) != end - begin:
            part = part_of(part, axis, begin, end)
            # Ranges of the other axes still count from where the whole begins.
    return part


class Pages:
    """A list of pages, by reference: read when data moves."""

    def __init__(self, pages: Any, what: str) -> None:
        self.what = what
        self._copy: Any = None
        self.list = array.array('q', map(operator.index, pages)) if isinstance(pages, (list, tuple, range)) else pages
        shape, _ = interop.shape_and_strides(self.list)
        if len(shape) != 1:
            raise ValueError(f'{what} has {len(shape)} dimensions; it must have one')
        self.count = shape[0]
        self.on_host = ucd.memory(self.list) == 'host' if self.count else True

    def check(self, pages: int) -> bool:
        """Whether a list on the host leaves out pages, by numbers below 0. Raises IndexError for a page that a cache does not
        have."""
        if not self.on_host or self.count == 0:
            return False
        numbers: Any = self.list
        if hasattr(numbers, 'min'):
            low, high = int(numbers.min()), int(numbers.max())
        else:
            low, high = min(numbers), max(numbers)
        if high >= pages:
            raise IndexError(f'{self.what} has page {high}; the cache has {pages}')
        return low < 0

    def for_kernels(self, like: Any, on_device: bool) -> tuple[int, bool]:
        """The address of the list, or of a copy in the memory of an array, and whether its numbers have 64 bits."""
        address, _, strides, type, _ = interop.placed(self.list)
        if strides and strides[0] != type.size or type.size not in (4, 8) or 'INT' not in element_name(type):
            raise ValueError(f'{self.what} must be a contiguous list of integers of 32 or 64 bits')
        if on_device and self.on_host:
            if self._copy is None:
                self._copy = interop.new_bytes(like, self.count * type.size)
            address = interop.address(self._copy)
        return address, bool(type.size == 8)

    def renew(self, stream: Any) -> None:
        """Brings what the list holds now to the device, if a copy is there."""
        if self._copy is not None:
            ucd.pack_into(self.list, self._copy, stream=stream)
