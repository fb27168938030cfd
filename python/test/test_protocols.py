"""Each protocol of arrays with each function: what moves is what the bytes in memory say."""

import ctypes
import pathlib
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import ucd
import ucd_models
from test_arrays import Interface, Producer
from test_exchange import CUDA, LIBRARY, Divided, library  # noqa: F401 -- a fixture
from views import filled


class Case:
    """An array of some protocol, and where in memory its elements' bytes are, in the order in which they are packed."""

    def __init__(self, array, memory, pieces, number):
        self.array = array
        self.memory = memory  # a writable array of bytes
        self.pieces = pieces  # (first byte in memory, bytes)
        self.number = number  # whether elements can be added, None if that is not asked
        self.size = sum(length for _, length in pieces)

    def packed(self):
        return b''.join(self.memory[at : at + length].tobytes() for at, length in self.pieces)


# NumPy's elements


def parts_of(dtype):
    """The bytes of an element that are moved, as (displacement, bytes)."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        each = parts_of(base)
        return [(i * base.itemsize + at, n) for i in range(int(np.prod(shape))) for at, n in each]
    if dtype.fields is None or dtype is UNION:
        return [(0, dtype.itemsize)]
    return [(dtype.fields[name][1] + at, n) for name in dtype.names for at, n in parts_of(dtype.fields[name][0])]


def is_number(dtype):
    if dtype.fields is not None and dtype is not UNION:
        return all(is_number(field.base) for field, _ in dtype.fields.values())
    return dtype.kind in 'fiu' and dtype.isnative


UNION = np.dtype({'names': ['d', 'i'], 'formats': ['f8', 'i4'], 'offsets': [0, 0], 'itemsize': 8})
DTYPES = {
    'f8': np.dtype('f8'),
    'i4': np.dtype('i4'),
    'bool': np.dtype('?'),
    'other order': np.dtype('>i4'),
    'text': np.dtype('U3'),
    'bytes': np.dtype('V5'),
    'date': np.dtype('M8[s]'),
    'longdouble': np.dtype('g'),
    'padded': np.dtype([('a', 'u1'), ('b', 'f8'), ('c', 'i2')], align=True),
    'backwards': np.dtype({'names': ['b', 'a'], 'formats': ['f4', 'i2'], 'offsets': [9, 2], 'itemsize': 20}),
    'nested': np.dtype([('s', np.dtype([('a', 'u1'), ('b', 'i4')], align=True), (2,)), ('t', 'i1')], align=True),
    'union': UNION,
}
PLAIN = ('f8', 'i4', 'bool')


def numpy_case(wrap, dtype, strided):
    base = filled((5, 8) if strided else (3, 4), dtype, 3)
    if dtype.kind == 'g':
        base[...] = np.arange(base.size).reshape(base.shape)
    view = base[4::-2, 1:8:2] if strided else base
    memory = base.reshape(-1).view(np.uint8)
    first = view.__array_interface__['data'][0] - base.__array_interface__['data'][0]
    starts = [first + sum(i * s for i, s in zip(index, view.strides)) for index in np.ndindex(view.shape)]
    pieces = [(start + at, n) for start in starts for at, n in parts_of(dtype)]
    return Case(wrap(view), memory, pieces, None if dtype.kind in 'bM' else is_number(dtype))


def torch_tensor(view):
    return pytest.importorskip('torch').from_numpy(view)


NUMPY_PROTOCOLS = {
    'numpy': lambda view: view,
    'memoryview': memoryview,
    'interface': Interface,
    'dlpack 0': lambda view: Producer(view, versioned=False),
    'dlpack 1': Producer,
    'exchange': lambda view: LIBRARY.Array(view),
    'torch': torch_tensor,
}


# ctypes


def structure(base, *fields, pack=None):
    names = {'_fields_': list(fields)} | ({'_pack_': pack} if pack else {})
    return type(base.__name__, (base,), names)


Padded = structure(ctypes.Structure, ('a', ctypes.c_byte), ('b', ctypes.c_double), ('c', ctypes.c_short * 2))
Union = structure(ctypes.Union, ('d', ctypes.c_double), ('i', ctypes.c_int))
# Class, what is moved of an element, and whether it is a number.
CTYPES = {
    'double': (ctypes.c_double, [(0, 8)], True),
    'ubyte': (ctypes.c_ubyte, [(0, 1)], True),
    'void pointer': (ctypes.c_void_p, [(0, 8)], False),
    'long double': (ctypes.c_longdouble, [(0, 16)], True),
    'wide char': (ctypes.c_wchar, [(0, 4)], False),
    'padded': (Padded, [(0, 1), (8, 8), (16, 4)], True),
    'derived': (structure(Padded, ('d', ctypes.c_int)), [(0, 1), (8, 8), (16, 4), (24, 4)], True),
    'packed': (structure(ctypes.Structure, ('a', ctypes.c_byte), ('b', ctypes.c_double), pack=1), [(0, 9)], True),
    'packed, of a number\'s bytes': (
        structure(ctypes.Structure, ('a', ctypes.c_int), ('b', ctypes.c_short * 2), pack=1), [(0, 8)], True,
    ),
    'other order': (structure(ctypes.BigEndianStructure, ('a', ctypes.c_short), ('b', ctypes.c_int)), [(0, 2), (4, 4)], False),
    'union': (Union, [(0, 8)], False),
    'union of a byte': (structure(ctypes.Union, ('a', ctypes.c_byte), ('b', ctypes.c_ubyte)), [(0, 1)], False),
    'union of 400 bytes': (structure(ctypes.Union, ('a', ctypes.c_byte * 250), ('b', ctypes.c_double * 50)), [(0, 400)], False),
    'with a union': (
        structure(ctypes.Structure, ('c', ctypes.c_byte), ('u', Union), ('x', ctypes.c_int * 3)), [(0, 1), (8, 8), (16, 12)], False,
    ),
    'bit fields': (structure(ctypes.Structure, ('a', ctypes.c_int, 3), ('b', ctypes.c_int, 5)), [(0, 4)], False),
    # Its format describes other members, in as many bytes.
    'bit fields and padding': (
        structure(ctypes.Structure, ('a', ctypes.c_short, 3), ('b', ctypes.c_short, 3), ('c', ctypes.c_int)), [(0, 8)], False,
    ),
}  # fmt: skip


def ctypes_case(wrap, element):
    kind, parts, number = element
    array = ((kind * 3) * 2)()
    memory = np.frombuffer((ctypes.c_ubyte * ctypes.sizeof(array)).from_buffer(array), np.uint8)
    memory[...] = filled(memory.shape, 'u1', 4)
    if kind is ctypes.c_longdouble:
        memory.view('g')[...] = np.arange(6)
    pieces = [(i * ctypes.sizeof(kind) + at, n) for i in range(6) for at, n in parts]
    return Case(wrap(array), memory, pieces, number)


CTYPES_PROTOCOLS = {'ctypes': lambda array: array, 'memoryview of ctypes': memoryview}


def cases():
    for protocol, wrap in NUMPY_PROTOCOLS.items():
        for name, dtype in DTYPES.items():
            if name not in PLAIN and protocol not in ('numpy', 'memoryview', 'interface'):
                continue
            if protocol == 'memoryview' and name in ('date', 'backwards', 'union'):
                continue  # NumPy exports no such buffers
            if protocol == 'interface' and name == 'backwards':
                continue  # its description says nothing of fields in this order
            for strided in (False, True) if protocol != 'torch' else (False,):
                yield f'{protocol}: {"strided " * strided}{name}', lambda w=wrap, d=dtype, s=strided: numpy_case(w, d, s)
    for protocol, wrap in CTYPES_PROTOCOLS.items():
        for name, element in CTYPES.items():
            yield f'{protocol}: {name}', lambda w=wrap, e=element: ctypes_case(w, e)


# The functions


def written(call):
    """A function of an array and of bytes for what it gives: the bytes that it has written."""

    def run(array, size):
        out = bytearray(size)
        assert call(array, out) == size
        return bytes(out)

    return run


def raw(array):
    return array if isinstance(array, bytearray) else array.numpy().tobytes() if hasattr(array, 'numpy') else array.tobytes()


def whole_of(array):
    return ucd.Type.from_view(array)


def pieces_of(rows):
    return b''.join(ctypes.string_at(int(at), int(n)) for at, n in rows)


def boxes_of(rows):
    return b''.join(
        ctypes.string_at(int(at) + i * int(stride), int(block)) for at, block, count, stride, _ in rows for i in range(int(count))
    )


def first_dimension(array):
    return np.arange(ucd._core.shape_and_strides(array)[0][0])


def redistributed(array):
    shape, _ = ucd._core.shape_and_strides(array)
    one = ucd_models.Distribution(shape, 1, ucd_models.Replicate())
    return ucd.pack(ucd_models.redistribute([array], one, one)[0])


# What gives an array's packed bytes: functions of the array and their number.
READERS = {
    'pack': lambda a, n: raw(ucd.pack(a)),
    'pack, type': lambda a, n: raw(ucd.pack(a, type=whole_of(a))),
    'pack_into': written(lambda a, out: ucd.pack_into(a, out)),
    'pack_into, offset': lambda a, n: written(lambda a, out: ucd.pack_into(a, out, offset=n - len(out)))(a, n),
    'ipack_into': written(lambda a, out: ucd.ipack_into(a, out).wait()),
    'Batch.pack, run': written(lambda a, out: ucd.Batch.pack([(a, out)]).run()),
    'Batch.pack, start': written(lambda a, out: ucd.Batch.pack([(a, out)]).start().wait()),
    'Batch.copy': written(lambda a, out: ucd.Batch.copy([(a, out)]).run()),
    'Batch': written(lambda a, out: ucd.Batch([('pack', a, out)]).run()),
    'copy, from': written(lambda a, out: ucd.copy_bytes(a, out)),
    'icopy, from': written(lambda a, out: ucd.icopy_bytes(a, out).wait()),
    'gather': lambda a, n: raw(ucd.gather(a, first_dimension(a))),
    'gather_into': written(lambda a, out: ucd.gather_into(a, first_dimension(a), out)),
    'redistribute': lambda a, n: raw(redistributed(a)),
    'iov': lambda a, n: pieces_of(ucd.iov(a)),
    'boxes': lambda a, n: boxes_of(ucd.boxes(a)),
    'sgl': lambda a, n: boxes_of(zip(*ucd.sgl(a))),
    'sgl, expanded': lambda a, n: boxes_of(zip(*ucd.sgl(a, expand=True))),
}
# What puts packed bytes into an array.
WRITERS = {
    'unpack': lambda data, a: ucd.unpack(data, a),
    'unpack, type': lambda data, a: ucd.unpack(data, a, type=whole_of(a)),
    'iunpack': lambda data, a: ucd.iunpack(data, a).wait(),
    'Batch.unpack, run': lambda data, a: ucd.Batch.unpack([(data, a)]).run(),
    'Batch.unpack, start': lambda data, a: ucd.Batch.unpack([(data, a)]).start().wait(),
    'Batch.copy, to': lambda data, a: ucd.Batch.copy([(data, a)]).run(),
    'copy, to': lambda data, a: ucd.copy_bytes(data, a),
    'icopy, to': lambda data, a: ucd.icopy_bytes(data, a).wait(),
    'scatter': lambda data, a: ucd.scatter(data, a, first_dimension(a)),
}
# What takes an array as the packed one: of its whole memory, padding included.
PACKED_READERS = {
    'unpack, packed': written(lambda a, out: ucd.unpack(a, out)),
    'iunpack, packed': written(lambda a, out: ucd.iunpack(a, out).wait()),
    'Batch.unpack, packed': written(lambda a, out: ucd.Batch.unpack([(a, out)]).run()),
    'scatter, packed': written(lambda a, out: ucd.scatter(a, out, np.arange(len(out)))),
}
PACKED_WRITERS = {
    'pack_into, out': lambda data, a: ucd.pack_into(data, a),
    'ipack_into, out': lambda data, a: ucd.ipack_into(data, a).wait(),
    'Batch.pack, out': lambda data, a: ucd.Batch.pack([(data, a)]).run(),
    'gather_into, out': lambda data, a: ucd.gather_into(data, np.arange(len(data)), a),
}


@pytest.mark.parametrize('make', [pytest.param(make, id=name) for name, make in cases()])
def test_every_protocol_and_function(make):
    for name, reader in READERS.items():
        case = make()
        before = case.memory.tobytes()
        assert reader(case.array, case.size) == case.packed(), name
        assert case.memory.tobytes() == before, name
    for name, writer in WRITERS.items():
        case = make()
        data = filled((case.size,), 'u1', 5).tobytes()
        expected = case.memory.copy()
        at = 0
        for first, length in case.pieces:
            expected[first : first + length] = np.frombuffer(data[at : at + length], np.uint8)
            at += length
        assert writer(data, case.array) == case.size, name
        assert case.memory.tobytes() == expected.tobytes(), name
    case = make()
    assert ucd._core.packed_size(case.array) == case.size and ucd.memory(case.array) == 'host'
    if case.number:
        assert ucd.pack_into(case.array, bytearray(case.size), op='sum') == case.size
    elif case.number is False:
        for call in (
            lambda: ucd.pack_into(case.array, bytearray(case.size), op='sum'),
            lambda: ucd.unpack(bytes(case.size), case.array, op='max'),
            lambda: ucd.copy_bytes(case.array, make().array, op='min'),
        ):
            with pytest.raises(ucd.NotSupported):
                call()
    check_packed(make)


def contiguous(array):
    shape, strides = ucd._core.shape_and_strides(array)
    return all(stride * n == before for before, n, stride in zip(strides, shape[1:], strides[1:])) and strides[-1] > 0


def check_packed(make):
    """The array as the packed one, which must be contiguous."""
    case = make()
    whole = len(case.memory)
    if not contiguous(case.array):
        for call in (*PACKED_READERS.values(), *PACKED_WRITERS.values()):
            with pytest.raises(ValueError, match='contiguous'):
                call(*(case.array, whole) if call in PACKED_READERS.values() else (bytes(whole), case.array))
        return
    for name, reader in PACKED_READERS.items():
        assert reader(case.array, whole) == case.memory.tobytes(), name
    for name, writer in PACKED_WRITERS.items():
        data = filled((whole,), 'u1', 6).tobytes()
        assert writer(data, case.array) == len(data), name
        assert case.memory.tobytes() == data, name


class Objects(ctypes.Structure):
    _fields_ = [('n', ctypes.c_int), ('o', ctypes.py_object)]


class UnionOfObjects(ctypes.Union):
    _fields_ = [('n', ctypes.c_int), ('o', ctypes.py_object)]


REFUSED = {
    'objects': lambda: np.array([None, 1]),
    'objects in structures': lambda: np.zeros(2, [('a', 'i4'), ('b', 'O')]),
    'objects in a buffer': lambda: memoryview(np.array([None, 1])),
    'objects of ctypes': lambda: (ctypes.py_object * 2)(),
    'objects in structures of ctypes': lambda: (Objects * 2)(),
    'objects in unions of ctypes': lambda: (UnionOfObjects * 2)(),
    'memoryview of unions with objects': lambda: memoryview((UnionOfObjects * 2)()),
    'pointers of ctypes': lambda: (ctypes.POINTER(ctypes.c_int) * 2)(),
    'strings of ctypes': lambda: (ctypes.c_char_p * 2)(),
    'functions of ctypes': lambda: (ctypes.CFUNCTYPE(None) * 2)(),
    'masked': lambda: np.ma.array([1, 2], mask=[True, False]),
    'masked, without a mask': lambda: np.ma.array([1, 2]),
    'interface with a mask': lambda: Interface(np.zeros(2), mask=np.zeros(2, bool)),
    'bits': lambda: Interface(np.zeros(2), typestr='|t8'),
    'a list': lambda: [1, 2],
    'None': lambda: None,
}


@pytest.mark.parametrize('make', REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_moved_is_refused_by_every_function(make):
    array = make()
    for readers in (READERS, PACKED_READERS):
        for name, reader in readers.items():
            with pytest.raises((TypeError, ValueError)):
                reader(array, 16)
                pytest.fail(name)
    for writers in (WRITERS, PACKED_WRITERS):
        for name, writer in writers.items():
            with pytest.raises((TypeError, ValueError)):
                writer(bytes(16), array)
                pytest.fail(name)
    for function in (ucd.memory, ucd._core.packed_size, ucd._core.element_of, ucd.Type.from_view):
        with pytest.raises((TypeError, ValueError)):
            function(array)


def test_formats_that_disagree_with_the_size_are_bytes():
    """Of any format: what is read has the element's bytes, and is a number only of as many bytes."""
    for text in ('B', '<i', 'd', 'T{<i:a:<i:b:}', 'T{B:a:}', '=l', '@l', 'Zf', 'Zi', '3s', '2w', '5x', '(2)h', 'hh', 'P'):
        for itemsize in (1, 2, 3, 4, 6, 8, 16):
            element = ucd._dtypes._of_format(text, itemsize) if text != 'Zi' else ucd._dtypes.bytes_as_element(itemsize)
            assert element.type.extent == itemsize and ucd._dtypes.dtype_of(element).itemsize == itemsize
            assert ucd._dtypes.packed_dtype(*element).itemsize == element.type.size


