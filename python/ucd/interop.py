"""For packages over ucd: where the elements of an array lie and what they are, and new arrays of the same kind.

Nothing here moves data. Arrays are what all functions of ucd take; addresses, strides and lengths are in bytes. Errors
are those of ucd.pack_into.
"""

from ucd._arrays import library_of, new_bytes, new_like
from ucd._core import (
    address,
    described,
    element_of,
    packed_size,
    placed,
    reaches,
    shape_and_strides,
    stream_of,
    synchronize,
)
from ucd._dtypes import Element
from ucd._dtypes import element_of as element_of_dtype
from ucd._dtypes import of as type_of_dtype
from ucd._dtypes import of_bytes as type_of_bytes
from ucd._meanings import Meaning, meaning_of, require_same

__all__ = [
    'Element',
    'Meaning',
    'address',
    'described',
    'element_of',
    'element_of_dtype',
    'library_of',
    'meaning_of',
    'new_bytes',
    'new_like',
    'packed_size',
    'placed',
    'reaches',
    'require_same',
    'shape_and_strides',
    'stream_of',
    'synchronize',
    'type_of_bytes',
    'type_of_dtype',
]
