"""pack and gather: the moves that make their own output, in the memory and library of the input."""

from __future__ import annotations

import array
import math
import sys
from typing import Any

from ucd import _core, _dtypes


def library_of(array: Any) -> str:
    """'torch', 'cupy', or '' for all others: the library of results. By the ancestry of the class, since programs derive
    their own from torch.Tensor; what is not imported has no arrays."""
    for library, name in (('torch', 'Tensor'), ('cupy', 'ndarray')):
        made = getattr(sys.modules.get(library), name, None)
        if made in type(array).__mro__:
            return library
    return ''


def new_array(like: Any, shape: Any, dtype: Any) -> Any:
    """An uninitialised C-contiguous array in the library and the memory of another one; None: that would be NumPy's, which is
    not installed. dtype: the library's, or a name."""
    library = library_of(like)
    if library == 'torch':
        torch = sys.modules['torch']
        return torch.empty(shape, dtype=getattr(torch, dtype) if isinstance(dtype, str) else dtype, device=like.device)
    maker = sys.modules['cupy'] if library else _dtypes.installed_numpy()
    return maker.empty(shape, dtype=dtype) if maker else None


def new_of_dtype(like: Any, shape: Any, dtype: Any) -> Any:
    """As new_array. Raises TypeError for a dtype that the library does not have."""
    try:
        return new_array(like, shape, dtype)
    except (AttributeError, TypeError) as error:
        _dtypes.of(dtype)  # says which names there are, if it is none
        raise error if isinstance(error, TypeError) else TypeError(f'the library of src has no {dtype!r}') from error


def new_bytes(like: Any, count: int) -> Any:
    """Uninitialised bytes in the memory that an array is in."""
    made = new_array(like, count, 'uint8')
    return bytearray(count) if made is None else made


def new_packed(like: Any, shape: tuple[int, ...], type: _core.Type, dtype: Any) -> Any:
    """An uninitialised C-contiguous array of packed elements, in another array's library and memory. type and dtype:
    as _dtypes.Element has them."""
    if library_of(like):
        return new_array(like, shape, like.dtype)
    if _dtypes.installed_numpy() is None:
        return bytearray(type.size * math.prod(shape))
    return new_array(like, shape, _dtypes.packed_dtype(type, dtype))


def new_like(like: Any, shape: tuple[int, ...]) -> Any:
    """An uninitialised C-contiguous array of another array's elements, padding included, in its library and
    memory."""
    _, type, dtype = _core.described(like)
    if type.extent == type.size:
        return new_packed(like, shape, type, dtype)
    if _dtypes.installed_numpy() is None:
        return bytearray(type.extent * math.prod(shape))
    return new_array(like, shape, _dtypes.dtype_of(_dtypes.Element(type, dtype)))


def pack(
    src: Any,
    *,
    type: _core.Type | None = None,
    count: int = 1,
    hints: _core.Hints | None = None,
    stream: Any = None,
    wait: bool = False,
) -> Any:
    """Packs an array into a new one.

    Without a type: a one-dimensional array of src's elements in C order, which is what
    numpy.ravel(src) gives; structured elements lose their padding. With a type, which is laid over
    the memory from src's first element on: an array of uint8. The result is in the memory and of the
    library of src (torch, CuPy, else NumPy; a bytearray where there is no NumPy).

    Arguments, errors, and when the work is done: as pack_into.
    """
    if type is None:
        shape, *element = _core.described(src, 'src')
        out = new_packed(src, (math.prod(shape),), *element)
    else:
        out = new_bytes(src, type.size * count)
    _core.pack_into(src, out, type=type, count=count, hints=hints, stream=stream, wait=wait)
    return out


def cast(
    src: Any,
    dtype: Any,
    *,
    saturate: bool = False,
    hints: _core.Hints | None = None,
    stream: Any = None,
    wait: bool = False,
) -> Any:
    """The elements of an array converted to another type, as a new C-contiguous array: what src.astype(dtype) or
    src.to(dtype) gives, in one pass over any layout, in the memory and of the library of src.

    dtype: a dtype of src's library or its name ('float16'); NumPy knows 'bfloat16' only if ml_dtypes is imported.
    Rounds to nearest, ties to even; saturate: what is too large for a floating type becomes its largest finite number.
    stream, wait, errors, and when the work is done: as copy.
    """
    shape, *_ = _core.described(src, 'src')
    out = new_of_dtype(src, shape, dtype)
    if out is None:
        raise TypeError('cast makes arrays of NumPy, torch or CuPy; none of them is there')
    _core.copy(src, out, convert='saturate' if saturate else True, hints=hints, stream=stream, wait=wait)
    return out


def plain_indices(indices: Any, stream: Any) -> Any:
    """A contiguous array of the same indices, in 32 or 64 bits, of a list or of integers in one dimension."""
    if isinstance(indices, (list, tuple, range)):
        try:
            return array.array('q', indices)
        except (TypeError, OverflowError) as error:
            raise error.__class__(f'indices must be integers: {error}') from None
    shape, type, _ = _core.described(indices, 'indices')
    if len(shape) != 1 or not (type.name or '').startswith(('INT', 'UINT')):
        what = f'{len(shape)} dimensions of {type.name or "bytes"}'
        raise TypeError(f'indices have {what}; they must have one dimension of integers')
    if type.size < 4:
        return cast(indices, 'int32', stream=stream)
    made: Any = pack(indices, stream=stream)
    if not isinstance(made, bytearray):
        return made
    formats: Any = 'iq' if (type.name or '').startswith('INT') else 'IQ'
    return memoryview(made).cast(formats[type.size // 8])


def gather(
    pool: Any,
    indices: Any,
    *,
    axis: int = 0,
    hints: _core.Hints | None = None,
    stream: Any = None,
    wait: bool = False,
) -> Any:
    """The entries of a pool that indices choose along axis, as a new array: numpy.take(pool,
    indices, axis), in the memory and of the library of pool.

    Arguments, errors, and when the work is done: as gather_into.
    """
    shape, *element = _core.described(pool, 'pool')
    if isinstance(indices, (list, tuple, range)):
        indices = plain_indices(indices, stream)
    counts, _ = _core.shape_and_strides(indices, 'indices')
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f'axis is {axis}; the pool has {len(shape)} dimensions')
    axis %= len(shape)
    out = new_packed(pool, (*shape[:axis], *counts, *shape[axis + 1 :]), *element)
    _core.gather_into(pool, indices, out, axis=axis, hints=hints, stream=stream, wait=wait)
    return out
