"""Redistributions over an engine: rounds of messages, and what needs no message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import ucd
from ucd import interop
from ucd_models._agreement import agreed, attempted
from ucd_models._direct import Direct
from ucd_models._engine import Engine, Wait, count, given_up, next_number
from ucd_models._errors import Naming
from ucd_models._launches import Moves
from ucd_models._overlap import Place, require_apart
from ucd_models._rounds import Messages, Round, Share
from ucd_models._routing import Routing
from ucd_models._scaled_arrays import ScaledRun

# Thread blocks that pack and unpack a round on a device, without a conversion and with one. They keep up with a link, and
# leave the rest of the device to the kernels of the engine that send at the same time: with more, messages over NCCL
# take longer (python-models/bench/message_profile.py).
BLOCKS_BESIDE_MESSAGES = (80, 400)


class Plan(Protocol):
    """A Redistribution."""

    routings: dict[str, Routing]
    saturate: bool

    def rounds(self, rank: int) -> list[Round]:
        """What a rank sends and receives, round by round."""

    def digest(self, direct: bool) -> bytes:
        """Equal on ranks that do the same."""

    def scaled(self, rank: int | None, sources: Mapping[str, Any], targets: Mapping[str, Any]) -> ScaledRun | None:
        """What converts with scales, before and after the move. rank: None if all are in this process."""


def require_known(routings: Mapping[str, Routing], *given: Iterable[str]) -> None:
    """given: the names of sources and targets."""
    for names, what in zip(given, ('sources', 'targets')):
        unknown = [name for name in names if name not in routings]
        if unknown:
            raise ValueError(f'{what} has {unknown[0]!r}, which the redistribution does not have')


class _Prepared:
    """The messages of a round that are sent and received, their memory, and what packs and unpacks them."""

    def __init__(self, ways: Sequence[Messages], buffer: Any, saturate: bool) -> None:
        self._ways = ways
        middle = ways[0].nbytes
        self.memories = (buffer[:middle], buffer[middle : middle + ways[1].nbytes]) if buffer is not None else (None, None)
        plain, converting = [ucd.Hints({'max_blocks': blocks}) for blocks in BLOCKS_BESIDE_MESSAGES]
        self.packing, self.unpacking = [Moves(saturate, (plain, converting)) for _ in (0, 1)]

    def by_peer(self) -> list[dict[int, Any]]:
        """The messages to each peer, and those from each."""
        return [way.of_peers(memory) for way, memory in zip(self._ways, self.memories)]


class Exchange:
    """Rounds of messages over an engine, and what needs no message."""

    def __init__(
        self,
        plan: Plan,
        engine: Engine,
        sources: Mapping[str, Any],
        targets: Mapping[str, Any],
        direct: bool,
        problem: Exception | None,
        places: Mapping[str, Place] | None = None,
    ) -> None:
        """direct: whether ranks access each other's memory. problem: of this rank's arguments, found before. places: as
        ScaledRun has them.

        What this rank alone cannot do, the others hear of before they wait for its messages: nothing raises but what
        all ranks raise."""
        self._plan = plan
        self._engine = engine
        self._arrays = (sources, targets)
        self._like: Any = None
        self._memory = b'-'
        self._direct: Direct | None = None
        self.direct_peers: tuple[int, ...] = ()
        problem = problem or attempted(lambda: self._check(places))
        if not direct:
            problem = problem or attempted(self._prepare)
        number = next_number().to_bytes(8, 'little')
        said = agreed(engine, number + plan.digest(direct) + self._memory, problem, self._like)
        engine.number = max([int.from_bytes(one[:8], 'little') for one in said])
        count(engine.number)
        others = [one[8:] for one in said]
        if len({other[:-1] for other in others}) > 1:
            raise ValueError('the ranks have different redistributions: names, distributions, dtypes, budgets, or direct')
        engine.settle(frozenset({'device' if other.endswith(b'd') else 'host' for other in others if not other.endswith(b'-')}))
        if direct:
            with Naming('the ranks could not tell each other where their arrays are', ()):
                self._direct = Direct(engine, plan.routings, self._strides, sources, targets, self._like, plan.saturate)
            self.direct_peers = self._direct.peers
            agreed(engine, b'', attempted(self._prepare), self._like)

    def _check(self, in_their_place: Mapping[str, Place] | None) -> None:
        """Finds the strides of the arrays that have routes, by side and name; one of this rank's arrays; and where they
        are."""
        places: tuple[list[Place], list[Place]] = ([], [])
        self._strides: dict[tuple[int, str], tuple[int, ...]] = {}
        rank = self._engine.rank
        require_known(self._plan.routings, *self._arrays)
        for name, of_array in self._plan.routings.items():
            kept = of_array.fans(1, rank)[1]
            for side in (0, 1):
                what = f'{("sources", "targets")[side]}[{name!r}]'
                array = self._arrays[side].get(name)
                if array is not None:
                    memory = b'h' if ucd.memory(array) == 'host' else b'd'
                    if self._memory != b'd' and 0 not in interop.shape_and_strides(array)[0]:  # which is nowhere
                        self._memory = memory
                    self._like = array if self._like is None else self._like
                if not kept and not of_array.fans(side, rank)[0]:
                    continue
                if array is None:
                    raise ValueError(f'{what} is missing')
                places[side].append(of_array.place_of(array, side, rank, what))
                self._strides[side, name] = places[side][-1].strides
        require_apart(places[1], places[0], in_their_place)

    def _prepare(self) -> None:
        """Gets the memory for messages, and plans packing and unpacking, and what needs no message."""
        if self._direct:
            self._direct.plan()
        left: Sequence[Round] = self._plan.rounds(self._engine.rank)
        if self.direct_peers:
            left = [some for made in left if (some := made.without(self.direct_peers))]
        layouts = [(Messages(made.sends), Messages(made.receives)) for made in left]
        strangers = {peer for ways in layouts for way in ways for peer in way.peers} - set(self._engine.ranks)
        if strangers:
            raise ValueError(f'the redistribution has rank {min(strangers)}, which the engine does not have')
        sizes = [sum([way.nbytes for way in ways]) for ways in layouts]
        # Two memories, which rounds take in turns.
        buffers = [interop.new_bytes(self._like, n) if (n := max(sizes[k::2], default=0)) else None for k in (0, 1)]
        self._rounds = [self._prepared(made, ways, buffers[k % 2]) for k, (made, ways) in enumerate(zip(left, layouts))]

    def _prepared(self, made: Round, ways: Sequence[Messages], buffer: Any) -> _Prepared:
        found = _Prepared(ways, buffer, self._plan.saturate)
        for side, (way, memory) in enumerate(zip(ways, found.memories)):
            for share, at, step in way.stretches:
                packed = memory[at : at + (share.fan.number - 1) * step + share.nbytes]
                self._add(found, side, share, packed, step)
        for share in made.keeps:
            array, there = [self._arrays[side][share.name] for side in (0, 1)]
            found.packing.add(share.routing.converts, 'copy', array, there, self._type(0, share), 1, self._type(1, share), 1)
        found.packing.prepare()
        found.unpacking.prepare()
        return found

    def _type(self, side: int, share: Share) -> ucd.Type:
        return share.routing.type_of(share.fan, side, self._strides[side, share.name])

    def _add(self, found: _Prepared, side: int, share: Share, packed: Any, step: int) -> None:
        """Packs shares of messages (side 0), or unpacks them. step: bytes from one to the next."""
        of_array = share.routing
        array, type = self._arrays[side][share.name], self._type(side, share)
        wire = of_array.wire_element
        converts = wire is not (of_array.element, of_array.target_element)[side]
        moves = (found.packing, found.unpacking)[side]
        if share.fan.number == 1 and not converts:
            moves.add(False, *(('unpack', packed, array, type) if side else ('pack', array, packed, type)))
            return
        flat = ucd.Type.contiguous(share.fan.elements, wire)
        if share.fan.number > 1:
            flat = ucd.Type.hvector(share.fan.number, 1, step, flat)
        moves.add(converts, 'copy', *((packed, array, flat, 1, type, 1) if side else (array, packed, type, 1, flat, 1)))

    def run(self) -> None:
        waits: list[tuple[list[int], Wait]] = []
        try:
            if self._direct:
                with Naming('ranks that write to each other did not all come, so the targets are unfinished', ()):
                    self._direct.run()
            self._run(waits)
        except BaseException:
            given_up.append((waits, [made.memories for made in self._rounds]))
            raise

    def _run(self, waits: list[tuple[list[int], Wait]]) -> None:
        """waits: gets those that are not over."""
        # Round k + 1 is packed and posted before round k is waited for, so that one is on the wire while the other
        # is packed or unpacked. Its buffers are those of round k - 1, which is over by then.
        under_way = 0
        for k in range(len(self._rounds) + 1):
            following = self._rounds[k] if k < len(self._rounds) else None
            if following is not None:
                following.packing.run(self._engine.in_stream)
                with self._naming(k, ()):
                    waits += self._engine.post(*following.by_peer())
            posted = len(waits) - under_way
            for peers, wait in waits[:under_way]:
                with self._naming(k - 1, peers):
                    wait()
            if k > 0:
                self._rounds[k - 1].unpacking.run(self._engine.in_stream)
            del waits[:under_way]
            under_way = posted

    def _naming(self, number: int, peers: Sequence[int]) -> Naming:
        names = f' with rank {", ".join(map(str, peers))}' if peers else ''
        what = f'messages{names} failed in round {number + 1} of {len(self._rounds)}, so the targets are unfinished'
        return Naming(what, peers)
