"""relayout: moves pages of caches from any format to any other, by page tables on the host or the device."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Literal

import ucd
from ucd_models import _cache_overlap as overlap
from ucd_models._cache import Cache, Pages, pieces, require_equal_axes
from ucd_models._cache_factors import Side, inside
from ucd_models._cache_kernels import End, Part, temporary
from ucd_models._cache_tensor import Tensor
from ucd_models._kernel_moves import SMALL, KernelMove, Member, one_memory
from ucd_models._untrusted import key_of


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


class Done:
    """A request for work that is done: as ucd.Request."""

    def __init__(self, nbytes: int) -> None:
        self.bytes = nbytes

    def done(self) -> bool:
        return True

    def wait(self) -> int:
        return self.bytes

    def __await__(self) -> Generator[Any, None, int]:
        return self.bytes
        yield


def _is_plain(part: Part) -> bool:
    """Whether whole pages are moved, and no scale is used."""
    return part.scale is None and all([end.cache.tokens is None for end in part.ends])


def _require_fit(part: Part) -> int:
    """The bytes that are moved. Raises ValueError unless both sides have as many tokens."""
    a, b = [end.cache.format for end in part.ends]
    require_equal_axes(a, b)
    nbytes = 0
    for layer in range(a.sizes['layer']):
        pages = [end.cache.format.sizes_of(layer)['token'] for end in part.ends]
        tokens = [len(end.tokens(page)) for end, page in zip(part.ends, pages)]
        if tokens[0] != tokens[1]:
            said = ' for '.join([f'{end.pages.count} pages of {page} tokens' for end, page in zip(part.ends, pages)])
            chosen = any([end.cache.tokens is not None for end in part.ends])
            raise ValueError(said + (f': {tokens[0]} tokens for {tokens[1]}' if chosen else ''))
        sizes = a.sizes_of(layer)
        nbytes += tokens[0] * sizes['kv'] * sizes['head'] * sizes['dim'] * b.type.size
    return nbytes


def _members(part: Part, entries: dict[Any, ucd.Type]) -> Iterator[tuple[Any, ...]]:
    """For a batch of ucd."""
    (source, target), (element, target_element) = part.ends, part.elements
    orders: dict[tuple[bytes, bytes], Any] = {}
    for piece in pieces(source.cache.format, target.cache.format):
        key = piece.source.layout, piece.target.layout
        if key not in orders:
            orders[key] = inside(piece.source, piece.target, (element.size, target_element.size))
        order = orders[key]
        yield (
            source.cache.arrays[piece.source.address],
            target.cache.arrays[piece.target.address],
            _type(order.source, piece.source, source.pages, element, entries),
            1,
            _type(order.target, piece.target, target.pages, target_element, entries),
            1,
        )


class Relayout:
    """A repeated move of pages: prepared once, and started as often as wanted.

        relayout = ucd_models.cache.Relayout([(source, target, source_pages, target_pages)])
        relayout.run()      # in the current stream; also while a graph is captured

    Page tables are read when data moves: what is written to them between two runs, or between two replays of a
    graph, changes which pages are moved. They must not lie in a target. On a device, all parts are one launch. Parts are
    not ordered among each other, and so must write different elements, and none may write what another one reads.
    """

    def __init__(
        self,
        parts: Iterable[tuple[Any, ...]],
        *,
        convert: bool | Literal['saturate'] = False,
        holes: bool = False,
        hints: ucd.Hints | None = None,
    ) -> None:
        """parts: (source, target, source_pages, target_pages), and perhaps a scale, which mean what they mean in relayout.
        Several are for several sources or targets: of each rank, its heads.

        convert, holes and hints, and what is raised: as relayout."""
        self._parts: list[Part] = []
        for given in parts:
            if not isinstance(given, (tuple, list)) or len(given) not in (4, 5):
                raise TypeError('parts is a list of tuples (source, target, source_pages, target_pages), with a scale perhaps')
            source, target, source_pages, target_pages, *scale = given
            for side, cache in zip(('source', 'target'), given):
                if not isinstance(cache, Cache):
                    raise TypeError(f'the {side} is of class {type(cache).__name__}; it must be a Cache, as Cache.of makes one')
            ends = End(source, Pages(source_pages, 'source_pages')), End(target, Pages(target_pages, 'target_pages'))
            self._parts.append(Part(ends, scale[0] if scale else None))
        different = [part.elements for part in self._parts if part.elements[0] != part.elements[1]]
        if different and convert is False:
            names = [element.name for element in different[0]]
            raise ValueError(f"the source has {names[0]}, the target {names[1]}; convert=True or convert='saturate' converts")
        self._saturate = convert == 'saturate'
        self._nbytes = sum([_require_fit(part) for part in self._parts])
        self._moved = [part for part in self._parts if all([end.pages.count for end in part.ends])]
        self._kernels: list[list[KernelMove]] = []
        self._staged: list[list[KernelMove]] = []
        self._batch: ucd.Batch | None = None
        if not holes and all([_is_plain(part) for part in self._moved]):
            op = None if not different else 'convert_sat' if self._saturate else 'convert'
            entries: dict[Any, ucd.Type] = {}
            members = [member for part in self._moved for member in _members(part, entries)]
            self._batch = ucd.Batch.copy(members, op=op, hints=hints)
        else:
            self._kernels = self._by_kernels(self._moved)
        places = [[part.ends[side].cache._places(k) for k, part in enumerate(self._moved)] for side in (0, 1)]
        try:
            self._clashes = overlap.clashes(*[list(itertools.chain.from_iterable(side)) for side in places])
            self._is_one_memory = False
        except ValueError:  # no list of pages can tell
            self._is_one_memory = True
        self._in_place = [
            a.cache.format == b.cache.format and places[0][k] == places[1][k] and a.cache.tokens == b.cache.tokens
            for k, (a, b) in enumerate([part.ends for part in self._moved])
        ]
        if self._is_one_memory or any([not (s.on_host and t.on_host) for s, t in map(self._tables, self._clashes)]):
            self._stage()

    def _tables(self, clash: overlap.Clash) -> tuple[Pages, Pages]:
        return self._moved[clash.source].ends[0].pages, self._moved[clash.target].ends[1].pages

    def _by_kernels(self, parts: list[Part]) -> list[list[KernelMove]]:
        """A launch for each pair of elements."""
        arrays = [array for part in parts for end in part.ends for array in end.cache.arrays]
        if not arrays:
            return []
        like = one_memory([*arrays, *[array for part in parts for array in scale_arrays(part.scale)]])
        by_elements: dict[tuple[str, str], tuple[Part, list[Member]]] = {}
        for part in parts:
            source, target = part.ends
            _, members = by_elements.setdefault((source.cache.format.element, target.cache.format.element), (part, []))
            members += part.members(like)
        return [[KernelMove(*part.elements, self._saturate, members, like, parts) for part, members in by_elements.values()]]

    def _stage(self) -> None:
        """Prepares the move through a temporary copy of the source, with pages in the order of its tables."""
        if self._staged or not self._moved:
            return
        # Scales in pages of the source are used at once, those of the target with the target.
        at_once = [isinstance(part.scale, Cache) and part.elements[0].name in SMALL for part in self._moved]
        copies = [temporary(*part.ends[0], part.elements[now].name or '') for part, now in zip(self._moved, at_once)]
        staged = list(zip(self._moved, copies, at_once))
        self._staged = self._by_kernels([Part((p.ends[0], copy), p.scale if now else None) for p, copy, now in staged])
        self._staged += self._by_kernels([Part((copy, p.ends[1]), None if now else p.scale) for p, copy, now in staged])

    def _steps(self) -> list[list[KernelMove]]:
        """What is to be run now; none: the batch."""
        has_holes = False
        for part in self._moved:
            for end in part.ends:
                has_holes |= end.pages.check(end.cache.format.pages)
        if self._is_one_memory or not self._are_apart():
            self._stage()
            return self._staged
        if has_holes and not self._kernels:
            self._kernels = self._by_kernels(self._moved)
        return self._kernels if has_holes or self._batch is None else []

    def _are_apart(self) -> bool:
        """Whether no page is written that is read, but by what stays where it is."""
        for clash in self._clashes:
            source, target = self._tables(clash)
            in_place = clash.source == clash.target and self._in_place[clash.source]
            if not (source.on_host and target.on_host) or not overlap.are_apart(clash, source.list, target.list, in_place):
                return False
        return True

    def run(self, *, stream: Any = None) -> int:
        """Moves the pages, and returns the bytes of the target, those of pages that are left out included. When the work is
        done: as ucd.pack_into. Raises IndexError for a page on the host that a cache does not have."""
        steps = self._steps()
        if not steps and self._batch is not None:
            return self._batch.run(stream=stream)
        for part in self._moved:
            for end in part.ends:
                end.pages.renew(stream)
        for moves in steps:
            for move in moves:
                move.run(stream)
        return self._nbytes

    def start(self) -> ucd.Request | Done:
        """As run, but returns a request. It does not wait for the work, unless kernels of this package do it."""
        if not self._steps() and self._batch is not None:
            return self._batch.start()
        self.run()
        for part in self._moved[:1]:
            ucd.interop.synchronize(part.ends[1].cache.arrays[0])
        return Done(self._nbytes)


def scale_arrays(scale: Any) -> tuple[Any, ...]:
    if scale is None or isinstance(scale, (int, float)):
        return ()
    return scale.arrays if isinstance(scale, Cache) else (scale,)


def relayout(
    source: Cache,
    target: Cache,
    source_pages: Any,
    target_pages: Any,
    *,
    convert: bool | Literal['saturate'] = False,
    scale: Any = None,
    holes: bool = False,
    hints: ucd.Hints | None = None,
    stream: Any = None,
) -> int:
    """Moves pages from a cache to one of any other format, and returns the bytes of the target.

    source, target  with as many indices of layer, kv, head and dim. Choose parts by select.
    source_pages    one-dimensional lists of 32-bit or 64-bit integers, on the host or the device, whose pages hold as
    target_pages    many tokens: where the source has pages of 16 tokens and the target of 64, four times as many.
                    A page below 0 is left out: its tokens are not moved. Tables on a device are read by the kernel that
                    moves the data, in stream order, and are not checked: a page that a cache does not have is undefined
                    behaviour. Of a page of the target that is named twice, it is unspecified which of its values it gets.
    convert         converts the elements: True, or 'saturate' as for ucd.copy. Without, both have the same.
    scale           of conversions to floats of 8 bits, and from them: value = stored * scale, as ucd_models.copy has it. A
                    number; an array of float32, layers x 2 or layers x 2 x heads; or a Cache of float32 with a scale for
                    each token and head, or each block of dims, in the pages of the side that has the floats of 8 bits. Its
                    layers and heads are those that select has chosen of the values.
    holes           whether tables on a device may have pages below 0
    hints, stream   and when the work is done: as ucd.pack_into.

    Where source and target are one memory, the result is as if the source had been copied first. It is copied where it is
    not known that no page is both read and written.

    Raises ValueError where sizes differ, and where selections, scales or pages that are left out meet tokens from number
    2^31 on; IndexError for a page on the host that a cache does not have. For repeated moves use Relayout: making one takes
    longer than moving a few pages.
    """
    parts = [(source, target, source_pages, target_pages, scale)]
    return Relayout(parts, convert=convert, holes=holes, hints=hints).run(stream=stream)
