"""relayout: moves pages of caches from any format to any other, by page tables on the host or the device."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Literal, NamedTuple

import ucd
from ucd_models import _cache_overlap as overlap
from ucd_models._cache import Cache, Pages, pieces, require_equal_axes
from ucd_models._cache_factors import Side, inside
from ucd_models._cache_format import Format
from ucd_models._cache_kernels import End, KernelPart, temporary
from ucd_models._cache_tensor import Tensor
from ucd_models._kernel_moves import SMALL, KernelMove, one_memory
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


class _Part(NamedTuple):
    """What moves from one cache to another."""

    source: Cache
    target: Cache
    source_pages: Pages
    target_pages: Pages
    scale: Any

    @property
    def elements(self) -> tuple[ucd.Type, ucd.Type]:
        return self.source.format.type, self.target.format.type

    @property
    def ends(self) -> tuple[End, End]:
        return End(self.source, self.source_pages), End(self.target, self.target_pages)

    def is_plain(self) -> bool:
        """Whether whole pages are moved, and no scale is used."""
        return self.scale is None and self.source.tokens is None and self.target.tokens is None

    def require_fit(self) -> int:
        """The bytes that are moved. Raises ValueError unless both sides have as many tokens."""
        a, b = self.source.format, self.target.format
        require_equal_axes(a, b)
        nbytes = 0
        for layer in range(a.sizes['layer']):
            tokens = [len(end.tokens(end.cache.format.sizes_of(layer)['token'])) for end in self.ends]
            if tokens[0] != tokens[1]:
                said = [f'{end.pages.count} pages of {end.cache.format.sizes_of(layer)["token"]} tokens' for end in self.ends]
                chosen = [n for n, cache in zip(tokens, (self.source, self.target)) if cache.tokens is not None]
                raise ValueError(f'{said[0]} for {said[1]}' + (f': {tokens[0]} tokens for {tokens[1]}' if chosen else ''))
            sizes = a.sizes_of(layer)
            nbytes += tokens[0] * sizes['kv'] * sizes['head'] * sizes['dim'] * b.type.size
        return nbytes

    def members(self, entries: dict[Any, ucd.Type]) -> Iterator[tuple[Any, ...]]:
        """For a batch of ucd."""
        a, b = self.source.format, self.target.format
        orders: dict[tuple[bytes, bytes], Any] = {}
        for piece in pieces(a, b):
            key = piece.source.layout, piece.target.layout
            if key not in orders:
                orders[key] = inside(piece.source, piece.target, (a.type.size, b.type.size))
            order = orders[key]
            yield (
                self.source.arrays[piece.source.address],
                self.target.arrays[piece.target.address],
                _type(order.source, piece.source, self.source_pages, a.type, entries),
                1,
                _type(order.target, piece.target, self.target_pages, b.type, entries),
                1,
            )


class Relayout:
    """A repeated move of pages: prepared once, and started as often as wanted.

        relayout = ucd_models.cache.Relayout([(source, target, source_pages, target_pages)])
        relayout.run()      # in the current stream; also while a graph is captured

    Page tables are read when data moves: what is written to them between two runs, or between two replays of a
    graph, changes which pages are moved. On a device, all parts are one launch. Parts are not ordered among each
    other, and so must write different elements, and none may write what another one reads.
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
        self._parts: list[_Part] = []
        for source, target, source_pages, target_pages, *scale in parts:
            pages = Pages(source_pages, 'source_pages'), Pages(target_pages, 'target_pages')
            self._parts.append(_Part(source, target, *pages, scale[0] if scale else None))
        different = [part.elements for part in self._parts if part.elements[0] != part.elements[1]]
        if different and convert is False:
            names = [element.name for element in different[0]]
            raise ValueError(f"the source has {names[0]}, the target {names[1]}; convert=True or convert='saturate' converts")
        self._saturate = convert == 'saturate'
        self._nbytes = sum([part.require_fit() for part in self._parts])
        self._moved = [part for part in self._parts if min(part.source_pages.count, part.target_pages.count) > 0]
        self._kernels: list[list[KernelMove]] = []
        self._staged: list[list[KernelMove]] = []
        self._batch: ucd.Batch | None = None
        if not holes and all([part.is_plain() for part in self._moved]):
            op = None if not different else 'convert_sat' if self._saturate else 'convert'
            entries: dict[Any, ucd.Type] = {}
            members = [member for part in self._moved for member in part.members(entries)]
            self._batch = ucd.Batch.copy(members, op=op, hints=hints)
        else:
            self._kernels = self._by_kernels([part.ends for part in self._moved], [part.scale for part in self._moved])
        places = [[cache._places(k) for k, cache in enumerate(side)] for side in zip(*[p[:2] for p in self._moved])] or [[], []]
        try:
            self._clashes = overlap.clashes(*[list(itertools.chain.from_iterable(side)) for side in places])
            self._is_one_memory = False
        except ValueError:  # no list of pages can tell
            self._is_one_memory = True
        self._in_place = [
            p.source.format == p.target.format and places[0][k] == places[1][k] and p.source.tokens == p.target.tokens
            for k, p in enumerate(self._moved)
        ]
        if self._is_one_memory or any([not (s.on_host and t.on_host) for s, t in map(self._tables, self._clashes)]):
            self._stage()

    def _tables(self, clash: overlap.Clash) -> tuple[Pages, Pages]:
        return self._moved[clash.source].source_pages, self._moved[clash.target].target_pages

    def _by_kernels(self, ends: list[tuple[End, End]], scales: list[Any]) -> list[list[KernelMove]]:
        """A launch for each pair of elements. scales: of each part."""
        arrays = [array for pair in ends for end in pair for array in end.cache.arrays]
        if not arrays:
            return []
        like = one_memory([*arrays, *[array for scale in scales for array in scale_arrays(scale)]])
        by_elements: dict[tuple[str, str], list[KernelPart]] = {}
        for scale, (source, target) in zip(scales, ends):
            made = KernelPart(source, target, scale, like)
            by_elements.setdefault((source.cache.format.element, target.cache.format.element), []).append(made)
        moves = []
        for some in by_elements.values():
            elements = some[0].source.cache.format.type, some[0].target.cache.format.type
            moves.append(KernelMove(*elements, self._saturate, [m for part in some for m in part.members()], like))
        return [moves]

    def _stage(self) -> None:
        """Prepares the move through a temporary copy of the source, with pages in the order of its tables."""
        if self._staged or not self._moved:
            return
        # Scales in pages of the source are used at once, those of the target with the target.
        at_once = [isinstance(part.scale, Cache) and part.elements[0].name in SMALL for part in self._moved]
        copies = [temporary(*part.ends[0], part.elements[now].name or '') for part, now in zip(self._moved, at_once)]
        first, second = [[part.scale if now is is_first else None for part, now in zip(self._moved, at_once)] for is_first in (True, False)]
        self._staged = self._by_kernels([(part.ends[0], copy) for part, copy in zip(self._moved, copies)], first)
        self._staged += self._by_kernels([(copy, part.ends[1]) for part, copy in zip(self._moved, copies)], second)

    def _steps(self) -> list[list[KernelMove]]:
        """What is to be run now; none: the batch."""
        has_holes = False
        for part in self._moved:
            for pages, cache in ((part.source_pages, part.source), (part.target_pages, part.target)):
                has_holes |= pages.check(cache.format.pages)
        if self._is_one_memory or not self._are_apart():
            self._stage()
            return self._staged
        if has_holes and not self._kernels:
            self._kernels = self._by_kernels([part.ends for part in self._moved], [part.scale for part in self._moved])
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
            for pages in (part.source_pages, part.target_pages):
                pages.renew(stream)
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
            ucd.interop.synchronize(part.target.arrays[0])
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
                    each token and head, or each block of dims, in the pages of the side that has the floats of 8 bits.
    holes           whether tables on a device may have pages below 0
    hints, stream   and when the work is done: as ucd.pack_into.

    Where source and target are one memory, the result is as if the source had been copied first. It is copied where it is
    not known that no page is both read and written.

    Raises ValueError where sizes differ, and IndexError for a page on the host that a cache does not have. For repeated
    moves use Relayout: making one takes longer than moving a few pages.
    """
    parts = [(source, target, source_pages, target_pages, scale)]
    return Relayout(parts, convert=convert, holes=holes, hints=hints).run(stream=stream)
