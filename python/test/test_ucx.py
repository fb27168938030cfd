"""Workers of ucd.ucx, several of them in one process. Ranks in processes of their own are in ucd_models' tests."""

import gc
import subprocess
import sys

import numpy as np
import pytest

ucx = pytest.importorskip('ucd.ucx', exc_type=ImportError)


def connected(monkeypatch):
    """Two workers that are each other's peer 7."""
    monkeypatch.setenv('UCX_TLS', 'tcp,self')
    monkeypatch.setenv('UCX_WARN_UNUSED_ENV_VARS', 'n')
    workers = ucx.Worker({}), ucx.Worker({})
    for worker, other in zip(workers, reversed(workers)):
        worker.connect(7, other.address())
        worker.connect(7, b'')  # it is connected
    return workers


@pytest.fixture
def two(monkeypatch):
    return connected(monkeypatch)


def finish(*waits):
    """Makes progress on all sides until all of them are over."""
    left = list(waits)
    for _ in range(5000):
        left = [wait for wait in left if not wait()]
        if not left:
            return
    pytest.fail(f'{len(left)} of {len(waits)} never end')


@pytest.mark.parametrize('bytes', [0, 1, 1000, 3_000_000])
def test_messages(two, bytes):
    a, b = two
    sent, received = np.random.default_rng(bytes).integers(0, 256, bytes, 'u1'), np.zeros(bytes + 1, 'u1')
    got = b.receive(7, received.ctypes.data, bytes, 5)
    gone = a.send(7, sent.ctypes.data, bytes, 5)
    finish(lambda: a.wait(gone, 0.001), lambda: b.wait(got, 0.001))
    finish(lambda: a.flush(0.001), lambda: b.flush(0.001))
    assert (received[:-1] == sent).all() and received[-1] == 0
    assert a.wait(gone, None) and b.wait(got, None)  # it is over


def test_tags_tell_messages_apart(two):
    a, b = two
    sent, received = np.arange(2.0), np.zeros(2)
    numbers = [b.receive(7, received[k:].ctypes.data, 8, k) for k in (1, 0)]
    gone = [a.send(7, sent[k:].ctypes.data, 8, k) for k in (0, 1)]
    finish(*[lambda n=n: b.wait(n, 0.001) for n in numbers], *[lambda n=n: a.wait(n, 0.001) for n in gone])
    assert received.tolist() == [0, 1]


def test_a_peer_that_is_not_connected(two):
    for start in (two[0].send, two[0].receive):
        with pytest.raises(RuntimeError, match='not connected'):
            start(8, 0, 0, 0)


def test_a_message_that_is_too_long(two):
    a, b = two
    sent, received = np.ones(64, 'u1'), np.zeros(64, 'u1')
    got = b.receive(7, received.ctypes.data, 32, 1)
    gone = a.send(7, sent.ctypes.data, 64, 1)
    with pytest.raises(RuntimeError, match='trunc'):
        finish(lambda: a.wait(gone, 0.001), lambda: b.wait(got, 0.001))
    assert not received[32:].any()


def test_what_never_comes(monkeypatch):
    """The time is over, and the worker goes with what it waits for."""
    _peer, worker = connected(monkeypatch)  # not the fixture's, which pytest keeps until the test has ended
    received = np.zeros(8, 'u1')
    number = worker.receive(7, received.ctypes.data, 8, 3)
    assert not worker.wait(number, 0.0) and not worker.wait(number, 0.01)
    del worker
    gc.collect()
    assert not received.any()


def test_keys():
    with pytest.raises(ValueError, match='ucd.ucx.chunks'):
        ucx.Worker({'ucd.ucx.chunks': '64'})
    assert ucx.Worker({'ucd.ucx.direct': 'no'}).address()


def test_a_wait_without_end_can_be_interrupted():
    script = """
import signal
import numpy as np
from ucd import ucx

worker, memory = ucx.Worker({}), np.zeros(8, 'u1')
worker.connect(0, worker.address())
number = worker.receive(0, memory.ctypes.data, 8, 1)
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    worker.wait(number, None)
except KeyboardInterrupt:
    print('interrupted')
"""
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, timeout=60)
    assert done.stdout == 'interrupted\n', done.stderr
