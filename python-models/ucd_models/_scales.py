"""Conversion with scales: value = stored * scale, where what is stored are floats of 8 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models._kernel_moves import SMALL, Digit, KernelMove, Member, one_memory


class Scales(NamedTuple):
    """Scales of an array: element i is stored[i] * scale of its block.

    scale  a number, or an array of float32 with as many dimensions as the array has. Along each dimension it has one scale
           for each block of indices, of which the last may be shorter.
    block  the length of blocks along each dimension: (1, 128). None: where the scales have one index, the block is the
           whole dimension, and elsewhere one index.
    """

    scale: Any
    block: tuple[int, ...] | None = None

    @property
    def is_number(self) -> bool:
        return isinstance(self.scale, (int, float))

    def blocks(self, shape: Sequence[int]) -> list[tuple[int, int]]:
        """For each dimension of an array, the length of blocks and the bytes between their scales. Raises ValueError if the
        scales are not those of such an array."""
        if self.is_number:
            if self.block is not None:
                raise ValueError('a number is the scale of all elements, and has no blocks')
            return [(max(n, 1), 0) for n in shape]
        _, counts, strides, type, _ = interop.placed(self.scale)
        if type.name != 'FLOAT':
            raise ValueError(f'scales are float32, not {type.name}')
        block = self.block
        if math.prod(counts) == 1 and block is None:
            return [(max(n, 1), 0) for n in shape]
        if len(counts) != len(shape) or (block is not None and len(block) != len(shape)):
            raise ValueError(f'scales of shape {counts}, in blocks {block}, for an array of shape {tuple(shape)}')
        if block is None:
            block = tuple([max(n, 1) if count == 1 else 1 for n, count in zip(shape, counts)])
        if min(block, default=1) < 1 or any([-(-n // b) != count for n, b, count in zip(shape, block, counts)]):
            needed = tuple([-(-n // max(b, 1)) for n, b in zip(shape, block)])
            raise ValueError(f'scales of shape {counts} for an array of shape {tuple(shape)} in blocks {block}: {needed} are needed')
        return list(zip(block, strides))

    def address(self) -> int:
        return 0 if self.is_number else interop.address(self.scale)

    def arrays(self) -> list[Any]:
        return [] if self.is_number else [self.scale]

    def number(self) -> float:
        return float(self.scale) if self.is_number else 1.0


def scales_of(given: Any, block: Sequence[int] | None = None) -> Scales:
    """What users give: Scales, a number or an array."""
    if isinstance(given, Scales):
        if block is not None:
            raise ValueError('block is given by the Scales')
        return given
    return Scales(given, None if block is None else tuple([int(n) for n in block]))


def require_scalable(source: ucd.Type, target: ucd.Type) -> None:
    """Raises ValueError unless one side is floats of 8 bits, and the other one wider floats."""
    if (source.name in SMALL) == (target.name in SMALL):
        raise ValueError(
            f'{source.name} to {target.name}: a scale is for conversions to floats of 8 bits and from them; name the dtypes of '
            'arrays of integers by src_dtype= and dst_dtype='
        )


def _element(array: Any, dtype: Any, written: bool = False) -> tuple[int, tuple[int, ...], tuple[int, ...], ucd.Type]:
    address, shape, strides, type, _ = interop.placed(array, written)
    if dtype is None:
        return address, shape, strides, type
    named: ucd.Type = interop.type_of_dtype(dtype)
    if named.size != type.size:
        raise ValueError(f'elements of {type.size} bytes are not {dtype}')
    return address, shape, strides, named


def _bounds(address: int, shape: Sequence[int], strides: Sequence[int], width: int) -> tuple[int, int]:
    ends = [(n - 1) * stride for n, stride in zip(shape, strides)]
    return address + sum([min(end, 0) for end in ends]), address + sum([max(end, 0) for end in ends]) + width


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
    at, shape, strides, source = _element(src, src_dtype)
    to, target_shape, target_strides, target = _element(dst, dst_dtype, True)
    if shape != target_shape:
        raise ValueError(f'src has shape {shape}, dst {target_shape}')
    require_scalable(source, target)
    scales = scales_of(scale, block)
    blocks = scales.blocks(shape)
    if 0 in shape:
        return 0
    like = one_memory([src, dst, *scales.arrays()])
    low, high = _bounds(at, shape, strides, source.size)
    first, last = _bounds(to, shape, target_strides, target.size)
    if first < high and low < last:
        if stream is not None:  # in which the copy might be in use when it is freed
            raise ValueError('src and dst overlap: convert in the current stream')
        first_copy = interop.new_like(src, shape)
        ucd.pack_into(src, first_copy)
        at, _, strides, *_ = interop.placed(first_copy)
    digits = [Digit(n, a, b, length, 0, step) for n, a, b, (length, step) in zip(shape, strides, target_strides, blocks)]
    member = Member(at, to, digits, scales.address(), scales.number())
    KernelMove(source, target, saturate, [member], like).run(stream)
    return target.size * math.prod(shape)


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
    import sys

    shape, _ = interop.shape_and_strides(src)
    library = interop.library_of(src)
    type: ucd.Type = interop.type_of_dtype(dtype)
    if library == 'torch':
        torch = sys.modules['torch']
        out = torch.empty(shape, dtype=getattr(torch, dtype) if isinstance(dtype, str) else dtype, device=src.device)
    else:
        out = interop.new_bytes(src, math.prod(shape) * type.size)
        out = out.view({1: 'u1', 2: 'u2', 4: 'f4'}[type.size] if type.name != 'FLOAT16' else 'f2').reshape(shape)
    copy(src, out, scale, block=block, saturate=saturate, src_dtype=src_dtype, dst_dtype=dtype, stream=stream)
    return out
