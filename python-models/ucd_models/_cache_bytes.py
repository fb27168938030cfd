"""Formats of caches as bytes: written in one way only, and read from anyone."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from ucd import Corrupt, NotSupported
from ucd_models._cache_tensor import AXES, MAX_DIMS, MAX_TENSORS, Dim, Tensor, place_of

MAX_NAME = 255

_MAGIC = b'UCDcache'
_VERSION = 1
_HEAD = struct.Struct('<8sHHHH')  # magic, version, bytes of the name, bytes of the element's name, tensors
_TENSOR = struct.Struct('<HHQ')  # address, dims, offset
_STARTS = struct.Struct('<6Q')
_DIM = struct.Struct('<BQQ')  # axis, size, stride
_DIGEST = 32


def body_of(element: str, tensors: Sequence[Tensor], with_pages: bool = True) -> bytes:
    """The layout, in one way only: axes in order, dims of size 1 left out, and those joined that continue each
    other."""
    parts = [struct.pack('<H', _VERSION), element.encode(), b'\0']
    for tensor in tensors:
        entries = []
        for number, axis in enumerate(AXES):
            places = place_of(tensor, axis, with_pages)[2:]
            entries += [_DIM.pack(number, size, stride) for size, stride in places]
        parts.append(_TENSOR.pack(tensor.address, len(entries), tensor.offset))
        parts += [_STARTS.pack(*tensor.starts), *entries]
    return b''.join(parts)


def bytes_of(name: str, element: str, tensors: Sequence[Tensor]) -> bytes:
    """A format as bytes, with a digest of them."""
    body, text = body_of(element, tensors), name.encode()
    written = _HEAD.pack(_MAGIC, _VERSION, len(text), len(element), len(tensors)) + text + body
    return written + hashlib.sha256(written).digest()


class _Bytes:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        if len(self._data) - self._at < count:
            raise Corrupt('the bytes of a cache format are cut off')
        self._at += count
        return self._data[self._at - count : self._at]

    def require_end(self) -> None:
        if self._at != len(self._data):
            raise Corrupt('there are bytes behind a cache format')


def read(given: bytes) -> tuple[str, str, tuple[Tensor, ...]]:
    """Name, element and tensors of a format from bytes of anyone. The tensors are within the bounds on their number,
    and otherwise unchecked."""
    data = _Bytes(given)
    magic, version, name_bytes, element_bytes, count = _HEAD.unpack(data.take(_HEAD.size))
    if magic != _MAGIC:
        raise Corrupt('these bytes are no cache format')
    if version != _VERSION:
        raise NotSupported(f'the cache format is of version {version}; this library reads {_VERSION}')
    if name_bytes > MAX_NAME or not 1 <= count <= MAX_TENSORS:
        raise Corrupt('the bytes of a cache format have a name or tensors beyond the bounds')
    try:
        name = data.take(name_bytes).decode()
        data.take(2)  # the version again, which the content id includes
        element = data.take(element_bytes).decode('ascii')
    except UnicodeDecodeError as error:
        raise Corrupt(f'no cache format: {error}') from None
    data.take(1)
    tensors = [_tensor(data) for _ in range(count)]
    digest = data.take(_DIGEST)
    data.require_end()
    if hashlib.sha256(given[:-_DIGEST]).digest() != digest:
        raise Corrupt('the digest of a cache format does not fit its bytes')
    return name, element, tuple(tensors)


def _tensor(data: _Bytes) -> Tensor:
    address, dims, offset = _TENSOR.unpack(data.take(_TENSOR.size))
    if dims > MAX_DIMS:
        raise Corrupt(f'a tensor of a cache format has more than {MAX_DIMS} dimensions')
    starts = _STARTS.unpack(data.take(_STARTS.size))
    entries = [_DIM.unpack(data.take(_DIM.size)) for _ in range(dims)]
    if any(axis >= len(AXES) for axis, _, _ in entries):
        raise Corrupt('a cache format has an axis that is not known')
    made = [Dim(AXES[axis], size, stride) for axis, size, stride in entries]
    if all(dim.axis != 'page' for dim in made):
        made.insert(0, Dim('page', 1, 0))
    return Tensor(address, offset, starts, tuple(made))
