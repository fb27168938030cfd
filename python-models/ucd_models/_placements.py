"""How arrays lie on meshes of ranks: placements, and which indices of an axis each part has."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from ucd_models import _routes
from ucd_models._untrusted import key_of


@dataclass(frozen=True)
class Shard:
    """Dimension dim of the array is split into blocks of equal size, ceil(n / ranks); the last ones
    may be smaller or empty. As DTensor's Shard, and as 'block' of Type.darray."""

    dim: int


@dataclass(frozen=True)
class StridedShard:
    """DTensor's _StridedShard, the placement of FSDP over tensor parallelism.

    If the later dimensions of the mesh that split dim have split_factor ranks in all, they split first, and this one
    splits as Shard what each of them has, uneven shards too. Otherwise dim is split into split_factor blocks, and each
    block over the ranks; a rank has its parts of all blocks in a row.
    """

    dim: int
    split_factor: int


@dataclass(frozen=True)
class Cyclic:
    """Blocks of `block` indices of dimension dim are dealt out in turn."""

    dim: int
    block: int = 1


@dataclass(frozen=True)
class Replicate:
    """Every rank along this dimension of the mesh has the same."""


class Piece(NamedTuple):
    """A named part of an axis: size indices, which are split between units only, such as the heads of a
    projection."""

    name: str
    size: int
    unit: int = 1


@dataclass(frozen=True, init=False)
class Segment:
    """Dimension dim is pieces in a row, each of which is split by itself: the query, key and value of a fused
    projection, gate and up, experts. A rank has its parts of all pieces in a row.

    pieces      sizes in indices; or a mapping from names to sizes, or to pairs (size, unit). A piece is split
                between units. If it has fewer units than there are ranks, each unit is on several ranks, as keys
                and values are where there are more ranks than their heads; the ranks must be a multiple then.
    groups      if not 0: each piece is `groups` equal shares, groups are split over the ranks, and a rank has,
                group after group, the group's share of each piece: fused projections that keep a query's heads
                beside their key and value. The array itself still has piece after piece.
    """

    dim: int
    pieces: tuple[Piece, ...]
    groups: int

    def __init__(self, dim: int, pieces: Mapping[str, Any] | Iterable[Any], groups: int = 0) -> None:
        named = pieces.items() if isinstance(pieces, Mapping) else [
            (p.name, p[1:]) if isinstance(p, Piece) else (str(k), p) for k, p in enumerate(pieces)
        ]
        made = tuple([Piece(name, *(p if isinstance(p, tuple) else (int(p),))) for name, p in named])
        for piece in made:
            if piece.size < 0 or piece.unit < 1 or piece.size % piece.unit:
                raise ValueError(f'{piece} is no number of whole units')
            if groups and piece.size % groups:
                raise ValueError(f'{piece} in {groups} groups')
        if groups < 0:
            raise ValueError(f'groups is {groups}; it must be >= 0')
        object.__setattr__(self, 'dim', dim)
        object.__setattr__(self, 'pieces', made)
        object.__setattr__(self, 'groups', groups)

    @property
    def size(self) -> int:
        """How many indices all pieces have."""
        return sum([piece.size for piece in self.pieces])


Splitting = Shard | StridedShard | Cyclic | Segment
Placement = Splitting | Replicate


class Split(NamedTuple):
    """How a dimension of the mesh splits an axis."""

    parts: int
    by: Splitting


Splits = tuple[Split, ...]


@functools.lru_cache(maxsize=4096)
def arithmetic(splits: Splits) -> _routes.Splits:
    """The splits of an axis, of which the last one's parts are numbered fastest, for the functions of the core: one
    object for equal splits."""

    def fields(by: Splitting) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        match by:
            case Shard():
                return 0, 0, ()
            case StridedShard(_, factor):
                return 1, factor, ()
            case Cyclic(_, block):
                return 2, block, ()
            case Segment(_, pieces, groups):
                return 3, groups, tuple([piece[1:] for piece in pieces])

    return _routes.Splits([(split.parts, *fields(split.by)) for split in splits])