# Device memory without a backend

ADDRESS = 0x10000  # which nobody may read


def cuda_interface(dtype='f8', shape=(3, 4)):
    class Array:
        __cuda_array_interface__ = {
            'shape': shape, 'typestr': np.dtype(dtype).str, 'data': (ADDRESS, False), 'version': 3, 'strides': None,
        }  # fmt: skip

    return Array()


def dlpack_on(device_type):
    def make(dtype='f8', shape=(3, 4)):
        array = Divided(np.zeros(shape, dtype))
        del array.__cuda_array_interface__
        array.device_type = device_type
        return OnDevice(array)

    return make


class OnDevice:
    """An array with DLPack only that says that it is in device memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.device_type, 0

    def __dlpack__(self, **arguments):
        capsule = self.array.__dlpack__(**arguments)
        self.array.tensor.tensor.device_type = self.array.device_type
        self.array.tensor.tensor.data = ADDRESS
        return capsule


def exchange_on(device_type):
    def make(dtype='f8', shape=(3, 4)):
        LIBRARY.changes = {'device_type': device_type, 'data': ADDRESS}
        return LIBRARY.Array(np.zeros(shape, dtype))

    return make


MANAGED, ROCM = 13, 10
DEVICE_PROTOCOLS = {
    '__cuda_array_interface__': ('cuda', cuda_interface),
    'dlpack cuda': ('cuda', dlpack_on(CUDA)),
    'dlpack managed': ('cuda', dlpack_on(MANAGED)),
    'dlpack rocm': ('hip', dlpack_on(ROCM)),
    'exchange cuda': ('cuda', exchange_on(CUDA)),
    'exchange rocm': ('hip', exchange_on(ROCM)),
}
HINTS = [None] + [ucd.Hints(h) for h in (
    {'gpu': 'none'}, {'inbuf': 'host'}, {'outbuf': 'host'}, {'inbuf': 'pinned', 'outbuf': 'managed'},
)]  # fmt: skip


def device_calls(make, host, hints):
    """Calls that have the array on each side, with host memory and with device memory on the other one."""
    some = np.arange(2)
    for other in (lambda: host, make):
        yield lambda: ucd.pack_into(make(), other(), hints=hints)
        yield lambda: ucd.pack_into(other(), make(), hints=hints)
        yield lambda: ucd.pack_into(make(), other(), type=ucd.types.DOUBLE, offset=3, partial=True, op='sum', hints=hints)
        yield lambda: ucd.unpack(make(), other(), hints=hints)
        yield lambda: ucd.unpack(other(), make(), hints=hints)
        yield lambda: ucd.copy_bytes(make(), other(), hints=hints)
        yield lambda: ucd.copy_bytes(other(), make(), hints=hints)
        yield lambda: ucd.icopy_bytes(make(), other(), hints=hints)
        yield lambda: ucd.icopy_bytes(other(), make(), hints=hints)
        yield lambda: ucd.ipack_into(make(), other(), hints=hints)
        yield lambda: ucd.ipack_into(other(), make(), hints=hints)
        yield lambda: ucd.iunpack(make(), other(), hints=hints)
        yield lambda: ucd.iunpack(other(), make(), hints=hints)
        yield lambda: ucd.Batch.pack([(make(), other())], hints=hints)
        yield lambda: ucd.Batch.pack([(other(), make())], hints=hints)
        yield lambda: ucd.Batch.unpack([(make(), other())], hints=hints)
        yield lambda: ucd.Batch.unpack([(other(), make())], hints=hints)
        yield lambda: ucd.Batch.copy([(make(), other())], hints=hints)
        yield lambda: ucd.Batch.copy([(other(), make())], hints=hints)
        yield lambda: ucd.gather_into(make(), some, other(), partial=True, hints=hints)
        yield lambda: ucd.gather_into(other(), some, make(), partial=True, hints=hints)
        yield lambda: ucd.scatter(make(), other(), some, partial=True, hints=hints)
        yield lambda: ucd.scatter(other(), make(), some, partial=True, hints=hints)
        yield lambda: ucd.copy(make(), other(), hints=hints)
        yield lambda: ucd.copy(other(), make(), hints=hints)
        yield lambda: ucd.icopy(make(), other(), hints=hints)
    indices = lambda: make('i8', (2,))  # noqa: E731
    pages = lambda: ucd.Type.indexed_block_ref(1, indices(), 8, 0, 96, 'float64')  # noqa: E731
    yield lambda: ucd.gather(host, indices(), hints=hints)
    two = np.zeros((2, 4))
    yield lambda: ucd.gather_into(host, indices(), two, hints=hints)
    yield lambda: ucd.scatter(two, host, indices(), hints=hints)
    few = np.zeros(2)
    yield lambda: ucd.pack(host, type=pages(), hints=hints)
    yield lambda: ucd.unpack(few, host, type=ucd.Type.struct([1], [0], [ucd.Type.dup(pages())]), hints=hints)
    yield lambda: ucd.copy_bytes(host, host, src_type=pages(), hints=hints)
    yield lambda: ucd.icopy_bytes(host, host, dst_type=pages(), hints=hints)
    yield lambda: ucd.ipack_into(host, few, type=pages(), hints=hints)
    yield lambda: ucd.iunpack(few, host, type=pages(), hints=hints)
    yield lambda: ucd.Batch.pack([(host, few, pages())], hints=hints)
    yield lambda: ucd.Batch.copy([(few, host, None, 1, pages(), 1)], hints=hints)
    yield lambda: ucd.memory(make())
    yield lambda: ucd.pack(make(), hints=hints)
    yield lambda: ucd.gather(make(), some, hints=hints)
    shard = ucd_models.Distribution((3, 4), 1, ucd_models.Replicate())
    yield lambda: ucd_models.redistribute([make()], shard, shard, [host], hints=hints)
    yield lambda: ucd_models.redistribute([host], shard, shard, [make()], hints=hints)


@pytest.mark.parametrize('hints', HINTS, ids=repr)
@pytest.mark.parametrize(('backend', 'make'), DEVICE_PROTOCOLS.values(), ids=DEVICE_PROTOCOLS)
def test_device_memory_without_a_backend_is_never_the_hosts(backend, make, hints, library, no_driver):  # noqa: F811
    found = next(b for b in ucd.backends() if b.name == backend)
    assert not found.available
    for number, call in enumerate(device_calls(make, np.zeros((3, 4)), hints)):
        LIBRARY.changes = {}
        with pytest.raises(ucd.NotSupported) as raised:
            call()
            pytest.fail(str(number))
        assert f'in device memory of {backend}' in str(raised.value) and found.reason in str(raised.value), number


KNOWN_ADDRESS = """
import numpy as np
import ucd

