"""Exporters of each protocol that say what cannot be: each function that takes arrays refuses them, or finds nothing to move."""

import ctypes

import numpy as np
import pytest

import ucd
import ucd_models
from test_arrays import Interface
from test_exchange import CPU, Library, Managed, Tensor

POINTER = ctypes.POINTER(ctypes.c_int64)
HUGE = 2**64 - 8
MEMORY = np.zeros(64)


class Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ('buf', ctypes.c_void_p),
        ('obj', ctypes.c_void_p),
        ('len', ctypes.c_ssize_t),
        ('itemsize', ctypes.c_ssize_t),
        ('readonly', ctypes.c_int),
        ('ndim', ctypes.c_int),
        ('format', ctypes.c_char_p),
        ('shape', ctypes.POINTER(ctypes.c_ssize_t)),
        ('strides', ctypes.POINTER(ctypes.c_ssize_t)),
        ('suboffsets', ctypes.POINTER(ctypes.c_ssize_t)),
        ('internal', ctypes.c_void_p),
    ]


_view_of = ctypes.pythonapi.PyMemoryView_FromBuffer
_view_of.restype, _view_of.argtypes = ctypes.py_object, [ctypes.POINTER(Buffer)]
KEPT = []


def numbers(*values):
    made = (ctypes.c_ssize_t * len(values))(*values)
    KEPT.append(made)
    return ctypes.cast(made, ctypes.POINTER(ctypes.c_ssize_t))


def buffer(address=MEMORY.ctypes.data, shape=(3,), strides=(8,), itemsize=8, format=b'd', length=24):
    return _view_of(
        Buffer(address, None, length, itemsize, 0, len(shape), format, numbers(*shape), numbers(*strides), None, None)
    )


class CudaInterface:
    def __init__(self, **changes):
        said = {'shape': (3,), 'typestr': '<f8', 'data': (MEMORY.ctypes.data, False), 'version': 3, 'strides': None}
        self.__cuda_array_interface__ = said | changes


_new, _name = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetName
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Dlpack:
    """A producer that gives one capsule again and again; changes: of the tensor."""

    def __init__(self, capsule_name=b'dltensor_versioned', major=1, **changes):
        self.shape, self.strides = (ctypes.c_int64 * 1)(3), (ctypes.c_int64 * 1)(1)
        self.managed = Managed(major, 0, None, None, 0, Tensor(
            MEMORY.ctypes.data, CPU, 0, 1, 2, 64, 1, ctypes.cast(self.shape, POINTER), ctypes.cast(self.strides, POINTER), 0,
        ))  # fmt: skip
        for field, value in changes.items():
            setattr(self.managed.tensor, field, ctypes.cast(value, POINTER) if field in ('shape', 'strides') else value)
        self.capsule = _new(ctypes.addressof(self.managed), capsule_name, None)

    def __dlpack_device__(self):
        return CPU, 0

    def __dlpack__(self, **arguments):
        return self.capsule


def endless():
    while True:
        yield 1


def interfaces(made):
    """What __array_interface__ and __cuda_array_interface__ have in common."""
    return {
        'address 0': lambda: made(data=(0, False)),
        'address 0, strided': lambda: made(data=(0, False), strides=(16,)),
        'address 0, stride 0': lambda: made(data=(0, False), strides=(0,), shape=(2**40,)),
        'behind the end of memory': lambda: made(data=(HUGE, False)),
        'before the first byte': lambda: made(data=(16, False), strides=(-16,)),
        'negative address': lambda: made(data=(-8, False)),
        'address of 65 bits': lambda: made(data=(2**64, False)),
        'address of another type': lambda: made(data=('0', False)),
        'read-only of another type': lambda: made(data=(4096, 'no')),
        'data without a flag': lambda: made(data=(4096,)),
        'negative shape': lambda: made(shape=(-3,)),
        'shape that does not fit': lambda: made(shape=(2**62,)),
        'shape of 65 bits': lambda: made(shape=(2**65,)),
        'shape of which the product does not fit': lambda: made(shape=(2**40, 2**40), strides=(8, 8)),
        'endless shape': lambda: made(shape=endless()),
        'endless strides': lambda: made(strides=endless()),
        'strides that do not fit': lambda: made(strides=(2**62,)),
        'strides that do not fit together': lambda: made(shape=(2, 2), strides=(2**62, 2**62)),
        'too few strides': lambda: made(shape=(3, 1), strides=(8,)),
        'elements of negative size': lambda: made(typestr='<f-8'),
        'elements of no number': lambda: made(typestr='<fx'),
        'elements of 70 bits of bytes': lambda: made(typestr=f'|V{2**70}'),
        'no dict': lambda: type('A', (), {'__array_interface__': 7})(),
    }


