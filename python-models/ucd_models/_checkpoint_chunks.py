"""Memory that files are read into, and moves from there to arrays."""

from __future__ import annotations

import mmap
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import ucd
from ucd import interop
from ucd_models._checkpoint_files import OpenFile
from ucd_models._checkpoint_sections import Axis, Section, from_first, windows
from ucd_models._checkpoint_target import Target

ALIGNMENT = 64
PAGE = 4096
# Of a mapped file, about so much is memory of the process at a time.
_WINDOW = 8 << 20


class Moves:
    """Copies to targets: one batch for those that convert and for each memory."""

    def __init__(self) -> None:
        self._members: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
        self._started: list[tuple[ucd.Batch, ucd.Request]] = []

    def add(self, source: Any, target: Target, send: ucd.Type, receive: ucd.Type) -> None:
        self._members[target.op, target.memory].append(('copy', source, target.array, send, 1, receive, 1))

    def start(self) -> None:
        for (op, _), members in self._members.items():
            batch = ucd.Batch(members, op=op or None)
            self._started.append((batch, batch.start()))
        self._members.clear()

    def wait(self) -> None:
        for _, request in self._started:
            request.wait()
        self._started.clear()


class Chunk:
    """Memory that is read into, and what moves from there."""

    def __init__(self, array: Any, nbytes: int) -> None:
        begin = -interop.address(array) % PAGE
        self.array = array[begin : begin + nbytes]
        self.view = memoryview(self.array.numpy() if hasattr(self.array, 'numpy') else self.array).cast('B')
        self.moves = Moves()
        self._used = 0

    def place(self, nbytes: int) -> int | None:
        """Where so many bytes fit; None: they do not."""
        at = -(-self._used // ALIGNMENT) * ALIGNMENT
        if at + nbytes > len(self.view):
            return None
        self._used = at + nbytes
        return at

    def move(self, at: int, section: Section, target: Target) -> None:
        types = section.types(target.element, target.routing.target_element)
        self.moves.add(self.array[at : at + section.nbytes], target, *types)

    def empty(self) -> None:
        """Waits until it may be filled again."""
        self.moves.wait()
        self._used = 0


class MappedFile:
    """A file as memory, and moves from there. Pages that were moved no longer count as memory of this process."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._mapping = file.mapped()
        self._moves = Moves()
        self._covered = 0

    def move(self, start: int, axes: Sequence[Axis], target: Target) -> None:
        """Moves by windows. start: of the part's first element, in the file."""
        for alike in windows(axes, _WINDOW):
            near, at, begin, key = from_first(alike.axes)
            if key not in target.windows:
                made = Section(near, target.element.size, self._file.file.size)
                target.windows[key] = made.nbytes, made.elements, *made.types(target.element, target.routing.target_element)
            in_file, in_target = alike.steps()
            for k in range(alike.count):
                self._move(start + at + k * in_file, begin + k * in_target, target, *target.windows[key])

    def _move(self, at: int, begin: int, target: Target, nbytes: int, elements: int, send: ucd.Type, receive: ucd.Type) -> None:
        if self._covered + nbytes > _WINDOW:
            self.finish()
            self._mapping.madvise(mmap.MADV_DONTNEED)
            self._covered = 0
        placed = ucd.Type.hindexed_block(1, [begin], receive) if begin else receive
        self._moves.add(memoryview(self._mapping)[at : at + nbytes], target, send, placed)
        self._file.bytes += elements * target.element.size
        self._covered += nbytes

    def finish(self) -> None:
        """Moves what is left."""
        self._moves.start()
        self._moves.wait()


def memory_for(targets: Sequence[Target], nbytes: int) -> Any:
    """Bytes for chunks: pinned if there is a target on a device whose library has such memory."""
    for target in targets:
        if target.is_on_host:
            continue
        library = interop.library_of(target.array)
        if library == 'torch':
            torch = sys.modules['torch']
            return torch.empty(nbytes, dtype=torch.uint8, pin_memory=target.memory.startswith(('cuda', 'hip')))
        if library == 'cupy':
            import numpy

            return numpy.frombuffer(sys.modules['cupy'].cuda.alloc_pinned_memory(nbytes), numpy.uint8, nbytes)
    found = interop.new_bytes(None, nbytes)
    return memoryview(found) if isinstance(found, bytearray) else found
