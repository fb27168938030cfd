"""From one distribution of an array over ranks to another."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from ucd import _arrays, _core, _dtypes, _mpi
from ucd._partition import Common, CommonBlocks, Pair, Run, Split, common, size


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

    @property
    def _key(self) -> _Key:
        return len(self.shape), self.mesh, self.placements

    @property
    def _roles(self) -> _Roles:
        return _roles(*self._key)

    @property
    def splits(self) -> tuple[tuple[Split, ...], ...]:
        """For each dimension of the array, into how many parts and blocks it is split in turn."""
        return self._roles.splits

    def parts(self, rank: int) -> tuple[int, ...]:
        """For each dimension of the array, the number of the part that a rank has."""
        if not 0 <= rank < self.ranks:
            raise ValueError(f'rank {rank} of {self.ranks}')
        return self._roles.parts[rank]

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the array that a rank has."""
        return tuple(
            [size(n, splits, part) for n, splits, part in zip(self.shape, self.splits, self.parts(rank))]
        )

    @property
    def owners(self) -> dict[tuple[int, ...], list[int]]:
        """The ranks that have the same parts: more than one where there is Replicate."""
        return self._roles.owners


_Key = tuple[int, tuple[int, ...], tuple[Placement, ...]]


class _Roles(NamedTuple):
    """What of a distribution does not depend on the lengths of the dimensions: as in Distribution."""

    splits: tuple[tuple[Split, ...], ...]
    parts: list[tuple[int, ...]]
    owners: dict[tuple[int, ...], list[int]]
    terms: list[list[int]]
    """For each dimension of the array and each of its parts: a rank is the sum of one term for each
    dimension and one of `replicas`."""
    replicas: list[int]


@functools.lru_cache(maxsize=256)
def _roles(ndim: int, mesh: tuple[int, ...], placements: tuple[Placement, ...]) -> _Roles:
    # For each dimension of the array, the dimensions of the mesh that split it.
    axes = [
        [axis for axis, p in enumerate(placements) if not isinstance(p, Replicate) and p.dim == dim]
        for dim in range(ndim)
    ]

    def split(axis: int) -> Split:
        placement = placements[axis]
        return mesh[axis], placement.block if isinstance(placement, Cyclic) else 0

    parts = []
    owners: dict[tuple[int, ...], list[int]] = {}
    for rank, where in enumerate(itertools.product(*map(range, mesh))):
        numbers = []
        for splitting in axes:
            number = 0
            for axis in splitting:
                number = number * mesh[axis] + where[axis]
            numbers.append(number)
        parts.append(tuple(numbers))
        owners.setdefault(parts[-1], []).append(rank)

    strides = _c_strides(mesh, 1)

    def terms(chosen: list[int]) -> list[int]:
        """What the places along some dimensions of the mesh add to the rank, row-major."""
        found = itertools.product(*[range(0, mesh[axis] * strides[axis], strides[axis]) for axis in chosen])
        return [sum(term) for term in found]

    return _Roles(
        tuple([tuple([split(axis) for axis in splitting]) for splitting in axes]),
        parts,
        owners,
        [terms(splitting) for splitting in axes],
        terms([axis for axis, p in enumerate(placements) if isinstance(p, Replicate)]),
    )


Pairs = tuple[Pair, ...]
"""For each dimension of the array, a part of the source and one of the target."""
_Commons = tuple[Common | CommonBlocks, ...]
_Exchange = tuple[int, int]
"""A rank of the source and one of the target."""


def _exchanges(dims: Iterable[Iterable[Pair]], source: _Roles, target: _Roles) -> list[_Exchange]:
    """Who exchanges data, from the pairs of parts in each dimension that have something in common."""
    found = [(0, 0)]
    for pairs, ours, theirs in zip(dims, source.terms, target.terms):
        terms = [(ours[p], theirs[q]) for p, q in pairs]
        # Most dimensions of most tensors are not split, and most tensors are split in one.
        if found == [(0, 0)]:
            found = terms
        elif terms != [(0, 0)]:
            found = [(a + c, b + d) for a, b in found for c, d in terms]
    if len(source.replicas) == 1 and len(target.replicas) == 1:
        return found
    return [_of_replicas(a, b + r, source.replicas) for a, b in found for r in target.replicas]


def _of_replicas(sender: int, receiver: int, replicas: list[int]) -> _Exchange:
    """From which replica of the first sender a rank gets its data: itself, or in turns."""
    if receiver - sender in replicas:
        return receiver, receiver
    return sender + replicas[receiver % len(replicas)], receiver


