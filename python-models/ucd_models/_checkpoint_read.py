"""Reading of what moves: byte ranges of files, into arrays where they are, or through chunks of memory."""

from __future__ import annotations

import ctypes
import itertools
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ucd
from ucd import NotSupported, interop
from ucd_models import _routes
from ucd_models._checkpoint_entry import OPAQUE, Entry, Part, element_of, whole
from ucd_models._checkpoint_files import File, OpenFile
from ucd_models._placements import Distribution
from ucd_models._routing import WHOLE, Routing, Runs, along, routing
from ucd_models._torch_archive import Placed

DEFAULT_BUDGET = 64 << 20
DEFAULT_GAP = 4096
MIN_BUDGET = 4096
# performance only: what is read and moved at a time on the host should stay in the caches of a core.
_HOST_CHUNK = 2 << 20
_ALIGNMENT = 64
_PAGE = 4096


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


class Run(NamedTuple):
    """One of `_routing.Runs`."""

    source: int
    target: int
    block: int
    source_step: int
    target_step: int
    count: int  # type: ignore[assignment] # hides tuple.count

    @property
    def size(self) -> int:
        """How many indices there are."""
        return self.block * self.count


def named(runs: Runs) -> tuple[Run, ...]:
    return tuple([Run(*run) for run in runs])


class Axis(NamedTuple):
    """A dimension of what moves from a part to a target."""

    runs: tuple[Run, ...]
    source: int
    """Bytes from an index to the next, in the file."""
    target: int
    """The same, in the target."""

    @property
    def low(self) -> int:
        return self.runs[0].source

    @property
    def high(self) -> int:
        """The index behind the last one."""
        return max([run.source + (run.count - 1) * run.source_step + run.block for run in self.runs])

    @property
    def length(self) -> int:
        """How many indices there are."""
        return sum([run.size for run in self.runs])

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Each block's index in the source, in the target, and its length."""
        for run in self.runs:
            for k in range(run.count):
                yield run.source + k * run.source_step, run.target + k * run.target_step, run.block

    def indices(self) -> Iterator[tuple[int, int]]:
        for source, target, length in self.blocks():
            yield from zip(range(source, source + length), range(target, target + length))

    def halves(self) -> Iterator[Axis]:
        middle = (self.low + self.high) // 2
        for start, stop in ((self.low, middle), (middle, self.high)):
            runs = named(_routes.clipped(self.runs, start, stop))
            if runs:
                yield self._replace(runs=runs)


Piece = tuple[int, int, int]
"""Consecutive bytes of a file: where they are from the part's first element on; where they go in the chunk or, if they
go there directly, in the target; and how many there are. Pieces of a section do not follow each other."""


