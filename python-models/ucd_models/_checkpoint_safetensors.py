"""Checkpoints in safetensors files: one, several with an index, or one for each rank of a mesh."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ucd import Corrupt
from ucd_models import _safetensors
from ucd_models._checkpoint_entry import Entry, Part, whole
from ucd_models._checkpoint_files import File, plain_name
from ucd_models._placements import Distribution
from ucd_models._safetensors import DTYPES
from ucd_models._untrusted import json_of

ENDING = '.safetensors'
INDEX = '.safetensors.index.json'
_MAX_INDEX = 1 << 28


class Files:
    """The files of a checkpoint, with what their headers say."""

    def __init__(self) -> None:
        self.bytes = 0
        """How many were read."""

    def index(self, path: str) -> dict[str, str]:
        """The file of each name."""
        with File(path).opened() as file:
            if file.file.size > _MAX_INDEX:
                raise Corrupt(f'{path} has {file.file.size} bytes; the bound is {_MAX_INDEX}')
            text = file.read(0, file.file.size)
            self.bytes += file.bytes
        try:
            found = json_of(text, path)
        except ValueError as e:
            raise Corrupt(str(e)) from None
        names = found.get('weight_map') if isinstance(found, dict) else None
        if not isinstance(names, dict):
            raise Corrupt(f'{path} has no weight_map')
        return {name: plain_name(given, path) for name, given in names.items()}

    def header(self, path: str) -> tuple[File, dict[str, _safetensors.Entry]]:
        """The entries of one file."""
        with File(path).opened() as file:
            try:
                _, entries = _safetensors.read_header(file.read, file.file.size)
            except ValueError as e:
                raise Corrupt(f'{path}: {e}') from None
            self.bytes += file.bytes
            return file.file, entries

    def together(self, folder: str, names: Sequence[str]) -> dict[str, Entry]:
        """The arrays of several files, each of them in one."""
        found: dict[str, Entry] = {}
        for file_name in names:
            file, entries = self.header(os.path.join(folder, file_name))
            for name, entry in entries.items():
                if name in found:
                    raise Corrupt(f'{name[:200]!r} is in two files of {folder}: say how it is sharded, or give an index')
                found[name] = _entry(file, entry)
        return found

    def by_index(self, path: str) -> dict[str, Entry]:
        """The arrays that an index names, in the files that it names."""
        index, folder = self.index(path), os.path.dirname(path)
        headers = {name: self.header(os.path.join(folder, name)) for name in sorted(set(index.values()))}
        found = {}
        for name, file_name in index.items():
            file, entries = headers[file_name]
            if name not in entries:
                raise Corrupt(f'{file.path} has no {name[:200]!r}, which the index says')
            found[name] = _entry(file, entries[name])
        return found

    def sharded(self, paths: Sequence[str], shards: Mapping[str, Distribution]) -> dict[str, Entry]:
        """Arrays of which each file has a part: file k is that of rank k."""
        headers = [self.header(path) for path in paths]
        found: dict[str, Entry] = {}
        for name, source in shards.items():
            parts, dtypes = [], set()
            if max(source.ranks) >= len(paths):
                raise ValueError(f'{name!r} is on rank {max(source.ranks)}; there are {len(paths)} files')
            for rank in source.ranks:
                file, entries = headers[rank]
                if name not in entries:
                    raise Corrupt(f'{file.path} has no {name!r}')
                entry = entries[name]
                if entry.shape != source.local_shape(rank):
                    raise ValueError(
                        f'{name!r} has shape {entry.shape} in {file.path}; the distribution says {source.local_shape(rank)}'
                    )
                parts.append(Part(None, entry.shape, file, entry.start, entry.stop))
                dtypes.add(DTYPES[entry.dtype].name)
            if len(dtypes) > 1:
                raise Corrupt(f'{name!r} has several dtypes: {", ".join(sorted(dtypes))}')
            found[name] = Entry(source.shape, dtypes.pop(), tuple(parts), source)
        for file, entries in headers:
            for name, entry in entries.items():
                if name in shards:
                    continue
                if name in found:
                    raise ValueError(f'{name[:200]!r} is in several files: say in shards how it lies')
                found[name] = _entry(file, entry)
        return found


def _entry(file: File, entry: _safetensors.Entry) -> Entry:
    part = Part((0,) * len(entry.shape), entry.shape, file, entry.start, entry.stop)
    return Entry(entry.shape, DTYPES[entry.dtype].name, (part,), whole(entry.shape))
