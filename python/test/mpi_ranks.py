"""What test_mpi.py runs on several ranks: redistribution over a communicator, of which all ranks know the
outcome by NumPy."""

import numpy as np
from mpi4py import MPI
from test_redistribution import parts_of

import ucd

comm = MPI.COMM_WORLD
me = comm.Get_rank()
rng = np.random.default_rng(4)  # the same on all ranks


def random_distribution(shape):
    mesh = [(1,), (2,), (3,), (4,), (2, 2)][rng.integers(5)]
    kinds = [ucd.Shard, lambda dim: ucd.Cyclic(dim, 2), lambda dim: ucd.Replicate()]
    return ucd.Distribution(shape, mesh, [kinds[rng.integers(3)](int(rng.integers(len(shape)))) for _ in mesh])


def local(arrays, order):
    return np.asarray(arrays[me], order=order) if me < len(arrays) else None


for case in range(60):
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    source, target = random_distribution(shape), random_distribution(shape)
    field = rng.integers(0, 1000, shape)
    plan = ucd.plan(source, target, field.dtype)
    expected = local(parts_of(field, target), 'C')
    before = local(parts_of(field, source), 'F')
    after = None if expected is None else np.zeros(expected.shape[::-1], field.dtype).T
    if before is not None and case % 2:
        after = None
    found = plan.exchange(comm, before, after, tag=case)
    if expected is not None:
        assert (found == expected).all(), (case, source, target)

# The same by MPI's own datatypes, which need no packed message.
field = np.arange(24.0 * 8).reshape(24, 8)
before = ucd.Distribution(field.shape, 4, ucd.Shard(0))
after = ucd.Distribution(field.shape, 4, ucd.Cyclic(1))
plan = ucd.plan(before, after, 'float64')
mine, found = parts_of(field, before)[me], np.zeros(after.local_shape(me))
send_types, receive_types = [MPI.BYTE] * 4, [MPI.BYTE] * 4
for route in plan.sends(me):
    send_types[route.target] = route.send_type().to_mpi()
for route in plan.receives(me):
    receive_types[route.source] = route.receive_type().to_mpi()
ones = [1 if datatype != MPI.BYTE else 0 for datatype in send_types]
comm.Alltoallw([mine, (ones, [0] * 4), send_types], [found, (ones, [0] * 4), receive_types])
assert (found == parts_of(field, after)[me]).all()
for datatype in send_types + receive_types:
    if datatype != MPI.BYTE:
        datatype.Free()

for call in (
    lambda: ucd.plan(ucd.Distribution((9,), 9, ucd.Shard(0)), ucd.Distribution((9,), 1, ucd.Shard(0)), 'u1').exchange(comm),
    lambda: plan.exchange(comm),
    lambda: plan.exchange(comm, np.zeros((1, 1)), found),
):
    try:
        call()
    except (ValueError, TypeError):
        continue
    raise AssertionError('it was not refused')
print(f'rank {me} of {comm.Get_size()} is right')
