"""Files of checkpoints: only those of one folder, only regular ones, and the same ones as when they were checked."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Sequence
from typing import Any

from ucd import Corrupt

# Linux reads at most 2 GiB less a page in one call, into at most 1024 places.
_MAX_READ = 1 << 30
_MAX_PLACES = 512


def plain_name(given: Any, what: str) -> str:
    """The name of a file in the folder of the one that says it: no part of a path, nothing hidden in it."""
    try:
        if isinstance(given, str) and given not in ('', '.', '..') and not {'/', '\\', '\0'} & set(given):
            if len(os.fsencode(given)) <= 255:
                return given
    except UnicodeEncodeError:
        pass
    # What is no text is not printed: objects of a pickle may have each other many times.
    said = repr(given[:200]) if isinstance(given, str) else f'by an object of class {type(given).__name__}'
    raise Corrupt(f'{what} names a file {said}, which is no name of a file in its own folder')


def open_regular(path: str, flags: int) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file, and what the system says of it. Raises Corrupt if the file is none, OSError as
    os.open."""
    # A pipe that nobody writes to would keep os.open waiting, and a terminal become that of the process.
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise Corrupt(f'{path} is no regular file')
    return fd, found


class File:
    """A file that was checked. It is opened when it is read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = 0
        self._identity: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return f'<file {self.path!r}>'

    def opened(self) -> OpenFile:
        """The file, open. Raises Corrupt if it is no regular file, or another one than before."""
        fd, found = open_regular(self.path, os.O_RDONLY)
        identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if self._identity is not None and identity != self._identity:
            os.close(fd)
            raise Corrupt(f'{self.path} has changed since it was checked')
        self._identity, self.size = identity, found.st_size
        return OpenFile(self, fd)

    def require(self, stop: int) -> None:
        """Raises Corrupt if the file ends before a byte."""
        if stop > self.size:
            raise Corrupt(f'{self.path} has {self.size} bytes; the checkpoint needs {stop}')


def _part(view: memoryview, begin: int, length: int) -> memoryview:
    part = view[begin : begin + length]
    if begin < 0 or len(part) != length:
        raise Corrupt('bytes of a file would go beyond the memory for them')
    return part


class OpenFile:
    """Reads of a file at offsets, joined where they follow each other. `with` closes it."""

    def __init__(self, file: File, fd: int) -> None:
        self.file = file
        self.bytes = 0
        self.calls = 0
        self._fd = fd
        self._start = self._stop = 0
        self._places: list[memoryview] = []

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def mapped(self) -> mmap.mmap:
        """The file as memory. If it becomes shorter, reading what is gone is the signal SIGBUS."""
        self.calls += 1
        return mmap.mmap(self._fd, self.file.size, access=mmap.ACCESS_READ)

    def read(self, offset: int, count: int) -> bytes:
        """So many bytes, at once."""
        found = bytearray(count)
        self._read(offset, [memoryview(found)], count)
        return bytes(found)

    def read_into(self, offset: int, place: memoryview) -> None:
        """Reads into a place, at the latest when finish() is called."""
        if self._places and (offset != self._stop or len(self._places) == _MAX_PLACES or self._stop - self._start >= _MAX_READ):
            self.finish()
        for at in range(0, len(place), _MAX_READ):
            piece = place[at : at + _MAX_READ]
            if not self._places:
                self._start = self._stop = offset + at
            self._places.append(piece)
            self._stop += len(piece)
            if self._stop - self._start >= _MAX_READ:
                self.finish()

    def read_pieces(self, start: int, pieces: Sequence[tuple[int, int, int]], view: memoryview, at: int) -> None:
        """Reads pieces that do not follow each other: from offsets behind start, to places behind byte `at` of a view.
        Short ones are many: this loop is short, too."""
        if len(pieces) == 1:
            ((offset, place, length),) = pieces
            self.read_into(start + offset, _part(view, at + place, length))
            return
        self.finish()
        fd, preadv = self._fd, os.preadv
        for offset, place, length in pieces:
            begin = at + place
            found = preadv(fd, [_part(view, begin, length)], start + offset)
            if found != length:
                self._read(start + offset + found, [_part(view, begin + found, length - found)], length - found)
            self.bytes += found
        self.calls += len(pieces)

    def finish(self) -> None:
        """Reads what has been asked for."""
        places, self._places = self._places, []
        if places:
            self._read(self._start, places, self._stop - self._start)

    def _read(self, offset: int, places: list[memoryview], count: int) -> None:
        self.file.require(offset + count)
        while count:
            done = os.preadv(self._fd, places, offset)
            self.calls += 1
            if done == 0:
                raise Corrupt(f'{self.file.path} became shorter while it was read: the targets are unfinished')
            self.bytes += done
            offset, count = offset + done, count - done
            while places and done >= len(places[0]):
                done -= len(places.pop(0))
            if done:
                places[0] = places[0][done:]
