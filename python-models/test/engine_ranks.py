"""What test_engines.py runs on several ranks: random redistributions over an engine, of which all ranks know the
outcome by NumPy. Arguments: mpi4py, torch or ucx; and "killed" if rank 1 is to be killed in a move."""

import contextlib
import functools
import os
import pathlib
import signal
import sys
import time
from unittest import mock

import numpy as np
from placements_oracle import parts_of, random_tensors

import ucd
import ucd_models
from ucd import interop

CASES = 45


def engine():
    """The engine, the rank and the number of ranks."""
    if sys.argv[1] == 'mpi4py':
        from mpi4py import MPI

        return MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    if sys.argv[1] == 'ucx':
        me, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
        return ucd_models.UcxEngine(me, through_files(me, world), {'ucd.ucx.chunk': '64'}), me, world
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


def to_rank_0(via, me, world, timeout=None, value=1):
    """A move of all ranks' rows to rank 0, prepared, and where those of others come to lie."""
    pair = ucd_models.Distribution((8, 2), world, ucd_models.Shard(0)), ucd_models.Distribution((8, 2), 1, ucd_models.Replicate())
    local, whole = np.full(pair[0].local_shape(me), value, 'f4'), np.full((8, 2), -1, 'f4')
    arrays = [{'a': a} for a in (map(torch_array, (local, whole)) if sys.argv[1] == 'torch' else [local, whole])]
    targets = arrays[1] if me == 0 else {}
    execution = ucd_models.Redistribution({'a': (*pair, 'float32')}).prepare(via, arrays[0], targets, timeout=timeout)
    return execution, whole[len(local) :]


def torch_array(array):
    import torch

    return torch.from_numpy(array)


def lost(execution, me, whole):
    """Runs a move in which rank 1 takes no part: rank 0 is told which rank it waited for, and has nothing of the move."""
    try:
        execution.run()
    except ucd_models.RedistributionError as e:
        if me != 0:  # rank 0 may have ended by now
            assert e.peers == (0,), e
            return
        assert 1 in e.peers and 'unfinished' in str(e), e
        assert (whole == -1).all(), whole
        print(f'rank {me} lost {e.peers}', flush=True)
    else:
        assert me != 0


def faults(source, target):
    """Bad arguments of one rank: sources, targets, other arguments, and what all ranks are told."""
    shared = np.zeros(source.size, 'f4')
    right, both = {'a': source}, {'a': shared.reshape(source.shape)}
    yield {}, {'a': target}, {}, "sources['a'] is missing"
    yield right, {'a': None}, {}, "targets['a'] is missing"
    yield None, {'a': target}, {}, 'NoneType'
    yield {'a': [1.0]}, {'a': target}, {}, 'is no array'
    yield {'a': source[:, 1:]}, {'a': target}, {}, "sources['a'] has shape"
    yield {'a': source.astype('f8')}, {'a': target}, {}, 'elements of 8 bytes'
    yield {'a': source.astype('>f4')}, {'a': target}, {}, 'the byte order'
    yield both, {'a': shared.reshape(target.shape)}, {}, "targets['a'] is written, and has bytes in common with sources['a']"
    fixed = np.zeros(target.shape, 'f4')
    fixed.flags.writeable = False
    yield right, {'a': fixed}, {}, 'read-only'
    yield right, {'a': target}, {'timeout': 0}, 'timeout is 0'
    yield right, {'a': target}, {'timeout': 'soon'}, 'not supported between'
    if sys.argv[1] == 'torch':
        weights = torch_array(source).requires_grad_()
        yield {'a': weights}, {'a': torch_array(target)}, {}, 'gradient'
    # What the redistribution does not have.
    yield {'a': source, 'b': source.copy()}, {'a': target}, {}, "sources has 'b', which the redistribution does not have"
    yield right, {'a': target, 'of nothing': 7}, {}, "targets has 'of nothing'"
    folded = np.lib.stride_tricks.as_strided(np.zeros(target.shape, 'f4'), target.shape, (0, 4))
    yield right, {'a': folded}, {}, "targets['a'] is written, and has several indices for one place"


