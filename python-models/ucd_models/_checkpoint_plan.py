"""How it is read what a part of an array has for a target: worked out once for all parts and targets that are alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import ucd
from ucd import NotSupported
from ucd_models._checkpoint_sections import Axis, Section, chosen_gap, from_first, is_for_mapping, named, sections, windows
from ucd_models._checkpoint_target import Target
from ucd_models._fans import Runs
from ucd_models._torch_archive import Placed
from ucd_models._untrusted import key_of

# Of a mapped file, about so much is memory of the process at a time.
WINDOW = 8 << 20
# A plan keeps at most so many windows: a file can describe millions of them.
MOST_KEPT = 1000


class Window(NamedTuple):
    """What moves from parts of a mapped file that are alike."""

    source: int
    """Where the first one begins in the file, behind the first element that is needed, in bytes."""
    target: int
    """The same in the array."""
    source_step: int
    target_step: int
    count: int  # type: ignore[assignment] # hides tuple.count
    nbytes: int
    """Of the file, from the first byte that is needed to the last one."""
    needed: int
    send: ucd.Type
    receive: ucd.Type


class Plan:
    """How it is read. Places are counted from the first elements that are needed on."""

    def __init__(self, target: Target, runs: Sequence[Runs], placed: Placed, mapped: bool | None, gap: int | None, limit: int) -> None:
        """limit: bytes of a section that is not read straight into the target."""
        self.axes = _in_order(target, runs, placed)
        item, direct = target.element.size, target.may_be_direct
        if mapped is None:
            mapped = target.is_on_host and is_for_mapping(self.axes, item, direct)
        self.is_mapped, self._target = mapped, target
        if mapped:
            kept = list(itertools.islice(self._windows(), MOST_KEPT + 1))
            self._kept = kept if len(kept) <= MOST_KEPT else None
        else:
            self._how = item, chosen_gap(self.axes, item, direct) if gap is None else gap, limit, direct
            found = sections(self.axes, *self._how)
            first = next(found)
            self._only = [] if next(found, None) else [first]

    def sections(self) -> Iterator[tuple[Section, bool]]:
        """As of _checkpoint_sections."""
        return iter(self._only) if self._only else sections(self.axes, *self._how)

    def windows(self) -> Iterable[Window]:
        return self._windows() if self._kept is None else self._kept

    def _windows(self) -> Iterator[Window]:
        element, to = self._target.element, self._target.routing.target_element
        made: dict[bytes, Section] = {}
        for axes, source_step, target_step, count in windows(self.axes, WINDOW):
            strides = tuple(zip(*[(axis.source, axis.target) for axis in axes])) or ((), ())
            near, at, begin = from_first([tuple([run[:] for run in axis.runs]) for axis in axes], strides)
            key = key_of(near)
            if key not in made:
                moved = [Axis(named(runs), *steps) for runs, *steps in zip(near, *strides)]
                made[key] = Section(moved, element.size, 1 << 62)
            section = made[key]
            nbytes, needed = section.nbytes, section.elements * element.size
            yield Window(at, begin, source_step, target_step, count, nbytes, needed, *section.types(element, to))


def plan_of(
    plans: dict[bytes, Plan], target: Target, runs: Sequence[Runs], placed: Placed, *how: Any
) -> tuple[Plan, int, int]:
    """The plan, and how many bytes the first elements that are needed are behind those of the part and of the array. plans:
    those of a reading; how: the rest of what Plan takes, which is the same in all of it."""
    near, source, to = from_first(runs, (placed.strides, target.strides))
    key = key_of((placed.shape, placed.strides, target.strides, target.kind, *near))
    if key not in plans:
        plans[key] = Plan(target, near, placed, *how)
    return plans[key], source, to


def _in_order(target: Target, runs: Sequence[Runs], placed: Placed) -> list[Axis]:
    """The dimensions, in the order of the file. Those of one index have any stride, and come first."""
    axes = [Axis(named(of_axis), *steps) for of_axis, *steps in zip(runs, placed.strides, target.strides, strict=True)]
    shapes = sorted(zip(axes, placed.shape), key=lambda pair: (pair[1] > 1, -pair[0].source))
    inside = target.element.size
    for axis, n in reversed(shapes):
        if n > 1 and axis.source < inside:
            raise NotSupported(f'{target.what}: the strides of a tensor in a file do not nest')
        inside = axis.source * n if n > 1 else inside
    return [axis for axis, _ in shapes]