@dataclass(frozen=True)
class Distribution:
    """How an array of a shape lies on a mesh of ranks.

    placements has an entry for each dimension of the mesh, and says what that dimension splits. If several
    dimensions of the mesh split the same dimension of the array, the first splits all of it, and the next what is
    left, as in DTensor (StridedShard splits later).

    ranks: the ranks of the mesh, row-major: any list without repetitions, of integers that are not negative. None:
    0, 1, 2 and so on.
    """

    shape: tuple[int, ...]
    mesh: tuple[int, ...]
    placements: tuple[Placement, ...]
    rank_map: tuple[int, ...] | range | None
    """None: 0, 1, 2 and so on. Ranks at equal distances are a range."""

    def __init__(
        self,
        shape: Iterable[int],
        mesh: int | Iterable[int],
        placements: Placement | Iterable[Placement],
        ranks: Iterable[int] | None = None,
    ) -> None:
        # What is not iterable is one placement. _check refuses those of DTensor, with the way to convert them.
        given = tuple(placements) if isinstance(placements, Iterable) else (placements,)
        numbers = None if ranks is None else _rank_map(ranks if isinstance(ranks, range) else tuple(ranks))
        object.__setattr__(self, 'shape', tuple(map(int, shape)))
        object.__setattr__(self, 'mesh', (mesh,) if isinstance(mesh, int) else tuple(map(int, mesh)))
        object.__setattr__(self, 'placements', given)
        if min(self.shape, default=0) < 0:
            raise ValueError(f'shape {self.shape} has a negative entry')
        _check(len(self.shape), self.mesh, self.placements)
        for placement in given:
            if isinstance(placement, Segment) and placement.size != self.shape[placement.dim]:
                raise ValueError(f'pieces of {placement.size} indices for a dimension of {self.shape[placement.dim]}')
        if numbers is not None:
            if len(numbers) != math.prod(self.mesh):
                raise ValueError(f'{len(numbers)} ranks for a mesh of {self.mesh}')
            if numbers == range(len(numbers)):
                numbers = None  # so that equal distributions compare equal
        object.__setattr__(self, 'rank_map', numbers)

    @classmethod
    def from_mesh(cls, shape: Iterable[int], mesh: Any, placements: Iterable[Any]) -> Distribution:
        """The distribution that placements of DTensor, or of this package, make of a DeviceMesh.

        mesh: a DeviceMesh of PyTorch, or an array of ranks (nested lists, NumPy's, torch's). A negative dim of a
        placement of DTensor counts from the end. Raises TypeError for Partial, whose sums are not finished: reduce it
        first. torch is not imported.
        """
        remembered = hasattr(mesh, 'mesh') and isinstance(mesh, Hashable)
        lengths, ranks = _of_mesh(mesh) if remembered else _of_nested(getattr(mesh, 'mesh', mesh))
        sizes = tuple(shape)
        return cls(sizes, lengths, [placement_of(p, len(sizes)) for p in placements], ranks)

    @classmethod
    def from_dtensor(cls, tensor: Any) -> Distribution:
        """The distribution of a DTensor: what its global shape, device_mesh and placements say. Errors: as
        from_mesh."""
        return cls.from_mesh(tensor.shape, tensor.device_mesh, tensor.placements)

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((key_of(self.shape), self.mesh, self.placements, self.rank_map))  # a file may have said the shape

    def __getstate__(self) -> dict[str, Any]:
        # Without what is remembered: a hash is that of one process.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return math.prod(self.mesh)

    @property
    def ranks(self) -> Sequence[int]:
        """The ranks, in the order of the mesh."""
        return range(self.size) if self.rank_map is None else self.rank_map

    def position(self, rank: int) -> int | None:
        """Where a rank is in the mesh, row-major. None: nowhere."""
        if self.rank_map is None:
            return rank if 0 <= rank < self.size else None
        if isinstance(self.rank_map, range):
            return self.rank_map.index(rank) if rank in self.rank_map else None
        return self._positions.get(rank)

    @functools.cached_property
    def _positions(self) -> dict[int, int]:
        return _positions_of(self.rank_map or ())

    @functools.cached_property
    def roles(self) -> Roles:
        """What the places in the mesh have."""
        return _roles(len(self.shape), self.mesh, self.placements)

    def parts(self, rank: int) -> tuple[int, ...]:
        """For each dimension of the array, the number of the part that a rank has."""
        return self.roles.parts(self._at(rank))

    def _at(self, rank: int) -> int:
        at = self.position(rank)
        if at is None:
            raise ValueError(f'rank {rank} is not in the mesh')
        return at

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """The shape of the array that a rank has."""
        return self._shape_of(self.roles.parts(self._at(rank)))

    def _shape_of(self, parts: Iterable[int]) -> tuple[int, ...]:
        return tuple([splits.size(n, part) for n, splits, part in zip(self.shape, self.roles.arithmetic, parts)])

    @property
    def largest_shape(self) -> tuple[int, ...]:
        """At least as large in each dimension as any rank's local shape: that of the first in the mesh."""
        return self._shape_of([0] * len(self.shape))


