"""Redistributions over engines that people have: torch.distributed, mpi4py, UCX, and one process."""

from __future__ import annotations

import datetime
import functools
import itertools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import ucd
from ucd import interop
from ucd_models._agreement import agreed, attempted
from ucd_models._direct import Direct, Group
from ucd_models._errors import Naming
from ucd_models._launches import Moves
from ucd_models._overlap import Place, require_apart
from ucd_models._rounds import Round, Share, places
from ucd_models._routing import Routing
from ucd_models._ucx_engine import UcxEngine, UcxMessages, Wait, started_with

# mpi4py's messages count in int.
_MAX_MESSAGE = 1 << 30


class Engine(Protocol):
    """What carries messages."""

    rank: int
    ranks: Sequence[int]
    """All ranks, in the order of gather."""
    in_stream: bool
    """Whether messages follow the work in the current stream. After settle."""

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        """The bytes of all ranks, which have as many each. like: an array of this rank, if it has one."""

    def settle(self, memories: frozenset[str]) -> None:
        """memories: where the arrays of all ranks are, "host" and "device". Collective, after the first gather."""

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        """Starts messages to and from peers. Returns waits, each with the peers that it is for: none, if the engine does
        not tell them apart. A message that does not start fails in its wait."""


# Memory of messages that were given up, which an engine may still read and write, and their requests.
_given_up: list[Any] = []


class MpiEngine:
    """An mpi4py communicator. timeout: of each message, in seconds; None: MPI decides."""

    in_stream = False

    def __init__(self, comm: Any, timeout: float | None) -> None:
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.ranks: Sequence[int] = range(comm.Get_size())
        self._timeout = timeout

    def settle(self, memories: frozenset[str]) -> None:
        pass

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        from mpi4py import MPI

        found = bytearray(len(mine) * self.comm.Get_size())
        request = self.comm.Iallgather([mine, MPI.BYTE], [found, MPI.BYTE])
        try:
            self._wait(request)
        except BaseException:
            _given_up.append((request, mine, found))
            raise
        return _split(bytes(found), len(mine))

    def barrier(self) -> None:
        """Returns when all ranks have come here."""
        self._wait(self.comm.Ibarrier())

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        from mpi4py import MPI

        started: list[tuple[list[int], Wait]] = []
        for peers, start in ((receives, self.comm.Irecv), (sends, self.comm.Isend)):
            for peer, whole in peers.items():
                for piece in _pieces(whole):
                    begin = functools.partial(start, [piece, MPI.BYTE], peer)
                    started.append(started_with(peer, begin, self._wait))
        return started

    def _wait(self, request: Any) -> None:
        if self._timeout is None:
            request.Wait()
            return
        began = time.monotonic()
        for tries in itertools.count():
            if request.Test():
                return
            if time.monotonic() - began > self._timeout:
                raise TimeoutError(f'nothing came or went for {self._timeout} seconds')
            if tries > 100:
                time.sleep(1e-4)


def _split(found: bytes, length: int) -> list[bytes]:
    """What ranks have given, one after the other."""
    return [found[at : at + length] for at in range(0, len(found), length)]


def _pieces(whole: Any) -> list[Any]:
    whole = memoryview(whole) if isinstance(whole, bytearray) else whole
    return [whole[at : at + _MAX_MESSAGE] for at in range(0, len(whole), _MAX_MESSAGE)]


