"""Messages over torch.distributed: Gloo and NCCL."""

from __future__ import annotations

import datetime
import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ucd_models._engine import Wait, split, started_with


class TorchEngine:
    """A process group of torch.distributed; None: the default one. timeout: of each message, in seconds; None: the
    group's. NCCL has the group's always: to wait for a message would hold up the thread, not the stream."""

    in_stream = False
    number = 0  # a group that has lost a message is broken

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
        return split(bytes(found.tolist()), len(mine))

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
        work = self._dist.all_reduce(self._meeting, group=self.group, async_op=True)
        work.wait(*self._timeout)

    def post(self, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> list[tuple[list[int], Wait]]:
        ways: Any = (self._dist.irecv, receives), (self._dist.isend, sends)
        listed = [(start, peer, whole) for start, some in ways for peer, whole in some.items()]
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
