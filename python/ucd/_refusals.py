"""Why an array has no elements in memory that a call could move."""

from __future__ import annotations

import re
import sys
from typing import Any

from ucd._arrays import library_of


def reason_against(array: Any) -> str | None:
    """What kind of array it is, and what to give instead; None: nothing is known against it."""
    if hasattr(array, 'to_local'):
        return 'a DTensor, or another tensor without memory of its own; give to_local()'
    dtype = str(getattr(array, 'dtype', ''))
    if re.fullmatch(r'u?int[1-7]|float[46]_(?!\w*_x2)\w+', dtype):
        return f'an array of {dtype}, whose elements are no whole bytes; give its bytes, as uint8'
    if library_of(array) != 'torch':
        return None
    if array.is_nested:
        return 'a nested tensor; give the tensors of unbind()'
    if array.layout is not sys.modules['torch'].strided:
        return f'a sparse tensor ({array.layout}); give to_dense(), or its values() and indices'
    if array.device.type == 'meta':
        return "on PyTorch's device 'meta', and has no memory; give a tensor that has"
    if array.is_quantized:
        return f'a quantised tensor ({dtype}); give int_repr()'
    return None