class Section:
    """Elements that are read together: which bytes of the file, and how they lie in a chunk.

    The inner dimensions from `inner` on are read with what lies between their elements, the outer ones index by
    index, or block by block.
    """

    def __init__(self, axes: Sequence[Axis], item: int, gap: int) -> None:
        self.axes = axes
        self.item = item
        span = item
        inner = len(axes)
        while inner:
            axis = axes[inner - 1]
            covered = (axis.high - axis.low - 1) * axis.source + span
            reads = sum([run.count for run in axis.runs]) if axis.source == span else axis.length
            if covered - axis.length * span > gap * (reads - 1):
                break
            span = covered
            inner -= 1
        self.inner, self.span = inner, span
        self._by_block = inner > 0 and axes[inner - 1].source - span <= gap
        # Distances in a chunk, of the outer dimensions.
        self._steps: list[int] = []
        step = span
        for k in reversed(range(inner)):
            if k == inner - 1 and self._by_block:
                step = axes[k].source
            self._steps.insert(0, step)
            step *= axes[k].length
        self.nbytes = step

    @property
    def elements(self) -> int:
        return math.prod([axis.length for axis in self.axes])

    @property
    def is_direct(self) -> bool:
        """Whether each piece is also consecutive in the target."""
        expected = self.item
        for k in reversed(range(len(self.axes))):
            axis = self.axes[k]
            if k < self.inner and not (k == self.inner - 1 and self._by_block):
                break
            longest = max([run.block for run in axis.runs]) if k < self.inner else axis.length
            if longest > 1 and (axis.source != expected or axis.target != expected):
                return False
            if k >= self.inner:
                if len(axis.runs) > 1 or axis.runs[0].count > 1:
                    return False
                expected *= axis.length
        return True

    def _base(self, side: int) -> int:
        """Where the inner dimensions begin."""
        return sum([axis.runs[0][side] * (axis.source, axis.target)[side] for axis in self.axes[self.inner :]])

    def pieces(self, direct: bool) -> list[Piece]:
        base, there = self._base(0), self._base(1) if direct else 0
        if self.inner == 0:
            return [(base, there, self.span)]
        *outer, last = self.axes[: self.inner]
        *steps, step = self._steps
        blocks = last.blocks() if self._by_block else [(source, target, 1) for source, target in last.indices()]
        row: list[Piece] = []
        at = 0
        for source, target, length in blocks:
            place = target * last.target if direct else at
            row.append((base + source * last.source, there + place, (length - 1) * last.source + self.span))
            at += length * step
        if not outer:
            return row
        found: list[Piece] = []
        for indices in itertools.product(*[enumerate(axis.indices()) for axis in outer]):
            offset = place = 0
            for axis, in_chunk, (number, (source, target)) in zip(outer, steps, indices):
                offset += source * axis.source
                place += target * axis.target if direct else number * in_chunk
            found += [(offset + a, place + b, length) for a, b, length in row]
        return found

    def types(self, source: ucd.Type, target: ucd.Type) -> tuple[ucd.Type, ucd.Type]:
        """What lies in a chunk, and where it goes in the target: elements in the same order."""
        send = source
        for k in reversed(range(len(self.axes))):
            axis = self.axes[k]
            if k < self.inner:
                send = ucd.Type.hvector(axis.length, 1, self._steps[k], send)
            else:
                low = axis.low
                send = along(send, tuple([run._replace(source=run.source - low) for run in axis.runs]), 0, axis.source)
        return send, nest(target, self.axes, 1)


def nest(element: ucd.Type, axes: Sequence[Axis], side: int) -> ucd.Type:
    """Elements where they are in the file (side 0) or in the target (1), from the first one of the part or array on."""
    for axis in reversed(axes):
        element = along(element, axis.runs, side, (axis.source, axis.target)[side])
    return element


def sections(axes: Sequence[Axis], item: int, gap: int, limit: int, may_be_direct: bool) -> Iterator[tuple[Section, bool]]:
    """What moves, in sections that are direct or have at most `limit` bytes in a chunk, in the order of the file."""
    waiting = [list(axes)]
    while waiting:
        now = waiting.pop()
        section = Section(now, item, gap)
        direct = may_be_direct and section.is_direct
        if direct or section.nbytes <= limit:
            yield section, direct
            continue
        k = next(k for k, axis in enumerate(now) if axis.length > 1)
        waiting += [[*now[:k], half, *now[k + 1 :]] for half in now[k].halves()][::-1]


