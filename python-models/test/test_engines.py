"""Redistribution.execute over the engines that are installed, on several ranks; and in one process."""

import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from placements_oracle import parts_of, random_distribution

import ucd
import ucd_models

HERE = pathlib.Path(__file__).parent


def has(module):
    return importlib.util.find_spec(module) is not None


def ran(command, **variables):
    # What MPI told this process of itself is not for the new ones.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('OMPI_', 'PMI', 'PMIX_'))}
    environment = clean | {'OMP_NUM_THREADS': '1', 'PYTHONPATH': os.pathsep.join([str(HERE), *sys.path])} | variables
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def said_by(process):
    try:
        return process.communicate(timeout=200)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def mpi4py_command(ranks, *arguments, program='engine_ranks.py', survive=False):
    """mpiexec of the MPI library that mpi4py has. survive: the others go on if a rank is killed."""
    MPI = pytest.importorskip('mpi4py.MPI', exc_type=ImportError)
    is_open_mpi = 'Open MPI' in MPI.Get_library_version()
    mpiexec = shutil.which('mpiexec.openmpi' if is_open_mpi else 'mpiexec.mpich')
    if mpiexec is None:
        pytest.skip('no mpiexec of this MPI library')
    extra = ['--oversubscribe'] if is_open_mpi else []
    if survive:
        extra += ['--enable-recovery'] if is_open_mpi else ['-disable-auto-cleanup']
    return [mpiexec, *extra, '-n', str(ranks), sys.executable, '-m', 'mpi4py', str(HERE / program), 'mpi4py', *arguments]


# All ranks are on this machine: Open MPI must not fail where it finds no ssh.
OPEN_MPI = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_plm_rsh_agent': 'false'}


def test_mpi4py():
    process = ran(mpi4py_command(4), **OPEN_MPI)
    said = said_by(process)
    assert process.returncode == 0 and said.count('is right') == 4 and 'rank 0 lost (1,)' in said, said


def test_what_ranks_say_of_their_problems():
    """Other ranks' reasons are bytes of anyone."""

    class Group:
        rank, ranks = 0, range(12)

        def __init__(self, *answers):
            self.answers = list(answers)

        def gather(self, mine, like):
            return [mine, *[answer.ljust(len(mine), b'\0') for answer in self.answers.pop(0)]]

    agreed = ucd_models._agreement.agreed
    assert agreed(Group([b'-b'] * 11), b'a', None, None) == [b'a'] + [b'b'] * 11
    with pytest.raises(ValueError, match='^on rank 1: \ufffd; on rank 2: .*; and on 7 more ranks$'):
        agreed(Group([b'!'] * 11, [b'\xff'] * 11), b'a', None, None)
    with pytest.raises(KeyError):
        agreed(Group([b'-'] * 11, [b''] * 11), b'a', KeyError('x'), None)
    for wrong in ([b'-'] * 10, [b'-' * 5] * 11):
        with pytest.raises(ucd_models.RedistributionError, match='bytes of each rank'):
            agreed(Group(wrong), b'a', None, None)


def test_direct_over_mpi4py():
    process = ran(mpi4py_command(4, program='direct_ranks.py'), **OPEN_MPI)
    said = said_by(process)
    assert process.returncode == 0 and said.count('is right') == 4, said


def test_mpi4py_with_a_rank_that_is_killed():
    """By the time-out: MPI libraries do not notice, or end all ranks."""
    process = ran(mpi4py_command(3, 'killed', survive=True), **OPEN_MPI)
    said = said_by(process)
    assert 'rank 0 lost (1,)' in said, said


