"""Which ranks exchange what, if an array moves from one distribution to another."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ucd
from ucd import interop
from ucd.interop import Meaning, meaning_of, require_same
from ucd_models import _routes
from ucd_models._fans import Fan, Group, Runs, fans_of, repeated
from ucd_models._overlap import Place
from ucd_models._placements import Distribution

_FLOATING = {'FLOAT16', 'BFLOAT16', 'FLOAT', 'DOUBLE', 'FLOAT8_E4M3', 'FLOAT8_E5M2', 'C_COMPLEX', 'C_DOUBLE_COMPLEX'}

Cut = tuple[int, int]
"""(k, of): the k-th of equal parts of what each rank of the source has, along its longest dimension."""
WHOLE: Cut = (0, 1)

common = functools.lru_cache(maxsize=1 << 15)(_routes.common)


class Route:
    """What one rank of the source sends to one rank of the target. A route is never empty.

    Both types give the same packed stream: rank `source` packs its local array by send_type, and
    rank `target` unpacks the stream into its own by receive_type. So any transport will do, and MPI's
    needs no copy in between.
    """

    __slots__ = ('_routing', '_from', '_to')

    def __init__(self, routing: Routing, source: int, target: int) -> None:
        """Of a place in the source's mesh to one in the target's."""
        self._routing = routing
        self._from = source
        self._to = target

    @property
    def _places(self) -> tuple[int, int]:
        return self._from, self._to

    @property
    def source(self) -> int:
        """The rank that sends."""
        return self._routing.source.ranks[self._from]

    @property
    def target(self) -> int:
        """The rank that receives."""
        return self._routing.target.ranks[self._to]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Route):
            return NotImplemented
        return (self._routing, self._places) == (other._routing, other._places)

    def __hash__(self) -> int:
        return hash((self._routing, self._places))

    def __repr__(self) -> str:
        return f'<ucd_models.Route {self.source} -> {self.target}, {self.nbytes} bytes>'

    @property
    def _fan(self) -> Fan:
        return Fan(0, 0, 1, tuple(self._routing.runs(self._from, self._to)), 0, (0, 0))

    @property
    def elements(self) -> int:
        """How many elements there are."""
        return self._fan.elements

    @property
    def nbytes(self) -> int:
        """Packed bytes, in elements of the source."""
        return self.elements * self._routing.element.size

    def send_type(self, strides: tuple[int, ...] | None = None) -> ucd.Type:
        """What is sent, in the local array of the source, whose strides are given in bytes. None:
        the array is C-contiguous."""
        return self._type(0, strides)

    def receive_type(self, strides: tuple[int, ...] | None = None) -> ucd.Type:
        """Where it goes, in the local array of the target. If the routing converts, elements are the target's."""
        return self._type(1, strides)

    def _type(self, side: int, strides: tuple[int, ...] | None) -> ucd.Type:
        routing = self._routing
        if strides is None:
            held, element = ((routing.source, routing.element), (routing.target, routing.target_element))[side]
            strides = c_strides(held.local_shape((self.source, self.target)[side]), element.extent)
        if len(strides) != len(routing.source.shape):
            raise ValueError(f'{len(strides)} strides for {len(routing.source.shape)} dimensions')
        return routing.type_of(self._fan, side, strides)


def c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    strides = []
    stride = itemsize
    for n in reversed(shape):
        strides.append(stride)
        stride *= n
    return tuple(reversed(strides))


