"""Weights from the ranks that train a model to those that serve it: rules that say which parameter is which part of another.

    sync = ucd_models.weights.Sync(ucd_models.weights.LLAMA, before, 4, ranks=range(8, 12), units={'head': 128}, convert='bfloat16')
    sync.execute(dist, trained, served)   # all ranks: parameters by their names, of those that the rank has

`before` is described(trained) of a rank that trains. The guide is docs/guide/moving-a-model.md of UCD.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ucd_models._engine import Execution
from ucd_models._execution import engine_of
from ucd_models._placements import Cyclic, Distribution, Placement, Replicate, Segment
from ucd_models._redistribution import Redistribution

__all__ = ['LLAMA', 'MIXTRAL', 'Rule', 'Sync', 'described']


class Rule(NamedTuple):
    """What parameters of some names become on the ranks that serve."""

    source: str
    """A regular expression of a whole name where the model is trained. A group named `expert` is a number: that of the
    source in the target's first dimension, which the source does not have."""
    target: str | None
    """The name where it is served, with the groups of `source` as in re.sub. None: it is not served."""
    split: int | None = None
    """The dimension of the source that tensor parallelism splits. None: all ranks have all of it."""
    part: int = 0
    """Sources of one target lie one after the other along `split`, on each rank, in this order."""
    unit: str | int = 1
    """So many indices stay together: a number, or a name in Sync's `units`. If there are fewer units than ranks, each is on
    several ranks."""
    padding: int = 0
    """If not 0: the target's dimension is longer, a multiple of this, and the last ranks have less of the source or nothing."""


LLAMA: tuple[Rule, ...] = (
    Rule(r'(.*)\.self_attn\.q_proj\.(weight|bias)', r'\1.self_attn.qkv_proj.\2', 0, 0, 'head'),
    Rule(r'(.*)\.self_attn\.k_proj\.(weight|bias)', r'\1.self_attn.qkv_proj.\2', 0, 1, 'head'),
    Rule(r'(.*)\.self_attn\.v_proj\.(weight|bias)', r'\1.self_attn.qkv_proj.\2', 0, 2, 'head'),
    Rule(r'(.*\.self_attn\.o_proj)\.weight', r'\1.weight', 1),
    Rule(r'(.*)\.mlp\.gate_proj\.(weight|bias)', r'\1.mlp.gate_up_proj.\2', 0, 0),
    Rule(r'(.*)\.mlp\.up_proj\.(weight|bias)', r'\1.mlp.gate_up_proj.\2', 0, 1),
    Rule(r'(.*\.mlp\.down_proj)\.weight', r'\1.weight', 1),
    Rule(r'((?:.*\.)?(?:embed_tokens|lm_head))\.weight', r'\1.weight', 0, padding=64),
    Rule(r'(.*(?:norm|o_proj|down_proj)\.(?:weight|bias))', r'\1'),
    Rule(r'.*\.rotary_emb\.inv_freq', None),
)
"""From the names of Hugging Face's models to those of vLLM's: Llama, Mistral, Qwen2, and others of their form."""

MIXTRAL: tuple[Rule, ...] = (
    Rule(r'(.*\.block_sparse_moe\.experts)\.(?P<expert>\d+)\.w1\.weight', r'\1.w13_weight', 0, 0),
    Rule(r'(.*\.block_sparse_moe\.experts)\.(?P<expert>\d+)\.w3\.weight', r'\1.w13_weight', 0, 1),
    Rule(r'(.*\.block_sparse_moe\.experts)\.(?P<expert>\d+)\.w2\.weight', r'\1.w2_weight', 1),
    Rule(r'(.*\.block_sparse_moe\.gate\.weight)', r'\1'),
    *LLAMA,
)
"""As LLAMA, with experts of w1, w2 and w3."""


def described(parameters: Mapping[str, Any]) -> dict[str, tuple[Distribution, str]]:
    """The distribution and the dtype of DTensors by name, which ranks that do not have them are told: it can be pickled,
    so torch.distributed.broadcast_object_list will do."""
    for name, p in parameters.items():
        if not hasattr(p, 'device_mesh'):
            raise TypeError(f'{name!r} is no DTensor, but a {type(p).__name__}: give its Distribution and dtype instead')
    return {name: (Distribution.from_dtensor(p), str(p.dtype).removeprefix('torch.')) for name, p in parameters.items()}


