"""From one distribution of an array over ranks to another."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ucd import _arrays, _core, _dtypes
from ucd._partition import Common, Run, Split, common, partition


@dataclass(frozen=True)
class Shard:
    """Dimension dim of the array is split into blocks of equal size, ceil(n / ranks); the last ones
    may be smaller or empty. As DTensor's Shard, and as 'block' of Type.darray."""

    dim: int


@dataclass(frozen=True)
class Cyclic:
    """Blocks of `block` indices of dimension dim are dealt out in turn."""

    dim: int
    block: int = 1


@dataclass(frozen=True)
class Replicate:
    """Every rank along this dimension of the mesh has the same."""


Placement = Shard | Cyclic | Replicate


@dataclass(frozen=True)
class Distribution:
    """How an array of a shape lies on a mesh of ranks.

    placements has an entry for each dimension of the mesh, and says what that dimension splits. Ranks
    are numbered row-major in the mesh. If several dimensions of the mesh split the same dimension of
    the array, the first splits all of it, and the next what is left, as in DTensor.
    """

    shape: tuple[int, ...]
    mesh: tuple[int, ...]
    placements: tuple[Placement, ...]

    def __init__(self, shape: Iterable[int], mesh: int | Iterable[int], placements: Placement | Iterable[Placement]):
        object.__setattr__(self, 'shape', tuple(int(n) for n in shape))
        object.__setattr__(self, 'mesh', (mesh,) if isinstance(mesh, int) else tuple(int(n) for n in mesh))
        single = isinstance(placements, Placement)
        object.__setattr__(self, 'placements', (placements,) if single else tuple(placements))  # type: ignore[arg-type]
        if any(n < 0 for n in self.shape):
            raise ValueError(f'shape {self.shape} has a negative entry')
        if any(n < 1 for n in self.mesh):
            raise ValueError(f'mesh {self.mesh} has an entry below 1')
        if len(self.placements) != len(self.mesh):
            raise ValueError(f'{len(self.placements)} placements for a mesh of {len(self.mesh)} dimensions')
        for placement in self.placements:
            if isinstance(placement, Replicate):
                continue
            if not isinstance(placement, Placement):
                raise TypeError(f'{placement!r} is no placement')
            if not 0 <= placement.dim < len(self.shape):
                raise ValueError(f'{placement} for an array of {len(self.shape)} dimensions')
            if isinstance(placement, Cyclic) and placement.block < 1:
                raise ValueError(f'{placement}: block must be >= 1')

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return math.prod(self.mesh)

    @functools.cached_property
    def _axes(self) -> list[list[int]]:
        """For each dimension of the array, the dimensions of the mesh that split it."""
        return [
            [axis for axis, p in enumerate(self.placements) if not isinstance(p, Replicate) and p.dim == dim]
            for dim in range(len(self.shape))
        ]

    @functools.cached_property
    def splits(self) -> list[tuple[Split, ...]]:
        """For each dimension of the array, into how many parts and blocks it is split in turn."""

        def split(axis: int) -> Split:
            placement = self.placements[axis]
            return self.mesh[axis], placement.block if isinstance(placement, Cyclic) else 0

        return [tuple(split(axis) for axis in axes) for axes in self._axes]

    def parts(self, rank: int) -> tuple[int, ...]:
        """For each dimension of the array, the number of the part that a rank has."""
        if not 0 <= rank < self.ranks:
            raise ValueError(f'rank {rank} of {self.ranks}')
        where = []
        for n in reversed(self.mesh):
            rank, at = divmod(rank, n)
            where.append(at)
        where.reverse()
        numbers = []
        for axes in self._axes:
            number = 0
            for axis in axes:
                number = number * self.mesh[axis] + where[axis]
            numbers.append(number)
        return tuple(numbers)

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the array that a rank has."""
        return tuple(
            partition(n, splits).size(part) for n, splits, part in zip(self.shape, self.splits, self.parts(rank))
        )

    @property
    def owners(self) -> dict[tuple[int, ...], list[int]]:
        """The ranks that have the same parts: more than one where there is Replicate."""
        return _owners(len(self.shape), self.mesh, self.placements)


@functools.lru_cache(maxsize=256)
def _owners(
    ndim: int, mesh: tuple[int, ...], placements: tuple[Placement, ...]
) -> dict[tuple[int, ...], list[int]]:
    """Distribution.owners, which the lengths of the dimensions do not change."""
    distribution = Distribution((1,) * ndim, mesh, placements)
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(distribution.ranks):
        found.setdefault(distribution.parts(rank), []).append(rank)
    return found


def _c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    strides = []
    stride = itemsize
    for n in reversed(shape):
        strides.append(stride)
        stride *= n
    return tuple(reversed(strides))


class Route:
    """What one rank of the source sends to one rank of the target, and never nothing.

    Both types give the same packed stream: rank `source` packs its local array by send_type, and
    rank `target` unpacks the stream into its own by receive_type. So any transport will do, and MPI's
    needs no copy in between.
    """

    __slots__ = ('source', 'target', '_plan', '_pairs')

    def __init__(self, plan: Plan, source: int, target: int, pairs: tuple[tuple[int, int], ...]) -> None:
        self.source = source
        self.target = target
        self._plan = plan
        self._pairs = pairs

    def __repr__(self) -> str:
        return f'<ucd.Route {self.source} -> {self.target}, {self.nbytes} bytes>'

    @property
    def nbytes(self) -> int:
        """Packed bytes."""
        dims = zip(self._plan.common, self._pairs)
        return math.prod((c.size(pair) for c, pair in dims), start=self._plan.element.size)

    def send_type(self, strides: tuple[int, ...] | None = None) -> _core.Type:
        """What is sent, in the local array of the source, whose strides are given in bytes. None:
        the array is C-contiguous."""
        return self._plan._type(0, self._plan.source, self.source, self._pairs, strides)

    def receive_type(self, strides: tuple[int, ...] | None = None) -> _core.Type:
        """Where it goes, in the local array of the target."""
        return self._plan._type(1, self._plan.target, self.target, self._pairs, strides)


class Plan:
    """All routes from one distribution to another, by ucd.plan.

    routes          the pairs of ranks that exchange data, each with its two types
    sends(rank)     the routes from a rank of the source
    receives(rank)  the routes to a rank of the target

    Where the source replicates, a rank of the target gets its data from itself if it can, and else from
    one of the replicas; ranks of the target take turns.
    """

    def __init__(self, source: Distribution, target: Distribution, dtype: Any) -> None:
        if source.shape != target.shape:
            raise ValueError(f'the source has shape {source.shape}, the target {target.shape}')
        self.source = source
        self.target = target
        self.element = _dtypes.of(dtype)
        self.common: list[Common] = [
            common(n, a, b) for n, a, b in zip(source.shape, source.splits, target.splits)
        ]
        self._types: dict[Any, _core.Type] = {}
        self.routes: list[Route] = []
        self._by_source: dict[int, list[Route]] = {}
        self._by_target: dict[int, list[Route]] = {}
        ours, theirs = source.owners, target.owners
        for pairs in itertools.product(*(c.runs for c in self.common)):
            senders = ours[tuple([pair[0] for pair in pairs])]
            for receiver in theirs[tuple([pair[1] for pair in pairs])]:
                sender = receiver if receiver in senders else senders[receiver % len(senders)]
                route = Route(self, sender, receiver, pairs)
                self.routes.append(route)
                self._by_source.setdefault(sender, []).append(route)
                self._by_target.setdefault(receiver, []).append(route)

    def __repr__(self) -> str:
        return f'<ucd.Plan of {len(self.routes)} routes, {self.source.ranks} -> {self.target.ranks} ranks>'

    def sends(self, rank: int) -> list[Route]:
        """The routes from a rank of the source."""
        return self._by_source.get(rank, [])

    def receives(self, rank: int) -> list[Route]:
        """The routes to a rank of the target."""
        return self._by_target.get(rank, [])

    def execute(self, sources: Sequence[Any], targets: Sequence[Any], *, hints: _core.Hints | None = None) -> None:
        """Moves all data in this process: from sources[rank] for each rank of the source, into
        targets[rank] for each rank of the target. Arrays have the local shapes, and any strides. An
        entry may be None where no route begins or ends. Done on return.

        Raises ValueError if a shape is not the local one or elements differ in size, and what ucd.copy
        raises.
        """
        ours = self._strides(sources, self.source, self._by_source, 'sources')
        theirs = self._strides(targets, self.target, self._by_target, 'targets')
        for route in self.routes:
            _core.copy(
                sources[route.source],
                targets[route.target],
                src_type=route.send_type(ours[route.source]),
                dst_type=route.receive_type(theirs[route.target]),
                hints=hints,
            )

    def _strides(
        self, arrays: Sequence[Any], distribution: Distribution, used: dict[int, list[Route]], what: str
    ) -> dict[int, tuple[int, ...]]:
        if len(arrays) != distribution.ranks:
            raise ValueError(f'{what} has {len(arrays)} arrays for {distribution.ranks} ranks')
        found = {}
        for rank in used:
            shape, strides = _core.shape_and_strides(arrays[rank])
            if shape != distribution.local_shape(rank):
                raise ValueError(
                    f'{what}[{rank}] has shape {shape}; the distribution says {distribution.local_shape(rank)}'
                )
            found[rank] = strides
        return found

    def _type(
        self,
        side: int,
        distribution: Distribution,
        rank: int,
        pairs: tuple[tuple[int, int], ...],
        strides: tuple[int, ...] | None,
    ) -> _core.Type:
        if strides is None:
            strides = _c_strides(distribution.local_shape(rank), self.element.extent)
        key = (side, pairs, strides)
        if key not in self._types:
            made = self.element
            for c, pair, stride in reversed(list(zip(self.common, pairs, strides, strict=True))):
                steps = (c.source_steps, c.target_steps)[side]
                made = _along(made, c, c.runs[pair], side, stride, steps[pair[side]] * stride)
            self._types[key] = made
        return self._types[key]


def _along(inner: _core.Type, c: Common, runs: list[Run], side: int, stride: int, step: int) -> _core.Type:
    """The runs of one dimension: inner types that lie a stride apart, all of it again after a step."""
    unit = _core.Type.resized(inner, 0, stride)

    def listed(some: list[Run]) -> _core.Type:
        return _core.Type.indexed([r.length for r in some], [r[1 + side] for r in some], unit)

    period = listed(runs)
    tail = c.tail_of(runs)
    if c.repeats == 1 and not tail:
        return period
    whole = _core.Type.hvector(c.repeats, 1, step, period)
    return _core.Type.struct([1, 1], [0, c.repeats * step], [whole, listed(tail)])


@functools.lru_cache(maxsize=1024)
def plan(source: Distribution, target: Distribution, dtype: Any) -> Plan:
    """The plan that moves an array of elements of dtype from one distribution to another.

    Time and memory grow with the number of pairs of ranks that exchange data, and with the runs that
    their parts have in common along each dimension; not with the number of elements, nor with the
    product of the ranks. Types are made when asked for. Plans are remembered: equal tensors, such as
    those of a model's layers, have one.

    Raises ValueError if the shapes differ, TypeError if dtype names no element.
    """
    return Plan(source, target, dtype)


def redistribute(
    arrays: Sequence[Any],
    source: Distribution,
    target: Distribution,
    out: Sequence[Any] | None = None,
    *,
    hints: _core.Hints | None = None,
) -> Sequence[Any]:
    """Moves an array from one distribution to another within this process, and returns the arrays of
    the target's ranks: out, or new ones of the library and memory of arrays[0].

    arrays[rank] is what a rank of the source has; memory-mapped files will do. Errors: as Plan.execute.
    """
    element = _core.element_of(arrays[0])
    made = plan(source, target, element)
    if out is None:
        out = [_arrays.new_like(arrays[0], target.local_shape(rank)) for rank in range(target.ranks)]
    made.execute(arrays, out, hints=hints)
    return out
