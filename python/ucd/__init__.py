"""UCD: describes noncontiguous data by types, and packs, unpacks, copies and reduces it.

    column = ucd.pack(matrix[:, 2])          # any view of any array, packed
    ucd.unpack(column, other[::-1, 0])       # and into any other view

Arrays may be NumPy's, PyTorch's, CuPy's, numba's, memoryviews, or anything else with the buffer
protocol, DLPack, __array_interface__ or __cuda_array_interface__. None of these libraries is imported
unless its objects are handed in; NumPy is used for results if it is installed.

The guide is docs/guide/python.md of UCD.
"""

from ucd import _arrays, _core, _mpi, _requests, interop, ipc, types
from ucd._core import (
    Batch,
    Hints,
    Request,
    Type,
    copy,
    copy_bytes,
    gather_into,
    icopy,
    icopy_bytes,
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
from ucd._lists import SGL, ElementRun, boxes, element_runs, iov, sgl
from ucd._machine import Backend, backends
from ucd._moved import found as __getattr__
from ucd._requests import waitall
from ucd._slices import slice_type

Request.__await__ = _requests.wait_async  # type: ignore[method-assign, assignment]
Type.from_mpi = staticmethod(_mpi.from_mpi)  # type: ignore[method-assign]
Type.to_mpi = _mpi.to_mpi  # type: ignore[method-assign, assignment]

pack = _core.quickened(_arrays.pack)
cast = _core.quickened(_arrays.cast)
gather = _core.quickened(_arrays.gather)

__version__ = '.'.join(map(str, _core.version()))

__all__ = [
    'Backend',
    'Batch',
    'Corrupt',
    'DeviceError',
    'ElementRun',
    'Error',
    'Hints',
    'InternalError',
    'InvalidArgument',
    'NotInitialized',
    'NotSupported',
    'OutOfMemory',
    'Overflow',
    'Request',
    'SGL',
    'Truncated',
    'Type',
    'backends',
    'boxes',
    'cast',
    'copy',
    'copy_bytes',
    'element_runs',
    'gather',
    'gather_into',
    'icopy',
    'icopy_bytes',
    'interop',
    'iov',
    'ipack_into',
    'ipc',
    'iunpack',
    'memory',
    'op_is_supported',
    'pack',
    'pack_into',
    'predefined',
    'scatter',
    'sgl',
    'slice_type',
    'types',
    'unpack',
    'waitall',
]
