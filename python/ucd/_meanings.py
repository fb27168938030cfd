"""What the bytes of elements mean beyond their size: the byte orders of numbers, and the units of dates."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from ucd._core import Type
from ucd._dtypes import _NATIVE, Element, Fields, _in_memory, dtype_of
from ucd._errors import NotSupported


class Meaning(NamedTuple):
    """Of the members of an element, in the order of the stream. What repeats at once is said once."""

    orders: tuple[str, ...]
    """'<' and '>': the byte orders of what has more than one byte."""
    dates: tuple[str, ...]
    """Such as 'M8[s]'."""


_BYTES = Meaning((), ())


def meaning_of(element: Element) -> Meaning:
    """That of bytes is empty: they stand for anything."""
    if element.dtype is not None:
        return _of(element.dtype)
    return Meaning((_NATIVE,), ()) if element.type.name and element.type.size > 1 else _BYTES


def _joined(parts: Iterable[Meaning]) -> Meaning:
    listed = list(parts)
    of_all = [itertools.chain.from_iterable([part[k] for part in listed]) for k in (0, 1)]
    return Meaning(*[tuple([key for key, _ in itertools.groupby(found)]) for found in of_all])


@functools.lru_cache(maxsize=1024)
def _of(dtype: Any) -> Meaning:
    """Of what an Element has as its dtype."""
    if isinstance(dtype, Fields):
        return _joined(map(_of, dtype.formats))
    if isinstance(dtype, tuple):
        return _joined([_of(dtype[0])] * min(math.prod(dtype[1]), 2))
    if isinstance(dtype, str):
        return _of_text(dtype)
    if dtype.subdtype is not None:
        return _of(tuple(dtype.subdtype))
    if dtype.fields is not None:
        return _joined([_of(dtype.fields[name][0]) for name in dtype.names])
    if dtype.kind in 'mM':
        return _of_text(dtype.str)
    return _BYTES if dtype.byteorder == '|' else Meaning((_NATIVE if dtype.byteorder == '=' else dtype.byteorder,), ())


def _of_text(text: str) -> Meaning:
    """Of a typestr, which may begin with a byte order."""
    order, rest = (text[0], text[1:]) if text[0] in '<>|=' else ('=', text)
    if rest[0] not in 'iufcmMU' or rest[1:] == '1' and rest[0] != 'U':
        return _BYTES
    return Meaning((order if order in '<>' else _NATIVE,), (rest,) if rest[0] in 'mM' else ())


def require_same(source: Meaning, target: Meaning, what: str, source_name: str = 'what it is moved from or to') -> None:
    """Raises NotSupported if bytes of the one mean something else in the other. what: the array to name."""
    for kind, ours, theirs, done in (
        ('the byte order', source.orders, target.orders, 'swapped'),
        ('dates of', source.dates, target.dates, 'converted'),
    ):
        if ours and theirs and ours != theirs:
            raise NotSupported(
                f'{source_name} has {kind} {" ".join(ours)}, and {what} has {" ".join(theirs)}; '
                f'these are not {done}: convert one side by astype'
            )


def require_same_meaning(source: Type, source_dtype: Any, name: str, target: Type, target_dtype: Any, target_name: str) -> None:
    """As require_same, of two elements as _core.described gives them, each with the name of its array."""
    require_same(meaning_of(Element(source, source_dtype)), meaning_of(Element(target, target_dtype)), target_name, name)


def require_same_dtype(source: Type, source_dtype: Any, name: str, target: Type, target_dtype: Any, target_name: str) -> None:
    """Raises ValueError unless two elements have one layout and one meaning."""
    ours, theirs = Element(source, source_dtype), Element(target, target_dtype)
    if meaning_of(ours) == meaning_of(theirs) and (source is target or source.flatten() == target.flatten()):
        return
    # Safetensors gives BF16 and F8 as such integers.
    may_be_floats = ours.type.name in ('UINT8_T', 'UINT16_T') and 'FLOAT' in (theirs.type.name or '')
    hint = '; if these integers stand for BF16 or F8, view them as that first: .view(ml_dtypes.bfloat16)' if may_be_floats else ''
    raise ValueError(
        f'{name} has elements {text_of(ours)}, and {target_name} has {text_of(theirs)}: copy converts with convert=True, or '
        f"convert='saturate' where values may not fit; copy_bytes moves bytes as they are{hint}"
    )


def text_of(element: Element) -> str:
    """An element in words: the name of its type, or its dtype."""
    dtype = _in_memory(element)
    if element.type.name and meaning_of(element) in (_BYTES, Meaning((_NATIVE,), ())):
        return element.type.name
    return dtype if isinstance(dtype, str) else str(dtype_of(element))