HOSTILE = {
    **{f'interface: {name}': make for name, make in interfaces(lambda **c: Interface(np.zeros(3), **c)).items()},
    **{f'cuda interface: {name}': make for name, make in interfaces(CudaInterface).items() if name != 'no dict'},
    'buffer: negative shape': lambda: buffer(shape=(-3,)),
    'buffer: shape that does not fit': lambda: buffer(shape=(2**62,)),
    'buffer: strides that do not fit': lambda: buffer(strides=(2**62,)),
    'buffer: behind the end of memory': lambda: buffer(address=HUGE),
    'buffer: before the first byte': lambda: buffer(address=16, strides=(-16,)),
    'buffer: negative size of elements': lambda: buffer(itemsize=-8),
    'dlpack: no data': lambda: Dlpack(data=None),
    'dlpack: behind the end of memory': lambda: Dlpack(byte_offset=HUGE),
    'dlpack: no shape': lambda: Dlpack(shape=None),
    'dlpack: negative shape': lambda: Dlpack(shape=(ctypes.c_int64 * 1)(-3)),
    'dlpack: shape that does not fit': lambda: Dlpack(shape=(ctypes.c_int64 * 1)(2**62)),
    'dlpack: strides that do not fit': lambda: Dlpack(strides=(ctypes.c_int64 * 1)(2**60)),
    'dlpack: before the first byte': lambda: Dlpack(strides=(ctypes.c_int64 * 1)(-(2**59))),
    'dlpack: 65 dimensions': lambda: Dlpack(ndim=65),
    'dlpack: -1 dimensions': lambda: Dlpack(ndim=-1),
    'dlpack: half a byte': lambda: Dlpack(bits=4),
    'dlpack: device of no kind': lambda: Dlpack(device_type=99),
    'dlpack: version 2': lambda: Dlpack(major=2),
    'dlpack: taken before': lambda: Dlpack(b'used_dltensor_versioned'),
    'dlpack: of another name': lambda: Dlpack(b'dltensor_v7'),
}


@pytest.mark.parametrize('make', HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_is_refused(make):
    whole = ucd_models.Distribution((3,), 1, ucd_models.Replicate())
    for call in (
        lambda array: ucd.pack_into(array, bytearray(24)),
        lambda array: ucd.unpack(bytes(24), array),
        lambda array: ucd.copy_bytes(array, bytearray(24)),
        lambda array: ucd.Batch.unpack([(bytes(24), array)]),
        lambda array: ucd.gather_into(array, np.array([0]), bytearray(8)),
        lambda array: ucd.gather_into(np.zeros(3), array, bytearray(24)),
        lambda array: ucd.memory(array),
        lambda array: ucd._core.address(array),
        lambda array: ucd.Type.from_view(array),
        lambda array: ucd.iov(array),
        lambda array: ucd_models.redistribute([array], whole, whole),
    ):
        with pytest.raises((BufferError, TypeError, ValueError, OverflowError)):
            call(make())


def test_what_has_no_elements_needs_no_memory():
    for array in (
        Interface(np.zeros(3), data=(0, False), shape=(0,)),
        Interface(np.zeros(3), data=(HUGE, False), shape=(3, 0), strides=(2**62, 8)),
        Dlpack(data=None, shape=(ctypes.c_int64 * 1)(0)),
    ):
        assert ucd.pack_into(array, bytearray(0)) == 0


@pytest.mark.parametrize('name', [b'dltensor', b'dltensor_versioned'])
def test_a_capsule_is_taken_once(name):
    """Who takes it next would free what is still in use."""
    deleted = []
    deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleted.append)
    array = Dlpack()
    array.managed.deleter = ctypes.cast(deleter, ctypes.c_void_p).value
    if name == b'dltensor':  # a tensor, and then what a versioned one has before it
        KEPT.append(old := (ctypes.c_char * (ctypes.sizeof(Tensor) + 16))())
        ctypes.memmove(old, ctypes.addressof(array.managed.tensor), ctypes.sizeof(Tensor))
        ctypes.c_void_p.from_buffer(old, ctypes.sizeof(Tensor) + 8).value = array.managed.deleter
        array.capsule = _new(ctypes.addressof(old), name, None)
    batch = ucd.Batch.pack([(array, bytearray(24))])
    assert _name(array.capsule) == b'used_' + name
    with pytest.raises(BufferError, match='taken before'):
        ucd.pack_into(array, bytearray(24))
    assert batch.run() == 24 and not deleted
    del batch
    assert len(deleted) == 1


def test_a_tensor_that_is_refused_is_deleted():
    library = Library()
    library.changes = {'byte_offset': HUGE}
    with pytest.raises(OverflowError):
        ucd.pack_into(library.Array(np.zeros(3)), bytearray(24))
    assert not library.live
