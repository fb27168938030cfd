"""Types from the expressions that index NumPy's arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ucd import _core, _dtypes


def _parsed(text: str) -> tuple[Any, ...]:
    """What stands between the brackets: '0:512:2, :, 7'."""

    def entry(word: str) -> Any:
        if word == '...':
            return ...
        if ':' not in word:
            return int(word)
        return slice(*(int(part) if part.strip() else None for part in word.split(':')))

    return tuple(entry(word.strip()) for word in text.split(','))


def _per_dimension(index: Any, ndim: int) -> list[Any]:
    """An entry for each dimension: no ellipsis, no new axes."""
    if isinstance(index, str):
        index = _parsed(index)
    entries = [e for e in (index if isinstance(index, tuple) else (index,)) if e is not None]
    ellipses = [i for i, e in enumerate(entries) if e is ...]
    if len(ellipses) > 1:
        raise IndexError('an index can have only one ellipsis')
    at = ellipses[0] if ellipses else len(entries)
    missing = ndim - (len(entries) - len(ellipses))
    if missing < 0:
        raise IndexError(f'{len(entries) - len(ellipses)} indices for {ndim} dimensions')
    return entries[:at] + [slice(None)] * missing + entries[at + len(ellipses) :]


def _checked(number: Any, size: int) -> int:
    if isinstance(number, bool):
        raise IndexError('masks of booleans are not supported')
    value = operator.index(number)
    if not -size <= value < size:
        raise IndexError(f'index {value} for a dimension of {size}')
    return value % size


def slice_type(shape: Sequence[int], index: Any, dtype: Any) -> _core.Type:
    """The type of a part of a C-contiguous array: of array[index], with the array's bounds.

    index is what stands in the brackets: integers, slices of any step, an ellipsis, lists of integers
    (each list chooses along its own dimension, as numpy.ix_ does), a tuple of these, or text such as
    '0:512:2, :, 7'. dtype: a Type, or what names one. Byte 0 of the type is the array's first
    element, so it is used with the whole array: ucd.pack(array, type=...).

    Raises IndexError for an index outside of the shape.
    """
    sizes = [operator.index(n) for n in shape]
    part = _dtypes.of(dtype)
    stride = part.extent
    displacement = 0
    for size, entry in zip(reversed(sizes), reversed(_per_dimension(index, len(sizes)))):
        if isinstance(entry, slice):
            chosen = range(*entry.indices(size))
            displacement += chosen.start * stride if chosen else 0
            part = _core.Type.hvector(len(chosen), 1, chosen.step * stride, part)
        elif hasattr(entry, '__iter__') or hasattr(entry, '__len__'):
            part = _core.Type.hindexed_block(1, [_checked(i, size) * stride for i in entry], part)
        else:
            displacement += _checked(entry, size) * stride
        stride *= size
    placed = _core.Type.hindexed_block(1, [displacement], part)
    return _core.Type.resized(placed, 0, stride)