class TorchEngine:
    """A process group of torch.distributed; None: the default one. timeout: of each message, in seconds; None: the
    group's. NCCL has the group's always: to wait for a message would hold up the thread, not the stream."""

    in_stream = False

    def __init__(self, group: Any, timeout: float | None) -> None:
        self._dist = sys.modules['torch.distributed']
        self.group = group
        self.rank: int = self._dist.get_rank()
        # Those of the default group, in the order of this group.
        self.ranks: Sequence[int] = self._dist.get_process_group_ranks(self._dist.group.WORLD if group is None else group)
        # Such as "cpu:gloo,cuda:nccl", which is also what a group has that was made without a name of a backend.
        backends = str(getattr(self._dist, 'get_backend_config', self._dist.get_backend)(group))
        self._has_nccl = 'nccl' in backends
        self._has_host = not self._has_nccl or 'cpu:' in backends
        self._timeout = () if timeout is None else (datetime.timedelta(seconds=timeout),)
        self._device: Any = 'cuda'  # that NCCL uses
        self._meeting: Any = None  # what a barrier sums

    def gather(self, mine: bytes, like: Any) -> list[bytes]:
        torch = sys.modules['torch']
        if getattr(getattr(like, 'device', None), 'type', '') == 'cuda':
            self._device = like.device
        ours = torch.frombuffer(bytearray(mine), dtype=torch.uint8).to('cpu' if self._has_host else self._device)
        found = ours.new_empty(len(self.ranks) * len(mine))
        if self._has_host:
            work = self._dist.all_gather(list(found.split(len(mine))), ours, group=self.group, async_op=True)
            work.wait(*self._timeout)
        else:
            self._dist.all_gather_into_tensor(found, ours, group=self.group)
        return _split(bytes(found.tolist()), len(mine))

    def settle(self, memories: frozenset[str]) -> None:
        torch = sys.modules['torch']
        if self._has_nccl and self._has_host and len(memories) > 1:
            raise ValueError('some ranks have their arrays on devices, others on the host: NCCL and Gloo exchange nothing')
        self.in_stream = self._has_nccl and (not self._has_host or 'device' in memories)
        self._meeting = torch.zeros(1, dtype=torch.int32, device=self._device if self.in_stream else 'cpu')
        if self.in_stream:
            self._timeout = ()
            self.barrier()  # the first exchange of a group of NCCL needs all of its ranks

    def barrier(self) -> None:
        """What follows begins, in the current stream if in_stream, when all ranks have come here. After settle."""
        work = self._dist.all_reduce(self._meeting, group=self.group, async_op=True)
        work.wait(*self._timeout)

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        listed = [(start, peer, whole) for start, some in self._ways(sends, receives) for peer, whole in some.items()]
        if not self.in_stream:
            return [
                started_with(peer, functools.partial(start, whole, peer, self.group), lambda work: work.wait(*self._timeout))
                for start, peer, whole in listed
            ]
        if not listed:
            return []
        # NCCL's messages are one operation, which says of no failure whose it is.
        works = self._dist.batch_isend_irecv([self._dist.P2POp(start, whole, peer, self.group) for start, peer, whole in listed])
        peers = {peer for _, peer, _ in listed}
        return [(list(peers) if len(peers) == 1 else [], work.wait) for work in works]

    def _ways(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> tuple[tuple[Any, Mapping[int, Any]], ...]:
        return (self._dist.irecv, receives), (self._dist.isend, sends)


def _engine_of(given: Any, timeout: float | None) -> Engine:
    if hasattr(given, 'Get_rank') and hasattr(given, 'Isend'):
        return MpiEngine(given, timeout)
    if isinstance(given, UcxEngine):
        return UcxMessages(given, timeout)
    if given is sys.modules.get('torch.distributed'):
        return TorchEngine(None, timeout)
    if any(cls.__name__ == 'ProcessGroup' for cls in type(given).__mro__):
        return TorchEngine(given, timeout)
    raise TypeError(f'{given!r} is neither a process group of torch.distributed, a communicator of mpi4py, nor a UcxEngine')


class Execution(Protocol):
    """A redistribution of certain arrays, which may be made as often as wanted."""

    direct_peers: tuple[int, ...]
    """The ranks with which this rank exchanges data without messages."""

    def run(self) -> None:
        """Moves what the arrays hold now: as Redistribution.execute."""


class _Messages:
    """The messages of a round, and what packs and unpacks them."""

    def __init__(self) -> None:
        self.packing, self.unpacking = Moves(), Moves()
        self.sends: dict[int, Any] = {}
        self.receives: dict[int, Any] = {}


class _Local:
    """All ranks are in this process: each route is a copy from layout to layout."""

    direct_peers: tuple[int, ...] = ()

    def __init__(self, routings: Mapping[str, Routing], sources: Mapping[str, Any], targets: Mapping[str, Any]) -> None:
        by_memory: dict[tuple[str, str], Moves] = {}
        written: dict[tuple[str, int], Place] = {}
        read: dict[tuple[str, int], Place] = {}
        for name, of_array in routings.items():
            ours, theirs = sources[name], targets[name]
            for given, held, what in ((ours, of_array.source, 'sources'), (theirs, of_array.target, 'targets')):
                if len(given) != held.size:
                    raise ValueError(f'{what}[{name!r}] has {len(given)} arrays for {held.size} ranks')
            for route in of_array.routes:
                at = route._places
                a, b = ours[at[0]], theirs[at[1]]
                if (name, at[0]) not in read:
                    read[name, at[0]] = of_array.place_of(a, 0, route.source, f'sources[{name!r}][{at[0]}]')
                if (name, at[1]) not in written:
                    written[name, at[1]] = of_array.place_of(b, 1, route.target, f'targets[{name!r}][{at[1]}]')
                send = route.send_type(read[name, at[0]].strides)
                receive = route.receive_type(written[name, at[1]].strides)
                moves = by_memory.setdefault((ucd.memory(a), ucd.memory(b)), Moves())
                moves.add(of_array.converts, 'copy', a, b, send, 1, receive, 1)
        require_apart(written.values(), read.values())
        self._moves = list(by_memory.values())
        for moves in self._moves:
            moves.prepare()

    def run(self) -> None:
        for moves in self._moves:
            moves.run(True)


class _Exchange:
    """Rounds of messages over an engine, and what needs no message."""

    def __init__(
        self,
        routings: Mapping[str, Routing],
        rounds: Callable[[int], Sequence[Round]],
        digest: bytes,
        engine: Engine,
        sources: Mapping[str, Any],
        targets: Mapping[str, Any],
        group: Group | None,
        problem: Exception | None,
    ) -> None:
        """group: the engine, if ranks access each other's memory. problem: of this rank's arguments, found before.

        What this rank alone cannot do, the others hear of before they wait for its messages: nothing raises but what
        all ranks raise."""
        self._engine = engine
        self._arrays = (sources, targets)
        self._like: Any = None
        self._memory = b'-'
        self._direct: Direct | None = None
        self.direct_peers: tuple[int, ...] = ()
        problem = problem or attempted(lambda: self._check(routings))
        if not group:
            problem = problem or attempted(lambda: self._plan(rounds))
        others = agreed(engine, digest + self._memory, problem, self._like)
        if len({other[:-1] for other in others}) > 1:
            raise ValueError('the ranks have different redistributions: names, distributions, dtypes, budgets, or direct')
        engine.settle(frozenset({'device' if other.endswith(b'd') else 'host' for other in others if not other.endswith(b'-')}))
        if group:
            with Naming('the ranks could not tell each other where their arrays are', ()):
                self._direct = Direct(group, routings, self._strides, sources, targets, self._like)
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
            _given_up.append((waits, [(made.sends, made.receives) for made in self._rounds]))
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


def local(routings: Mapping[str, Routing], sources: Mapping[str, Any], targets: Mapping[str, Any]) -> Execution:
    """All ranks in this process."""
    return _Local(routings, sources, targets)


def exchange(
    routings: Mapping[str, Routing],
    rounds: Callable[[int], Sequence[Round]],
    digest: bytes,
    engine: Any,
    sources: Mapping[str, Any],
    targets: Mapping[str, Any],
    timeout: float | None,
    direct: bool,
) -> Execution:
    """Rounds of messages over an engine. rounds: those of a rank. digest: equal on ranks that do the same."""
    problem = attempted(lambda: _require_time_out(timeout))
    via = _engine_of(engine, None if problem else timeout)
    group = via if direct and isinstance(via, (TorchEngine, MpiEngine)) else None
    if direct and not group:
        problem = problem or ValueError('direct needs torch.distributed or mpi4py; for a UcxEngine, set ucd.ucx.direct')
    return _Exchange(routings, rounds, digest, via, sources, targets, group, problem)


def _require_time_out(timeout: float | None) -> None:
    if timeout is not None and not timeout > 0:
        raise ValueError(f'timeout is {timeout}; it must be > 0')
