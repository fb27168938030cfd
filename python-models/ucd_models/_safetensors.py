"""Files of the safetensors layout, memory-mapped: tensors as arrays that are read when they are moved."""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ucd_models._checkpoint_files import open_regular
from ucd_models._untrusted import are_naturals, json_of


class _Dtype(NamedTuple):
    name: str
    """As ml_dtypes and checkpoints have it."""
    in_numpy: str
    """NumPy's, or unsigned integers of the same size where NumPy has none; bytes, if an element is a part of one."""
    bits: int


# By safetensors' names.
DTYPES = {
    'BOOL': _Dtype('bool', '|b1', 8),
    'F4': _Dtype('float4_e2m1fn', '|u1', 4),
    'F6_E2M3': _Dtype('float6_e2m3fn', '|u1', 6),
    'F6_E3M2': _Dtype('float6_e3m2fn', '|u1', 6),
    'U8': _Dtype('uint8', '|u1', 8),
    'I8': _Dtype('int8', '|i1', 8),
    'F8_E4M3': _Dtype('float8_e4m3fn', '|u1', 8),
    'F8_E4M3FNUZ': _Dtype('float8_e4m3fnuz', '|u1', 8),
    'F8_E5M2': _Dtype('float8_e5m2', '|u1', 8),
    'F8_E5M2FNUZ': _Dtype('float8_e5m2fnuz', '|u1', 8),
    'F8_E8M0': _Dtype('float8_e8m0fnu', '|u1', 8),
    'U16': _Dtype('uint16', '<u2', 16),
    'I16': _Dtype('int16', '<i2', 16),
    'F16': _Dtype('float16', '<f2', 16),
    'BF16': _Dtype('bfloat16', '<u2', 16),
    'U32': _Dtype('uint32', '<u4', 32),
    'I32': _Dtype('int32', '<i4', 32),
    'F32': _Dtype('float32', '<f4', 32),
    'U64': _Dtype('uint64', '<u8', 64),
    'I64': _Dtype('int64', '<i8', 64),
    'F64': _Dtype('float64', '<f8', 64),
    'C64': _Dtype('complex64', '<c8', 64),
}
# What the format's own library accepts. Also a bound on what is read of a file that is no such file.
_MAX_HEADER = 100_000_000
# performance only: the header of many a file is read by one call.
_NEAR = 8192
_ALIGNMENT = 8
_KEYS = frozenset(['dtype', 'shape', 'data_offsets'])


class Entry(NamedTuple):
    """What the header says of a tensor."""

    dtype: str
    """safetensors' name: 'F32', 'BF16'."""
    shape: tuple[int, ...]
    start: int
    """Where its bytes begin in the file."""
    stop: int


