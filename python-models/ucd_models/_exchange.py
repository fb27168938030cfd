"""Redistributions over an engine: rounds of messages, and what needs no message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ucd
from ucd import interop
from ucd_models._agreement import agreed, attempted
from ucd_models._direct import Direct
from ucd_models._engine import Engine, Wait, given_up
from ucd_models._errors import Naming
from ucd_models._launches import Moves
from ucd_models._overlap import Place, require_apart
from ucd_models._rounds import Round, Share, places
from ucd_models._routing import Routing


class _Messages:
    """The messages of a round, and what packs and unpacks them."""

    def __init__(self) -> None:
        self.packing, self.unpacking = Moves(), Moves()
        self.sends: dict[int, Any] = {}
        self.receives: dict[int, Any] = {}


class Exchange:
    """Rounds of messages over an engine, and what needs no message."""

    def __init__(
        self,
        routings: Mapping[str, Routing],
        rounds: Callable[[int], Sequence[Round]],
        digest: bytes,
        engine: Engine,
        sources: Mapping[str, Any],
        targets: Mapping[str, Any],
        direct: bool,
        problem: Exception | None,
    ) -> None:
        """direct: whether ranks access each other's memory. problem: of this rank's arguments, found before.

        What this rank alone cannot do, the others hear of before they wait for its messages: nothing raises but what
        all ranks raise."""
        self._engine = engine
        self._arrays = (sources, targets)
        self._like: Any = None
        self._memory = b'-'
        self._direct: Direct | None = None
        self.direct_peers: tuple[int, ...] = ()
        problem = problem or attempted(lambda: self._check(routings))
        if not direct:
            problem = problem or attempted(lambda: self._plan(rounds))
        others = agreed(engine, digest + self._memory, problem, self._like)
        if len({other[:-1] for other in others}) > 1:
            raise ValueError('the ranks have different redistributions: names, distributions, dtypes, budgets, or direct')
        engine.settle(frozenset({'device' if other.endswith(b'd') else 'host' for other in others if not other.endswith(b'-')}))
        if direct:
            with Naming('the ranks could not tell each other where their arrays are', ()):
                self._direct = Direct(engine, routings, self._strides, sources, targets, self._like)
            self.direct_peers = self._direct.peers
            agreed(engine, b'', attempted(lambda: self._plan(rounds)), self._like)

    def _check(self, routings: Mapping[str, Routing]) -> None:
        """Finds the strides of the arrays that have routes, by side and name; one of this rank's arrays; and where they
        are. Arrays of other names are not looked at."""
        places: tuple[list[Place], list[Place]] = ([], [])
        self._strides: dict[tuple[int, str], tuple[int, ...]] = {}
        rank = self._engine.rank
        for name, of_array in routings.items():
            for side, routes in ((0, of_array.sends(rank)), (1, of_array.receives(rank))):
                what = f'{("sources", "targets")[side]}[{name!r}]'
                array = self._arrays[side].get(name)
                if array is not None:
                    memory = b'h' if ucd.memory(array) == 'host' else b'd'
                    self._memory = memory if self._memory != b'd' else b'd'
                    self._like = array if self._like is None else self._like
                if not routes:
                    continue
                if array is None:
                    raise ValueError(f'{what} is missing')
                places[side].append(of_array.place_of(array, side, rank, what))
                self._strides[side, name] = places[side][-1].strides
        require_apart(places[1], places[0])

    def _plan(self, rounds: Callable[[int], Sequence[Round]]) -> None:
        """Gets the memory for messages, and plans packing and unpacking, and what needs no message."""
        if self._direct:
            self._direct.plan()
        left: Sequence[Round] = rounds(self._engine.rank)
        strangers = {peer for made in left for peer in (*made.sends, *made.receives)} - set(self._engine.ranks)
        if strangers:
            raise ValueError(f'the redistribution has rank {min(strangers)}, which the engine does not have')
        if self.direct_peers:
            left = [some for made in left if (some := made.without(self.direct_peers))]
        buffers = self._buffers(left, self._like)
        self._rounds = [self._messages(made, buffers[k % 2]) for k, made in enumerate(left)]

    def _buffers(self, rounds: Sequence[Round], like: Any) -> list[Any]:
        """Two memories for the messages of a round, which rounds take in turns."""
        found = []
        for parity in (0, 1):
            sizes = [
                sum([places(shares)[1] for peers in (made.sends, made.receives) for shares in peers.values()])
                for made in rounds[parity::2]
            ]
            found.append(interop.new_bytes(like, max(sizes)) if max(sizes, default=0) else None)
        return found

    def _messages(self, made: Round, buffer: Any) -> _Messages:
        found = _Messages()
        begin = 0
        for side, peers in ((0, made.sends), (1, made.receives)):
            for peer, shares in peers.items():
                starts, length = places(shares)
                for share, at in zip(shares, starts):
                    packed = buffer[begin + at : begin + at + share.nbytes]
                    self._add(found, side, share, packed)
                (found.receives if side else found.sends)[peer] = buffer[begin : begin + length]
                begin += length
        for share in made.keeps:
            self._add(found, 0, share, None)
        found.packing.prepare()
        found.unpacking.prepare()
        return found

    def _type(self, side: int, share: Share) -> ucd.Type:
        return share.route._type(side, self._strides[side, share.name], share.cut)

    def _add(self, found: _Messages, side: int, share: Share, packed: Any) -> None:
        of_array = share.route._routing
        array, type = self._arrays[side][share.name], self._type(side, share)
        if packed is None:
            there = self._arrays[1][share.name]
            found.packing.add(of_array.converts, 'copy', array, there, type, 1, self._type(1, share), 1)
            return
        wire = of_array.wire_element
        flat = ucd.Type.contiguous(share.route._elements(share.cut), wire)
        if side == 0:
            if wire is of_array.element:
                found.packing.add(False, 'pack', array, packed, type)
            else:
                found.packing.add(True, 'copy', array, packed, type, 1, flat, 1)
        elif wire is of_array.target_element:
            found.unpacking.add(False, 'unpack', packed, array, type)
        else:
            found.unpacking.add(True, 'copy', packed, array, flat, 1, type, 1)

    def run(self) -> None:
        waits: list[tuple[list[int], Wait]] = []
        try:
            if self._direct:
                with Naming('ranks that write to each other did not all come, so the targets are unfinished', ()):
                    self._direct.run()
            self._run(waits)
        except BaseException:
            given_up.append((waits, [(made.sends, made.receives) for made in self._rounds]))
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
                    waits += self._engine.post(following.sends, following.receives)
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