class _Place(NamedTuple):
    """Where a source lies in a target."""

    target: str
    held: Distribution
    rule: Rule
    expert: int | None


_Parts = dict[tuple[str, int | None], list[_Place]]
"""The sources of each target, and of each expert in it."""


class Sync:
    """A move of all parameters of a model, by rules.

    rules     the first one whose `source` is the whole name is taken
    before    by name, the distribution and the dtype of each parameter that is trained: the same on all ranks
    mesh      the number of ranks of tensor parallelism that serve; or (replicas, ranks)
    ranks     the ranks that serve, row-major. None: 0, 1, 2 and so on
    units     numbers for the units that rules name, such as {'head': 128}: rows of a head
    experts   how many experts the model has, if each rank has some experts as a whole (expert parallelism), as many as
              the others, in their order. 0: tensor parallelism splits each expert
    others    convert, saturate and budget, as those of Redistribution

    Raises ValueError if a parameter has no rule, two have one place, an expert has no parameters, or a rule names a unit that
    `units` does not have.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        before: Mapping[str, tuple[Distribution, Any]],
        mesh: int | tuple[int, int],
        *,
        ranks: Sequence[int] | None = None,
        units: Mapping[str, int] | None = None,
        experts: int = 0,
        **others: Any,
    ) -> None:
        self._mesh = (1, mesh) if isinstance(mesh, int) else mesh
        self._ranks = range(self._mesh[0] * self._mesh[1]) if ranks is None else ranks
        self._units = units or {}
        self._experts = experts
        self._places: dict[str, _Place] = {}
        self._dropped: set[str] = set()
        self._parts: _Parts = defaultdict(list)
        for name, held in before.items():
            if not isinstance(held, (tuple, list)) or len(held) != 2 or not isinstance(held[0], Distribution):
                raise TypeError(f'before[{name!r}] is of class {type(held).__name__}; it must be a pair of a Distribution and a dtype')
            place = self._placed(rules, name, held[0].shape)
            if place is None:
                self._dropped.add(name)
                continue
            beside = self._parts[place.target, place.expert]
            if place.rule.part in [other.rule.part for other in beside]:
                raise ValueError(f'{name!r} and another parameter have one place in {place.target!r}')
            beside.append(place)
            self._places[name] = place
        self._held_experts = self._experts_of_targets()
        self.redistribution = Redistribution(
            {name: (before[name][0], place.held, before[name][1]) for name, place in self._places.items()}, **others
        )

    def _experts_of_targets(self) -> dict[str, int]:
        """Of each target that has experts, how many are on a rank. Raises ValueError if one is missing."""
        found: dict[str, set[int]] = defaultdict(set)
        for target, expert in self._parts:
            if expert is not None:
                found[target].add(expert)
        for target, numbers in found.items():
            missing = set(range(self._experts or max(numbers) + 1)) - numbers
            if missing:
                raise ValueError(f'{target!r} has no source for expert {min(missing)}')
        return {target: len(numbers) // (self._mesh[1] if self._experts else 1) for target, numbers in found.items()}

    def _placed(self, rules: Sequence[Rule], name: str, shape: tuple[int, ...]) -> _Place | None:
        for rule in rules:
            found = re.fullmatch(rule.source, name)
            if not found:
                continue
            if rule.target is None:
                return None
            number = found.groupdict().get('expert')
            expert = None if number is None else int(number)
            return _Place(found.expand(rule.target), self._held(rule, name, shape, expert), rule, expert)
        raise ValueError(f'{name!r} has no rule')

    def _held(self, rule: Rule, name: str, shape: tuple[int, ...], expert: int | None) -> Distribution:
        """How the source lies on the ranks that serve."""
        replicas, parallel = self._mesh
        if expert is not None and self._experts:
            if not expert < self._experts or self._experts % parallel:
                raise ValueError(f'expert {expert} of {self._experts} on {parallel} ranks')
            at = expert // (self._experts // parallel)
            return Distribution(shape, replicas, Replicate(), self._ranks[at::parallel])
        placement: Placement = Replicate()
        if rule.split is not None:
            size = shape[rule.split]
            if isinstance(rule.unit, str) and rule.unit not in self._units:
                raise ValueError(f'units has no {rule.unit!r}, of which {rule.source!r} needs the number of indices')
            unit = rule.unit if isinstance(rule.unit, int) else self._units[rule.unit]
            padded = -(-size // rule.padding) * rule.padding if rule.padding else size
            if padded % unit or (rule.padding or unit == 1) and padded % parallel:
                length = f'{size} indices, padded to {padded},' if padded != size else f'{size} indices'
                raise ValueError(f'{name!r} has {length} in units of {unit}, which {parallel} ranks cannot share evenly')
            placement = Segment(rule.split, [(size, unit)]) if not rule.padding else Cyclic(rule.split, max(padded // parallel, 1))
        return Distribution(shape, self._mesh, [Replicate(), placement], self._ranks)

    def targets(self, served: Mapping[str, Any], rank: int) -> Mapping[str, Any]:
        """By the names of sources, the views of a rank's served parameters that they go to. Names that no rule fills stay."""
        return _Targets(self._places, self._parts, served, rank, self._held_experts)

    def prepare(
        self, engine: Any, trained: Mapping[str, Any], served: Mapping[str, Any], **others: Any
    ) -> Execution:
        """As Redistribution.prepare, with the parameters that this rank has. DTensors stand for their local arrays, and none
        of them needs a gradient here."""
        rank = engine_of(engine, None).rank
        sources = _Later(lambda: {name: _local(p) for name, p in trained.items() if name not in self._dropped})
        return self.redistribution.prepare(engine, sources, _Later(lambda: self.targets(served, rank)), **others)

    def execute(self, engine: Any, trained: Mapping[str, Any], served: Mapping[str, Any], **others: Any) -> None:
        """As Redistribution.execute: prepare, and run once."""
        self.prepare(engine, trained, served, **others).run()


