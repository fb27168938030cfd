"""For packages over ucd: where the elements of an array lie and what they are, and new arrays of the same kind.

Nothing here moves data. Arrays are what all functions of ucd take; addresses, strides and lengths are in bytes. Errors
are those of ucd.pack_into.
"""

from ucd import _dtypes
from ucd._arrays import library_of as library_of, new_bytes as new_bytes, new_like as new_like, new_of_dtype as new_of_dtype
from ucd._core import (
    address as address,
    described as described,
    element_of as element_of,
    packed_size as packed_size,
    placed as placed,
    reaches as reaches,
    shape_and_strides as shape_and_strides,
    stream_of as stream_of,
    synchronize as synchronize,
)
from ucd._dtypes import Element as Element
from ucd._meanings import Meaning as Meaning, meaning_of as meaning_of, require_same as require_same

element_of_dtype = _dtypes.element_of
type_of_dtype = _dtypes.of
type_of_bytes = _dtypes.of_bytes
refusal = _dtypes.refusal
dtype_names = tuple(_dtypes._NAMES)
"""The names that type_of_dtype takes without NumPy."""

__all__ = sorted(name for name in globals() if not name.startswith('_'))