def one_bad_rank(via, me, world):
    """All ranks raise what one of them has to say, in a time that does not depend on the time-out. Nothing has moved."""
    shape = (4 * world, 5 * world)
    pair = ucd_models.Distribution(shape, world, ucd_models.Shard(0)), ucd_models.Distribution(shape, world, ucd_models.Shard(1))
    move = ucd_models.Redistribution({'a': (*pair, 'float32')})
    whole = np.arange(20.0 * world * world, dtype='f4').reshape(shape)
    source = parts_of(whole, pair[0])[me]
    target = np.zeros(pair[1].local_shape(me), 'f4')
    ways = [move.execute, move.prepare]
    if sys.argv[1] != 'ucx':
        ways.append(lambda *arguments, **others: move.prepare(*arguments, **others, direct=True))
    for number, (sources, targets, others, told) in enumerate(faults(source, target)):
        culprit = number % world
        if me != culprit:
            sources, targets, others = {'a': source}, {'a': target}, {}
        sources, targets = in_library(sources), in_library(targets)
        for way in ways:
            check_told(lambda: way(via, sources, targets, **{'timeout': 60} | others), told, culprit)
        assert told is None or not target.any(), told
        target[...] = 0
    own, into = in_library({'a': source}), in_library({'a': target})
    # What goes wrong later: memory for messages.
    new_bytes = ucd.interop.new_bytes
    if me == world - 1:
        ucd.interop.new_bytes = lambda like, count: (_ for _ in ()).throw(MemoryError('no memory for messages'))
    for way in ways:
        check_told(lambda: way(via, own, into, timeout=60), 'no memory for messages', world - 1)
    ucd.interop.new_bytes = new_bytes
    if sys.argv[1] == 'ucx':
        check_told(lambda: move.prepare(via, own, into, direct=me == 0), 'direct needs', 0)
    beyond = ucd_models.Distribution(shape, world, ucd_models.Shard(1), ranks=range(1, world + 1))
    strange = ucd_models.Redistribution({'a': (pair[0], beyond, 'float32')})
    check_told(lambda: strange.execute(via, own, into if me else {}), f'has rank {world}', 0)
    assert not target.any()
    move.execute(via, own, into)
    assert (target == parts_of(whole, pair[1])[me]).all()


def in_library(arrays):
    """Arrays as the engine's library has them, where it can."""
    if sys.argv[1] != 'torch' or arrays is None:
        return arrays
    return {name: torch_array(a) if isinstance(a, np.ndarray) and a.dtype == 'f4' and a.flags.writeable else a for name, a in arrays.items()}


def check_told(call, told, culprit):
    try:
        call()
    except ucd_models.RedistributionError:
        raise
    except Exception as e:
        assert told is not None and told in str(e) and 'on rank' in str(e), (told, e)
        assert f'on rank {culprit}' in str(e) or 'has rank' in told, e
    else:
        assert told is None, told


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


def failing_phases(via, me, world):
    """In whatever phase of a move rank 1 fails, no rank waits longer than its time-out, and rank 0, which needs what rank 1
    has, raises, too. Then the move is prepared anew, and nothing of the one before comes; only a comparison has to be made up for."""
    from ucd_models import _execution, _launches

    engine = type(_execution.engine_of(via, None))
    for phase, holder, name in (
        ('memory', interop, 'new_bytes'),
        ('comparison', engine, 'gather'),
        ('packing', _launches.Moves, 'run'),
        ('posting', engine, 'post'),
    ):
        if phase == 'comparison' and sys.argv[1] == 'ucx':
            continue  # the exchange is the program's, and has its time-out
        group = via.new_group() if sys.argv[1] == 'torch' else via
        missed, raised, execution = [], None, None

        def broken(*arguments, missed=missed):
            missed.append(arguments)
            raise MemoryError('broken')

        began = time.monotonic()
        with mock.patch.object(holder, name, broken) if me == 1 else contextlib.nullcontext():
            try:
                execution, whole = to_rank_0(group, me, world, timeout=0.5)
                execution.run()
            except (ucd_models.RedistributionError, MemoryError, ValueError) as e:
                raised = e
        assert time.monotonic() - began < 30
        if me == 1 or phase in ('memory', 'comparison'):
            assert 'broken' in str(raised) or (phase == 'comparison' and me != 1), (phase, raised)
        if me == 0:
            wanted = ValueError if phase == 'memory' else ucd_models.RedistributionError
            assert isinstance(raised, wanted), (phase, raised)
            assert execution is None or (whole == -1).all(), phase
        barrier(via)
        if sys.argv[1] == 'torch':
            continue
        if me == 1 and phase == 'comparison':
            getattr(engine, name)(*missed[0])
        barrier(via)
        execution, whole = to_rank_0(via, me, world, timeout=20, value=2)
        for _ in range(2):
            execution.run()
            assert me != 0 or (whole == 2).all(), (phase, whole)
            whole[...] = -1
        barrier(via)