class _Target:
    """An array that is written."""

    def __init__(self, name: str, array: Any, entry: Entry, held: Distribution, rank: int, convert: Any) -> None:
        self.array = array
        self.entry = entry
        try:
            self.element = element_of(entry.dtype)
        except NotSupported as e:
            raise NotSupported(f'{name!r}: {e}') from None
        converted = self.element if convert is None else interop.type_of_dtype(convert)
        if converted is not self.element and entry.dtype in OPAQUE:
            raise NotSupported(f'{name!r} is {entry.dtype}, which cannot be converted')
        # Whatever way the parts lie: the routing knows shapes and elements.
        self.routing: Routing = routing(entry.source or whole(entry.shape), held, self.element, converted)
        self.rank = rank
        what = f'targets[{name!r}]'
        self.strides = self.routing.strides_of(array, 1, rank, what)
        self._check_elements(what)
        self.elements = math.prod(held.local_shape(rank))
        self.memory = ucd.memory(array) if self.elements else 'host'
        if self.is_on_host:
            ucd.unpack(b'', array, type=ucd.Type.contiguous(0, 'uint8'))  # raises BufferError if it is read-only
        self._view: tuple[memoryview, int] | None = None

    def _check_elements(self, what: str) -> None:
        found, wanted = interop.element_of(self.array), self.routing.target_element
        carriers = (wanted.name, f'UINT{8 * wanted.size}_T', 'BYTE', 'CHAR')
        if found.name is not None and wanted.name is not None and found.name not in carriers:
            raise ValueError(f'{what} has elements {found.name}; those of the checkpoint are {wanted.name}: say convert=')

    @property
    def is_on_host(self) -> bool:
        return self.memory in ('host', 'pinned')

    def runs(self) -> Iterator[tuple[int, list[tuple[Run, ...]]]]:
        """The parts that have something for it, and what."""
        held = self.routing.target
        if self.entry.source is not None:
            for route in self.routing.receives(self.rank):
                yield route._places[0], [named(runs) for runs in self.routing.runs(*route._places, WHOLE)]
            return
        if not self.elements:
            return
        axes = list(zip(held.shape, held.roles.arithmetic, held.parts(self.rank)))
        whole_axes = [_routes.common_with_block(n, 0, n, splits, part) for n, splits, part in axes]
        edges = [
            (min([run[0] for run in runs]), max([run[0] + (run[5] - 1) * run[3] + run[2] for run in runs]))
            for runs in whole_axes
        ]
        for k, part in enumerate(self.entry.parts):
            assert part.offsets is not None
            if any(at >= high or at + n <= low for at, n, (low, high) in zip(part.offsets, part.shape, edges)):
                continue
            found = [
                named(_routes.common_with_block(n, at, length, splits, number))
                for at, length, (n, splits, number) in zip(part.offsets, part.shape, axes)
            ]
            if all(found):
                yield k, found

    def view(self) -> tuple[memoryview, int]:
        """The bytes that the array spans, and where its first element is among them."""
        if self._view is None:
            shape, strides = interop.shape_and_strides(self.array)
            reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
            low = sum([min(r, 0) for r in reach])
            nbytes = sum([max(r, 0) for r in reach]) - low + self.routing.target_element.size
            memory = (ctypes.c_ubyte * nbytes).from_address(interop.address(self.array) + low)
            self._view = memoryview(memory).cast('B'), -low
        return self._view


class _Moves:
    """Copies to targets: one batch for those that convert and for each memory."""

    def __init__(self) -> None:
        self._members: dict[tuple[bool, str], list[tuple[Any, ...]]] = defaultdict(list)
        self._started: list[tuple[ucd.Batch, ucd.Request]] = []

    def add(self, source: Any, target: _Target, send: ucd.Type, receive: ucd.Type) -> None:
        self._members[target.routing.converts, target.memory].append(('copy', source, target.array, send, 1, receive, 1))

    def start(self) -> None:
        for (converts, _), members in self._members.items():
            batch = ucd.Batch(members, op='convert' if converts else None)
            self._started.append((batch, batch.start()))
        self._members.clear()

    def wait(self) -> None:
        for _, request in self._started:
            request.wait()
        self._started.clear()


