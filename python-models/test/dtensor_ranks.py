"""What test_dtensor.py runs on several ranks: DTensor's distribute_tensor and redistribute as an oracle of placements,
of Distribution.from_dtensor and from_mesh, and of Redistribution over Gloo. Arguments: cases, seed."""

import os
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard

import ucd
import ucd_models


def random_mesh(rng, sizes):
    """Ranks that ascend along each dimension of the mesh. PyTorch (2.15) is not of one mind about others: on a mesh of
    [1, 0], distribute_tensor gives rank 0 the first shard, redistribute the second."""
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    return DeviceMesh('cpu', torch.from_numpy(numbers if rng.random() < 0.5 else numbers.reshape(sizes[::-1]).T.copy()))


def random_placements(rng, shape, mesh):
    """One for each dimension of the mesh. Where two of them shard the same dimension of the array its length is a
    multiple of their ranks: PyTorch has other shards than FSDP otherwise."""
    found, ranks = [], {}
    for parts in mesh:
        dim = int(rng.integers(len(shape)))
        taken = ranks.get(dim, 1)
        if rng.random() < 0.3 or (taken > 1 and shape[dim] % (taken * parts)):
            found.append(Replicate())
        else:
            found.append(Shard(dim))
            ranks[dim] = taken * parts
    return found


def check_placements(rng, world, me):
    """A case: whether shards, shapes and moves are PyTorch's."""
    lengths = [int(n) for n in rng.integers(1, 14, rng.integers(1, 4))]
    if rng.random() < 0.5:
        lengths[0] = 8 * int(rng.integers(1, 4))
    shape = tuple(lengths)
    sizes = [s for s in ((world,), (2, world // 2), (world // 2, 2), (1, world)) if np.prod(s) == world]
    sizes = sizes[rng.integers(len(sizes))]
    mesh = random_mesh(rng, sizes)
    field = torch.from_numpy(rng.standard_normal(shape).astype('f4'))
    before, after = [random_placements(rng, shape, sizes) for _ in range(2)]
    given = distribute_tensor(field, mesh, before)
    wanted = given.redistribute(placements=after)
    what = (shape, mesh, before, after)
    source = ucd_models.Distribution.from_dtensor(given)
    target = ucd_models.Distribution.from_mesh(shape, mesh, after)
    assert target == ucd_models.Distribution.from_dtensor(wanted), what
    assert source.local_shape(me) == tuple(given.to_local().shape), what
    assert target.local_shape(me) == tuple(wanted.to_local().shape), what
    # From the whole array, which only rank 0 has, to what distribute_tensor gives.
    whole = ucd_models.Distribution(shape, 1, ucd_models.Replicate())
    local = torch.full(tuple(given.to_local().shape), -1.0)
    sources = {'whole': field} if me == 0 else {}
    ucd_models.Redistribution({'whole': (whole, source, 'float32')}).execute(dist, sources, {'whole': local})
    assert torch.equal(local, given.to_local()), what
    # And from one to the other.
    there = torch.full(tuple(wanted.to_local().shape), -1.0)
    ucd_models.Redistribution({'a': (source, target, 'float32')}).execute(dist, {'a': given.to_local()}, {'a': there})
    assert torch.equal(there, wanted.to_local()), what


def check_strided(rng, world, me):
    """A case: what FSDP has of the shards of tensor parallelism, of lengths that divide."""
    shape = (world * int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    mesh = random_mesh(rng, (world // 2, 2))
    field = torch.from_numpy(rng.standard_normal(shape).astype('f4'))
    row, column = mesh.get_coordinate()
    mine = field.chunk(2)[column].chunk(world // 2)[row]
    placements = [_StridedShard(0, split_factor=2), Shard(0)]
    given = DTensor.from_local(mine, mesh, placements, run_check=False, shape=field.shape, stride=field.stride())
    source = ucd_models.Distribution.from_dtensor(given)
    assert source == ucd_models.Distribution.from_mesh(shape, mesh, placements)
    assert torch.equal(given.full_tensor(), field)
    wanted = given.redistribute(placements=[Replicate(), Replicate()]).redistribute(placements=[Replicate(), Shard(1)])
    target = ucd_models.Distribution.from_dtensor(wanted)
    there = torch.full(tuple(wanted.to_local().shape), -1.0)
    ucd_models.Redistribution({'a': (source, target, 'float32')}).execute(dist, {'a': mine.contiguous()}, {'a': there})
    assert torch.equal(there, wanted.to_local()), (shape, mesh)
    back = torch.full(tuple(mine.shape), -1.0)
    ucd_models.Redistribution({'a': (target, source, 'float32')}).execute(dist, {'a': there}, {'a': back})
    assert torch.equal(back, mine), (shape, mesh)


def check_fully_shard(world, me):
    """The guide's recipe: the parameters of fully_shard go to one that serves the model."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(7, 10), torch.nn.Linear(10, 5))
    wanted = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    mesh = DeviceMesh('cpu', range(world))
    for module in (*model, model):
        fully_shard(module, mesh=mesh)
    before = {name: ucd_models.Distribution.from_dtensor(p) for name, p in model.named_parameters()}
    after = {name: ucd_models.Distribution(p.shape, 1, ucd_models.Replicate()) for name, p in model.named_parameters()}
    move = ucd_models.Redistribution({name: (before[name], after[name], 'float32') for name in before})
    served = torch.nn.Sequential(torch.nn.Linear(7, 10), torch.nn.Linear(10, 5)) if me == 0 else None
    with torch.no_grad():
        into = dict(served.named_parameters()) if served else {}
        move.execute(dist, {name: p.to_local() for name, p in model.named_parameters()}, into)
    assert all(torch.equal(into[name], wanted[name]) and into[name].requires_grad for name in into)
    try:
        move.execute(dist, dict(model.named_parameters()), into)
    except BufferError as e:
        assert 'to_local()' in str(e), e
    else:
        raise AssertionError('a DTensor was taken for its local tensor')


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    dist.init_process_group('gloo')
    me, world = dist.get_rank(), dist.get_world_size()
    rng = np.random.default_rng(seed)  # the same on all ranks
    for case in range(cases):
        try:
            check_placements(rng, world, me)
            if world % 2 == 0:
                check_strided(rng, world, me)
        except Exception as e:
            raise AssertionError(f'seed {seed}, {world} ranks, case {case}') from e
    check_fully_shard(world, me)
    unfinished = DTensor.from_local(torch.ones(4), DeviceMesh('cpu', range(world)), [Partial()])
    try:
        ucd_models.Distribution.from_dtensor(unfinished)
    except TypeError as e:
        assert 'Partial' in str(e), e
    else:
        raise AssertionError('a Partial was not refused')
    try:
        ucd.pack(unfinished)
    except BufferError as e:
        assert 'to_local()' in str(e), e
    else:
        raise AssertionError('a DTensor was taken for its local tensor')
    dist.barrier()
    print(f'rank {me} of {world} is right', flush=True)
    sys.stdout.flush()
    os._exit(0)  # a process group of which some ranks are gone waits for them


main()
