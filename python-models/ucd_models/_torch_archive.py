"""Where the bytes of a tensor are in what torch.save wrote: found by the directory of the archive, without running
anything of it."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ucd import Corrupt, NotSupported, interop
from ucd_models import _inert_pickle
from ucd_models._checkpoint_entry import OPAQUE, element_of
from ucd_models._checkpoint_files import OpenFile
from ucd_models._inert_pickle import Made, Named, Persistent
from ucd_models._untrusted import are_naturals

# torch.save writes an entry for a tensor's storage, and half a dozen short ones.
_MAX_ENTRIES = 64
_MAX_DIRECTORY = 1 << 16
_MAX_PICKLE = 1 << 20
# What is read at first of either end: the directory is shorter, and so is all that precedes a storage.
_NEAR = 1024

_END = struct.Struct('<4s4H2IH')
_END64 = struct.Struct('<4sQ2H2I4Q')
_LOCATOR = struct.Struct('<4sIQI')
_ENTRY = struct.Struct('<4s6H3I5H2I')
_LOCAL = struct.Struct('<4s5H3I2H')
_ENCRYPTED = 1

# Bytes of an element, by the names that torch has for dtypes: those of C are none of them.
DTYPES = {name: element_of(name).size for name in (*interop.dtype_names, *OPAQUE) if name != 'longdouble'}
_STORAGES = {
    'DoubleStorage': 'float64',
    'FloatStorage': 'float32',
    'HalfStorage': 'float16',
    'BFloat16Storage': 'bfloat16',
    'ComplexFloatStorage': 'complex64',
    'ComplexDoubleStorage': 'complex128',
    'LongStorage': 'int64',
    'IntStorage': 'int32',
    'ShortStorage': 'int16',
    'CharStorage': 'int8',
    'ByteStorage': 'uint8',
    'BoolStorage': 'bool',
}
_UNTYPED = Named('torch.storage', 'UntypedStorage')
_REBUILDS = (Named('torch._utils', '_rebuild_tensor_v2'), Named('torch._utils', '_rebuild_tensor_v3'))
_ADMITTED = frozenset([
    *_REBUILDS, _UNTYPED, Named('collections', 'OrderedDict'),
    *[Named('torch', name) for name in (*DTYPES, *_STORAGES)],
])  # fmt: skip


class Placed(NamedTuple):
    """A tensor in a file."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes, not negative, and 0 in dimensions of one index, of which a file may say any."""
    start: int
    """Where its first element is in the file."""


class _Archive:
    """A zip archive in a part of a file."""

    def __init__(self, file: OpenFile, start: int, length: int) -> None:
        self._file, self._start, self._length = file, start, length
        near = min(_NEAR, length)
        self._windows = [(0, file.read(start, near)), (length - near, file.read(start + length - near, near))]
        self.entries = self._directory()

    def read(self, at: int, count: int) -> bytes:
        if count > self._length or at > self._length - count:
            raise Corrupt(f'{self._what}: something is outside of the archive')
        for begin, data in self._windows:
            if begin <= at and at + count <= begin + len(data):
                return data[at - begin : at - begin + count]
        return self._file.read(self._start + at, count)

    @property
    def _what(self) -> str:
        return f'{self._file.file.path}, archive at byte {self._start}'

    def refuse(self, why: str) -> Corrupt:
        return Corrupt(f'{self._what}: {why}')

    def _unpacked(self, form: struct.Struct, at: int, signature: bytes) -> tuple[Any, ...]:
        found = form.unpack(self.read(at, form.size)) if at >= 0 else (b'',)
        if found[0] != signature:
            raise self.refuse('it is no zip archive, or is cut off')
        return found

    def _directory(self) -> dict[str, tuple[int, int]]:
        """Where the local header of each entry is, and how many bytes the entry has."""
        at = self._length - _END.size
        _, _, _, _, count, size, begin, comment = self._unpacked(_END, at, b'PK\x05\x06')
        end = at
        if at >= _LOCATOR.size and self.read(at - _LOCATOR.size, 4) == b'PK\x06\x07':
            end = self._unpacked(_LOCATOR, at - _LOCATOR.size, b'PK\x06\x07')[2]
            *_, count, size, begin = self._unpacked(_END64, end, b'PK\x06\x06')
        if comment or count > _MAX_ENTRIES or size > _MAX_DIRECTORY or begin + size > end:
            raise self.refuse('its directory does not fit')
        self._directory_at = begin
        data = self.read(begin, size)
        found: dict[str, tuple[int, int]] = {}
        at = 0
        for _ in range(count):
            if size - at < _ENTRY.size:
                raise self.refuse('its directory is cut off')
            (sign, _, _, flags, method, _, _, _, packed, length, name_size, extra_size, comment_size, _, _, _, local) = (
                _ENTRY.unpack_from(data, at)
            )
            at += _ENTRY.size
            name, extra = data[at : at + name_size], data[at + name_size : at + name_size + extra_size]
            at += name_size + extra_size + comment_size
            if sign != b'PK\x01\x02' or at > size:
                raise self.refuse('its directory is cut off')
            length, packed, local = self._wide(extra, length, packed, local)
            if flags & _ENCRYPTED or method or packed != length:
                raise NotSupported(f'{self._what}: entries are compressed or encrypted')
            try:
                text = name.decode()
            except UnicodeDecodeError:
                raise self.refuse('an entry has a name that is no UTF-8') from None
            if text in found:
                raise self.refuse('two entries have one name')
            found[text] = local, length
        if at != size:
            raise self.refuse('its directory does not fit')
        return found

    def _wide(self, extra: bytes, *narrow: int) -> list[int]:
        """Lengths and offsets, by the extra field for those that do not fit 32 bits."""
        found = list(narrow)
        wide = [k for k, value in enumerate(narrow) if value == 0xFFFFFFFF]
        at = 0
        while wide and at + 4 <= len(extra):
            kind, size = struct.unpack_from('<HH', extra, at)
            if kind == 1:
                if size < 8 * len(wide) or at + 4 + size > len(extra):
                    break
                for k, index in enumerate(wide):
                    (found[index],) = struct.unpack_from('<Q', extra, at + 4 + 8 * k)
                return found
            at += 4 + size
        if wide:
            raise self.refuse('an entry does not say how long it is')
        return found

    def place(self, name: str) -> tuple[int, int]:
        """Where the bytes of an entry begin, and how many there are: all of them before the directory."""
        if name not in self.entries:
            raise self.refuse(f'it has no entry {name[:200]!r}')
        at, length = self.entries[name]
        _, _, flags, method, _, _, _, _, _, name_size, extra_size = self._unpacked(_LOCAL, at, b'PK\x03\x04')
        if flags & _ENCRYPTED or method or self.read(at + _LOCAL.size, name_size) != name.encode():
            raise self.refuse(f'the entry {name[:200]!r} is not where the directory says')
        begin = at + _LOCAL.size + name_size + extra_size
        if begin + length > self._directory_at:
            raise self.refuse(f'the entry {name[:200]!r} is longer than there is room')
        return begin, length

    def content(self, name: str, limit: int) -> bytes:
        begin, length = self.place(name)
        if length > limit:
            raise self.refuse(f'the entry {name[:200]!r} has {length} bytes; the bound is {limit}')
        return self.read(begin, length)


