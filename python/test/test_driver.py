"""What is asked of a GPU's driver about streams, with one that stands in for it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent

START = """
import numpy as np
import ucd

class Array:
    def __init__(self, shape=(2, 3), **more):
        self.__cuda_array_interface__ = {
            'shape': shape, 'typestr': '<f8', 'data': (0x10000, False), 'version': 3, 'strides': None, **more}

def to_host(array, **how):
    # Without a GPU the address is not the device's, so nothing of it may move: count is 0.
    assert ucd.pack_into(array, bytearray(8), type=ucd.types.BYTE, count=0, partial=True, **how) == 0
"""


@pytest.fixture(scope='module')
def says(tmp_path_factory):
    """Runs a script beside the driver that stands in, and returns the lines of its output."""
    compiler = shutil.which('cc')
    if compiler is None:
        pytest.skip('no C compiler')
    folder = tmp_path_factory.mktemp('driver')
    subprocess.run([compiler, '-shared', '-fPIC', HERE / 'fake_driver.c', '-o', folder / 'libcuda.so.1'], check=True)

    def run(script, **more):
        paths = [str(folder), *filter(None, [os.environ.get('LD_LIBRARY_PATH')])]
        environment = os.environ | {'LD_LIBRARY_PATH': ':'.join(paths), 'UCD_BACKENDS': 'seq'} | more
        environment['PYTHONPATH'] = ':'.join([str(HERE), *filter(None, [os.environ.get('PYTHONPATH')])])
        done = subprocess.run([sys.executable, '-c', START + script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_streams_without_a_method_are_waited_for(says):
    """numba's arrays say their stream as an integer; others have only the protocol."""
    assert says('to_host(Array(stream=0x500))') == ['wait 0x500']
    assert says('to_host(Array(), stream=0x700)') == ['wait 0x700']
    assert says('to_host(Array(stream=None))') == []
    assert says('class S:\n __cuda_stream__ = (0, 0x900)\nto_host(Array(), stream=S())') == ['wait 0x900']
    both = 'assert ucd.copy_bytes(Array((0,), stream=0x500), bytearray(8)) == 0'
    assert says(both) == ['wait 0x500']


def test_a_default_stream_is_that_of_the_arrays_device(says):
    around = ['device 3', 'push 0xc0', 'wait 0x1', 'pop', 'release 3']
    assert says('to_host(Array(stream=1))') == around


def test_failures_of_the_driver(says):
    caught = """
try:
    to_host(Array(stream=0x666))
except RuntimeError as error:
    print(error)
"""
    assert says(caught) == ['wait 0x666', 'waiting for the stream failed: error 400 of cuda']


def test_a_stream_that_is_given_waits_for_the_current_one(says):
    """By an event, for arrays with the exchange interface; by __dlpack__ if the driver refuses."""
    script = """
from test_exchange import CUDA, LIBRARY
LIBRARY.changes = {{'device_type': CUDA}}
LIBRARY.Array.__dlpack_device__ = lambda self: (CUDA, 0)
def dlpack(self, *, stream, **arguments):
    print('__dlpack__', hex(stream))
    raise BufferError
LIBRARY.Array.__dlpack__ = dlpack
LIBRARY.stream = {current}
source, out = LIBRARY.Array(np.zeros(3)), LIBRARY.Array(np.zeros(3))
try:
    ucd.pack_into(source, out, stream={given})
except (BufferError, ucd.NotSupported) as error:
    print(type(error).__name__)
"""
    one = ['record 0x102 in 0x7000', '0x7100 waits for 0x102', 'destroy 0x102']
    assert says(script.format(current=0x7000, given=0x7100)) == [*one, *one, 'NotSupported']
    assert says(script.format(current=0x7000, given=0x7000)) == ['NotSupported']
    refused = ['record 0x102 in 0x666', 'destroy 0x102', '__dlpack__ 0x7100', 'BufferError']
    assert says(script.format(current=0x666, given=0x7100)) == refused


CAPTURE = """
import ctypes, gc, weakref
driver = ctypes.CDLL('libcuda.so.1')
map_memory = ctypes.CDLL(None).mmap
map_memory.restype, map_memory.argtypes = ctypes.c_size_t, [ctypes.c_size_t] * 2 + [ctypes.c_int] * 3 + [ctypes.c_long]
# Private and anonymous memory, for reading and writing, at the addresses of the fake's device.
assert map_memory(0x10000, 0x10000, 3, 0x32, -1, 0) == 0x10000

def batch_of_pages():
    indices = Array((2,), typestr='<i8', data=(0x10800, False))
    pages = ucd.Type.indexed_block_ref(1, indices, 8, 0, 96, 'float64')
    return ucd.Batch.pack([(Array((3, 4)), Array((2,), data=(0x10400, False)), pages)]), weakref.ref(indices)

def run(stream):
    batch, indices = batch_of_pages()
    try:
        batch.run(stream=stream)
    except ucd.InvalidArgument:  # the fake does not tell a stream's device
        print('not launched')
    del batch
    gc.collect()
    return indices

elsewhere = run(0x500)
print(elsewhere() is None, driver.destroy_graph())
captured = run(0x777)
print(captured() is None)
print(driver.destroy_graph(), captured() is None)
again = run(0x777)
print(captured() is None, again() is None)
"""


