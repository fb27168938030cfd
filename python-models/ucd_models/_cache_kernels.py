"""Pages of caches as members of the kernels of this package: any tokens of them, left out pages, and scales."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models._cache import Cache, Pages, Piece, cut, pieces
from ucd_models._cache_factors import _factors, _stride_at
from ucd_models._cache_format import Format
from ucd_models._cache_tensor import Dim, Tensor
from ucd_models._kernel_moves import SMALL, Digit, Member
from ucd_models._scales import require_scalable


class End(NamedTuple):
    """A side of a move."""

    cache: Cache
    pages: Pages
    dense: bool = False
    """The pages lie in the order of the list, which only says which of them are there."""

    def tokens(self, page_size: int) -> range:
        """The tokens that are moved, where pages have that many. Raises ValueError if the pages do not have them."""
        held = self.pages.count * page_size
        chosen = range(held) if self.cache.tokens is None else self.cache.tokens
        if len(chosen) and chosen[-1] >= held:
            raise ValueError(f'token {chosen[-1]} is chosen; {self.pages.count} pages of {page_size} hold {held}')
        return chosen


class _ScaleAt(NamedTuple):
    """The scales of a piece."""

    address: int
    number: float
    head: tuple[tuple[int, int], ...]
    """Sizes and strides of heads, as Tensor.split has them; none: all have one."""
    block: int
    """So many dims have one scale."""
    phase: int
    dim: int
    """Bytes from one block to the next."""
    side: int
    """In whose pages the scales are; -1: in none."""
    page: int
    token: int


_NO_SCALE = _ScaleAt(0, 1.0, (), 1, 0, 0, -1, 0, 0)


class Part(NamedTuple):
    """What moves from one cache to another."""

    ends: tuple[End, End]
    scale: Any

    @property
    def elements(self) -> tuple[ucd.Type, ucd.Type]:
        source, target = self.ends
        return source.cache.format.type, target.cache.format.type

    def members(self, like: Any) -> Iterator[Member]:
        """For the kernels. like: an array in the memory that all are in."""
        ends = self.ends
        if self.scale is not None:
            require_scalable(*self.elements)
        on_device = ucd.memory(like) != 'host'
        tables = [end.pages.for_kernels(like, on_device) for end in ends]
        addresses = [list(map(interop.address, end.cache.arrays)) for end in ends]
        for array in ends[1].cache.arrays:
            interop.placed(array, True)  # raises if it is read-only
        for piece in pieces(ends[0].cache.format, ends[1].cache.format):
            tensors = piece.source, piece.target
            tokens = [end.tokens(tensor.size('token')) for end, tensor in zip(ends, tensors)]
            if not tokens[0]:
                continue
            scale = self._scale_at(piece)
            for end, tensor, base in zip(ends, tensors, addresses):
                _require_inside(end.cache, tensor)
            source, target = [base[tensor.address] + tensor.offset for base, tensor in zip(addresses, tensors)]
            yield Member(
                source,
                target,
                self._digits(piece, scale),
                scale.address,
                scale.number,
                (
                    len(tokens[0]),
                    *map(_paged, tables, ends, tensors, tokens),
                    scale.side,
                    scale.page,
                    scale.token,
                ),
            )

    def _digits(self, piece: Piece, scale: _ScaleAt) -> list[Digit]:
        digits = []
        for axis in ('head', 'dim'):
            inner = 1
            for factor in reversed(_factors(axis, piece.source, piece.target, piece.source.size(axis))):
                block, phase, step = 1, 0, 0
                if axis == 'head':
                    step = _stride_at(scale.head, inner)
                elif scale.dim and inner % scale.block == 0:
                    step = inner // scale.block * scale.dim
                elif scale.dim and scale.block % inner == 0 and scale.phase % inner == 0:
                    block, phase, step = scale.block // inner, scale.phase // inner, scale.dim
                elif scale.dim:
                    begin = f' from dim {scale.phase} of one on' if scale.phase else ''
                    raise ucd.NotSupported(f'blocks of {scale.block} dims{begin}, which are split into {inner}')
                digits.append(Digit(*factor, block, phase, step))
                inner *= factor.size
        return digits

    def _scale_at(self, piece: Piece) -> _ScaleAt:
        if self.scale is None:
            return _NO_SCALE
        if isinstance(self.scale, (int, float)):
            return _NO_SCALE._replace(number=float(self.scale))
        if isinstance(self.scale, Cache):
            return self._in_pages(self.scale, piece)
        address, shape, strides, type, _ = interop.placed(self.scale)
        format = self.ends[0].cache.format
        sizes = format.sizes['layer'], format.sizes['kv'], format.sizes['head']
        if type.name != 'FLOAT' or len(shape) not in (2, 3) or shape[:2] != sizes[:2] or shape[2:] not in ((), (1,), sizes[2:]):
            raise ValueError(
                f'scales of layers x kv x heads are float32 of {sizes[:2]} or {sizes} here, not {type.name} of {shape}'
            )
        heads = shape[2:] if shape[2:] != (1,) else ()
        address += piece.layer * strides[0] + piece.kv * strides[1] + sum([piece.head * stride for stride in strides[2:] if heads])
        return _NO_SCALE._replace(address=address, head=tuple(zip(heads, strides[2:])))

    def _in_pages(self, scales: Cache, piece: Piece) -> _ScaleAt:
        """Scales in pages of the side that has floats of 8 bits."""
        side = 0 if self.elements[0].name in SMALL else 1
        values = self.ends[side].cache.format
        if scales.tokens is not None:
            raise ValueError('tokens of a cache of scales are chosen by the values, so it is given without a selection')
        if scales.format.pages < values.pages:
            raise ValueError(f'a cache of scales with {scales.format.pages} pages for values with {values.pages}')
        of_values = values.sizes_of(piece.layer)
        sizes = scales.format.sizes_of(piece.layer)
        tensor = (piece.source, piece.target)[side]
        if (
            scales.format.element != 'FLOAT'
            or scales.format.sizes['layer'] != values.sizes['layer']
            or sizes['kv'] not in (1, of_values['kv'])
            or sizes['head'] not in (1, of_values['head'])
            or of_values['dim'] % sizes['dim']
            or sizes['token'] != of_values['token']
        ):
            raise ValueError(
                f'a cache of scales {scales.format} for {of_values}: it must have float32, as many layers and tokens in a page, keys '
                'and values and heads or one of them, and dims that divide those of the values'
            )
        block = of_values['dim'] // sizes['dim']
        kv = piece.kv if sizes['kv'] > 1 else 0
        heads = (piece.head, piece.head + tensor.size('head')) if sizes['head'] > 1 else (0, 1)
        dims = piece.dim // block, -(-(piece.dim + tensor.size('dim')) // block)
        wanted = {'layer': (piece.layer, piece.layer + 1), 'kv': (kv, kv + 1), 'head': heads, 'dim': dims}
        found = [part for some in scales.format.layers[piece.layer] if (part := cut(some, wanted))]
        if len(found) != 1 or found[0].size('head') != heads[1] - heads[0] or found[0].size('dim') != dims[1] - dims[0]:
            raise ucd.NotSupported('the scales of values in one tensor are in several')
        part = found[0]
        splits = [part.split(axis) for axis in ('token', 'dim', 'head')]
        if max(map(len, splits)) > 1:
            raise ucd.NotSupported('tokens, dims or heads of scales are split')
        token, dim = [split[0][1] if split else 0 for split in splits[:2]]
        _require_inside(scales, part)
        address = interop.address(scales.arrays[part.address]) + part.offset
        head = splits[2] if sizes['head'] > 1 else ()
        return _ScaleAt(address, 1.0, head, block, piece.dim % block, dim, side, part.page_stride, token)


def _paged(table: tuple[int, bool], end: End, tensor: Tensor, tokens: range) -> tuple[Any, ...]:
    """PagedText of kernels/moves.h."""
    page = tensor.size('token')
    split = tensor.split('token')
    if len(split) > 2:
        raise ucd.NotSupported(f'tokens are split into {len(split)} dimensions')
    outer, inner = [(1, 0), (1, 0), *split][-2:]
    return (*table, end.dense, page, inner[0], tokens.start, tokens.step, tensor.page_stride, outer[1], inner[1])


def _require_inside(cache: Cache, tensor: Tensor) -> None:
    """Raises ValueError if a tensor leaves the memory of its array."""
    shape, strides = interop.shape_and_strides(cache.arrays[tensor.address])
    width = interop.element_of(cache.arrays[tensor.address]).extent
    held = sum([(n - 1) * stride for n, stride in zip(shape, strides)]) + width if min(shape, default=1) else 0
    reach = tensor.offset + cache.format.type.size + sum([(dim.size - 1) * dim.stride for dim in tensor.dims])
    if min(strides, default=0) < 0 or reach > held:
        raise ValueError(f'a tensor of the format touches {reach} bytes of an array that has {held}')


def temporary(cache: Cache, pages: Pages, dense: bool, element: str) -> End:
    """A cache of new memory, of elements of that name, for the pages of a list of another, in that order, each contiguous."""
    made = []
    at = 0
    width = ucd.predefined[element].size
    for tensor in cache.format.tensors:
        inside = [(dim.stride, k, dim) for k, dim in enumerate(tensor.dims) if dim.axis != 'page']
        stride = width
        placed = {}
        for _, k, dim in sorted(inside, key=lambda entry: entry[:2]):
            placed[k] = Dim(dim.axis, dim.size, stride)
            stride *= dim.size
        dims = [placed[k] for _, k, _ in inside]
        made.append(Tensor(0, at, tensor.starts, (Dim('page', max(pages.count, 1), stride), *dims)))
        at += -(-stride * max(pages.count, 1) // 256) * 256
    memory = interop.new_bytes(cache.arrays[0], at)
    return End(Cache(Format(element, tuple(made)), [memory], cache.tokens), pages, True)