class Routing:
    """Who sends what to whom when an array moves from one distribution to another. Made by ucd_models.routing.

    routes          all pairs of ranks that exchange data, each with its two types
    sends(rank)     the routes from a rank of the source
    receives(rank)  the routes to a rank of the target

    The routes of a rank are worked out when they are asked for, without those of other ranks. Where the source
    replicates, a rank of the target gets its data from itself if it can, and else from one of the replicas; ranks
    of the target take turns.
    """

    def __init__(self, source: Distribution, target: Distribution, dtype: Any, target_dtype: Any = None) -> None:
        if source.shape != target.shape:
            raise ValueError(f'the source has shape {source.shape}, the target {target.shape}')
        self.source = source
        self.target = target
        elements = [interop.element_of_dtype(dtype if given is None else given) for given in (None, target_dtype)]
        self.element, self.target_element = [element.type for element in elements]
        self._meanings = [meaning_of(element) for element in elements]
        self.converts = self.target_element is not self.element
        self._dims = tuple(zip(source.shape, source.roles.arithmetic, target.roles.arithmetic))
        self._types: dict[Any, ucd.Type] = {}
        self._of_rank: dict[tuple[int, int], tuple[Route, ...]] = {}
        self._fans: dict[tuple[int, int], tuple[tuple[Fan, ...], Fan | None]] = {}
        largest = source.largest_shape
        self._cut_axis = largest.index(max(largest)) if largest else 0

    def __repr__(self) -> str:
        return f'<ucd_models.Routing of {self.source.shape}, {self.source.size} -> {self.target.size} ranks>'

    @property
    def wire_element(self) -> ucd.Type:
        """The elements of messages: the target's, but the source's where those are smaller."""
        return self.target_element if self.target_element.size <= self.element.size else self.element

    @property
    def has_numbers_to_round(self) -> bool:
        """Whether the source's elements are floating or complex numbers."""
        return self.element.name in _FLOATING

    @property
    def routes(self) -> Iterator[Route]:
        """The pairs of ranks that exchange data, in the order of the sources."""
        for rank in self.source.ranks:
            yield from self.sends(rank)

    def sends(self, rank: int) -> tuple[Route, ...]:
        """The routes from a rank of the source."""
        return self._remembered(0, rank)

    def receives(self, rank: int) -> tuple[Route, ...]:
        """The routes to a rank of the target."""
        return self._remembered(1, rank)

    def _remembered(self, side: int, rank: int) -> tuple[Route, ...]:
        key = (side, rank)
        if key not in self._of_rank:
            if len(self._of_rank) >= 256:
                self._of_rank.clear()
            at = (self.source, self.target)[side].position(rank) or 0  # None: no fans
            others = [place for fan in self._found(side, rank) for place in fan.places]
            self._of_rank[key] = tuple([Route(self, other, at) if side else Route(self, at, other) for other in others])
        return self._of_rank[key]

    def runs(self, source: int, target: int) -> list[Runs]:
        """For each dimension, what a place of the source's mesh sends to one of the target's."""
        ours, theirs = self.source.roles.parts(source), self.target.roles.parts(target)
        return [common(n, a, p, b, q) for (n, a, b), p, q in zip(self._dims, ours, theirs)]

    def fans(self, side: int, rank: int) -> tuple[tuple[Fan, ...], Fan | None]:
        """The routes from a rank of the source (side 0), or to one of the target, in few entries, whose places are
        ranks: those to or from other ranks, and the one that the rank keeps."""
        key = side, rank
        if key not in self._fans:
            if len(self._fans) >= 4096:
                self._fans.clear()
            others: list[Fan] = []
            kept = None
            for fan in self._found(side, rank):
                for placed in fan.on_ranks((self.target, self.source)[side].ranks):
                    left, own = placed.without(rank)
                    others += left
                    kept = kept or own
            self._fans[key] = tuple(others), kept
        return self._fans[key]

    def cut(self, fans: Iterable[Fan], rank: int, cut: Cut) -> Iterator[Fan]:
        """A part of each route of some fans of a rank, whose places are ranks."""
        number, parts = cut
        for fan in fans:
            # Each pair of ranks begins with another part. Those at a distance of `period` have the same.
            period = parts // math.gcd(fan.step, parts)
            for k in range(min(period, fan.number)):
                some = fan.part(k, -(-(fan.number - k) // period), period)
                runs = list(some.runs)
                if parts > 1:
                    runs[self._cut_axis] = _routes.part(runs[self._cut_axis], (number + some.place + rank) % parts, parts)
                if all(runs):
                    yield some._replace(runs=tuple(runs))

    def type_of(self, fan: Fan, side: int, strides: tuple[int, ...]) -> ucd.Type:
        """What the routes of a fan move in an array of the source (side 0) or the target, of strides in bytes."""
        key = fan._replace(place=0, step=0), side, strides
        if key not in self._types:
            self._types[key] = fan.type(side, strides, (self.element, self.target_element)[side])
        return self._types[key]

    def _found(self, side: int, rank: int) -> Iterator[Fan]:
        """As fans, of places of the mesh. Who sends where the source replicates is settled here."""
        held, others = (self.source, self.target)[:: -1 if side else 1]
        at = held.position(rank)
        if at is None:
            return
        of_axes = [
            [Group(*group) for group in _routes.partners(n, splits[side], part, splits[1 - side], axes, bool(side))]
            for (n, *splits), part, axes in zip(self._dims, held.roles.parts(at), others.roles.axes)
        ]
        roles = self.source.roles
        turns = len(roles.replicas)
        for fan in fans_of(of_axes):
            if side == 0 and (turns == 1 or _disjoint(self.source.ranks, self.target.ranks)):
                yield from repeated(fan, others.roles.replicas, roles.replica(at), turns)
            elif side == 0:
                for alike in repeated(fan, others.roles.replicas, 0, 1):
                    yield from alike.moved_to([place if self._sender(at, place) == at else None for place in alike.places])
            elif len(self.source.roles.replicas) > 1:
                yield from fan.moved_to([self._sender(place, at) for place in fan.places])
            else:
                yield fan

    def _sender(self, at: int, receiver: int) -> int:
        """Which of the places that have the same as one sends to a place of the target."""
        roles = self.source.roles
        if len(roles.replicas) == 1:
            return at
        first = at - roles.replicas[roles.replica(at)]
        itself = self.source.position(self.target.ranks[receiver])
        if itself is not None and itself - roles.replicas[roles.replica(itself)] == first:
            return itself
        # Neighbours of the target take turns, and so do those that have the same.
        alike = self.target.roles
        number = alike.replica(receiver)
        return first + roles.replicas[(receiver - alike.replicas[number] + number) % len(roles.replicas)]

    def place_of(self, array: Any, side: int, rank: int, what: str, meaning: Meaning | None = None) -> Place:
        """Where a rank's local array of the source (side 0) or target (1) lies. Raises ValueError if its shape, the
        size of its elements or their floating format is another one than the distribution says, NotSupported if their
        byte order or unit of dates is.

        meaning: of the elements, if they are not those of a dtype that was named."""
        held, element = ((self.source, self.element), (self.target, self.target_element))[side]
        try:
            address, shape, strides, *of_array = interop.placed(array)
        except (BufferError, TypeError) as error:
            raise error.__class__(f'{what}: {error}') from error
        if shape != held.local_shape(rank):
            raise ValueError(f'{what} has shape {shape}; the distribution says {held.local_shape(rank)}')
        found = of_array[0]
        of_side = ("source's", "target's")[side]
        if found.size != element.size:
            named = f', {element.name},' if element.name else ''
            raise ValueError(f'{what} has elements of {found.size} bytes; the {of_side} dtype{named} has {element.size}')
        # Integers and bytes stand for any format: NumPy has no bfloat16.
        if found.name != element.name and {found.name, element.name} <= _FLOATING:
            raise ValueError(f'{what} has elements {found.name}; the {of_side} dtype is {element.name}')
        meanings = meaning_of(interop.Element(*of_array)), meaning or self._meanings[side]
        require_same(*(meanings[::-1] if side else meanings), what)
        return Place(what, address, shape, strides, found.extent)


@functools.lru_cache(maxsize=64)
def _disjoint(ranks: Sequence[int], others: Sequence[int]) -> bool:
    return set(ranks).isdisjoint(others)


@functools.lru_cache(maxsize=4096)
def routing(source: Distribution, target: Distribution, dtype: Any, target_dtype: Any = None) -> Routing:
    """The routing of an array of elements of dtype from one distribution to another, as elements of target_dtype if
    that is given.

    dtype and target_dtype: a name such as 'bfloat16', a dtype of torch, or what numpy.dtype takes.

    The time for a rank's routes grows with their number, and with the strided runs that two parts have in common, not
    with the number of elements or of ranks. Types are made when asked for. Equal arguments give the same routing.

    Raises ValueError if the shapes differ, TypeError if dtype names no element.
    """
    return Routing(source, target, dtype, target_dtype)
