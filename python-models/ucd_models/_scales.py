"""Conversion with scales: value = stored * scale, where what is stored are floats of 8 bits."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models._kernel_moves import SMALL, Digit, KernelMove, Member, one_memory
from ucd_models._overlap import bounds

_FLOAT = interop.type_of_dtype('float32')


class Scales(NamedTuple):
    """Scales of an array: element i is stored[i] * scale of its block.

    scale  a number, or an array of float32 with as many dimensions as the array has. Along each dimension it has one scale
           for each block of indices, of which the last may be shorter.
    block  the length of blocks along each dimension: (1, 128). None: where the scales have one index, the block is the
           whole dimension, and elsewhere one index.
    """

    scale: Any
    block: tuple[int, ...] | None = None

    def placed(self, shape: Sequence[int]) -> tuple[int, float, list[tuple[int, int]]]:
        """Where they are, or 0, and the number that is the scale then; and for each dimension of an array, the length of blocks
        and the bytes between their scales. Raises ValueError if the scales are not those of such an array."""
        scale, block = self
        if isinstance(scale, (int, float)):
            if block is not None:
                raise ValueError('a number is the scale of all elements, and has no blocks')
            return 0, float(scale), [(n or 1, 0) for n in shape]
        address, counts, strides, type, _ = interop.placed(scale)
        if type is not _FLOAT:
            raise ValueError(f'scales are float32, not {type.name}')
        if block is None and math.prod(counts) == 1:
            return address, 1.0, [(n or 1, 0) for n in shape]
        if len(counts) != len(shape) or (block is not None and len(block) != len(shape)):
            blocks = '' if block is None else f' in blocks {block}'
            raise ValueError(
                f'scales of shape {counts} for an array of shape {tuple(shape)}{blocks}: as many dimensions are '
                f'needed; {(*shape[:-1], 1)} is one for each row'
            )
        if block is None:
            block = tuple([n or 1 if count == 1 else 1 for n, count in zip(shape, counts)])
        for n, length, count in zip(shape, block, counts):
            if length < 1 or -(-n // length) != count:
                needed = tuple([-(-n // max(length, 1)) for n, length in zip(shape, block)])
                raise ValueError(
                    f'scales of shape {counts} for an array of shape {tuple(shape)} in blocks {block}: {needed} are needed'
                )
        return address, 1.0, list(zip(block, strides))

    def arrays(self) -> list[Any]:
        return [] if isinstance(self.scale, (int, float)) else [self.scale]


def scales_of(given: Any, block: Sequence[int] | None = None) -> Scales:
    """What users give: Scales, a number or an array."""
    if isinstance(given, Scales):
        if block is not None:
            raise ValueError('block is given by the Scales')
        return given
    return Scales(given, None if block is None else tuple([int(n) for n in block]))


@functools.lru_cache(maxsize=256)
def require_scalable(source: ucd.Type, target: ucd.Type) -> None:
    """Raises ValueError unless one side is floats of 8 bits, and the other one wider floats."""
    if (source.name in SMALL) == (target.name in SMALL):
        raise ValueError(
            f'{source.name or "bytes"} to {target.name or "bytes"}: a scale is for conversions to float8_e4m3fn or float8_e5m2, '
            'and from them; name the dtypes of arrays of integers by src_dtype= and dst_dtype='
        )


def _type_of(dtype: Any) -> ucd.Type:
    """As interop.type_of_dtype, without bytes, of which NumPy's are that have no name here."""
    type: ucd.Type = interop.type_of_dtype(dtype)
    if type.name is None:
        raise interop.refusal(dtype)
    return type


def _named(found: ucd.Type, dtype: Any) -> ucd.Type:
    """The elements: those that the caller says, if any."""
    named = found if dtype is None else _type_of(dtype)
    if named.size != found.size:
        raise ValueError(f'elements of {found.size} bytes are not {dtype}')
    return named


def copy(
    src: Any,
    dst: Any,
    scale: Any,
    *,
    block: Sequence[int] | None = None,
    saturate: bool = False,
    src_dtype: Any = None,
    dst_dtype: Any = None,
    stream: Any = None,
) -> int:
    """Converts an array to or from floats of 8 bits with given scales, in one pass over any layouts, and returns the bytes
    written. To 8 bits, elements are divided by their scale, from 8 bits multiplied by it. The exact quotient or product is
    rounded once, to nearest, ties to even.

    src, dst   arrays of one shape, any strides, on the host or on one device: one of float8_e4m3fn or float8_e5m2, the other
               of float32, bfloat16 or float16
    scale      a number, or an array of float32 in the same memory; block: of so many indices of each dimension, of which a
               scale is for all. As Scales has them, which may be given instead.
    saturate   what is too large, or infinite, becomes the largest number instead of infinity (or NaN in float8_e4m3fn)
    src_dtype  what the elements are, where the arrays are integers: NumPy has no floats of 8 bits
    dst_dtype

    On a device enqueued in its library's current stream, or in `stream`: keep the arrays until it has passed. On the host
    done on return. If src and dst overlap, src is copied first.

    Raises ValueError for shapes, scales and dtypes that do not fit, and NotSupported if the package was built without
    kernels for the device.
    """
    at, shape, strides, source, _ = interop.placed(src)
    to, target_shape, target_strides, target, _ = interop.placed(dst, True)
    source, target = _named(source, src_dtype), _named(target, dst_dtype)
    if shape != target_shape:
        raise ValueError(f'src has shape {shape}, dst {target_shape}')
    require_scalable(source, target)
    scales = scales_of(scale, block)
    scale_at, number, blocks = scales.placed(shape)
    if 0 in shape:
        return 0
    like = one_memory([src, dst, *scales.arrays()])
    width = target.size
    low, high = bounds(at, shape, strides, source.size)
    first, last = bounds(to, shape, target_strides, width)
    if first < high and low < last:
        if stream is not None:  # in which the copy might be in use when it is freed
            raise ValueError('src and dst overlap: convert in the current stream')
        first_copy = interop.new_like(src, shape)
        ucd.pack_into(src, first_copy)
        src = first_copy
        at, _, strides, *_ = interop.placed(src)
    digits = [Digit(n, a, b, length, 0, step) for n, a, b, (length, step) in zip(shape, strides, target_strides, blocks)]
    member = Member(at, to, digits, scale_at, number)
    KernelMove(source, target, saturate, [member], like, (src, dst, scales)).run(stream)
    return width * math.prod(shape)


def cast(
    src: Any,
    dtype: Any,
    scale: Any,
    *,
    block: Sequence[int] | None = None,
    saturate: bool = False,
    src_dtype: Any = None,
    stream: Any = None,
) -> Any:
    """As copy, to a new C-contiguous array in the memory and of the library of src. dtype: 'float8_e4m3fn', 'bfloat16' and so
    on, or a dtype of the library. Of NumPy the result is unsigned integers of that size where NumPy lacks the dtype."""
    type = _type_of(dtype)
    shape, _ = interop.shape_and_strides(src)
    if interop.library_of(src) == 'torch':
        out, dtype = interop.new_of_dtype(src, shape, dtype), None
    else:
        out = interop.new_bytes(src, math.prod(shape) * type.size)
        kind = 'f' if type.name in ('FLOAT', 'FLOAT16') else 'u' if type.size <= 8 else 'V'  # copy refuses the last
        out = out.view(f'{kind}{type.size}').reshape(shape)
    copy(src, out, scale, block=block, saturate=saturate, src_dtype=src_dtype, dst_dtype=dtype, stream=stream)
    return out
