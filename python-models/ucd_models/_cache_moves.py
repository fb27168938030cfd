"""relayout: moves pages of caches from any format to any other, by page tables on the host or the device."""

from __future__ import annotations

import array
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import ucd
from ucd import interop
from ucd_models import _cache_overlap as overlap
from ucd_models._cache_factors import Side, inside
from ucd_models._cache_format import Format, Placed
from ucd_models._cache_names import depth_of, leaves
from ucd_models._cache_tensor import Tensor, part_of
from ucd_models._untrusted import key_of


class Cache:
    """A format with the arrays of an engine that it describes.

        cache = ucd_models.cache.Cache.of(kv_caches, 'kv page token head dim')
    """

    def __init__(self, format: Format, arrays: Sequence[Any]) -> None:
        """arrays: those whose numbers the format's tensors have. Each is taken as memory that begins with its first
        element, so an array of bytes will do."""
        needed = 1 + max(tensor.address for tensor in format.tensors)
        if len(arrays) < needed:
            raise ValueError(f'{len(arrays)} arrays for {needed} tensors')
        self.format = format
        self.arrays = tuple(arrays)

    @classmethod
    def of(
        cls, tensors: Any, axes: str, *, lists: Sequence[str] | None = None, name: str = '', **sizes: int
    ) -> Cache:
        """The cache that an engine has in these tensors. Arguments and errors: as Format.of."""
        format = Format.of(tensors, axes, lists=lists, name=name, **sizes)
        depth = depth_of(lists, isinstance(tensors, (list, tuple)))
        return cls(format, [leaf for _, leaf in leaves(tensors, depth)])

    def __repr__(self) -> str:
        return f'<ucd_models.cache.Cache of {self.format!r}>'

    def select(self, **axes: slice | int) -> Cache:
        """A part of it, with the same arrays: see Format.select."""
        return Cache(self.format.select(**axes), self.arrays)

    def _places(self, part: int) -> list[overlap.Place]:
        """Where its tensors lie. part: of a move."""
        addresses = list(map(interop.address, self.arrays))
        width = self.format.type.size
        return [overlap.Place(addresses[t.address] + t.offset, t, width, part) for t in self.format.tensors]

    @property
    def placed(self) -> Placed:
        """The format with the addresses of the arrays, to be sent to another process or made into descriptors."""
        return self.format.at(map(interop.address, self.arrays))


class Piece(NamedTuple):
    """What two tensors have of one layer, of keys or of values."""

    source: Tensor
    target: Tensor


def _by_layer(format: Format) -> list[list[Tensor]]:
    found: list[list[Tensor]] = [[] for _ in range(format.sizes['layer'])]
    for tensor in format.tensors:
        for layer in range(tensor.start('layer'), tensor.start('layer') + tensor.size('layer')):
            found[layer].append(tensor)
    return found


def require_equal_axes(source: Format, target: Format) -> None:
    """Raises ValueError unless both have as many layers, heads and dims, and keys and values."""
    for axis in ('layer', 'kv', 'head', 'dim'):
        if source.sizes[axis] != target.sizes[axis]:
            raise ValueError(f'the source has {source.sizes[axis]} of {axis}, the target {target.sizes[axis]}')


def pieces(source: Format, target: Format) -> Iterator[Piece]:
    """The parts of two formats with equal axes that are in one tensor on either side, by layer, keys and values."""
    for layer, (here, there) in enumerate(zip(_by_layer(source), _by_layer(target))):
        for kv in range(source.sizes['kv']):
            for a in here:
                for b in there:
                    ranges = {'layer': (layer, layer + 1), 'kv': (kv, kv + 1)}
                    for axis in ('head', 'dim'):
                        ranges[axis] = (
                            max(a.start(axis), b.start(axis)),
                            min(a.start(axis) + a.size(axis), b.start(axis) + b.size(axis)),
                        )
                    part = _cut(a, ranges), _cut(b, ranges)
                    if part[0] is not None and part[1] is not None:
                        yield Piece(part[0], part[1])


def _cut(tensor: Tensor, ranges: dict[str, tuple[int, int]]) -> Tensor | None:
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
        self.list = array.array('q', map(operator.index, pages)) if isinstance(pages, (list, tuple, range)) else pages
        shape, _ = interop.shape_and_strides(self.list)
        if len(shape) != 1:
            raise ValueError(f'{what} has {len(shape)} dimensions; it must have one')
        self.count = shape[0]
        self.on_host = ucd.memory(self.list) == 'host' if self.count else True

    def check(self, pages: int) -> None:
        """Raises IndexError for a page on the host that a cache does not have."""
        if not self.on_host or self.count == 0:
            return
        numbers: Any = self.list
        if hasattr(numbers, 'min'):
            low, high = int(numbers.min()), int(numbers.max())
        else:
            low, high = min(numbers), max(numbers)
        if low < 0 or high >= pages:
            raise IndexError(f'{self.what} has page {low if low < 0 else high}; the cache has {pages}')


def _type(side: Side, tensor: Tensor, pages: Pages, element: ucd.Type, entries: dict[Any, ucd.Type]) -> ucd.Type:
    """A side of a piece: all its pages, in the order of the list."""
    key = key_of((int(size), int(stride)) for size, stride in side.dims), element.name
    if key not in entries:
        made = element
        for size, stride in reversed(side.dims):
            made = ucd.Type.hvector(size, 1, stride, made)
        entries[key] = made
    entry = ucd.Type.hindexed_block(1, [tensor.offset], entries[key])
    reach = side.reach + element.size + (tensor.size('page') - 1) * tensor.page_stride
    return ucd.Type.indexed_block_ref(1, pages.list, tensor.page_stride, tensor.offset, reach, entry)