class Array:
    def __init__(self, address):
        self.__cuda_array_interface__ = {
            'shape': (3, 4), 'typestr': '<f8', 'data': (address, False), 'version': 3, 'strides': None}

host = np.zeros((3, 4))
cuda = next(b for b in ucd.backends() if b.name == 'cuda')
assert cuda.available and cuda.version == 'fake', cuda
def says(array, hints):
    hints = ucd.Hints(hints) if hints else None
    for name, call in {
        'pack_into': lambda: ucd.pack_into(array, host, hints=hints),
        'unpack': lambda: ucd.unpack(host, array, hints=hints),
        'copy': lambda: ucd.copy_bytes(array, host, hints=hints),
        'icopy': lambda: ucd.icopy_bytes(host, array, hints=hints),
        'ipack_into': lambda: ucd.ipack_into(array, host, hints=hints),
        'iunpack': lambda: ucd.iunpack(host, array, hints=hints),
        'Batch': lambda: ucd.Batch.pack([(array, host)], hints=hints).run(),
        'memory': lambda: print(f'memory: {ucd.memory(array)}'),
    }.items():
        try:
            call()
        except ucd.NotSupported as error:
            print(f'{name}: {error}')
"""


@pytest.fixture(scope='module')
def beside_a_fake(tmp_path_factory):
    """Runs a script with a backend cuda that takes the addresses from 0x10000 to 0x20000 for its device's, and says what
    the script printed."""
    plugin = os.environ.get('UCD_FAKE_PLUGIN')
    if not plugin:
        pytest.skip('no fake plugin was built')
    folder = tmp_path_factory.mktemp('plugins')
    shutil.copy(plugin, folder / 'libucd_cuda.so')
    here = str(pathlib.Path(__file__).parent)

    def run(script, **environment):
        environment = os.environ | {'UCD_PLUGIN_PATH': str(folder), 'PYTHONPATH': f'{os.environ["PYTHONPATH"]}:{here}'} | environment
        done = subprocess.run([sys.executable, '-c', KNOWN_ADDRESS + script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_an_address_that_the_driver_does_not_know(beside_a_fake):
    said = beside_a_fake('says(Array(0x30000), None)').splitlines()
    assert len(said) == 8 and all('the driver does not know the address' in line for line in said), said


def test_hints_that_contradict_a_device(beside_a_fake):
    for hints, calls in (
        ({'gpu': 'none'}, 7),
        ({'inbuf': 'host'}, 4),
        ({'outbuf': 'host'}, 3),
        ({'inbuf': 'managed', 'outbuf': 'pinned'}, 7),
    ):
        said = beside_a_fake(f'says(Array(0x10000), {hints})').splitlines()
        assert len(said) == 8 and sum('src is in device memory' in line or 'dst is in' in line for line in said) == calls, said
        assert 'memory: cuda:0' in said
    said = beside_a_fake("says(Array(0x10000), {'inbuf': 'cuda:0', 'outbuf': 'cuda:1'})")
    assert 'is in device memory' not in said
    said = beside_a_fake('says(Array(0x10000), None)', UCD_INBUF='host')
    assert said.count('the hint ucd.inbuf is host') == 4
    said = beside_a_fake('says(Array(0x10000), None)', UCD_INBUF='host', UCD_IGNORE_ENVIRONMENT='1')
    assert 'the hint' not in said


def test_memory_that_a_handle_opens(beside_a_fake):
    """Of an array from its first element on, in memory of a device that the driver knows."""
    said = beside_a_fake("""
