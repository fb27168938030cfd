"""Files of the safetensors layout, memory-mapped: tensors as arrays that are read when they are moved."""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# By safetensors' names: NumPy's dtype, or unsigned integers of the same size where NumPy has none.
_DTYPES = {
    'BOOL': '|b1',
    'U8': '|u1',
    'I8': '|i1',
    'F8_E4M3': '|u1',
    'F8_E5M2': '|u1',
    'F8_E8M0': '|u1',
    'U16': '<u2',
    'I16': '<i2',
    'F16': '<f2',
    'BF16': '<u2',
    'U32': '<u4',
    'I32': '<i4',
    'F32': '<f4',
    'U64': '<u8',
    'I64': '<i8',
    'F64': '<f8',
    'C64': '<c8',
}
# What the format's own library accepts. Also a bound on what is read of a file that is no such file.
_MAX_HEADER = 100_000_000
_ALIGNMENT = 8


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
    ucd.redistribute. Arrays are read-only. Elements that NumPy does not know (BF16, F8_*) are
    unsigned integers of the same size; `entries` has the names of all dtypes. `metadata` is that of
    the file. Arrays keep the mapping alive. The file must not become shorter meanwhile.

    The file is checked before it is used. Raises ValueError if it is not of this layout: lengths, JSON,
    dtypes, shapes, and that tensors fill the file without gaps and overlaps. OSError as open.
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
        """A new file, of tensors of zeros that can be written to: targets of ucd.redistribute.

        tensors has a dtype and a shape for each name. A dtype is safetensors' name, or anything that
        numpy.dtype takes. A file that is there is overwritten. Raises ValueError if safetensors has
        no such dtype.
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
        with open(path, 'wb') as file:
            file.write(len(text).to_bytes(8, 'little') + text)
            file.truncate(8 + len(text) + at)
        made = cls.__new__(cls)
        made._open(os.fspath(path), writable=True)
        return made

    def _open(self, path: str, writable: bool) -> None:
        self.path = path
        with open(path, 'r+b' if writable else 'rb') as file:
            size = os.fstat(file.fileno()).st_size
            try:
                header, start = read_header(file, size)
                self.metadata, self.entries = checked(header, start, size)
            except ValueError as e:
                raise ValueError(f'{path}: {e}') from None
            access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
            self._memory = mmap.mmap(file.fileno(), size, access=access)

    def __repr__(self) -> str:
        return f'<ucd.Safetensors {self.path!r}, {len(self)} tensors>'

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> Any:
        import numpy

        entry = self.entries[name]
        return numpy.ndarray(entry.shape, _DTYPES[entry.dtype], self._memory, entry.start)

    def flush(self) -> None:
        """Writes what was changed to the file."""
        self._memory.flush()


def _name_of(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _DTYPES:
        return dtype
    import numpy

    wanted = numpy.dtype(dtype)
    for name, known in _DTYPES.items():
        if not name.startswith(('F8', 'BF')) and numpy.dtype(known) == wanted:
            return name
    raise ValueError(f'safetensors has no dtype for {wanted}')


def _size(dtype: str, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * int(_DTYPES[dtype][2:])


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError('its header has a name twice')
    return found


def read_header(file: Any, size: int) -> tuple[dict[str, Any], int]:
    """The header, and where the data begins."""
    prefix = file.read(8)
    length = int.from_bytes(prefix, 'little')
    if len(prefix) < 8 or length > min(_MAX_HEADER, size - 8):
        raise ValueError('it is no safetensors file: the length of its header does not fit')
    text = file.read(length)
    if len(text) < length:
        raise ValueError('its header is cut off')
    try:
        header = json.loads(text.decode(), object_pairs_hook=distinct)
    except RecursionError:
        raise ValueError('its header is nested too deeply') from None
    except json.JSONDecodeError as e:
        raise ValueError(f'its header is no JSON: {e}') from None
    except UnicodeDecodeError:
        raise ValueError('its header is no UTF-8') from None
    if not isinstance(header, dict):
        raise ValueError('its header is no JSON object')
    return header, 8 + length


def _naturals(given: Any) -> bool:
    # bool is a kind of int, which a JSON number is not.
    return isinstance(given, list) and all(type(n) is int and 0 <= n < 2**63 for n in given)


def checked(header: dict[str, Any], data: int, size: int) -> tuple[dict[str, str], dict[str, Entry]]:
    """Metadata and entries, if all that the header says is true of the file."""
    metadata = header.pop('__metadata__', {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError('its __metadata__ is no map of strings')
    entries = {}
    for name, said in header.items():
        if not isinstance(said, dict) or not {'dtype', 'shape', 'data_offsets'} <= said.keys():
            raise ValueError(f'tensor {name!r} lacks dtype, shape or data_offsets')
        dtype, shape, offsets = said['dtype'], said['shape'], said['data_offsets']
        if not isinstance(dtype, str) or dtype not in _DTYPES:
            raise ValueError(f'tensor {name!r} has the dtype {dtype!r}, which is not known')
        if not _naturals(shape) or len(shape) > 64:  # NumPy's limit
            raise ValueError(f'tensor {name!r} has no shape of sizes')
        if not _naturals(offsets) or len(offsets) != 2:
            raise ValueError(f'tensor {name!r} has no pair of data_offsets')
        if offsets[1] - offsets[0] != _size(dtype, tuple(shape)):
            raise ValueError(f'tensor {name!r} has data_offsets that do not fit its dtype and shape')
        entries[name] = Entry(dtype, tuple(shape), data + offsets[0], data + offsets[1])
    end = data
    for entry in sorted(entries.values(), key=lambda e: (e.start, e.stop)):
        if entry.start != end:
            raise ValueError('its tensors overlap or leave gaps')
        end = entry.stop
    if end != size:
        raise ValueError(f'its tensors end at byte {end}, the file at {size}')
    return metadata, entries
