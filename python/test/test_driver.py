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
        environment['PYTHONUNBUFFERED'] = '1'  # in order with what the driver prints
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
    again = ['wait 0x7000']
    assert says(script.format(stream=0x500)) == [*ordered, *again, 'wait 0x500']
    assert says(script.format(stream=0x7000)) == [*again, 'wait 0x7000']
    assert says(script.format(stream=0x666)) == ['record 0x102 in 0x666', 'destroy 0x102', 'wait 0x666', 'RuntimeError']


def test_libraries_without_an_exchange_interface_are_told_apart(says):
    """By the classes of their arrays."""
    script = """
class Other(Array):
    pass
try:
    ucd.pack_into(Array((3,), stream=0x500), {kind}((3,), stream=0x600), type=ucd.types.BYTE, count=0, partial=True)
except ucd.NotSupported:
    pass
"""
    assert says(script.format(kind='Other'))[:3] == ['record 0x102 in 0x600', '0x500 waits for 0x102', 'destroy 0x102']
    assert not [line for line in says(script.format(kind='Array')) if 'record' in line]


DEVICES = """
from test_exchange import CUDA, LIBRARY
LIBRARY.changes = {'device_type': CUDA}
LIBRARY.streams = {0: 0x7000, 1: 0x7100, 2: 0x7200}
LIBRARY.Array.__dlpack_device__ = lambda self: (CUDA, self.device)
def array(device, dtype='f8'):
    return LIBRARY.Array(np.zeros(3, dtype), device)
def listed(device):
    return ucd.Type.indexed_block_ref(1, array(device, 'i8'), 8, 0, 96, 'float64')
def tried(function, *arguments, **how):
    try:
        function(*arguments, **how)
    except ucd.NotSupported:
        print('not on this machine')
"""


@pytest.fixture
def waits(says):
    """For which of the three devices' streams a call waits, in a script that has DEVICES."""
    return lambda call: [line for line in says(DEVICES + call) if 'wait' in line and '0x7' in line]


def test_the_stream_of_one_device_waits_for_the_others(waits):
    """The host does, and at the end for the first device's stream. What moves nothing here tries host memory then."""
    pack = "tried(ucd.pack_into, array(0), array(%d), type=ucd.types.BYTE, count=0, partial=True%s)"
    again = ['wait 0x7000', 'wait 0x7100']
    assert waits(pack % (0, '')) == []
    assert waits(pack % (1, '')) == ['wait 0x7100', *again]
    assert waits(pack % (1, ', stream=0x7000')) == ['0x7000 waits for 0x102', 'wait 0x7100', *again]


def test_default_streams_of_two_devices_are_two(says):
    script = DEVICES + """
LIBRARY.streams, LIBRARY.stream = {}, 0
tried(ucd.pack_into, array(0), array(1), type=ucd.types.BYTE, count=0, partial=True, stream=1)
"""
    wait = ['device 3', 'push 0xc0', 'wait (nil)', 'pop', 'release 3']
    assert says(script) == 3 * wait  # the other device's, and both before host memory is tried
    # An event in a default stream is recorded on the array's device.
    script = script.replace('array(1)', 'array(0)').replace('stream=1', 'stream=0x500')
    one = ['device 3', 'push 0xc0', 'record 0x102 in (nil)', '0x500 waits for 0x102', 'destroy 0x102', 'pop', 'release 3']
    assert says(script) == [*one, *one, 'not on this machine']


def test_lists_on_another_device_are_waited_for(waits):
    copy = "tried(ucd.copy_bytes, array(0), array(0), %s_type=listed(%d), %s_count=0, %s_type=ucd.types.BYTE, %s_count=0)"
    for this, other in (('src', 'dst'), ('dst', 'src')):
        assert waits(copy % (this, 0, this, other, other)) == []
        assert waits(copy % (this, 2, this, other, other)) == ['wait 0x7200']


def test_batches_between_devices(waits):
    """As calls. All of a batch is waited for before, if any of it is on another device than the first array."""
    batch = "tried(lambda: ucd.Batch.pack([(array(0), array(%d), %s, 0)], partial=True).run())"
    assert waits(batch % (0, 'ucd.types.BYTE')) == []
    assert waits(batch % (1, 'ucd.types.BYTE')) == ['wait 0x7000', 'wait 0x7100', 'wait 0x7000']
    assert set(waits(batch % (0, 'listed(2)'))) == {'wait 0x7000', 'wait 0x7200'}