class Safetensors(Mapping[str, Any]):
    """A .safetensors file: a mapping from names to NumPy arrays that lie in the file.

    Nothing is read before it is needed, so that shards of checkpoints can be sources of
    ucd_models.redistribute. Arrays are read-only. Elements that NumPy does not know (BF16, F8_*) are
    unsigned integers of the same size. Elements that are parts of bytes (F4, F6_*) are one dimension
    of bytes, as the file has them. `entries` has the names of all dtypes, and the shapes. `metadata`
    is that of the file. Arrays keep the mapping alive. The file must not become shorter meanwhile.

    The file is checked before it is used. Raises ValueError if it is not of this layout: a regular file,
    lengths, JSON, dtypes, shapes, and that tensors fill the file without gaps and overlaps. OSError as
    os.open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._open(os.fspath(path), writable=False)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        tensors: Mapping[str, tuple[Any, tuple[int, ...]]],
        metadata: Mapping[str, str] | None = None,
    ) -> Safetensors:
        """A new file, of tensors of zeros that can be written to: targets of ucd_models.redistribute.

        tensors has a dtype and a shape for each name. A dtype is safetensors' name, or anything that
        numpy.dtype takes. A file that is there is overwritten. Raises ValueError if safetensors has
        no such dtype, or the header would be refused when the file is read: then no file is touched.
        """
        header: dict[str, Any] = {'__metadata__': dict(metadata)} if metadata else {}
        at = 0
        for name, (dtype, shape) in tensors.items():
            known = _name_of(dtype)
            stop = at + _size(known, shape)
            header[name] = {'dtype': known, 'shape': list(shape), 'data_offsets': [at, stop]}
            at = stop
        text = json.dumps(header).encode()
        text += b' ' * (-len(text) % _ALIGNMENT)
        text = len(text).to_bytes(8, 'little') + text
        try:  # before a file that is there is lost
            read_header(lambda begin, count: text[begin : begin + count], len(text) + at)
        except ValueError as e:
            raise ValueError(f'{os.fspath(path)}: {e}') from None
        with os.fdopen(open_regular(os.fspath(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)[0], 'wb') as file:
            file.write(text)
            file.truncate(len(text) + at)
        made = cls.__new__(cls)
        made._open(os.fspath(path), writable=True)
        return made

    def _open(self, path: str, writable: bool) -> None:
        self.path = path
        fd, found = open_regular(path, os.O_RDWR if writable else os.O_RDONLY)
        try:
            self.metadata, self.entries = read_header(lambda at, count: os.pread(fd, count, at), found.st_size)
            self._memory = mmap.mmap(fd, found.st_size, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
        except ValueError as e:
            raise ValueError(f'{path}: {e}') from None
        finally:
            os.close(fd)

    def __repr__(self) -> str:
        return f'<ucd_models.Safetensors {self.path!r}, {len(self)} tensors>'

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> Any:
        import numpy

        entry = self.entries[name]
        known = DTYPES[entry.dtype]
        shape = entry.shape if known.bits % 8 == 0 else (entry.stop - entry.start,)
        return numpy.ndarray(shape, known.in_numpy, self._memory, entry.start)

    def flush(self) -> None:
        """Writes what was changed to the file."""
        self._memory.flush()


def _name_of(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    import numpy

    wanted = numpy.dtype(dtype)
    for name, known in DTYPES.items():
        if known.name == wanted.name and numpy.dtype(known.in_numpy) == wanted:
            return name
    raise ValueError(f'safetensors has no dtype for {wanted}')


def _size(dtype: str, shape: Iterable[int]) -> int:
    """Bytes of a tensor. Raises ValueError if they are not whole."""
    bits = math.prod(shape) * DTYPES[dtype].bits
    if bits % 8:
        raise ValueError(f'elements of {dtype} are {bits} bits, which are no bytes')
    return bits // 8


def read_header(read: Callable[[int, int], bytes], size: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """Metadata and entries of a file of so many bytes. read: gives so many bytes from an offset on. Raises ValueError if
    the file is none of this layout."""
    near = read(0, min(size, _NEAR))
    length = int.from_bytes(near[:8], 'little')
    if len(near) < 8 or length > min(_MAX_HEADER, size - 8):
        raise ValueError('it is no safetensors file: the length of its header does not fit')
    text = near[8 : 8 + length]
    if len(text) < length:
        text += read(len(near), length - len(text))
    if len(text) < length:
        raise ValueError('its header is cut off')
    header = json_of(text, 'its header')
    if not isinstance(header, dict):
        raise ValueError('its header is no JSON object')
    return _checked(header, 8 + length, size)


def _entry(said: Any, data: int) -> Entry:
    """What a header says of a tensor. Raises ValueError with what is wrong."""
    if type(said) is not dict or not said.keys() >= _KEYS:
        raise ValueError('lacks dtype, shape or data_offsets')
    dtype, shape, offsets = said['dtype'], said['shape'], said['data_offsets']
    if type(dtype) is not str or dtype not in DTYPES:
        raise ValueError(f'has the dtype {str(dtype)[:200]!r}, which is not known')
    if not are_naturals(shape, list):
        raise ValueError('has no shape of sizes')
    if not are_naturals(offsets, list) or len(offsets) != 2:
        raise ValueError('has no pair of data_offsets')
    start, stop = offsets
    nbytes = _size(dtype, shape)
    if stop - start != nbytes:
        raise ValueError('has data_offsets that do not fit its dtype and shape')
    # Also of a tensor without elements: the strides of its array are products of the other sizes.
    if nbytes >= 2**60 or nbytes == 0 and math.prod(filter(None, shape)) * DTYPES[dtype].bits >= 2**63:
        raise ValueError('has a shape that is too large')
    return Entry(dtype, tuple(shape), data + start, data + stop)


def _checked(header: dict[str, Any], data: int, size: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """Metadata and entries, if all that the header says is true of the file."""
    metadata = header.pop('__metadata__', {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError('its __metadata__ is no map of strings')
    entries = {}
    for name, said in header.items():
        try:
            entries[name] = _entry(said, data)
        except ValueError as e:
            raise ValueError(f'tensor {name[:200]!r} {e}') from None
    end = data
    for start, stop in sorted([entry[2:] for entry in entries.values()]):
        if start != end:
            raise ValueError('its tensors overlap or leave gaps')
        end = stop
    if end != size:
        raise ValueError(f'its tensors end at byte {end}, the file at {size}')
    return metadata, entries