def with_scales(via, me, world):
    """To floats of 8 bits, by the senders, and back, by the receivers. A rank that lacks its scales tells the others."""
    import scales_oracle as oracle

    shape = (12, 5 * world)
    rows, columns = [ucd_models.Distribution(shape, world, ucd_models.Shard(dim)) for dim in (0, 1)]
    rng = np.random.default_rng(7)
    whole = rng.standard_normal(shape).astype('f4')
    scales = np.exp2(rng.integers(-3, 3, (4, 5 * world))).astype('f4')
    each = np.repeat(scales, 3, 0)
    small = oracle.converted(whole.view('u4'), 'float32', 'float8_e4m3fn', each)
    wide = oracle.converted(small, 'float8_e4m3fn', 'float32', each).view('f4')
    of_library = torch_array if sys.argv[1] == 'torch' else lambda array: array
    given = ucd_models.Scales(of_library(scales), (3, 1))
    for source, target, before, after in (('float32', 'float8_e4m3fn', whole, small), ('float8_e4m3fn', 'float32', small, wide)):
        for lacking in (None, world - 1):
            own = None if lacking == me else given
            move = ucd_models.Redistribution({'a': (rows, columns, source)}, convert=target, scales={'a': own})
            mine = of_library(np.ascontiguousarray(parts_of(before, rows)[me]))
            into = np.zeros(columns.local_shape(me), after.dtype)
            call = lambda move=move, mine=mine, into=into: move.execute(via, {'a': mine}, {'a': of_library(into)}, timeout=60)
            check_told(call, None if lacking is None else 'which has no scales of it', lacking)
            assert (into == (parts_of(after, columns)[me] if lacking is None else 0)).all(), (source, lacking)
            if lacking is None:
                sources = None if me == 0 else {'a': mine}
                check_told(functools.partial(move.execute, via, sources, {'a': of_library(into)}, timeout=60), 'NoneType', 0)
                folded = np.lib.stride_tricks.as_strided(into.copy(), into.shape, (0, into.itemsize))
                targets = {'a': of_library(folded if me == 0 else into.copy())}
                check_told(functools.partial(move.execute, via, {'a': mine}, targets, timeout=60), 'several indices for one place', 0)


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
        move = ucd_models.Redistribution(tensors, convert=convert, budget=[1 << 20, 300, 40][case // 3 % 3])
        execution = move.prepare(via, sources, targets)
        for _ in range(2):  # as often as wanted
            execution.run()
        for name, array in expected.items():
            assert np.asarray(targets[name]).tobytes('C') == array.tobytes('C'), (case, name, tensors[name])

    # Ranks that disagree are told so, and nothing moves.
    shape = (8, 2)
    pair = ucd_models.Distribution(shape, world, ucd_models.Shard(0)), ucd_models.Distribution(shape, 1, ucd_models.Replicate())
    local = np.ones(pair[0].local_shape(me), 'f4')
    whole = np.zeros(shape, 'f4') if me == 0 else None
    if sys.argv[1] == 'torch':
        local, whole = torch.from_numpy(local), None if whole is None else torch.from_numpy(whole)
    name = 'a' if me else 'b'
    try:
        ucd_models.Redistribution({name: (*pair, 'float32')}).execute(via, {name: local}, {name: whole})
    except ValueError as e:
        assert 'different redistributions' in str(e), e
    else:
        raise AssertionError('it was not refused')
    with_scales(via, me, world)
    assert whole is None or not np.asarray(whole).any()

    one_bad_rank(via, me, world)
    late_rank(via, me, world)
    failing_phases(via, me, world)
    print(f'rank {me} of {world} is right', flush=True)
    if sys.argv[1] == 'torch':
        os._exit(0)  # the group of the late rank is broken
    barrier(via)


main()
