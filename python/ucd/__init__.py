"""UCD: describes noncontiguous data by types, and packs, unpacks, copies and reduces it.

    column = ucd.pack(matrix[:, 2])          # any view of any array, packed
    ucd.unpack(column, other[::-1, 0])       # and into any other view

Arrays may be NumPy's, PyTorch's, CuPy's, numba's, memoryviews, or anything else with the buffer
protocol, DLPack, __array_interface__ or __cuda_array_interface__. None of these libraries is imported
unless its objects are handed in; NumPy is used for results if it is installed.

The guide is docs/guide/python.md of UCD.
"""

from ucd import _core, _requests
from ucd._arrays import gather, pack
from ucd._core import (
    Batch,
    Hints,
    Request,
    Type,
    copy,
    gather_into,
    icopy,
    ipack_into,
    iunpack,
    memory,
    op_is_supported,
    pack_into,
    predefined,
    scatter,
    unpack,
)
from ucd._errors import (
    Corrupt,
    DeviceError,
    Error,
    InternalError,
    InvalidArgument,
    NotInitialized,
    NotSupported,
    OutOfMemory,
    Overflow,
    Truncated,
)
from ucd._lists import ElementRun, boxes, element_runs, iov
from ucd._machine import Backend, backends
from ucd._redistribution import Cyclic, Distribution, Plan, Replicate, Route, Shard, plan, redistribute
from ucd._requests import waitall
from ucd._slices import slice_type

Request.__await__ = _requests.wait_async  # type: ignore[method-assign]

__version__ = '.'.join(map(str, _core.version()))

# The predefined types: ucd.DOUBLE, ucd.INT32_T, ucd.BYTE and so on.
globals().update(predefined)

__all__ = [
    'Backend',
    'Batch',
    'Corrupt',
    'Cyclic',
    'DeviceError',
    'Distribution',
    'ElementRun',
    'Error',
    'Hints',
    'InternalError',
    'InvalidArgument',
    'NotInitialized',
    'NotSupported',
    'OutOfMemory',
    'Overflow',
    'Plan',
    'Replicate',
    'Request',
    'Route',
    'Shard',
    'Truncated',
    'Type',
    'backends',
    'boxes',
    'copy',
    'element_runs',
    'gather',
    'gather_into',
    'icopy',
    'iov',
    'ipack_into',
    'iunpack',
    'memory',
    'op_is_supported',
    'pack',
    'pack_into',
    'plan',
    'predefined',
    'redistribute',
    'scatter',
    'slice_type',
    'unpack',
    'waitall',
]