class _Chunk:
    """Memory that is read into, and what moves from there."""

    def __init__(self, array: Any, nbytes: int) -> None:
        begin = -interop.address(array) % _PAGE
        self.array = array[begin : begin + nbytes]
        self.view = memoryview(self.array.numpy() if hasattr(self.array, 'numpy') else self.array).cast('B')
        self.moves = _Moves()
        self._used = 0

    def place(self, nbytes: int) -> int | None:
        """Where so many bytes fit; None: they do not."""
        at = -(-self._used // _ALIGNMENT) * _ALIGNMENT
        if at + nbytes > len(self.view):
            return None
        self._used = at + nbytes
        return at

    def move(self, at: int, section: Section, target: _Target) -> None:
        types = section.types(target.element, target.routing.target_element)
        self.moves.add(self.array[at : at + section.nbytes], target, *types)

    def empty(self) -> None:
        """Waits until it may be filled again."""
        self.moves.wait()
        self._used = 0


def _memory(targets: Sequence[_Target], nbytes: int) -> Any:
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


class _Task(NamedTuple):
    """What one part has for one target."""

    part: Part
    target: _Target
    runs: list[tuple[Run, ...]]


Locate = Callable[[OpenFile, Part, Entry], Placed]


class Reading:
    """A read of several arrays."""

    def __init__(
        self,
        targets: Sequence[tuple[str, Any, Entry, Distribution, int, Any]],
        locate: Locate,
        budget: int,
        gap: int,
        mapped: bool,
    ) -> None:
        if budget < MIN_BUDGET:
            raise ValueError(f'budget is {budget}; it must be >= {MIN_BUDGET}')
        if gap < 0:
            raise ValueError(f'gap is {gap}; it must be >= 0')
        self._locate = locate
        self._gap, self._mapped = gap, mapped
        self._targets = [_Target(*given) for given in targets]
        self._limit = budget // 2 // _ALIGNMENT * _ALIGNMENT
        if all(target.is_on_host for target in self._targets):
            self._limit = min(self._limit, _HOST_CHUNK)
        self._chunks: list[_Chunk] = []
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
        read = self._needed if self._mapped else read - headers
        return Report(self._needed, read, headers, calls, len(self._tasks))

    def _read_file(self, file: OpenFile, tasks: list[_Task]) -> int:
        """Reads what one file has. Returns how many bytes it took to find it."""
        headers = 0
        memory = memoryview(file.mapped()) if self._mapped else None
        moves = _Moves()
        for task in sorted(tasks, key=lambda t: t.part.start):
            before = file.bytes
            placed = self._locate(file, task.part, task.target.entry)
            headers += file.bytes - before  # what is pending counts later
            axes = self._axes(task, placed)
            if memory is not None:
                send, receive = nest(task.target.element, axes, 0), nest(task.target.routing.target_element, axes, 1)
                moves.add(memory[placed.start :], task.target, send, receive)
                continue
            direct_too = task.target.is_on_host and not task.target.routing.converts
            for section, direct in sections(axes, task.target.element.size, self._gap, self._limit, direct_too):
                if direct:
                    view, at = task.target.view()
                    file.read_pieces(placed.start, section.pieces(True), view, at)
                    continue
                chunk, at = self._place(file, section.nbytes)
                file.read_pieces(placed.start, section.pieces(False), chunk.view, at)
                chunk.move(at, section, task.target)
        moves.start()
        moves.wait()
        return headers

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

    def _place(self, file: OpenFile, nbytes: int) -> tuple[_Chunk, int]:
        """A place in the chunk that is being filled. Full ones are moved meanwhile."""
        if not self._chunks:
            memory = _memory(self._targets, 2 * self._limit + 2 * _PAGE)
            half = self._limit + _PAGE
            self._chunks = [_Chunk(memory[:half], self._limit), _Chunk(memory[half:], self._limit)]
        at = self._chunks[0].place(nbytes)
        if at is None:
            file.finish()
            self._chunks[0].moves.start()
            self._chunks.reverse()
            self._chunks[0].empty()
            at = self._chunks[0].place(nbytes)
            assert at is not None
        return self._chunks[0], at