@functools.lru_cache(maxsize=256)
def _all_exchanges(commons: _Commons, source: _Key, target: _Key) -> list[_Exchange]:
    """Of tensors that are split in the same proportions."""
    return _exchanges([c.pairs() for c in commons], _roles(*source), _roles(*target))


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

    __slots__ = ('source', 'target', '_plan')

    def __init__(self, plan: Plan, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self._plan = plan

    @property
    def _pairs(self) -> Pairs:
        plan = self._plan
        return tuple(zip(plan.source.parts(self.source), plan.target.parts(self.target)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Route):
            return NotImplemented
        return (self._plan, self.source, self.target) == (other._plan, other.source, other.target)

    def __hash__(self) -> int:
        return hash((self._plan, self.source, self.target))

    def __repr__(self) -> str:
        return f'<ucd.Route {self.source} -> {self.target}, {self.nbytes} bytes>'

    @property
    def nbytes(self) -> int:
        """Packed bytes."""
        found = self._plan._unit_bytes
        for c, pair in zip(self._plan.common, self._pairs):
            found *= c.size(pair)
        return found

    def send_type(self, strides: tuple[int, ...] | None = None) -> _core.Type:
        """What is sent, in the local array of the source, whose strides are given in bytes. None:
        the array is C-contiguous."""
        return self._plan._type(0, self._plan.source, self.source, self._pairs, strides)

    def receive_type(self, strides: tuple[int, ...] | None = None) -> _core.Type:
        """Where it goes, in the local array of the target."""
        return self._plan._type(1, self._plan.target, self.target, self._pairs, strides)


class Routes(Sequence[Route]):
    """Routes as a list that makes each one when it is asked for: a model has a hundred thousand."""

    __slots__ = ('_plan', '_exchanges')

    def __init__(self, plan: Plan, exchanges: list[_Exchange]) -> None:
        self._plan = plan
        self._exchanges = exchanges

    def __len__(self) -> int:
        return len(self._exchanges)

    def __iter__(self) -> Iterator[Route]:
        plan = self._plan
        for source, target in self._exchanges:
            yield Route(plan, source, target)

    @overload
    def __getitem__(self, at: int) -> Route: ...

    @overload
    def __getitem__(self, at: slice) -> Routes: ...

    def __getitem__(self, at: int | slice) -> Route | Routes:
        if isinstance(at, slice):
            return Routes(self._plan, self._exchanges[at])
        return Route(self._plan, *self._exchanges[at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Routes, list)):
            return NotImplemented
        return list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


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
        dims = [common(n, a, b) for n, a, b in zip(source.shape, source.splits, target.splits)]
        self.units = tuple([unit for unit, _ in dims])
        self.common: _Commons = tuple([c for _, c in dims])
        self._unit_bytes = math.prod(self.units, start=self.element.size)
        self._types: dict[Any, _core.Type] = {}

    def __repr__(self) -> str:
        return f'<ucd.Plan of {len(self.routes)} routes, {self.source.ranks} -> {self.target.ranks} ranks>'

    @functools.cached_property
    def routes(self) -> Routes:
        """The pairs of ranks that exchange data."""
        return Routes(self, _all_exchanges(self.common, self.source._key, self.target._key))

    def sends(self, rank: int) -> list[Route]:
        """The routes from a rank of the source, at the cost of the routes from it and its replicas."""
        if not 0 <= rank < self.source.ranks:
            return []
        dims = zip(self.common, self.source.parts(rank))
        found = _exchanges([c.pairs_of_source(part) for c, part in dims], self.source._roles, self.target._roles)
        return [Route(self, source, target) for source, target in found if source == rank]

    def receives(self, rank: int) -> list[Route]:
        """The routes to a rank of the target, at the cost of those to it and its replicas."""
        if not 0 <= rank < self.target.ranks:
            return []
        dims = zip(self.common, self.target.parts(rank))
        found = _exchanges([c.pairs_of_target(part) for c, part in dims], self.source._roles, self.target._roles)
        return [Route(self, source, target) for source, target in found if target == rank]

    def execute(self, sources: Sequence[Any], targets: Sequence[Any], *, hints: _core.Hints | None = None) -> None:
        """Moves all data in this process: from sources[rank] for each rank of the source, into
        targets[rank] for each rank of the target. Arrays have the local shapes, and any strides. An
        entry may be None where no route begins or ends. Done on return.

        Raises ValueError if a shape is not the local one or elements differ in size, and what ucd.copy
        raises.
        """
        ours = self._strides(sources, self.source, {r.source for r in self.routes}, 'sources')
        theirs = self._strides(targets, self.target, {r.target for r in self.routes}, 'targets')
        for route in self.routes:
            _core.copy(
                sources[route.source],
                targets[route.target],
                src_type=route.send_type(ours[route.source]),
                dst_type=route.receive_type(theirs[route.target]),
                hints=hints,
            )

    def exchange(
        self,
        comm: Any,
        source: Any = None,
        target: Any = None,
        *,
        tag: int = 0,
        hints: _core.Hints | None = None,
    ) -> Any:
        """Moves this rank's data over an mpi4py communicator, and returns target.

        Rank r of the communicator has, for rank r of the plan's source, the local array source; and gets
        what rank r of the plan's target has in target, or in a new array like source. Both may have any
        strides, and be None where the rank has none. Each message is packed by ucd and sent as bytes;
        what stays on the rank is copied from view to view. Device memory needs an MPI that takes it.

        Collective over the ranks that have routes. Messages have the tag. Done on return. Raises
        ValueError if the communicator is too small or a shape is not the local one, before anything is
        sent, and what mpi4py raises.
        """
        me = comm.Get_rank()
        if comm.Get_size() < max(self.source.ranks, self.target.ranks):
            raise ValueError(f'{self!r} over {comm.Get_size()} ranks')
        sends, receives = self.sends(me), self.receives(me)
        if target is None and me < self.target.ranks:
            if source is None:
                raise ValueError(f'rank {me} has no source, so the target must be given')
            target = _arrays.new_like(source, self.target.local_shape(me))
        ours = self._strides_of(source, self.source, me, 'source') if sends else ()
        theirs = self._strides_of(target, self.target, me, 'target') if receives else ()
        leaving = {route.target: route.send_type(ours) for route in sends}
        arriving = {route.source: route.receive_type(theirs) for route in receives}
        _mpi.exchange(comm, source, target, leaving, arriving, tag, hints)
        return target

    def _strides(
        self, arrays: Sequence[Any], distribution: Distribution, used: Iterable[int], what: str
    ) -> dict[int, tuple[int, ...]]:
        if len(arrays) != distribution.ranks:
            raise ValueError(f'{what} has {len(arrays)} arrays for {distribution.ranks} ranks')
        found = {}
        for rank in used:
            found[rank] = self._strides_of(arrays[rank], distribution, rank, f'{what}[{rank}]')
        return found

    def _strides_of(self, array: Any, distribution: Distribution, rank: int, what: str) -> tuple[int, ...]:
        shape, strides = _core.shape_and_strides(array)
        if shape != distribution.local_shape(rank):
            raise ValueError(f'{what} has shape {shape}; the distribution says {distribution.local_shape(rank)}')
        return strides

    def _type(
        self,
        side: int,
        distribution: Distribution,
        rank: int,
        pairs: Pairs,
        strides: tuple[int, ...] | None,
    ) -> _core.Type:
        if strides is None:
            strides = _c_strides(distribution.local_shape(rank), self.element.extent)
        key = (side, pairs, strides)
        if key not in self._types:
            made = self.element
            dims = zip(self.common, self.units, pairs, strides, strict=True)
            for c, unit, pair, stride in reversed(list(dims)):
                if unit > 1:
                    made = _core.Type.hvector(unit, 1, stride, made)
                made = _along(made, c, pair, side, unit * stride)
            self._types[key] = made
        return self._types[key]


def _along(inner: _core.Type, c: Common | CommonBlocks, pair: Pair, side: int, stride: int) -> _core.Type:
    """The runs of one dimension: inner types that lie a stride of bytes apart, once for each period."""
    unit = _core.Type.resized(inner, 0, stride)

    def listed(some: list[Run]) -> _core.Type:
        return _core.Type.indexed([r.length for r in some], [r[1 + side] for r in some], unit)

    period = listed(c.period(pair))
    rest = c.rest(pair)
    if c.repeats == 1 and not rest:
        return period
    step = c.steps(pair)[side] * stride
    whole = _core.Type.hvector(c.repeats, 1, step, period)
    return _core.Type.struct([1, 1], [0, c.repeats * step], [whole, listed(rest)])


@functools.lru_cache(maxsize=1024)
def plan(source: Distribution, target: Distribution, dtype: Any) -> Plan:
    """The plan that moves an array of elements of dtype from one distribution to another.

    Time and memory grow with the number of pairs of ranks that exchange data, and with the runs that
    their parts have in common along each dimension; not with the number of elements, nor with the
    product of the ranks. Types are made when asked for. Plans are remembered: equal tensors, such as
    those of a model's layers, have one. Tensors that are split in the same proportions share the work.

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
