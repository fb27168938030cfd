"""Redistributions between the devices of one machine without messages: the kernels of a rank write to the memory of
other ranks, or read it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ucd
from ucd import interop
from ucd.ipc import PeerMemory, exported
from ucd_models._engine import Engine
from ucd_models._fans import Fan
from ucd_models._launches import Moves
from ucd_models._routing import Routing
from ucd_models._untrusted import json_of

# Routes are cut into pieces of about so many bytes. Pieces that cross the link lie between those that stay on the
# device, since the first occupy the link and the second the memory.
PIECE = 2 << 20
# What a rank says of its memory is longer than this in no move that fits a device.
_LONGEST_OFFER = 64 << 20


def machine() -> str:
    """Differs between machines, and between two starts of one machine."""
    try:
        return Path('/proc/sys/kernel/random/boot_id').read_text()
    except OSError:
        return ''


def _accessed(of_array: Routing) -> int:
    """Whose arrays other ranks access: the targets (1), which the source's ranks write; or the sources (0), which the
    target's ranks read. So the smaller elements cross the link."""
    return 1 if of_array.wire_element is of_array.target_element else 0


def _gathered(engine: Engine, mine: bytes, like: Any) -> list[bytes]:
    """The bytes of all ranks, of any length."""
    lengths = [int.from_bytes(found, 'little') for found in engine.gather(len(mine).to_bytes(8, 'little'), like)]
    if max(lengths) > _LONGEST_OFFER:
        raise ValueError(f'a rank has sent {max(lengths)} bytes about its arrays')
    found = engine.gather(mine.ljust(max(lengths), b'\0'), like)
    return [text[:length] for text, length in zip(found, lengths)]


def _decoded(text: bytes) -> Any:
    """JSON of another rank; None if it is none."""
    try:
        return json_of(text, 'a rank')
    except ValueError:
        return None


class _Offer:
    """What a rank lets others access: for each array, a handle and the strides."""

    def __init__(self, text: bytes) -> None:
        said = _decoded(text)
        if not isinstance(said, dict):
            said = {}
        self.machine = said.get('machine')
        arrays = said.get('arrays')
        self._arrays: dict[Any, Any] = arrays if isinstance(arrays, dict) else {}

    def array(self, name: str, ndim: int) -> tuple[bytes, tuple[int, ...]] | None:
        """Handle and strides; None if it is not offered, or in a form that no rank writes."""
        try:
            handle, strides = self._arrays[name]
            found = bytes.fromhex(handle), tuple(strides)
        except (KeyError, TypeError, ValueError):
            return None
        return found if len(found[1]) == ndim and all([type(n) is int and abs(n) < 1 << 62 for n in found[1]]) else None


