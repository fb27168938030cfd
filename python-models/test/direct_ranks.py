"""What test_engines.py runs on several ranks: random redistributions of which ranks write to each other's arrays, or
read them. Arguments: mpi4py, torch, nccl or gloo. With nccl, ranks have a GPU each. With gloo, several ranks have one.
Else the arrays are in memory that the processes share, which stands in for that of devices: everything but the driver is
as on devices."""

import atexit
import contextlib
import os
import sys
import time
from multiprocessing import resource_tracker, shared_memory
from unittest import mock

import numpy as np
from placements_oracle import parts_of, random_tensors

import ucd
import ucd_models
from ucd_models import _direct, _launches

CASES = 45
ON_GPU = sys.argv[1] in ('nccl', 'gloo')


class Shared:
    """Arrays in shared memory, and the two functions by which ranks get at each other's."""

    def __init__(self):
        self.made = {}  # address of the first element: memory
        self.opened = {}

    def placed(self, array):
        """A copy, in memory that is shared."""
        memory = shared_memory.SharedMemory(create=True, size=max(array.nbytes, 1))
        atexit.register(memory.unlink)
        copy = np.ndarray(array.shape, array.dtype, memory.buf, order='F' if array.flags.f_contiguous else 'C')
        copy[...] = array
        self.made[copy.ctypes.data] = memory
        return copy

    def exported(self, array):
        memory = self.made.get(ucd.interop.address(array))
        return memory and memory.name.encode().ljust(128, b'\0')

    def memory(self, handle, device):
        """What stands for PeerMemory. Only its owner removes the memory, so it is not tracked here."""
        assert device == 'host', device
        name = handle.rstrip(b'\0').decode()
        if name not in self.opened:
            try:
                found = shared_memory.SharedMemory(name)
            except FileNotFoundError as e:
                raise ucd.Error(f'no memory {name}') from e
            resource_tracker.unregister(found._name, 'shared_memory')
            self.opened[name] = found, np.frombuffer(found.buf, np.uint8)
        return self.opened[name][1]


def engine():
    """The engine, the rank and the number of ranks."""
    if sys.argv[1] == 'mpi4py':
        from mpi4py import MPI

        return MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    import torch
    import torch.distributed as dist

    if ON_GPU:
        torch.cuda.set_device(int(os.environ['RANK']) % torch.cuda.device_count())
    # Without a name, a group has NCCL for devices and Gloo for the host.
    dist.init_process_group(None if sys.argv[1] == 'nccl' else 'gloo')
    return dist, dist.get_rank(), dist.get_world_size()


