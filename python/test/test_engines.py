"""Redistribution.execute over the engines that are installed, on several ranks; and in one process."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from placements_oracle import parts_of, random_distribution

import ucd

HERE = pathlib.Path(__file__).parent


def has(module):
    return importlib.util.find_spec(module) is not None


def ran(command, **variables):
    # What MPI told this process of itself is not for the new ones.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('OMPI_', 'PMI', 'PMIX_'))}
    environment = clean | {'OMP_NUM_THREADS': '1', 'PYTHONPATH': os.pathsep.join([str(HERE), *sys.path])} | variables
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_mpi4py():
    MPI = pytest.importorskip('mpi4py.MPI', exc_type=ImportError)
    is_open_mpi = 'Open MPI' in MPI.Get_library_version()
    mpiexec = shutil.which('mpiexec.openmpi' if is_open_mpi else 'mpiexec.mpich')
    if mpiexec is None:
        pytest.skip('no mpiexec of this MPI library')
    extra = ['--oversubscribe'] if is_open_mpi else []
    command = [mpiexec, *extra, '-n', '4', sys.executable, str(HERE / 'engine_ranks.py'), 'mpi4py']
    # All ranks are on this machine: Open MPI must not fail where it finds no ssh.
    allowed = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_plm_rsh_agent': 'false'}
    process = ran(command, **allowed)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 0 and said.count('is right') == 4, said


@pytest.mark.skipif(not has('torch'), reason='needs PyTorch')
def test_torch(tmp_path):
    """Gloo. The rank that goes away has a code of 0 and says nothing."""
    command = [sys.executable, str(HERE / 'engine_ranks.py'), 'torch']
    place = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(20000 + os.getpid() % 20000), 'WORLD_SIZE': '4'}
    processes = [ran(command, RANK=str(rank), **place) for rank in range(4)]
    said = [process.communicate(timeout=200)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    assert sum(text.count('is right') for text in said) == 3, said


def test_in_one_process():
    rng = np.random.default_rng(8)
    for case in range(60):
        tensors, sources, targets, expected = {}, {}, {}, {}
        convert = [None, 'float16', 'float64'][case % 3]
        for name in 'ab':
            shape = tuple(int(n) for n in rng.integers(1, 12, rng.integers(1, 4)))
            source, target = [random_distribution(rng, shape, 8, 20) for _ in range(2)]
            field = rng.standard_normal(shape).astype('f4')
            tensors[name] = source, target, 'float32'
            sources[name] = parts_of(field, source)
            expected[name] = [a.astype(convert or 'f4') for a in parts_of(field, target)]
            targets[name] = [np.zeros_like(a, order='F') for a in expected[name]]
        ucd.Redistribution(tensors, convert=convert).execute(None, sources, targets)
        for name in tensors:
            assert all((a == b).all() for a, b in zip(targets[name], expected[name]))


def test_rounds_stay_within_the_budget():
    shape = (64, 1000)
    source = ucd.Distribution(shape, 4, ucd.Shard(0))
    target = ucd.Distribution(shape, (2, 2), [ucd.Replicate(), ucd.Shard(1)])
    for budget in (1 << 14, 1 << 16, 1 << 24):
        move = ucd.Redistribution({n: (source, target, 'float32') for n in 'abc'}, budget=budget)
        for rank in range(4):
            rounds = move.rounds(rank)
            used = [
                sum(share.nbytes for way in (r.sends, r.receives) for shares in way.values() for share in shares) for r in rounds
            ]
            assert max(used) <= budget // 2
            received = sum(s.nbytes for r in rounds for shares in r.receives.values() for s in shares)
            received += sum(s.nbytes for r in rounds for s in r.keeps)
            assert received == 3 * 4 * int(np.prod(target.local_shape(rank)))
    with pytest.raises(ValueError, match='budget'):
        ucd.Redistribution({}, budget=0)


def test_bad_arguments():
    pair = ucd.Distribution((4,), 2, ucd.Shard(0)), ucd.Distribution((4,), 1, ucd.Replicate())
    move = ucd.Redistribution({'a': (*pair, 'float32')})
    with pytest.raises(TypeError, match='neither a process group'):
        move.execute(7, {}, {})
    with pytest.raises(ValueError, match='1 arrays for 2 ranks'):
        move.execute(None, {'a': [np.zeros(2, 'f4')]}, {'a': [np.zeros(4, 'f4')]})
    with pytest.raises(ValueError, match='elements of 8 bytes'):
        move.execute(None, {'a': [np.zeros(2)] * 2}, {'a': [np.zeros(4, 'f4')]})


def test_batches_that_convert():
    """All of the source must find room, counted in elements."""
    source = np.arange(4.0)
    ucd.Batch.copy([(source, target := np.zeros(4, 'f2'))], op='convert').run()
    assert target.tolist() == source.tolist()
    with pytest.raises(ucd.Truncated):
        ucd.Batch.copy([(source, np.zeros(3, 'f2'))], op='convert')