class Direct:
    """The routes of this rank that need no message: between ranks that have each other's memory open, and what the
    rank keeps.

    peers   the ranks with which nothing is exchanged by messages. Both ranks of a pair agree on that.
    """

    def __init__(
        self,
        engine: Engine,
        routings: Mapping[str, Routing],
        strides: Mapping[tuple[int, str], tuple[int, ...]],
        sources: Mapping[str, Any],
        targets: Mapping[str, Any],
        like: Any,
        saturate: bool,
    ) -> None:
        """strides: of this rank's arrays, by side and name. like: one of them. Collective."""
        self._engine = engine
        self._routings = routings
        self._strides = strides
        self._arrays = (sources, targets)
        self._like = like
        places = [ucd.memory(self._arrays[side][name]) for side, name in strides]
        self._device = next((place for place in places if place != 'host'), 'host')  # empty arrays are nowhere
        offers = {rank: _Offer(text) for rank, text in zip(engine.ranks, _gathered(engine, self._offer(), like))}
        opened = {peer: self._opened(peer, offers) for peer in self._all_peers()}
        refused = json.dumps([peer for peer, found in opened.items() if found is None])
        answers = {rank: _decoded(text) for rank, text in zip(engine.ranks, _gathered(engine, refused.encode(), like))}
        self.peers = tuple(
            sorted([
                peer
                for peer, found in opened.items()
                if found is not None and isinstance(answers[peer], list) and engine.rank not in answers[peer]
            ])
        )
        self._opened_arrays = {peer: opened[peer] or {} for peer in self.peers}
        self._moves = Moves(saturate, (ucd.Hints({'inbuf': self._device, 'outbuf': self._device}),) * 2)

    def plan(self) -> None:
        """Prepares the moves of this rank. Not collective."""
        if self.peers:
            self._add_moves(self._opened_arrays)
            self._moves.prepare()

    def _routes(self, side: int) -> Iterable[tuple[str, Fan]]:
        """This rank's routes, each as a fan of one whose place is the other rank: those that it sends (side 0) or receives
        (1)."""
        for name, of_array in self._routings.items():
            fans, kept = of_array.fans(side, self._engine.rank)
            for fan in (*fans, kept) if kept else fans:
                yield from [(name, fan.part(k, 1)) for k in range(fan.number)]

    def _made(self) -> Iterable[tuple[str, Fan]]:
        """The routes whose data this rank moves itself, if the other rank is reached."""
        for side in (0, 1):
            for name, route in self._routes(side):
                if route.place != self._engine.rank and _accessed(self._routings[name]) != side:
                    yield name, route

    def _all_peers(self) -> list[int]:
        return sorted({route.place for side in (0, 1) for _, route in self._routes(side)} - {self._engine.rank})

    def _offer(self) -> bytes:
        """What this rank lets others access."""
        arrays: dict[str, Any] = {}
        for side in (0, 1):
            for name, route in self._routes(side):
                if route.place == self._engine.rank or name in arrays or _accessed(self._routings[name]) != side:
                    continue
                handle = None
                with contextlib.suppress(Exception):  # then there are messages
                    handle = exported(self._arrays[side][name])
                arrays[name] = handle and (handle.hex(), self._strides[side, name])
        return json.dumps({'machine': machine(), 'arrays': arrays}).encode()

    def _opened(self, peer: int, offers: Mapping[int, _Offer]) -> dict[str, tuple[PeerMemory, tuple[int, ...]]] | None:
        """The arrays of another rank that this rank accesses; None if one of them is not to be had."""
        if peer not in offers or not offers[peer].machine or offers[peer].machine != machine():
            return None
        found: dict[str, tuple[PeerMemory, tuple[int, ...]]] = {}
        for name, route in self._made():
            if route.place != peer:
                continue
            of_array = self._routings[name]
            side = _accessed(of_array)
            try:
                if name not in found:
                    offered = offers[peer].array(name, len(of_array.source.shape))
                    if offered is None:
                        return None
                    found[name] = PeerMemory(offered[0], self._device), offered[1]
                memory, strides = found[name]
                interop.packed_size(memory, of_array.type_of(route, side, strides))  # raises if the type leaves the memory
            except Exception:  # the others wait for an answer
                return None
        return found

    def _add_moves(self, opened: Mapping[int, Mapping[str, tuple[PeerMemory, tuple[int, ...]]]]) -> None:
        """Adds the moves: those of peers between those that stay on this rank."""
        me = self._engine.rank
        crossing = [(name, piece) for name, route in self._made() if route.place in opened for piece in self._pieces(name, route)]
        staying = [(name, piece) for name, route in self._routes(0) if route.place == me for piece in self._pieces(name, route)]
        order = [((k + 0.5) / len(some), piece) for some in (crossing, staying) for k, piece in enumerate(some)]
        for _, (name, piece) in sorted(order, key=lambda placed: placed[0]):
            of_array = self._routings[name]
            ends = []
            for side in (0, 1):
                if piece.place != me and _accessed(of_array) == side:
                    memory, strides = opened[piece.place][name]
                else:
                    memory, strides = self._arrays[side][name], self._strides[side, name]
                ends.append((memory, of_array.type_of(piece, side, strides)))
            (a, send), (b, receive) = ends
            self._moves.add(of_array.converts, 'copy', a, b, send, 1, receive, 1)

    def _pieces(self, name: str, route: Fan) -> list[Fan]:
        of_array = self._routings[name]
        longest = max(of_array.source.largest_shape, default=1)
        parts = max(1, min(-(-route.elements * of_array.wire_element.size // PIECE), longest))
        return [piece for k in range(parts) for piece in of_array.cut([route], self._engine.rank, (k, parts))]

    def run(self) -> None:
        if not self._engine.in_stream and self._like is not None:
            interop.synchronize(self._like)  # what still uses the arrays that others are about to write or read
        self._engine.barrier()
        self._moves.run(self._engine.in_stream, non_blocking=True)
        self._engine.barrier()
