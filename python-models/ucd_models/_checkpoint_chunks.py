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
from ucd_models._checkpoint_plan import WINDOW, Plan
from ucd_models._checkpoint_sections import Section
from ucd_models._checkpoint_target import Target

ALIGNMENT = 64
PAGE = 4096


def behind(begin: int, type: ucd.Type) -> ucd.Type:
    """A type that begins so many bytes behind an array's first element."""
    return ucd.Type.hindexed_block(1, [begin], type) if begin else type


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

    def move(self, at: int, section: Section, target: Target, begin: int) -> None:
        send, receive = section.types(target.element, target.routing.target_element)
        self.moves.add(self.array[at : at + section.nbytes], target, send, behind(begin, receive))

    def empty(self) -> None:
        """Waits until it may be filled again."""
        self.moves.wait()
        self._used = 0


class MappedFile:
    """A file as memory, and moves from there. Pages that were moved no longer count as memory of this process."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._mapping = file.mapped()
        self._view = memoryview(self._mapping)
        self._covered = 0

    def move(self, start: int, begin: int, plan: Plan, target: Target) -> None:
        """Moves what a plan says. start: the first element in the file; begin: that in the target, from its first one on."""
        for window in plan.windows():
            for k in range(window.count):
                if self._covered + window.nbytes > WINDOW:
                    self._mapping.madvise(mmap.MADV_DONTNEED)
                    self._covered = 0
                at, there = start + window.source + k * window.source_step, begin + window.target + k * window.target_step
                placed = behind(there, window.receive)
                source = self._view[at : at + window.nbytes]
                ucd.copy_bytes(source, target.array, src_type=window.send, dst_type=placed, op=target.op or None)
                self._file.bytes += window.needed
                self._covered += window.nbytes


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