@functools.lru_cache(maxsize=64)
def _rank_map(ranks: range | tuple[Any, ...]) -> tuple[int, ...] | range:
    """Ranks of a mesh, checked: one object for equal ones, since a model has many distributions over few meshes."""
    numbers = tuple(map(int, ranks))
    if len(set(numbers)) < len(numbers) or min(numbers, default=0) < 0:
        raise ValueError('a rank is negative, or there twice')
    if len(numbers) < 2:
        return range(numbers[0], numbers[0] + 1) if numbers else range(0)
    step = numbers[1] - numbers[0]
    even = range(numbers[0], numbers[0] + step * len(numbers), step)
    return even if numbers == tuple(even) else numbers


@functools.lru_cache(maxsize=64)
def _positions_of(ranks: Sequence[int]) -> dict[int, int]:
    return {rank: at for at, rank in enumerate(ranks)}


def _of_nested(mesh: Any) -> tuple[list[int], range | tuple[int, ...]]:
    """The lengths and the ranks of a mesh that is given as an array or as nested lists."""
    nested = mesh.tolist() if hasattr(mesh, 'tolist') else mesh
    lengths: list[int] = []
    while isinstance(nested, (list, tuple)):
        lengths.append(len(nested) // math.prod(lengths))
        if not nested:
            raise ValueError('the mesh has no ranks')
        if not isinstance(nested[0], (list, tuple)):
            break
        if any(len(row) != len(nested[0]) for row in nested):
            raise ValueError('the mesh is no array: its rows differ in length')
        nested = [rank for row in nested for rank in row]
    return lengths, _rank_map(tuple(nested))


@functools.lru_cache(maxsize=64)
def _of_mesh(mesh: Any) -> tuple[list[int], range | tuple[int, ...]]:
    """Of a DeviceMesh. A model has one for all of its parameters."""
    return _of_nested(mesh.mesh)


def placement_of(given: Any, ndim: int) -> Placement:
    """This package's placement for one of DTensor, of an array of ndim dimensions."""
    if isinstance(given, Placement):
        return given
    dim = getattr(given, 'dim', 0)
    if dim < 0:
        dim += ndim
    match type(given).__name__:
        case 'Shard':
            return Shard(dim)
        case '_StridedShard' | 'StridedShard':
            return StridedShard(dim, given.split_factor)
        case 'Replicate':
            return Replicate()
        case 'Partial' | '_Partial' | '_MaskPartial' | '_NormPartial':
            raise TypeError(f'{given!r}: a Partial has sums that are not finished; reduce them before they are moved')
    raise TypeError(f'{given!r} is no placement that is known here')


@functools.lru_cache(maxsize=4096)
def _check(ndim: int, mesh: tuple[int, ...], placements: tuple[Any, ...]) -> None:
    if any(n < 1 for n in mesh):
        raise ValueError(f'mesh {mesh} has an entry below 1')
    if len(placements) != len(mesh):
        raise ValueError(f'{len(placements)} placements for a mesh of {len(mesh)} dimensions')
    segments = set()
    for placement, ranks in zip(placements, mesh):
        if not isinstance(placement, Placement):
            placement_of(placement, ndim)
            raise TypeError(f'{placement!r} is no placement of this package (Distribution.from_mesh takes those of DTensor)')
        if isinstance(placement, Replicate):
            continue
        if not 0 <= placement.dim < ndim:
            raise ValueError(f'{placement}: dim must be >= 0 and < {ndim}')
        if isinstance(placement, Cyclic) and placement.block < 1:
            raise ValueError(f'{placement}: block must be >= 1')
        if isinstance(placement, StridedShard) and placement.split_factor < 1:
            raise ValueError(f'{placement}: split_factor must be >= 1')
        if isinstance(placement, Segment):
            if placement.dim in segments:
                raise ValueError(f'two segments of dimension {placement.dim}')
            segments.add(placement.dim)
            for piece in placement.pieces:
                units = piece.size // piece.unit
                if not placement.groups and piece.unit > 1 and 0 < units < ranks and ranks % units:
                    raise ValueError(f'{units} units of {piece.name!r} on {ranks} ranks')
    for dim in segments:
        if not isinstance(_order(mesh, placements, dim)[0][1], Segment):
            raise ValueError(f'dimension {dim} is split before its Segment is: use StridedShard for the other')


def _order(mesh: tuple[int, ...], placements: tuple[Placement, ...], dim: int) -> list[tuple[int, Splitting]]:
    """The dimensions of the mesh that split a dimension of the array, in the order in which they do, and how."""
    found: list[tuple[int, Splitting]] = []
    for axis in reversed(range(len(mesh))):
        placement = placements[axis]
        if isinstance(placement, Replicate) or placement.dim != dim:
            continue
        at = 0
        if isinstance(placement, StridedShard):
            products = list(itertools.accumulate([mesh[a] for a, _ in found], operator.mul))
            if placement.split_factor in products:
                at = products.index(placement.split_factor) + 1
                placement = Shard(dim)
        found.insert(at, (axis, placement))
    return found


class Roles(NamedTuple):
    """What of a distribution does not depend on the lengths of the dimensions."""

    arithmetic: tuple[_routes.Splits, ...]
    """For each dimension of the array, how it is split in turn."""
    axes: tuple[tuple[tuple[int, int], ...], ...]
    """For each dimension of the array: (stride in the mesh, ranks) of each split."""
    replicas: tuple[int, ...]
    """The distances of the places that have the same, from the first of them."""
    replicated: tuple[tuple[int, int], ...]
    """(Stride, ranks) of the dimensions of the mesh that replicate."""

    def parts(self, at: int) -> tuple[int, ...]:
        """What a place in the mesh has of each dimension of the array."""
        found = []
        for axes in self.axes:
            number = 0
            for stride, ranks in axes:
                number = number * ranks + at // stride % ranks
            found.append(number)
        return tuple(found)

    def replica(self, at: int) -> int:
        """The number of a place among those that have the same."""
        number = 0
        for stride, ranks in self.replicated:
            number = number * ranks + at // stride % ranks
        return number


@functools.lru_cache(maxsize=256)
def _roles(ndim: int, mesh: tuple[int, ...], placements: tuple[Placement, ...]) -> Roles:
    strides = [math.prod(mesh[axis + 1 :]) for axis in range(len(mesh))]
    orders = [_order(mesh, placements, dim) for dim in range(ndim)]
    replicated = [axis for axis, p in enumerate(placements) if isinstance(p, Replicate)]
    replicas = [0]
    for axis in replicated:
        replicas = [at + k * strides[axis] for at in replicas for k in range(mesh[axis])]
    return Roles(
        # The dimension of a placement is known by now: equal splits of different dimensions are equal.
        tuple([arithmetic(tuple([Split(mesh[a], replace(p, dim=0)) for a, p in order])) for order in orders]),
        tuple([tuple([(strides[a], mesh[a]) for a, _ in order]) for order in orders]),
        tuple(replicas),
        tuple([(strides[a], mesh[a]) for a in replicated]),
    )