class Relayout:
    """A repeated move of pages: prepared once, and started as often as wanted.

        relayout = ucd_models.cache.Relayout([(source, target, source_pages, target_pages)])
        relayout.run()      # in the current stream; also while a graph is captured

    Page tables are read when data moves: what is written to them between two runs, or between two replays of a
    graph, changes which pages are moved. On a device, all parts are one launch. Parts are not ordered among each
    other, and so must write different elements.
    """

    def __init__(
        self,
        parts: Iterable[tuple[Cache, Cache, Any, Any]],
        *,
        convert: bool | Literal['saturate'] = False,
        hints: ucd.Hints | None = None,
    ) -> None:
        """parts: (source, target, source_pages, target_pages), which mean what they mean in relayout. Several are for
        several sources or targets: of each rank, its heads.

        convert and hints, and what is raised: as relayout."""
        self._checked: list[tuple[Pages, int]] = []
        self._pages: list[tuple[Pages, Pages]] = []
        members: list[tuple[Any, ...]] = []
        entries: dict[Any, ucd.Type] = {}
        elements = set()
        caches = []
        for source, target, source_pages, target_pages in parts:
            elements.add((source.format.element, target.format.element))
            pages = Pages(source_pages, 'source_pages'), Pages(target_pages, 'target_pages')
            members += self._members(source, target, *pages, entries)
            self._pages.append(pages)
            caches.append((source, target))
        different = [pair for pair in elements if pair[0] != pair[1]]
        if different and convert is False:
            raise ValueError(f'the source has {different[0][0]}, the target {different[0][1]}; convert=True converts')
        op = None if not different else 'convert_sat' if convert == 'saturate' else 'convert'
        self._batch = ucd.Batch.copy(members, op=op, hints=hints)
        places = [[cache._places(k) for k, cache in enumerate(side)] for side in zip(*caches)] or [[], []]
        self._clashes = overlap.clashes(*[list(itertools.chain.from_iterable(side)) for side in places])
        self._in_place = [a.format == b.format and places[0][k] == places[1][k] for k, (a, b) in enumerate(caches)]

    def _members(
        self, source: Cache, target: Cache, source_pages: Pages, target_pages: Pages, entries: dict[Any, ucd.Type]
    ) -> Iterator[tuple[Any, ...]]:
        a, b = source.format, target.format
        require_equal_axes(a, b)
        tokens = source_pages.count * a.page_size, target_pages.count * b.page_size
        if tokens[0] != tokens[1]:
            raise ValueError(
                f'{source_pages.count} pages of {a.page_size} tokens for {target_pages.count} pages of {b.page_size}'
            )
        self._checked += [(source_pages, a.pages), (target_pages, b.pages)]
        if tokens[0] == 0:
            return
        orders: dict[tuple[bytes, bytes], Any] = {}
        for piece in pieces(a, b):
            key = piece.source.layout, piece.target.layout
            if key not in orders:
                orders[key] = inside(*piece, (a.type.size, b.type.size))
            order = orders[key]
            yield (
                source.arrays[piece.source.address],
                target.arrays[piece.target.address],
                _type(order.source, piece.source, source_pages, a.type, entries),
                1,
                _type(order.target, piece.target, target_pages, b.type, entries),
                1,
            )

    def _check_pages(self) -> None:
        for pages, known in self._checked:
            pages.check(known)
        for clash in self._clashes:
            source, target = self._pages[clash.source][0], self._pages[clash.target][1]
            if source.on_host and target.on_host:
                in_place = clash.source == clash.target and self._in_place[clash.source]
                overlap.require_apart(clash, source.list, target.list, in_place)

    def run(self, *, stream: Any = None) -> int:
        """Moves the pages, and returns the bytes of the target. When the work is done: as ucd.pack_into. Raises
        IndexError for a page on the host that a cache does not have, ValueError for one that is read and written."""
        self._check_pages()
        return self._batch.run(stream=stream)

    def start(self) -> ucd.Request:
        """As run, but returns a Request and does not wait for the work."""
        self._check_pages()
        return self._batch.start()


def relayout(
    source: Cache,
    target: Cache,
    source_pages: Any,
    target_pages: Any,
    *,
    convert: bool | Literal['saturate'] = False,
    hints: ucd.Hints | None = None,
    stream: Any = None,
) -> int:
    """Moves pages from a cache to one of any other format, and returns the bytes of the target.

    source, target  with as many indices of layer, kv, head and dim. Choose parts by select.
    source_pages    one-dimensional lists of 32-bit or 64-bit integers, on the host or the device, whose pages hold as
    target_pages    many tokens: where the source has pages of 16 tokens and the target of 64, four times as many.
                    Tables on a device are read by the kernel that moves the data, in stream order, and are not checked:
                    a page that a cache does not have is undefined behaviour, and so is one that is read and written.
                    Of a page of the target that is named twice, it is unspecified which of its values it gets.
    convert         converts the elements: True, or 'saturate' as for ucd.copy. Without, both have the same.
    hints, stream   and when the work is done: as ucd.pack_into.

    Raises ValueError where sizes differ, where source and target are one memory and a page on the host's lists is read
    and written (unless it is moved onto itself), and IndexError for a page on the host that a cache does not have. For repeated
    moves use Relayout: making one takes longer than moving a few pages.
    """
    return Relayout([(source, target, source_pages, target_pages)], convert=convert, hints=hints).run(stream=stream)