from ucd import _core, ipc

backwards = Array(0x10058)
backwards.__cuda_array_interface__ |= {'shape': (12,), 'strides': (-8,)}
print(*[ipc.exported(array) for array in (host, Array(0x30000), backwards)])
handle = ipc.exported(Array(0x10008))
opened = ipc.PeerMemory(handle, 'cuda:0')
print(opened.__array_interface__['data'], opened.__array_interface__['shape'])
del opened
for call in lambda: _core.ipc_close(0x10008), lambda: ipc.PeerMemory(handle[:-1], 'cuda:0'), lambda: ipc.PeerMemory(bytes(128), 'cuda:0'):
    try:
        call()
    except (ucd.Error, ValueError) as error:
        print(error)
""").splitlines()
    assert said[:2] == ['None None None', '(65544, False) (96,)'], said
    assert said[2] == 'ucd_ipc_close: address is 0x10008, which ucd_ipc_open did not give out'
    assert said[3] == 'a handle has 128 bytes; this one has 127' and said[4].startswith('ucd_ipc_open: ') and len(said) == 5, said


def test_indices_in_memory_of_the_host_that_the_device_does_not_reach(beside_a_fake):
    """Calls that are done on return are made instead of those in a stream, which refuse them. The fake moves nothing."""
    said = beside_a_fake("""