def separate_ranks(program, ranks, *arguments, **variables):
    """What each rank says, and its return code."""
    place = {'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(20000 + os.getpid() % 20000), 'WORLD_SIZE': str(ranks)} | variables
    command = [sys.executable, str(HERE / program), *arguments]
    processes = [ran(command, RANK=str(rank), **place) for rank in range(ranks)]
    said = [said_by(process) for process in processes]
    return said, [process.returncode for process in processes]


needs_torch = pytest.mark.skipif(not has('torch'), reason='needs PyTorch')


@needs_torch
def test_torch():
    """Gloo."""
    said, codes = separate_ranks('engine_ranks.py', 4, 'torch')
    assert codes == [0] * 4 and 'rank 0 lost (1,)' in said[0], said
    assert sum(text.count('is right') for text in said) == 4, said


@needs_torch
def test_direct_over_torch():
    said, codes = separate_ranks('direct_ranks.py', 3, 'torch')
    assert codes == [0] * 3, said


@needs_torch
@pytest.mark.parametrize('engine', ['nccl', 'gloo'])
def test_direct_on_devices(engine):
    """With NCCL a rank has a GPU. With Gloo, three ranks share each."""
    import torch

    gpus = torch.cuda.device_count()
    if gpus < (2 if engine == 'nccl' else 1):
        pytest.skip('needs two GPUs, or one')
    said, codes = separate_ranks('direct_ranks.py', gpus if engine == 'nccl' else 3 * gpus, engine)
    assert all(code == 0 for code in codes), said


@needs_torch
def test_torch_with_a_rank_that_is_killed():
    """The connection breaks, long before the time is over."""
    said, codes = separate_ranks('engine_ranks.py', 3, 'torch', 'killed')
    assert codes == [0, -signal.SIGKILL, 0] and 'rank 0 lost (1,)' in said[0], said


needs_ucx = pytest.mark.skipif(not has('ucd._ucx'), reason='was built without libucd-ucx')
# The transport that there is everywhere, and that notices an end.
OVER_TCP = {'UCX_TLS': 'tcp,self', 'UCX_WARN_UNUSED_ENV_VARS': 'n'}


@needs_ucx
@pytest.mark.parametrize('ranks', [2, 4])
def test_ucx(ranks, tmp_path):
    said, codes = separate_ranks('engine_ranks.py', ranks, 'ucx', UCD_TEST_FOLDER=str(tmp_path), **OVER_TCP)
    assert codes == [0] * ranks and 'rank 0 lost (1,)' in said[0], said
    assert sum(text.count('is right') for text in said) == ranks, said


@needs_ucx
def test_ucx_refuses():
    with pytest.raises(ValueError, match='ucd.ucx.chunks'):
        ucd_models.UcxEngine(0, lambda mine: [mine], {'ucd.ucx.chunks': '64'})
    with pytest.raises(ValueError, match='rank 2 of 1'):
        ucd_models.UcxEngine(2, lambda mine: [mine])
    for other, told in ((b'!1 unknown key', 'on rank 1: unknown key'), (b'-0 address', 'rank 0 of 2'), (b'', 'rank  of 2')):
        with pytest.raises(ValueError, match=told):
            ucd_models.UcxEngine(0, lambda mine, other=other: [mine, other])
    said = []
    with pytest.raises(ValueError, match='ucd.ucx.chunks'):
        ucd_models.UcxEngine(0, lambda mine: said.append(mine) or [mine], {'ucd.ucx.chunks': '64'})
    assert said[0].startswith(b'!0 ') and b'ucd.ucx.chunks' in said[0]
    assert repr(ucd_models.UcxEngine(0, lambda mine: [mine])) == '<ucd_models.UcxEngine, rank 0 of 1>'


class GoneWorker:
    """A worker of UCX, of which rank 2 is gone."""

    def connect(self, peer, address):
        if address == b'gone':
            raise RuntimeError('refused')

    def receive(self, peer, at, bytes, tag):
        return peer

    send = receive

    def wait(self, number, seconds):
        return True

    def flush(self, seconds):
        return True


def messages_to_the_gone():
    """By engine: messages of which those with rank 2 do not begin."""

    def begin(array, peer, *others):
        if peer == 2:
            raise RuntimeError('refused')
        return types.SimpleNamespace(wait=lambda: None, Wait=lambda: None)

    engine = types.SimpleNamespace(rank=0, _worker=GoneWorker(), _addresses=[b'', b'', b'gone', b''])
    of_torch = object.__new__(ucd_models._torch_engine.TorchEngine)
    of_torch._dist, of_torch.group, of_torch._timeout = types.SimpleNamespace(irecv=begin, isend=begin), None, ()
    comm = types.SimpleNamespace(Get_rank=lambda: 0, Get_size=lambda: 4, Irecv=begin, Isend=begin)
    return {'ucx': ucd_models._ucx_engine.UcxMessages(engine, None), 'torch': of_torch, 'mpi4py': ucd_models._mpi_engine.MpiEngine(comm, None)}


@pytest.mark.parametrize('name', ['ucx', 'torch', 'mpi4py'])
def test_the_rank_that_cannot_be_reached_is_named(name):
    """And no other: each message fails in its own wait."""
    if name == 'mpi4py':
        pytest.importorskip('mpi4py.MPI', exc_type=ImportError)
    for ways in (0, 1):
        peers = {peer: np.zeros(4, np.uint8) for peer in (1, 2, 3)}
        waits = messages_to_the_gone()[name].post(*([peers, {}] if ways else [{}, peers]))
        assert [peers for peers, _ in waits] == [[1], [2], [3]] + ([[]] if name == 'ucx' and ways else [])
        for peers, wait in waits:
            if peers == [2]:
                with pytest.raises(RuntimeError, match='refused'):
                    wait()
            else:
                wait()


def test_messages_of_nccl_blame_nobody():
    """They are one operation."""

    def batch(operations):
        def wait():
            raise RuntimeError('lost')

        return [types.SimpleNamespace(wait=wait)]

    engine = object.__new__(ucd_models._torch_engine.TorchEngine)
    engine._dist = types.SimpleNamespace(irecv=0, isend=1, P2POp=lambda *arguments: arguments, batch_isend_irecv=batch)
    engine.group, engine._timeout, engine.in_stream = None, (), True
    buffers = {peer: np.zeros(4, np.uint8) for peer in (1, 2)}
    assert [peers for peers, _ in engine.post(buffers, buffers)] == [[]]
    assert [peers for peers, _ in engine.post({1: buffers[1]}, {1: buffers[1]})] == [[1]]
    assert engine.post({}, {}) == []


@needs_ucx
def test_ucx_with_a_rank_that_is_killed(tmp_path):
    """The connection breaks, long before the time is over."""
    said, codes = separate_ranks('engine_ranks.py', 3, 'ucx', 'killed', UCD_TEST_FOLDER=str(tmp_path), **OVER_TCP)
    assert codes == [0, -signal.SIGKILL, 0] and 'rank 0 lost (1,)' in said[0], said


@needs_torch
@pytest.mark.parametrize('ranks', [2, 3, 4])
def test_dtensor(ranks):
    """PyTorch's own distribute_tensor and redistribute say the same."""
    seed = time.time_ns() % 10**6 if os.environ.get('UCD_TEST_SEED') == 'random' else ranks
    cases = max(1, int(15 * float(os.environ.get('UCD_TEST_CASES', '1'))))
    said, codes = separate_ranks('dtensor_ranks.py', ranks, str(cases), str(seed))
    assert codes == [0] * ranks, said


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
        ucd_models.Redistribution(tensors, convert=convert).execute(None, sources, targets)
        for name in tensors:
            assert all((a == b).all() for a, b in zip(targets[name], expected[name]))


def test_rounds_stay_within_the_budget():
    shape = (64, 1000)
    source = ucd_models.Distribution(shape, 4, ucd_models.Shard(0))
    target = ucd_models.Distribution(shape, (2, 2), [ucd_models.Replicate(), ucd_models.Shard(1)])
    for budget in (1 << 14, 1 << 16, 1 << 24):
        move = ucd_models.Redistribution({n: (source, target, 'float32') for n in 'abc'}, budget=budget)
        for rank in range(4):
            rounds = move.rounds(rank)
            used = [
                sum(share.fan.number * share.nbytes for way in (r.sends, r.receives) for share in way) for r in rounds
            ]
            assert max(used) <= budget // 2
            received = sum(s.fan.number * s.nbytes for r in rounds for s in r.receives)
            received += sum(s.nbytes for r in rounds for s in r.keeps)
            assert received == 3 * 4 * int(np.prod(target.local_shape(rank)))
    with pytest.raises(ValueError, match='budget'):
        ucd_models.Redistribution({}, budget=0)


def test_digests_tell_rounds_apart():
    """Arrays as a whole, of which a round has five or four."""
    ranks = [ucd_models.Distribution((1024,), 1, ucd_models.Replicate(), ranks=[rank]) for rank in (0, 1)]
    five, again, four = [ucd_models.Redistribution({n: (*ranks, 'float32') for n in 'abcde'}, budget=n * 8192) for n in (5, 5, 4)]
    assert (len(five), len(four)) == (1, 2)
    assert five.digest() == again.digest() != four.digest()


def test_arrays_without_elements_are_nowhere():
    """On a device they would count as the host's, of which NCCL and Gloo together exchange nothing with devices."""

    class Third:
        rank, ranks, in_stream = 2, range(3), False

        def gather(self, mine, like):
            return [mine] * 3

        def settle(self, memories):
            self.memories = memories

    ranks = ucd_models.Distribution((2,), 3, ucd_models.Shard(0)), ucd_models.Distribution((2,), 1, ucd_models.Replicate())
    move = ucd_models.Redistribution({'a': (*ranks, 'float32')})
    for given, memories in (({'a': np.zeros(0, 'f4')}, set()), ({}, set()), ({'a': np.zeros(3, 'f4')}, {'host'})):
        ucd_models._exchange.Exchange(move, third := Third(), given, {}, False, None)
        assert third.memories == memories


def test_rounds_are_filled():
    """Of few ranks, what is kept takes no room, and parts of arrays share rounds."""
    shapes = {'a': (96, 4096), 'b': (4096, 64), 'c': (640, 640), 'd': (64,), 'e': (2000, 130)}
    tensors = {
        name: (ucd_models.Distribution(shape, 2, ucd_models.Shard(0)), ucd_models.Distribution(shape, 2, ucd_models.Shard(len(shape) - 1)), 'float32')
        for name, shape in shapes.items()
    }
    for budget in (1 << 17, 1 << 18, 1 << 20):
        move = ucd_models.Redistribution(tensors, budget=budget)
        for rank in (0, 1):
            of_rounds = [
                [sum(share.fan.number * share.nbytes for share in way) for way in (r.sends, r.receives)]
                for r in move.rounds(rank)
            ]
            assert all(sent + received <= budget // 2 for sent, received in of_rounds)
            assert all(0.3 * budget // 2 < min(both) for both in of_rounds[:-1])


def test_bad_arguments():
    pair = ucd_models.Distribution((4,), 2, ucd_models.Shard(0)), ucd_models.Distribution((4,), 1, ucd_models.Replicate())
    move = ucd_models.Redistribution({'a': (*pair, 'float32')})
    with pytest.raises(TypeError, match='neither a process group'):
        move.execute(7, {}, {})
    with pytest.raises(ValueError, match='1 arrays for 2 ranks'):
        move.execute(None, {'a': [np.zeros(2, 'f4')]}, {'a': [np.zeros(4, 'f4')]})
    with pytest.raises(ValueError, match='elements of 8 bytes'):
        move.execute(None, {'a': [np.zeros(2)] * 2}, {'a': [np.zeros(4, 'f4')]})
    half = ucd_models.Redistribution({'a': (*pair, 'bfloat16')})
    bits = np.arange(2, dtype='u2')
    half.execute(None, {'a': [bits, bits]}, {'a': [np.zeros(4, 'u2')]})  # NumPy has no name for them
    with pytest.raises(ValueError, match="elements FLOAT16; the target's dtype is BFLOAT16"):
        half.execute(None, {'a': [bits, bits]}, {'a': [np.zeros(4, 'f2')]})


@pytest.mark.parametrize(
    'offer',
    [
        b'',
        b'\xff',
        b'[]',
        b'{}',
        b'{"machine": "here", "arrays": []}',
        b'{"machine": "elsewhere", "arrays": {"a": ["00", [4]]}}',
        b'{"machine": "here", "arrays": {"a": null}}',
        b'{"machine": "here", "arrays": {"a": ["0", [4]]}}',
        b'{"machine": "here", "arrays": {"a": ["00", [4, 4]]}}',
        b'{"machine": "here", "arrays": {"a": ["00", ["4x"]]}}',
        b'{"machine": "here", "arrays": {"a": ["00", [8]]}}',
        b'{"machine": "here", "arrays": {"a": ["00", [-4]]}}',
        b'{"machine": "here", "arrays": {"a": ["00", [36893488147419103232]]}}',
    ],
)
def test_direct_refuses_offers(offer, monkeypatch):
    """What another rank says of its memory is checked before it is used; the first rank then sends messages."""

    class Group:
        rank, in_stream = 0, False

        def __init__(self, second, *said):
            self.ranks = (0, second)
            self._said = [text for answer in said for text in (len(answer).to_bytes(8, 'little'), answer)]

        def gather(self, mine, like):
            answer = self._said.pop(0)
            return [mine, answer.ljust(len(mine), b'\0')]

    def peers(text, second=1):
        ranks = [ucd_models.Distribution((8,), 1, ucd_models.Replicate(), ranks=[rank]) for rank in (0, second)]
        routings = {'a': ucd_models.routing(*ranks, 'f4')}
        source = np.arange(8, dtype='f4')
        made = ucd_models._direct.Direct(Group(second, text, b'[]'), routings, {(0, 'a'): (4,)}, {'a': source}, {}, source, False)
        return made.peers

    monkeypatch.setattr(ucd_models._direct, 'machine', lambda: 'here')
    monkeypatch.setattr(ucd_models._direct, 'PeerMemory', lambda handle, device: np.zeros(32, np.uint8))
    assert peers(b'{"machine": "here", "arrays": {"a": ["00", [4]]}}') == (1,)
    assert peers(b'{"machine": "here", "arrays": {"a": ["00", [4]]}}', 5) == (5,)  # a group with gaps
    assert peers(offer) == ()


def test_batches_that_convert():
    """All of the source must find room, counted in elements."""
    source = np.arange(4.0)
    ucd.Batch.copy([(source, target := np.zeros(4, 'f2'))], op='convert').run()
    assert target.tolist() == source.tolist()
    with pytest.raises(ucd.Truncated):
        ucd.Batch.copy([(source, np.zeros(3, 'f2'))], op='convert')
