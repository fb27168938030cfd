"""What test_engines.py runs on several ranks: random redistributions over an engine, of which all ranks know the
outcome by NumPy. Arguments: mpi4py, torch or ucx; and "killed" if rank 1 is to be killed in a move."""

import os
import pathlib
import signal
import sys
import time

import numpy as np
from placements_oracle import parts_of, random_tensors

import ucd

CASES = 45


def engine():
    """The engine, the rank and the number of ranks."""
    if sys.argv[1] == 'mpi4py':
        from mpi4py import MPI

        return MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    if sys.argv[1] == 'ucx':
        me, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
        return ucd.UcxEngine(me, through_files(me, world), {'ucd.ucx.chunk': '64'}), me, world
    import torch.distributed as dist

    dist.init_process_group('gloo')
    return dist, dist.get_rank(), dist.get_world_size()


def through_files(me, world):
    """A function that gives each rank's bytes to all ranks."""
    folder, calls = pathlib.Path(os.environ['UCD_TEST_FOLDER']), 0

    def exchange(mine):
        nonlocal calls
        calls += 1
        (folder / f'{calls}.{me}.part').write_bytes(mine)
        (folder / f'{calls}.{me}.part').rename(folder / f'{calls}.{me}')
        paths = [folder / f'{calls}.{rank}' for rank in range(world)]
        while not all(path.exists() for path in paths):
            time.sleep(0.002)
        return [path.read_bytes() for path in paths]

    return exchange


def barrier(via):
    if sys.argv[1] == 'ucx':
        via._exchange(b'')
    else:
        (via.barrier if sys.argv[1] == 'torch' else via.Barrier)()


def to_rank_0(via, me, world, timeout=None):
    """A move of all ranks' rows to rank 0, prepared, and where those of others come to lie."""
    pair = ucd.Distribution((8, 2), world, ucd.Shard(0)), ucd.Distribution((8, 2), 1, ucd.Replicate())
    local, whole = np.ones(pair[0].local_shape(me), 'f4'), np.full((8, 2), -1, 'f4')
    arrays = [{'a': a} for a in (map(torch_array, (local, whole)) if sys.argv[1] == 'torch' else [local, whole])]
    targets = arrays[1] if me == 0 else {}
    execution = ucd.Redistribution({'a': (*pair, 'float32')}).prepare(via, arrays[0], targets, timeout=timeout)
    return execution, whole[len(local) :]


def torch_array(array):
    import torch

    return torch.from_numpy(array)


def lost(execution, me, whole):
    """Runs a move in which rank 1 takes no part: rank 0 is told which rank it waited for, and has nothing of the move."""
    try:
        execution.run()
    except ucd.RedistributionError as e:
        if me != 0:  # rank 0 may have ended by now
            assert e.peers == (0,), e
            return
        assert 1 in e.peers and 'unfinished' in str(e), e
        assert (whole == -1).all(), whole
        print(f'rank {me} lost {e.peers}', flush=True)
    else:
        assert me != 0


def late_rank(via, me, world):
    """A rank that lives, but does not come in time. It does later, but with Gloo, and nothing of that is written."""
    group = via.new_group() if sys.argv[1] == 'torch' else via
    execution, whole = to_rank_0(group, me, world, timeout=0.3)
    if me != 1:
        lost(execution, me, whole)
    barrier(via)
    if sys.argv[1] != 'torch':
        if me == 1:
            execution.run()
        barrier(via)
        assert (whole == -1).all(), whole


def killed_rank(via, me, world):
    execution, whole = to_rank_0(via, me, world, timeout=2 if sys.argv[1] == 'mpi4py' else 20)
    barrier(via)
    if me == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    lost(execution, me, whole)
    if 'UCD_TEST_FOLDER' in os.environ:
        # A rank that has ended is lost, too: rank 0 says first whom it has lost.
        told = pathlib.Path(os.environ['UCD_TEST_FOLDER']) / 'rank 0 has told'
        if me == 0:
            told.touch()
        until = time.monotonic() + 60
        while not told.exists() and time.monotonic() < until:
            time.sleep(0.01)
    os._exit(0)  # without a farewell to the rank that is gone


def main():
    via, me, world = engine()
    if sys.argv[2:] == ['killed']:
        killed_rank(via, me, world)
    rng = np.random.default_rng(4)  # the same on all ranks
    for case in range(CASES):
        tensors, fields = random_tensors(rng, world, 12)
        convert = [None, 'float16', 'float64'][case % 3]
        sources, targets, expected = {}, {}, {}
        for name, (source, target, _) in tensors.items():
            if (place := source.position(me)) is not None:
                sources[name] = np.asarray(parts_of(fields[name], source)[place], order='F')
            if (place := target.position(me)) is not None:
                expected[name] = parts_of(fields[name], target)[place].astype(convert or 'f4')
                targets[name] = np.full(expected[name].shape, -1, expected[name].dtype, order='C' if case % 2 else 'F')
        if sys.argv[1] == 'torch':
            import torch

            sources, targets = [{n: torch.from_numpy(a) for n, a in of.items()} for of in (sources, targets)]
        move = ucd.Redistribution(tensors, convert=convert, budget=[1 << 20, 300, 40][case // 3 % 3])
        execution = move.prepare(via, sources, targets)
        for _ in range(2):  # as often as wanted
            execution.run()
        for name, array in expected.items():
            assert np.asarray(targets[name]).tobytes('C') == array.tobytes('C'), (case, name, tensors[name])

    # Ranks that disagree are told so, and nothing moves.
    shape = (8, 2)
    pair = ucd.Distribution(shape, world, ucd.Shard(0)), ucd.Distribution(shape, 1, ucd.Replicate())
    local = np.ones(pair[0].local_shape(me), 'f4')
    whole = np.zeros(shape, 'f4') if me == 0 else None
    if sys.argv[1] == 'torch':
        local, whole = torch.from_numpy(local), None if whole is None else torch.from_numpy(whole)
    name = 'a' if me else 'b'
    try:
        ucd.Redistribution({name: (*pair, 'float32')}).execute(via, {name: local}, {name: whole})
    except ValueError as e:
        assert 'different redistributions' in str(e), e
    else:
        raise AssertionError('it was not refused')
    assert whole is None or not np.asarray(whole).any()

    late_rank(via, me, world)
    print(f'rank {me} of {world} is right', flush=True)
    if sys.argv[1] == 'torch':
        os._exit(0)  # the group of the late rank is broken
    barrier(via)


main()
