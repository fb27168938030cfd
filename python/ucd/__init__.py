"""UCD: describes noncontiguous data by types, and packs, unpacks, copies and reduces it.

    column = ucd.pack(matrix[:, 2])          # any view of any array, packed
    ucd.unpack(column, other[::-1, 0])       # and into any other view

Arrays may be NumPy's, PyTorch's, CuPy's, numba's, memoryviews, or anything else with the buffer
protocol, DLPack, __array_interface__ or __cuda_array_interface__. None of these libraries is imported
unless its objects are handed in; NumPy is used for results if it is installed.

The guide is docs/guide/python.md of UCD.
"""

from ucd import _arrays, _core, _mpi, _requests, interop as interop, ipc as ipc, types as types
from ucd._core import (
    Batch as Batch,
    Hints as Hints,
    Request as Request,
    Type as Type,
    copy as copy,
    copy_bytes as copy_bytes,
    gather_into as gather_into,
    icopy as icopy,
    icopy_bytes as icopy_bytes,
    ipack_into as ipack_into,
    iunpack as iunpack,
    memory as memory,
    op_is_supported as op_is_supported,
    pack_into as pack_into,
    predefined as predefined,
    scatter as scatter,
    unpack as unpack,
)
from ucd._errors import (
    Corrupt as Corrupt,
    DeviceError as DeviceError,
    Error as Error,
    InternalError as InternalError,
    InvalidArgument as InvalidArgument,
    NotInitialized as NotInitialized,
    NotSupported as NotSupported,
    OutOfMemory as OutOfMemory,
    Overflow as Overflow,
    Truncated as Truncated,
)
from ucd._lists import (
    SGL as SGL,
    ElementRun as ElementRun,
    boxes as boxes,
    element_runs as element_runs,
    iov as iov,
    sgl as sgl,
)
from ucd._machine import Backend as Backend, backends as backends
from ucd._moved import found as __getattr__
from ucd._requests import waitall as waitall
from ucd._slices import slice_type as slice_type

Request.__await__ = _requests.wait_async  # type: ignore[method-assign, assignment]
Type.from_mpi = staticmethod(_mpi.from_mpi)  # type: ignore[method-assign]
Type.to_mpi = _mpi.to_mpi  # type: ignore[method-assign, assignment]

pack = _core.quickened(_arrays.pack)
cast = _core.quickened(_arrays.cast)
gather = _core.quickened(_arrays.gather)

__version__ = '.'.join(map(str, _core.version()))

__all__ = sorted(name for name in globals() if not name.startswith('_'))