pool, packed, indices = Array(0x10000), Array(0x10100), np.array([2, 0, 1])
for call in ucd.gather_into, lambda pool, indices, packed: ucd.scatter(packed, pool, indices):
    try:
        call(pool, indices, packed)
    except ucd.NotSupported as error:
        print(error)
""")
    assert said.splitlines() == ['ucd_pack: a fake', 'ucd_unpack: a fake'], said


def test_a_batch_that_is_started_is_not_started_again(beside_a_fake):
    """Nor rebased, until its request is complete: at the third look, with the fake."""
    said = beside_a_fake("""
there, back = Array(0x10000), Array(0x10100)
batch = ucd.Batch([('pack', there, back)])
request = batch.start()
for call in batch.start, lambda: batch.rebase([(back, there)]):
    try:
        call()
    except ucd.InvalidArgument as error:
        print(error)
print(request.done(), request.done(), request.done(), request.wait())
batch.rebase([(back, there)])
print(batch.start().wait())
batch.rebase([(None, Array(0x10200))])
try:
    batch.rebase([(host, None)])
except ValueError as error:
    print(error)
""").splitlines()
    assert [line.partition(': ')[2] for line in said[:2]] == ['plan is started, and that start has not ended'] * 2
    assert said[2:4] == ['False False True 96', '96']
    assert said[4:] == ['members[0]: src is in another kind of memory than the array that it replaces']


def test_a_batch_beyond_the_reach_of_a_device_is_not_put_into_a_stream(beside_a_fake):
    said = beside_a_fake("""
filled = np.arange(12.0).reshape(3, 4)
batch = ucd.Batch([('pack', Array(0x10000), Array(0x10100)), ('copy', filled, host)])
print(batch.run(), (host == filled).all())
""")
    assert said.split() == ['192', 'True']