def locate(file: OpenFile, start: int, length: int) -> Placed:
    """The one tensor that torch.save wrote to a part of a file.

    Raises Corrupt if the part is no such archive, or the tensor is not inside of its storage, or the storage not
    inside of the archive; NotSupported for tensors that are not plain: compressed, of the other byte order, sparse,
    quantised, of subclasses.
    """
    archive = _Archive(file, start, length)
    pickles = [name for name in archive.entries if name.endswith('/data.pkl')]
    if len(pickles) != 1:
        raise archive.refuse('it has no single data.pkl')
    prefix = pickles[0].removesuffix('data.pkl')
    if f'{prefix}byteorder' in archive.entries and archive.content(f'{prefix}byteorder', 16) != b'little':
        raise NotSupported(f'{file.file.path}: tensors are of the other byte order')
    made = _inert_pickle.read(archive.content(pickles[0], _MAX_PICKLE), _ADMITTED)
    if not isinstance(made, Made) or made.of not in _REBUILDS or not 6 <= len(made.arguments) <= 8:
        raise NotSupported(f'{file.file.path}: an archive holds something else than one plain tensor')
    storage, offset, shape, strides = made.arguments[:4]
    if not (
        isinstance(storage, Persistent) and type(storage.id) is tuple and len(storage.id) == 5 and storage.id[0] == 'storage'
    ):
        raise archive.refuse('its tensor has no storage')
    _, kind, key, _, _ = storage.id
    dtype = _dtype_of(archive, made, kind)
    if not all([are_naturals(given, tuple) for given in (shape, strides, (offset,))]) or len(shape) != len(strides):
        raise archive.refuse('its tensor has no shape, strides and offset')
    if type(key) is not str or not key.isascii() or not key.isdigit() or len(key) > 20:
        raise archive.refuse('its storage has no number')
    begin, nbytes = archive.place(f'{prefix}data/{key}')
    item = DTYPES[dtype]
    last = offset + sum([(n - 1) * stride for n, stride in zip(shape, strides)])
    if 0 not in shape and (last + 1) * item > nbytes:
        raise archive.refuse('its tensor is longer than its storage')
    steps = tuple([stride * item if n > 1 else 0 for n, stride in zip(shape, strides)])
    return Placed(dtype, shape, steps, start + begin + offset * item)


def _dtype_of(archive: _Archive, made: Made, kind: Any) -> str:
    if not isinstance(kind, Named):
        raise archive.refuse('its storage has no dtype')
    if kind == _UNTYPED:
        named = made.arguments[6] if made.of == _REBUILDS[1] and len(made.arguments) > 6 else None
        if isinstance(named, Named) and named.module == 'torch' and named.name in DTYPES:
            return named.name
    elif made.of == _REBUILDS[0] and kind.module == 'torch' and kind.name in _STORAGES:
        return _STORAGES[kind.name]
    raise archive.refuse('its storage has no dtype')
