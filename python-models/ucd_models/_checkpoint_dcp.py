"""Directories of torch.distributed.checkpoint: what their .metadata says, without running anything of it."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from typing import Any

from ucd import Corrupt, NotSupported
from ucd_models import _inert_pickle, _torch_archive
from ucd_models._checkpoint_entry import UNREADABLE, Box, Entry, Part, arranged, bits_of
from ucd_models._checkpoint_files import File, plain_name
from ucd_models._inert_pickle import Made, Named, Pairs
from ucd_models._untrusted import are_naturals, key_of

METADATA = '.metadata'
_METADATA = 'torch.distributed.checkpoint.metadata'
_FILESYSTEM = 'torch.distributed.checkpoint.filesystem'
_SIZE = Named('torch', 'Size')
_TENSOR = Named(_METADATA, 'TensorStorageMetadata')
_BYTES = Named(_METADATA, 'BytesStorageMetadata')
_INFO = Named(_FILESYSTEM, '_StorageInfo')
_PROPERTIES = Named(_METADATA, 'TensorProperties')
_DTYPES = _torch_archive.DTYPES.keys() | UNREADABLE.keys()
_ADMITTED = frozenset([
    *[
        Named(_METADATA, name)
        for name in ('Metadata', 'ChunkStorageMetadata', 'MetadataIndex', 'StorageMeta', '_MEM_FORMAT_ENCODING')
    ],
    _TENSOR, _BYTES, _PROPERTIES, _INFO, _SIZE,
    *[Named('torch', name) for name in _DTYPES],
    Named('torch.serialization', '_get_layout'),
    Named('collections', 'OrderedDict'),
    # Of _MEM_FORMAT_ENCODING, as Python 3.11 writes it. It is called as little as the others are.
    Named('builtins', 'getattr'),
    # Of the folder's name, which is not used.
    Named('pathlib', 'PosixPath'),
    Named('pathlib._local', 'PosixPath'),
])  # fmt: skip


def _state(given: Any, of: Named | str) -> dict[str, Any]:
    """The attributes of an object of a class."""
    wanted = of if isinstance(of, Named) else Named(_METADATA, of)
    if not isinstance(given, Made) or given.of != wanted or not isinstance(given.state, Pairs) or len(given.state) > 2 * 16:
        raise Corrupt(f'.metadata has no {wanted.name} where one belongs')
    return {key: value for key, value in given.state.items() if type(key) is str}


def _size(given: Any) -> tuple[int, ...]:
    if isinstance(given, Made) and given.of == _SIZE and len(given.arguments) == 1:
        (sizes,) = given.arguments
        if are_naturals(sizes, tuple):
            found: tuple[int, ...] = sizes
            return found
    raise Corrupt('.metadata has no torch.Size where one belongs')


def _pairs(given: Any) -> Any:
    if not isinstance(given, Pairs):
        raise Corrupt('.metadata has no dict where one belongs')
    return given.items()


def _name(given: Any) -> str:
    if type(given) is not str:
        raise Corrupt('.metadata has a name that is no text')
    return given


class Directory:
    """What the metadata of a directory say."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: dict[str, File] = {}
        with File(os.path.join(folder, METADATA)).opened() as file:
            if file.file.size > _inert_pickle.MAX_BYTES:
                raise Corrupt(f'{METADATA} has {file.file.size} bytes; the bound is {_inert_pickle.MAX_BYTES}')
            self.bytes = file.file.size
            made = _inert_pickle.read(file.read(0, file.file.size), _ADMITTED)
        state = _state(made, 'Metadata')
        self._stored = self._places(state.get('storage_data'))
        self.entries: dict[str, Entry] = {}
        self.objects: set[str] = set()
        """What is no array, and is not read."""
        # One object may be that of many names and parts: one list, one torch.Size of 64 dimensions. So their number is
        # bounded by that of the bytes; pickles that writers make have several bytes for each dimension of each part.
        self._left = self.bytes
        for given, what in _pairs(state.get('state_dict_metadata')):
            name = _name(given)
            if name in self.entries or name in self.objects:
                raise Corrupt(f'.metadata has {name[:200]!r} twice')
            if isinstance(what, Made) and what.of == _BYTES:
                self.objects.add(name)
            else:
                self.entries[name] = self._entry(name, _state(what, _TENSOR))
        self._check_files()

    def _file(self, name: str) -> File:
        if name not in self._files:
            self._files[name] = File(os.path.join(self._folder, name))
        return self._files[name]

    def _places(self, given: Any) -> dict[str, dict[bytes | None, tuple[File, int, int]]]:
        """For each name, by the key of the part's offsets: the file, and which of its bytes."""
        found: dict[str, dict[bytes | None, tuple[File, int, int]]] = defaultdict(dict)
        for key, value in _pairs(given):
            index, info = _state(key, 'MetadataIndex'), _state(value, _INFO)
            name = _name(index.get('fqn'))
            offsets = None if index.get('offset') is None else key_of(_size(index['offset']))
            start, length = info.get('offset'), info.get('length')
            if type(start) is not int or type(length) is not int or start < 0 or length < 0 or start + length >= 2**63:
                raise Corrupt(f'.metadata does not say which bytes of a file {name[:200]!r} has')
            if info.get('transform_descriptors') not in (None, [], ()):
                raise NotSupported(f'{name[:200]!r} is stored by an extension, such as compression')
            if offsets in found[name]:
                raise Corrupt(f'.metadata has a part of {name[:200]!r} twice')
            file = self._file(plain_name(info.get('relative_path'), METADATA))
            found[name][offsets] = file, start, start + length
        return found

    def _entry(self, name: str, state: dict[str, Any]) -> Entry:
        what = f'{name[:200]!r}'
        properties, shape, chunks = state.get('properties'), _size(state.get('size')), state.get('chunks')
        if (
            not isinstance(properties, Made)
            or properties.of != _PROPERTIES
            or type(properties.state) is not tuple
            or len(properties.state) not in (5, 6)
        ):
            raise Corrupt(f'.metadata has no TensorProperties of {what}')
        dtype = properties.state[0]
        if not isinstance(dtype, Named) or dtype.module != 'torch' or dtype.name not in _DTYPES:
            raise Corrupt(f'.metadata has no dtype of {what}')
        if math.prod(filter(None, shape)) * bits_of(dtype.name) >= 2**63:
            raise Corrupt(f'.metadata has a shape of {what} that is too large')
        if type(chunks) is not list:
            raise Corrupt(f'.metadata has no list of the parts of {what}')
        self._left -= (1 + len(shape)) * (1 + len(chunks))
        if self._left < 0:
            raise Corrupt('.metadata has more parts than bytes')
        boxes: list[Box] = []
        parts: list[Part] = []
        stored = self._stored.get(name, {})
        for chunk in chunks:
            of_chunk = _state(chunk, 'ChunkStorageMetadata')
            offsets, sizes = _size(of_chunk.get('offsets')), _size(of_chunk.get('sizes'))
            if not len(offsets) == len(sizes) == len(shape):
                raise Corrupt(f'a part of {what} has another number of dimensions')
            place = stored.get(key_of(offsets))
            if place is None:
                raise Corrupt(f'.metadata does not say where the part of {what} at {offsets} is')
            if 0 not in sizes:
                boxes.append((offsets, sizes))
                parts.append(Part(offsets, sizes, *place))
        # Also bounds the work: each part that has elements has a place of its own.
        if len(parts) > len(stored):
            raise Corrupt(f'the parts of {what} overlap or leave gaps')
        order, source = arranged(what, shape, boxes)
        return Entry(shape, dtype.name, tuple([parts[k] for k in order]), source)

    def _check_files(self) -> None:
        """Whether the files are there and long enough, and no two parts have bytes in common."""
        places: dict[File, list[tuple[int, int]]] = defaultdict(list)
        for of_name in self._stored.values():
            for file, start, stop in of_name.values():
                places[file].append((start, stop))
        for file, ranges in places.items():
            end = 0
            for start, stop in sorted(ranges):
                if start < end:
                    raise Corrupt(f'{file.path} has two parts with bytes in common')
                end = stop
            with file.opened():
                file.require(end)