def test_a_graph_keeps_the_indices_of_a_captured_batch(says, tmp_path):
    """Until it is gone, which the next capture notices. Nothing is launched on the fake."""
    plugin = os.environ.get('UCD_FAKE_PLUGIN')
    if not plugin:
        pytest.skip('no fake plugin was built')
    shutil.copy(plugin, tmp_path / 'libucd_cuda.so')
    said = says(CAPTURE, UCD_PLUGIN_PATH=str(tmp_path), UCD_BACKENDS='seq,cuda')
    assert said == ['not launched', 'True 0', 'not launched', 'False', '1 False', 'not launched', 'True False']


def test_a_captured_call_is_prepared_first(says, tmp_path):
    plugin = os.environ.get('UCD_FAKE_PLUGIN')
    if not plugin:
        pytest.skip('no fake plugin was built')
    shutil.copy(plugin, tmp_path / 'libucd_cuda.so')
    script = """
for stream in 0x500, 0x777:
    try:
        ucd.pack_into(Array((3, 4)), Array((12,), data=(0x10400, False)), stream=stream)
    except ucd.Error as error:
        print(str(error).partition(':')[0])
"""
    assert says(script, UCD_PLUGIN_PATH=str(tmp_path), UCD_BACKENDS='seq,cuda') == ['ucd_pack_stream', 'ucd_prepare']


def test_the_stream_of_one_library_waits_for_the_others(says):
    """By an event; by the host if the driver refuses, which fails for this stream."""
    script = """
from test_exchange import CUDA, LIBRARY
LIBRARY.changes = {{'device_type': CUDA}}
LIBRARY.Array.__dlpack_device__ = lambda self: (CUDA, 0)
LIBRARY.stream = 0x7000
try:
    ucd.pack_into(LIBRARY.Array(np.zeros(3)), Array((3,), stream={stream}), type=ucd.types.BYTE, count=0, partial=True)
except RuntimeError as error:
    print(type(error).__name__)
"""
    ordered = ['record 0x102 in 0x500', '0x7000 waits for 0x102', 'destroy 0x102']
    # The stream refuses arrays of two devices, so the call goes through host memory, after both streams.
    again = ['device 3', 'push 0xc0', 'wait (nil)', 'pop', 'release 3']
    assert says(script.format(stream=0x500)) == [*ordered, *again, 'wait 0x500']
    assert says(script.format(stream=0x7000)) == [*again, 'wait 0x7000']
    assert says(script.format(stream=0x666)) == ['record 0x102 in 0x666', 'destroy 0x102', 'wait 0x666', 'RuntimeError']


def test_the_stream_of_one_device_waits_for_the_others(says):
    """The host waits, since an event is of one device: for the other array, and for the indices."""
    script = """
from test_exchange import CUDA, LIBRARY
LIBRARY.changes = {'device_type': CUDA}
LIBRARY.streams = {0: 0x7000, 1: 0x7100, 2: 0x7200}
LIBRARY.Array.__dlpack_device__ = lambda self: (CUDA, self.device)
def array(device, dtype='f8'):
    return LIBRARY.Array(np.zeros(3, dtype), device)
def tried(function, *arguments, **how):
    try:
        function(*arguments, **how)
    except ucd.NotSupported:
        print('not on this machine')
"""
    failed = 'not on this machine'
    pack = "tried(ucd.pack_into, array(0), array(%d), type=ucd.types.BYTE, count=0, partial=True)"
    assert says(script + pack % 0) == [failed]
    # It is waited for before, and at the end for the first array's stream, since the other device's does not wait for it.
    assert [said for said in says(script + pack % 1) if 'wait 0x7' in said] == ['wait 0x7100', 'wait 0x7000']
    refer = """
kind = ucd.Type.indexed_block_ref(1, array(%d, 'i8'), 8, 0, 96, 'float64')
tried(ucd.pack_into, array(0), array(0), type=kind, count=0, partial=True)
"""
    assert says(script + refer % 0) == [failed]
    assert says(script + refer % 2) == ['wait 0x7200', failed]
