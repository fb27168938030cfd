"""Arrays that move together from one distribution over ranks to another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ucd_models._engine import Execution
from ucd_models._execution import execution_of
from ucd_models._placements import Distribution, Segment
from ucd_models._rounds import Round, round_of
from ucd_models._routing import WHOLE, Cut, Routing, routing
from ucd_models._scaled_arrays import Scaled, ScaledRun
from ucd_models._scales import scales_of

DEFAULT_BUDGET = 256 << 20


class Redistribution:
    """Arrays that move together: the weights of a model, from one set of ranks to another.

    move = ucd_models.Redistribution({'wq': (before, after, 'float32'), ...}, convert='bfloat16')
    move.execute(engine, sources, targets)

    tensors  for each name: the source's and the target's Distribution, and the dtype of the source: a name such as
             'bfloat16', a dtype of torch, or what numpy.dtype takes. The order of the names must be the same on all ranks.
    convert  the dtype of the targets of floating and complex numbers; None: as the sources. Integers and booleans keep
             theirs. Elements are converted by the sender if they become smaller, else by the receiver, so the smaller
             ones are sent. Values: as those of copy(convert=True).
    saturate of numbers that are too large for `convert` becomes the largest finite one: as copy(convert='saturate').
    scales   of names that are converted to floats of 8 bits, or from them: Scales of the whole array, or what Scales takes,
             in the memory of this rank's array. value = stored * scale, as ucd_models.copy has it. None: of a rank that has
             no array to convert. All ranks give the same names. Each local array is converted into memory of its own before
             the move, or from it behind the move: a byte for each element.
    budget   how many bytes of memory, in all, a rank uses for messages. The move is made in rounds that stay within
             it: of as many arrays as fit, or of parts of one. 16 bytes for each route may be added. At least one
             index of an array's longest dimension moves in a round, whatever the budget.

    A rank's part of the work grows with the number of its own routes.
    """

    def __init__(
        self,
        tensors: Mapping[str, tuple[Distribution, Distribution, Any]],
        *,
        convert: Any = None,
        saturate: bool = False,
        scales: Mapping[str, Any] | None = None,
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        if budget < 1:
            raise ValueError(f'budget is {budget}; it must be >= 1')
        self.routings: dict[str, Routing] = {name: _converted(routing(*of), convert) for name, of in tensors.items()}
        self._scaled: dict[str, Scaled] = {}
        for name, given in (scales or {}).items():
            if name not in self.routings:
                raise ValueError(f'scales has {name!r}, which the redistribution does not have')
            of_array = self._scaled[name] = Scaled(self.routings[name], None if given is None else scales_of(given))
            # What moves is floats of 8 bits.
            self.routings[name] = routing(of_array.routing.source, of_array.routing.target, of_array.small)
        self.saturate = saturate
        self.budget = budget
        self._rounds = list(self._divided())

    def __repr__(self) -> str:
        return f'<ucd_models.Redistribution of {len(self.routings)} arrays in {len(self._rounds)} rounds>'

    def __len__(self) -> int:
        """In how many rounds it is made."""
        return len(self._rounds)

    def _divided(self) -> Iterable[list[tuple[str, Cut]]]:
        """The rounds, which every rank divides alike: by what a rank has to send and receive at most."""
        room = max(self.budget // 2, 1)  # of a round, since two are under way at a time
        gathered: list[tuple[str, Cut]] = []
        used = 0
        for name, of_array in self.routings.items():
            for cut, nbytes in _pieces(of_array, room):
                if gathered and used + nbytes > room:
                    yield gathered
                    gathered, used = [], 0
                gathered.append((name, cut))
                used += nbytes
        if gathered:
            yield gathered

    def rounds(self, rank: int) -> list[Round]:
        """What a rank sends and receives, round by round."""
        return [round_of([(name, self.routings[name], cut) for name, cut in members], rank) for members in self._rounds]

    def digest(self, direct: bool = False) -> bytes:
        """A hash of the redistribution, and of whether it is made without messages, by which ranks compare theirs."""
        import hashlib

        def said(name: str, cut: Cut) -> tuple[Any, ...]:
            r = self.routings[name]
            return name, cut, r.source, r.target, r.element.name or r.element.size, r.target_element.name or r.target_element.size

        text = repr((direct, self.saturate, [[said(*member) for member in members] for members in self._rounds]))
        return hashlib.sha256(text.encode()).digest()

    def prepare(
        self,
        engine: Any,
        sources: Mapping[str, Any],
        targets: Mapping[str, Any],
        *,
        timeout: float | None = None,
        direct: bool = False,
    ) -> Execution:
        """Checks the arrays, gets memory for messages, and plans all packing: once, for a move that comes again.
        Collective and with the errors of execute, but nothing has moved. `run()` of what it returns moves what the
        arrays hold then.

        direct   whether ranks on the devices of one machine access each other's arrays: no messages, and no memory for
                 them. A rank writes to the targets of the others, or reads their sources if convert makes elements
                 larger. With torch.distributed and mpi4py. Ranks that do not reach each other's memory exchange messages as
                 before; `direct_peers` of what is returned are those that do. The other ranks of the group can then
                 access the whole allocations that these arrays are in. No rank may free its arrays before all ranks
                 have deleted what is returned.
        """
        return execution_of(self, engine, sources, targets, timeout, direct)

    def scaled(self, rank: int | None, sources: Mapping[str, Any], targets: Mapping[str, Any]) -> ScaledRun | None:
        """What converts with scales, before and after the move. rank: None if all are in this process."""
        return ScaledRun(self._scaled, rank, self.saturate, (sources, targets)) if self._scaled else None

    def execute(
        self, engine: Any, sources: Mapping[str, Any], targets: Mapping[str, Any], *, timeout: float | None = None
    ) -> None:
        """Moves the data.

        engine   a torch.distributed process group, or torch.distributed itself for the default one (NCCL for
                 device memory, Gloo for host memory); a communicator of mpi4py; or a UcxEngine. Ranks are those of
                 torch.distributed.get_rank(), the communicator's, and the engine's. None: all ranks are in this
                 process.
        sources  by name, this rank's local arrays. Without an engine: for each name, the arrays of all ranks, in the
                 order of the mesh.
        targets  likewise; written. A rank leaves out arrays of which it has nothing, or gives None.
        timeout  after how many seconds a rank gives up waiting for a message, with mpi4py, UCX and Gloo. None: with
                 torch.distributed the time-out of the process group; with mpi4py and UCX never. NCCL has the group's always.

        Arrays have the local shapes, any strides, and are all in one memory: the host's or one device's. Sources and
        targets do not overlap. Without an engine they may lie on several devices that reach each other.

        Collective: every rank of the engine calls it, those without data too. All packing for all peers in a round
        is one launch, and a rank sends each peer one message in a round; while one is on the wire, the next is
        packed and the one before unpacked. With NCCL the work is enqueued in the current stream, and may be
        unfinished on return. With other engines it is done on return.

        Raises ValueError if the ranks have different redistributions, an array is missing or has a name that the
        redistribution does not have, its shape is not the local one, the size of its elements is not the one of the dtype,
        both are floating formats and differ, a target has bytes in common with another array, or two of its own indices
        are one place; NotSupported for elements of the other byte order; and what ucd.pack_into
        raises. If it concerns one rank only, the others raise ValueError with its number and the reason. All this comes
        before anything is sent. Integers and bytes stand for any format of their size. Raises RedistributionError if a
        message fails, a peer is lost or the time is over: then every target is to be taken as unfinished.
        """
        self.prepare(engine, sources, targets, timeout=timeout).run()


def _converted(r: Routing, dtype: Any) -> Routing:
    """A routing to targets of a dtype. Integers keep theirs: they are positions, masks and packed data."""
    return r if dtype is None or not r.has_numbers_to_round else routing(r.source, r.target, r.element, dtype)


def _pieces(r: Routing, room: int) -> list[tuple[Cut, int]]:
    """An array as a whole, or the parts that it is cut into, and what a rank needs for each at most. Parts are
    small enough to fill rounds with them: a quarter of a round."""
    longest = max(r.source.largest_shape, default=1)
    # A power of 2, so that the lengths of messages repeat after few peers.
    least = max(-(-_most_bytes(r, WHOLE) * _PIECES_OF_ROUND // room), 1)
    parts = max(min(1 << (least - 1).bit_length(), longest), 1)
    while True:
        cuts = [(k, parts) for k in range(parts)]
        found = [(cut, _most_bytes(r, cut)) for cut in cuts]
        if parts == longest or max([nbytes for _, nbytes in found]) <= room:
            return found
        parts = min(2 * parts, longest)


_PIECES_OF_ROUND = 4
# Up to as many ranks, as many as the devices of a machine, all ranks' needs are counted.
_COUNTED_RANKS = 8


def _most_bytes(r: Routing, cut: Cut) -> int:
    """What a rank sends to others and receives from others of an array, or of a part of it, at most."""
    if max(r.source.size, r.target.size) <= _COUNTED_RANKS:
        needs = [
            sum([fan.number * fan.elements for side in (0, 1) for fan in r.cut(r.fans(side, rank)[0], rank, cut)])
            for rank in {*r.source.ranks, *r.target.ranks}
        ]
        return max(needs, default=0) * r.wire_element.size
    copies = -(-len(r.target.roles.replicas) // len(r.source.roles.replicas))  # since those of the source take turns
    for ranks, placement in zip(r.target.mesh, r.target.placements):
        if isinstance(placement, Segment):  # a unit may be on several ranks
            copies *= max([ranks * p.unit // p.size for p in placement.pieces if p.size and p.unit > 1] + [1])
    sent = math.prod(r.source.largest_shape) * copies
    received = math.prod(r.target.largest_shape)
    return -(-(sent + received) // cut[1]) * r.wire_element.size
