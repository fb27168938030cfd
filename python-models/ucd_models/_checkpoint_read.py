"""Reading of what moves: byte ranges of files, into arrays where they are, or through chunks of memory."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ucd_models._checkpoint_chunks import ALIGNMENT, PAGE, Chunk, MappedFile, memory_for
from ucd_models._checkpoint_entry import Entry, Part
from ucd_models._checkpoint_files import File, OpenFile
from ucd_models._checkpoint_plan import Plan, plan_of
from ucd_models._checkpoint_target import Target
from ucd_models._fans import Runs
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
    runs: Sequence[Runs]


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
        self._targets = [Target(*given) for given in targets]
        self._limit = budget // 2 // ALIGNMENT * ALIGNMENT
        if all(target.is_on_host for target in self._targets):
            self._limit = min(self._limit, _HOST_CHUNK)
        self._plans: dict[bytes, Plan] = {}
        self._how = mapped, gap, self._limit
        self._chunks: list[Chunk] = []
        self._tasks: dict[File, list[_Task]] = defaultdict(list)
        self._needed = 0
        for target in self._targets:
            count = 0
            for k, runs in target.runs():
                count += math.prod([sum([run[2] * run[5] for run in of_axis]) for of_axis in runs])
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
            plan, from_start, begin = plan_of(self._plans, task.target, task.runs, placed, *self._how)
            if plan.is_mapped:
                mapped = mapped or MappedFile(file)
                mapped.move(placed.start + from_start, begin, plan, task.target)
            else:
                self._read(file, placed.start + from_start, begin, plan, task.target)
        return headers

    def _read(self, file: OpenFile, start: int, begin: int, plan: Plan, target: Target) -> None:
        for section, direct in plan.sections():
            if direct:
                view, at = target.view()
                file.read_pieces(start, section.pieces(True), view, at + begin)
                continue
            chunk, at = self._place(file, section.nbytes)
            file.read_pieces(start, section.pieces(False), chunk.view, at)
            chunk.move(at, section, target, begin)

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
