"""Arrays that are read into, and what the parts of an entry have for them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from typing import Any

import ucd
from ucd import NotSupported, interop
from ucd_models import _routes
from ucd_models._checkpoint_entry import OPAQUE, Entry, element_of, whole
from ucd_models._fans import Runs
from ucd_models._overlap import bounds
from ucd_models._placements import Distribution
from ucd_models._routing import Routing, routing


class Target:
    """An array that is written."""

    def __init__(self, name: str, array: Any, entry: Entry, held: Distribution, rank: int, convert: Any, saturate: bool) -> None:
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
        self.op = '' if not self.routing.converts else 'convert_sat' if saturate else 'convert'
        self.rank = rank
        self.what = f'targets[{name!r}]'
        self.strides = self.routing.place_of(array, 1, rank, self.what).strides
        self._check_elements(self.what)
        self.elements = math.prod(held.local_shape(rank))
        self.memory = ucd.memory(array) if self.elements else 'host'
        if self.is_on_host:
            interop.placed(array, True)  # raises BufferError if it is read-only
        self.kind = id(self.element), id(self.routing.target_element), self.is_on_host
        """Equal for targets that are alike but for their layout."""
        self._view: tuple[memoryview, int] | None = None

    def _check_elements(self, what: str) -> None:
        found, wanted = interop.element_of(self.array), self.routing.target_element
        carriers = (wanted.name, f'UINT{8 * wanted.size}_T', 'BYTE', 'CHAR')
        if found.name is not None and wanted.name is not None and found.name not in carriers:
            raise ValueError(f'{what} has elements {found.name}; those of the checkpoint are {wanted.name}: say convert=')

    @property
    def is_on_host(self) -> bool:
        return self.memory in ('host', 'pinned')

    @property
    def may_be_direct(self) -> bool:
        """Whether what lies as in the file can be read straight into it."""
        return self.is_on_host and not self.routing.converts

    def runs(self) -> Iterator[tuple[int, Sequence[Runs]]]:
        """The parts that have something for it, and what."""
        held = self.routing.target
        if self.entry.source is not None:
            for route in self.routing.receives(self.rank):
                yield route._places[0], self.routing.runs(*route._places)
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
                _routes.common_with_block(n, at, length, splits, number)
                for at, length, (n, splits, number) in zip(part.offsets, part.shape, axes)
            ]
            if all(found):
                yield k, found

    def view(self) -> tuple[memoryview, int]:
        """The bytes that the array spans, and where its first element is among them."""
        if self._view is None:
            shape, strides = interop.shape_and_strides(self.array)
            low, high = bounds(0, shape, strides, self.routing.target_element.size)
            memory = (ctypes.c_ubyte * (high - low)).from_address(interop.address(self.array) + low)
            self._view = memoryview(memory).cast('B'), -low
        return self._view
