"""Checkpoints: what is in files of safetensors and of torch.distributed.checkpoint, and reading of what a rank needs.

    saved = ucd_models.checkpoint.open('model')                      # a folder, an index, or a file
    saved['wq'].shape, saved['wq'].dtype, saved['wq'].placements
    saved.read({'wq': array}, rank=rank, placements={'wq': distribution}, convert='bfloat16')

The guide is docs/guide/moving-a-model.md of UCD.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ucd import Corrupt
from ucd_models import _torch_archive
from ucd_models._checkpoint_dcp import METADATA, Directory
from ucd_models._checkpoint_entry import Entry, Part, element_of, whole
from ucd_models._checkpoint_files import OpenFile
from ucd_models._checkpoint_read import DEFAULT_BUDGET, Reading, Report
from ucd_models._checkpoint_safetensors import ENDING, INDEX, Files
from ucd_models._placements import Distribution
from ucd_models._routing import c_strides
from ucd_models._torch_archive import Placed
from ucd_models._untrusted import key_of

__all__ = ['Checkpoint', 'Entry', 'Part', 'Report', 'open']

Path = str | os.PathLike[str]


class Checkpoint(Mapping[str, Entry]):
    """A checkpoint: a mapping from names to what the files say of each array. Made by ucd_models.checkpoint.open."""

    format: str
    """'safetensors' or 'dcp'."""
    path: str
    objects: frozenset[str]
    """Names of the entries of 'dcp' that are no arrays. They are pickles, and are not read."""
    header_bytes: int
    """How many bytes were read to open it."""

    def __init__(
        self, format: str, path: str, entries: Mapping[str, Entry], objects: frozenset[str], header_bytes: int
    ) -> None:
        self.format = format
        self.path = path
        self.objects = objects
        self.header_bytes = header_bytes
        self._entries = dict(entries)
        self._placed: dict[tuple[str, bytes], Placed] = {}

    def __repr__(self) -> str:
        return f'<ucd_models.checkpoint.Checkpoint {self.path!r}, {self.format}, {len(self)} arrays>'

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def read(
        self,
        targets: Mapping[str, Any],
        *,
        rank: int = 0,
        placements: Mapping[str, Distribution] | None = None,
        convert: Any = None,
        saturate: bool = False,
        budget: int = DEFAULT_BUDGET,
        gap: int | None = None,
        mapped: bool | None = None,
    ) -> Report:
        """Reads what a rank needs of some arrays, and nothing else but short gaps.

        targets     by name, the arrays that are written: NumPy's, torch's, or others, on the host or a device, with
                    the local shapes and any strides.
        rank        which rank of the distributions this is.
        placements  by name, how the array lies on the ranks that read. Arrays that are not in it are read whole.
        convert     the dtype of the targets, such as 'bfloat16'. None: that of the checkpoint. Arrays of unsigned
                    integers take elements of the same size that NumPy does not know.
        saturate    numbers that are too large for `convert` become the largest finite one.
        budget      how many bytes of memory are used for what cannot be read straight into a target: because it is
                    converted, has other strides, or is on a device. For devices they are pinned, and one half is filled
                    while the other is moved.
        gap         bytes that are not needed are read if at most so many lie between two that are: that saves a call.
                    None: as many as take the time of a call, for each array by the length of the pieces that it needs.
        mapped      None maps files into memory, and moves from there, where that takes less time than to read: of each part for
                    an array on the host of which 128 KiB or more are needed, in pieces shorter than 32 KiB, or to be converted
                    or strided. True maps all, and False nothing. If a mapped file becomes shorter meanwhile, the signal SIGBUS
                    ends the process: say False for files that others may shorten.

        Ranks do not wait for each other. The work is done on return.

        Raises ucd.Corrupt, which is a ValueError, if a file has changed since it was opened, ends early, or contradicts
        itself; NotSupported for tensors that are compressed, sparse, quantised or of elements that are parts of bytes;
        OSError as os.open and os.preadv; ValueError if shapes or elements of targets differ from what the distributions
        and the checkpoint say. After an error that comes from a file the targets are unfinished.
        """
        held = placements or {}
        given = []
        for name, array in targets.items():
            if name not in self._entries:
                raise KeyError(f'{self.path} has no array {name!r}')
            entry = self._entries[name]
            how = held.get(name)
            if how is not None and not isinstance(how, Distribution):
                raise TypeError(f'placements[{name!r}] is of class {type(how).__name__}; it must be a Distribution')
            given.append((name, array, entry, how or whole(entry.shape), rank if how else 0, convert, saturate))
        return Reading(given, self._locate, budget, gap, mapped).run()

    def _locate(self, file: OpenFile, part: Part, entry: Entry) -> Placed:
        """Where the elements of a part are."""
        if self.format == 'safetensors':
            return Placed(entry.dtype, part.shape, c_strides(part.shape, element_of(entry.dtype).size), part.start)
        key = file.file.path, key_of((part.start, part.stop))
        if key not in self._placed:
            found = _torch_archive.locate(file, part.start, part.stop - part.start)
            if found.dtype != entry.dtype or found.shape != part.shape:
                raise Corrupt(
                    f'{file.file.path}, byte {part.start}: a tensor of {found.dtype}, {found.shape} '
                    f'where the metadata says {entry.dtype}, {part.shape}'
                )
            self._placed[key] = found
        return self._placed[key]


def open(path: Path | Sequence[Path], shards: Mapping[str, Distribution] | None = None) -> Checkpoint:
    """Opens a checkpoint: reads what its files say of themselves, and checks it.

    path    a folder of torch.distributed.checkpoint (with its .metadata), a folder of safetensors files (with or
            without an index), an index (model.safetensors.index.json), or a safetensors file. Or a list of
            safetensors files, one for each rank that wrote.
    shards  with a list of files: by name, how the array lies on the ranks that wrote; file k is that of rank k.
            Arrays that are not in it are in one file, and whole there.

    Nothing of a file is run: the pickles of torch are taken apart by a reader that calls nothing. A file is hostile
    until it is checked: lengths, places, names, dtypes and shapes, and that the parts of an array neither overlap nor
    leave gaps. Symbolic links are followed.

    Raises ucd.Corrupt, which is a ValueError, if a file breaks a rule; NotSupported for parts that extensions
    compressed; OSError as os.open; ValueError if shards differ from the files.
    """
    files = Files()
    if not isinstance(path, (str, os.PathLike)):
        paths = [os.fspath(each) for each in path]
        if not paths:
            raise ValueError('the list of files is empty')
        where = os.path.dirname(paths[0])
        entries = files.sharded(paths, shards or {})
    elif shards is not None:
        raise ValueError('shards needs a list of files')
    elif not os.path.isdir(where := os.fspath(path)):
        entries = files.by_index(where) if where.endswith('.json') else files.together(os.path.dirname(where), [os.path.basename(where)])
    elif os.path.exists(os.path.join(where, METADATA)):
        directory = Directory(where)
        return Checkpoint('dcp', where, directory.entries, frozenset(directory.objects), directory.bytes)
    else:
        entries = _in_folder(files, where)
    return Checkpoint('safetensors', where, entries, frozenset(), files.bytes)


def _in_folder(files: Files, folder: str) -> dict[str, Entry]:
    names = sorted(os.listdir(folder))
    indices = [name for name in names if name.endswith(INDEX)]
    if len(indices) > 1:
        raise ValueError(f'{folder} has several indices: {", ".join(indices)}')
    if indices:
        return files.by_index(os.path.join(folder, indices[0]))
    members = [name for name in names if name.endswith(ENDING)]
    if not members:
        raise ValueError(f'{folder} has neither {METADATA} nor safetensors files')
    return files.together(folder, members)