def in_engines_library(array):
    """A view of an array as the engine's library has it; on a GPU, a copy with the same strides."""
    if sys.argv[1] == 'mpi4py':
        return array
    import torch

    if sys.argv[1] == 'torch':
        return torch.from_numpy(array)
    strides = [stride // array.itemsize for stride in array.strides]
    found = torch.empty_strided(array.shape, strides, dtype=torch.from_numpy(array).dtype, device='cuda')
    return found.copy_(torch.from_numpy(array))


def on_host(array):
    return np.asarray(array.cpu() if ON_GPU else array)


def replayed(via, me, world):
    """A captured run moves what the arrays hold when the graph is launched: with messages, and without."""
    import torch

    shape = (world * 6, 40)
    pair = ucd_models.Distribution(shape, world, ucd_models.Shard(0)), ucd_models.Distribution(shape, world, ucd_models.Shard(1))
    move = ucd_models.Redistribution({'a': (*pair, 'float32')}, convert='bfloat16', budget=400)
    source = torch.zeros(pair[0].local_shape(me), device='cuda')
    target = torch.zeros(pair[1].local_shape(me), dtype=torch.bfloat16, device='cuda')
    for direct in (False, True):
        execution = move.prepare(via, {'a': source}, {'a': target}, direct=direct)
        execution.run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            execution.run()
        for turn in range(3):
            whole = torch.arange(shape[0] * shape[1], device='cuda').reshape(shape) % (7 + turn)
            source.copy_(whole.chunk(world)[me])
            target.zero_()
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(target, whole.chunk(world, 1)[me].to(torch.bfloat16)), (direct, turn)
            via.barrier()
        del graph, execution


def over_some_ranks(me, world, shared):
    """Of a group that lacks ranks of the default group, ranks are still those of the default group."""
    import torch.distributed as dist

    members = [0, world - 1]
    group = dist.new_group(members)
    if me not in members:
        return
    here = members.index(me)
    halves = np.arange(8, dtype='f4').reshape(2, 4)
    source = in_engines_library(shared.placed(halves[here]))
    target = in_engines_library(shared.placed(np.zeros(4, 'f4')))
    pair = [ucd_models.Distribution((8,), 2, ucd_models.Shard(0), ranks=ranks) for ranks in (members, members[::-1])]
    move = ucd_models.Redistribution({'a': (*pair, 'float32')})
    execution = move.prepare(group, {'a': source}, {'a': target}, direct=True)
    assert execution.direct_peers == (members[1 - here],), execution.direct_peers
    execution.run()
    assert np.asarray(target).tolist() == halves[1 - here].tolist()


def failing_phases(via, me, world, shared):
    """If rank 1 cannot offer its memory, there are messages. If it fails between the barriers, the others raise, in time."""
    shape = (4 * world, world)
    pair = [ucd_models.Distribution(shape, world, ucd_models.Shard(dim)) for dim in (0, 1)]
    whole = np.arange(4.0 * world * world, dtype='f4').reshape(shape)
    source = in_engines_library(shared.placed(parts_of(whole, pair[0])[me]))
    target = in_engines_library(shared.placed(np.zeros(pair[1].local_shape(me), 'f4')))
    move = ucd_models.Redistribution({'a': (*pair, 'float32')})

    def broken(*arguments):
        raise MemoryError('broken')

    with mock.patch.object(_direct, 'exported', broken) if me == 1 else contextlib.nullcontext():
        execution = move.prepare(via, {'a': source}, {'a': target}, direct=True)
    assert 1 not in execution.direct_peers and (me == 1 or len(execution.direct_peers) == world - 2)
    execution.run()
    assert (np.asarray(target) == parts_of(whole, pair[1])[me]).all()

    group = via.new_group() if sys.argv[1] == 'torch' else via
    execution = move.prepare(group, {'a': source}, {'a': target}, direct=True, timeout=0.5)
    began = time.monotonic()
    with mock.patch.object(_launches.Moves, 'run', broken) if me == 1 else contextlib.nullcontext():
        try:
            execution.run()
        except ucd_models.RedistributionError as e:
            assert ('broken' in str(e)) == (me == 1) and time.monotonic() - began < 30, e
        else:
            raise AssertionError('it ran')
    (via.Barrier if sys.argv[1] == 'mpi4py' else via.barrier)()
    if me == 1 and sys.argv[1] == 'mpi4py':
        execution._engine.barrier()  # for which the others have begun to wait


def main():
    via, me, world = engine()
    shared = Shared()
    if not ON_GPU:
        _direct.exported, _direct.PeerMemory = shared.exported, shared.memory
    _direct.PIECE = 64  # so that routes have many pieces
    rng = np.random.default_rng(9)  # the same on all ranks
    met = set()
    for case in range(CASES):
        # In every fifth case, other ranks cannot get at one rank's arrays.
        hidden = 1 if case % 5 == 4 and not ON_GPU else None
        tensors, fields = random_tensors(rng, world, 24)
        convert = [None, 'float16', 'float64'][case % 3]
        sources, targets, expected = {}, {}, {}

        def placed(array):
            return in_engines_library(array if ON_GPU or me == hidden else shared.placed(array))

        for name, (source, target, _) in tensors.items():
            if (place := source.position(me)) is not None:
                sources[name] = placed(np.asarray(parts_of(fields[name], source)[place], order='F'))
            if (place := target.position(me)) is not None:
                expected[name] = parts_of(fields[name], target)[place].astype(convert or 'f4')
                order = 'C' if case % 2 else 'F'
                targets[name] = placed(np.full(expected[name].shape, -1, expected[name].dtype, order=order))
        move = ucd_models.Redistribution(tensors, convert=convert, budget=[1 << 20, 300, 40][case // 3 % 3])
        execution = move.prepare(via, sources, targets, direct=True)
        partners = {r.target for n in tensors for r in move.routings[n].sends(me)}
        partners |= {r.source for n in tensors for r in move.routings[n].receives(me)}
        partners -= {me}
        reached = set() if me == hidden else partners - {hidden}
        # A rank that only sends to the hidden one, or only lets itself be read by it, needs none of its memory.
        assert reached <= set(execution.direct_peers) <= partners, (case, reached, execution.direct_peers)
        met |= set(execution.direct_peers)
        for _ in range(2):  # as often as wanted
            execution.run()
        for name, array in expected.items():
            assert on_host(targets[name]).tobytes('C') == array.tobytes('C'), (case, name, tensors[name])
        del execution
    assert met == set(range(world)) - {me}, met

    if sys.argv[1] == 'nccl':
        replayed(via, me, world)
    if sys.argv[1] == 'torch':
        over_some_ranks(me, world, shared)
    if not ON_GPU:
        failing_phases(via, me, world, shared)

    # All ranks must want it.
    pair = ucd_models.Distribution((8, 2), world, ucd_models.Shard(0)), ucd_models.Distribution((8, 2), world, ucd_models.Replicate())
    arrays = [in_engines_library(np.zeros(held.local_shape(me), 'f4')) for held in pair]
    try:
        ucd_models.Redistribution({'a': (*pair, 'float32')}).prepare(via, {'a': arrays[0]}, {'a': arrays[1]}, direct=me == 0)
    except ValueError as e:
        assert 'direct' in str(e), e
    else:
        raise AssertionError('it was not refused')
    print(f'rank {me} of {world} is right', flush=True)
    if sys.argv[1] != 'mpi4py':
        via.barrier()
        via.destroy_process_group()


main()
