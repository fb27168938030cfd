"""Reading of what moves: byte ranges of files, into arrays where they are, or through chunks of memory."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ucd import NotSupported
from ucd_models._checkpoint_chunks import ALIGNMENT, PAGE, Chunk, MappedFile, memory_for
from ucd_models._checkpoint_entry import Entry, Part
from ucd_models._checkpoint_files import File, OpenFile
from ucd_models._checkpoint_sections import Axis, Run, chosen_gap, is_for_mapping, sections
from ucd_models._checkpoint_target import Target
from ucd_models._placements import Distribution
from ucd_models._torch_archive import Placed

DEFAULT_BUDGET = 64 << 20
MIN_BUDGET = 4096
# performance only: what is read and moved at a time on the host should stay in the caches of a core.
_HOST_CHUNK = 2 << 20


@dataclass(frozen=True)
class Report:
    """What a read took."""

    needed: int
    """Bytes of the elements that were asked for, as the files have them."""
    read: int
    """Bytes that were read for them, short gaps included. Of mapped files, those needed: the system reads pages."""
    headers: int
    """Bytes that were read to locate them: directories of archives."""
    calls: int
    """Calls of the system."""
    files: int
    """From how many files."""


class _Task(NamedTuple):
    """What one part has for one target."""

    part: Part
    target: Target
    runs: list[tuple[Run, ...]]


Locate = Callable[[OpenFile, Part, Entry], Placed]


class Reading:
    """A read of several arrays."""

    def __init__(
        self,
        targets: Sequence[tuple[str, Any, Entry, Distribution, int, Any, bool]],
        locate: Locate,
        budget: int,
        gap: int | None,
        mapped: bool | None,
    ) -> None:
        if budget < MIN_BUDGET:
            raise ValueError(f'budget is {budget}; it must be >= {MIN_BUDGET}')
        if gap is not None and gap < 0:
            raise ValueError(f'gap is {gap}; it must be >= 0')
        self._locate = locate
        self._gap, self._mapped = gap, mapped
        self._targets = [Target(*given) for given in targets]
        self._limit = budget // 2 // ALIGNMENT * ALIGNMENT
        if all(target.is_on_host for target in self._targets):
            self._limit = min(self._limit, _HOST_CHUNK)
        self._chunks: list[Chunk] = []
        self._tasks: dict[File, list[_Task]] = defaultdict(list)
        self._needed = 0
        for target in self._targets:
            count = 0
            for k, runs in target.runs():
                count += math.prod([sum([run.size for run in of_axis]) for of_axis in runs])
                part = target.entry.parts[k]
                self._tasks[part.file].append(_Task(part, target, runs))
            assert count == target.elements, 'the parts of an entry cover it'
            self._needed += count * target.element.size

    def run(self) -> Report:
        """Reads everything."""
        read = headers = calls = 0
        try:
            for file in sorted(self._tasks, key=lambda f: f.path):
                with file.opened() as opened:
                    headers += self._read_file(opened, self._tasks[file])
                    opened.finish()
                    read, calls = read + opened.bytes, calls + opened.calls
            for chunk in self._chunks:
                chunk.moves.start()
        finally:
            for chunk in self._chunks:
                chunk.moves.wait()
        return Report(self._needed, read - headers, headers, calls, len(self._tasks))

    def _read_file(self, file: OpenFile, tasks: list[_Task]) -> int:
        """Reads what one file has. Returns how many bytes it took to find it."""
        headers = 0
        mapped: MappedFile | None = None
        for task in sorted(tasks, key=lambda t: t.part.start):
            before = file.bytes
            placed = self._locate(file, task.part, task.target.entry)
            headers += file.bytes - before  # what is pending counts later
            axes = self._axes(task, placed)
            if self._is_for_mapping(task, axes):
                mapped = mapped or MappedFile(file)
                mapped.move(placed.start, axes, task.target)
            else:
                self._read(file, task, axes, placed.start)
        if mapped:
            mapped.finish()
        return headers

    def _is_for_mapping(self, task: _Task, axes: Sequence[Axis]) -> bool:
        if self._mapped is not None:
            return self._mapped
        return task.target.is_on_host and is_for_mapping(axes, task.target.element.size, task.target.may_be_direct)

    def _read(self, file: OpenFile, task: _Task, axes: Sequence[Axis], start: int) -> None:
        target = task.target
        item, direct_too = target.element.size, target.may_be_direct
        gap = chosen_gap(axes, item, direct_too) if self._gap is None else self._gap
        for section, direct in sections(axes, item, gap, self._limit, direct_too):
            if direct:
                view, at = target.view()
                file.read_pieces(start, section.pieces(True), view, at)
                continue
            chunk, at = self._place(file, section.nbytes)
            file.read_pieces(start, section.pieces(False), chunk.view, at)
            chunk.move(at, section, target)

    def _axes(self, task: _Task, placed: Placed) -> list[Axis]:
        """The dimensions, in the order of the file. Those of one index have any stride, and come first."""
        target = task.target
        axes = [Axis(*given) for given in zip(task.runs, placed.strides, target.strides, strict=True)]
        shapes = sorted(zip(axes, placed.shape), key=lambda pair: (pair[1] > 1, -pair[0].source))
        inside = target.element.size
        for axis, n in reversed(shapes):
            if n > 1 and axis.source < inside:
                raise NotSupported(f'{task.part.file.path}: the strides of a tensor do not nest')
            inside = axis.source * n if n > 1 else inside
        return [axis for axis, _ in shapes]

    def _place(self, file: OpenFile, nbytes: int) -> tuple[Chunk, int]:
        """A place in the chunk that is being filled. Full ones are moved meanwhile."""
        if not self._chunks:
            memory = memory_for(self._targets, 2 * self._limit + 2 * PAGE)
            half = self._limit + PAGE
            self._chunks = [Chunk(memory[:half], self._limit), Chunk(memory[half:], self._limit)]
        at = self._chunks[0].place(nbytes)
        if at is None:
            file.finish()
            self._chunks[0].moves.start()
            self._chunks.reverse()
            self._chunks[0].empty()
            at = self._chunks[0].place(nbytes)
            assert at is not None
        return self._chunks[0], at