def _local(parameter: Any) -> Any:
    array = parameter.detach() if hasattr(parameter, 'detach') else parameter
    return array.to_local() if hasattr(array, 'to_local') else array


class _Later(Mapping[str, Any]):
    """A mapping that is made when it is asked for: what is wrong with it is found where all ranks hear of it."""

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._make = make

    @functools.cached_property
    def _made(self) -> Mapping[str, Any]:
        return self._make()

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __getitem__(self, name: str) -> Any:
        return self._made[name]


class _Targets(Mapping[str, Any]):
    """Views, each made when it is asked for, for the same reason."""

    def __init__(
        self, places: Mapping[str, _Place], parts: _Parts, served: Mapping[str, Any], rank: int, experts: Mapping[str, int]
    ) -> None:
        """experts: by target, how many a rank has."""
        self._parts, self._served, self._rank, self._experts = parts, served, rank, experts
        filled = {place.target for place in places.values()}
        self._places: dict[str, _Place | None] = dict.fromkeys([name for name in served if name not in filled])
        self._places |= {
            name: place for name, place in places.items() if place.target in served and place.held.position(rank) is not None
        }
        self._made: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            place = self._places[name]
            self._made[name] = self._view(place) if place else self._served[name]
        return self._made[name]

    def _view(self, place: _Place) -> Any:
        array = _local(self._served[place.target])
        if place.expert is not None:
            held = self._experts[place.target]
            if len(array) != held:
                raise ValueError(f'{place.target!r} has {len(array)} experts; its sources have {held} for a rank')
            array = array[place.expert % held]
        axis, beside = place.rule.split, self._parts[place.target, place.expert]
        if axis is None:
            return array
        lengths = {other.rule.part: other.held.local_shape(self._rank)[axis] for other in beside}
        if sum(lengths.values()) != array.shape[axis] and not place.rule.padding:
            raise ValueError(f'{place.target!r} has {array.shape[axis]} indices; its sources have {sum(lengths.values())}')
        begin = sum([length for part, length in lengths.items() if part < place.rule.part])
        return array[(slice(None),) * axis + (slice(begin, begin + lengths[place.rule.part]),)]
