"""DLPack's exchange interface in C: a producer that is written here, hostile ones included."""

import ctypes
import gc
import sys
import types

import numpy as np
import pytest
from hypothesis import given

import ucd
from views import views

CPU, CUDA = 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [
        ('data', ctypes.c_void_p),
        ('device_type', ctypes.c_int32),
        ('device', ctypes.c_int32),
        ('ndim', ctypes.c_int32),
        ('code', ctypes.c_uint8),
        ('bits', ctypes.c_uint8),
        ('lanes', ctypes.c_uint16),
        ('shape', ctypes.POINTER(ctypes.c_int64)),
        ('strides', ctypes.POINTER(ctypes.c_int64)),
        ('byte_offset', ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [
        ('major', ctypes.c_uint32),
        ('minor', ctypes.c_uint32),
        ('context', ctypes.c_void_p),
        ('deleter', ctypes.c_void_p),
        ('flags', ctypes.c_uint64),
        ('tensor', Tensor),
    ]


class Exchange(ctypes.Structure):
    pass


Exchange._fields_ = [
    ('major', ctypes.c_uint32),
    ('minor', ctypes.c_uint32),
    ('other_version', ctypes.POINTER(Exchange)),
    ('allocate', ctypes.c_void_p),
    ('managed_tensor', ctypes.c_void_p),
    ('to_object', ctypes.c_void_p),
    ('borrowed_tensor', ctypes.c_void_p),
    ('current_stream', ctypes.c_void_p),
]

_MANAGED = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_BORROWED = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
_DELETER = ctypes.PYFUNCTYPE(None, ctypes.POINTER(Managed))
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

CODES = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}


class Library:
    """A library of arrays whose class has the interface. Counts what is handed out."""

    def __init__(self, name=b'dlpack_exchange_api', version=1, with_current_stream=True):
        self.live = {}
        self.stream, self.streams_asked = 0x7000, 0
        self.streams = {}  # by device, where they differ
        self.changes = {}  # fields that are given other values than the true ones
        self.refuses = False
        self._functions = [_MANAGED(self._export), _STREAM(self._current), _DELETER(self._delete), _BORROWED(self._lend)]
        managed, stream, self._deleter, borrowed = [ctypes.cast(f, ctypes.c_void_p).value for f in self._functions]
        self.lent = 0
        self.name = name
        self.table = Exchange(version, 3, None, None, managed, None, borrowed, stream if with_current_stream else None)
        self.Array = self.new_class()

    def new_class(self):
        class Array:
            __dlpack_c_exchange_api__ = _capsule(ctypes.addressof(self.table), self.name, None)

            def __init__(self, array, device=0):
                self.array, self.device = array, device

        return Array

    def _made(self, array):
        view = array.array
        keep = Managed()
        ndim = view.ndim
        shape = (ctypes.c_int64 * ndim)(*view.shape)
        strides = (ctypes.c_int64 * ndim)(*(s // view.itemsize for s in view.strides))
        keep.major, keep.minor, keep.deleter = 1, 3, self._deleter
        keep.tensor = Tensor(
            view.__array_interface__['data'][0], CPU, array.device, ndim, CODES[view.dtype.kind], view.itemsize * 8, 1,
            ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)), 0,
        )  # fmt: skip
        for field, value in self.changes.items():
            setattr(keep if hasattr(Managed, field) else keep.tensor, field, value)
        return keep, shape, strides, view

    def _export(self, array, made):
        if self.refuses:
            return -1
        found = self._made(array)
        self.live[ctypes.addressof(found[0])] = found
        made[0] = ctypes.pointer(found[0])
        return 0

    def _lend(self, array, tensor):
        if self.refuses:
            return -1
        array.made = self._made(array)  # lives as long as the array
        tensor[0] = array.made[0].tensor
        self.lent += 1
        return 0

    def _current(self, device_type, device, stream):
        self.streams_asked += 1
        stream[0] = self.streams.get(device, self.stream)
        return 0

    def _delete(self, managed):
        del self.live[ctypes.addressof(managed.contents)]


LIBRARY = Library()


@pytest.fixture
def library():
    LIBRARY.changes, LIBRARY.refuses = {}, False
    yield LIBRARY
    LIBRARY.changes, LIBRARY.refuses = {}, False
    gc.collect()
    assert not LIBRARY.live


PLAIN = ('?', 'i1', 'u2', 'i4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16')


@given(view=views(dtypes=PLAIN, writable=True))
def test_views(view):
    out = np.empty(view.size, view.dtype)
    assert ucd.pack_into(LIBRARY.Array(view), out) == view.nbytes
    assert out.tobytes() == view.tobytes()
    other = np.zeros_like(view)
    ucd.unpack(LIBRARY.Array(out), LIBRARY.Array(other))
    assert other.tobytes() == view.tobytes()
    assert not LIBRARY.live


def test_arrays_are_held_as_long_as_they_are_used(library):
    out = np.zeros(3)
    batch = ucd.Batch.pack([(library.Array(np.arange(3.0)), library.Array(out))])
    assert len(library.live) == 2
    batch.run()
    assert out.tolist() == [0, 1, 2]
    del batch
    gc.collect()
    assert not library.live


@pytest.mark.parametrize(
    ('changes', 'error'),
    [
        ({'major': 2}, BufferError),
        ({'data': None}, BufferError),
        ({'shape': None}, BufferError),
        ({'ndim': -1}, ValueError),
        ({'ndim': 65}, ValueError),
        ({'bits': 4}, BufferError),
        ({'device_type': 99}, BufferError),
        ({'shape': (-3,)}, ValueError),
        ({'strides': (2**62,)}, OverflowError),
        ({'flags': 1}, BufferError),
    ],
    ids=repr,
)
def test_hostile_tensors(library, changes, error):
    # Made here: the name of a case is the same in all processes, where an object's address is not.
    library.changes = {k: (ctypes.c_int64 * 1)(*v) if isinstance(v, tuple) else v for k, v in changes.items()}
    with pytest.raises(error):
        ucd.unpack(bytes(24), library.Array(np.zeros(3)))


@pytest.mark.parametrize(
    ('code', 'bits', 'lanes', 'name'),
    [(4, 16, 1, 'BFLOAT16'), (10, 8, 1, 'FLOAT8_E4M3'), (12, 8, 1, 'FLOAT8_E5M2'), (9, 8, 1, None), (2, 16, 4, None), (4, 32, 1, None)],
)
def test_elements_that_numpy_has_not(library, code, bits, lanes, name):
    """What has no type of its own is moved as bytes, and is no number."""
    size = bits * lanes // 8
    memory = np.arange(3 * size, dtype='u1')
    strides = (ctypes.c_int64 * 1)(1)
    shape = (ctypes.c_int64 * 1)(3)
    changes = {'code': code, 'bits': bits, 'lanes': lanes, 'strides': strides, 'shape': shape}
    library.changes = {k: ctypes.cast(v, ctypes.POINTER(ctypes.c_int64)) if k in ('strides', 'shape') else v for k, v in changes.items()}
    array, out = library.Array(memory), np.zeros(3 * size, 'u1')
    assert ucd.pack_into(array, out) == 3 * size and (out == memory).all()
    found = ucd.interop.element_of(array)
    assert found.size == size and (found.name == name if name else found.name not in ('BFLOAT16', 'FLOAT8_E4M3', 'FLOAT8_E5M2'))
    if name is None:
        with pytest.raises(ucd.NotSupported):
            ucd.pack_into(array, out, op='sum')


def test_tensors_without_elements_need_no_memory(library):
    library.changes = {'data': None}
    assert ucd.pack_into(library.Array(np.zeros((0, 3))), bytearray(0)) == 0


def test_borrowed_tensors_are_read_as_owned_ones(library):
    """Small arrays of a class that is known are borrowed, which does not say whether they are read-only."""
    source = library.Array(np.arange(6.0).reshape(2, 3)[:, ::2])
    out = np.zeros((2, 2))
    ucd.copy(source, out)
    lent = library.lent
    ucd.copy(source, out)
    assert library.lent == lent + 1 and out.tolist() == [[0, 2], [3, 5]]
    assert ucd.pack(source).tolist() == [0, 2, 3, 5] and type(ucd.cast(source, 'f4')) is np.ndarray
    frozen = library.Array(np.zeros((2, 2)))
    ucd.copy(out, frozen)
    assert frozen.array.tolist() == out.tolist()
    library.changes = {'flags': 1}
    for call in (ucd.copy, ucd.unpack):
        with pytest.raises(BufferError, match='dst is read-only'):
            call(out, frozen)
    library.changes = {}
    library.refuses = True
    with pytest.raises(BufferError, match='said nothing'):
        ucd.copy(source, out)


def test_failures_of_the_producer_are_passed_on(library):
    library.refuses = True
    with pytest.raises(BufferError, match='said nothing'):
        ucd.pack_into(library.Array(np.zeros(3)), bytearray(24))
    raising = Library()
    # A function of Python's own that returns -1 and an exception: no array here has a length.
    raising.table.managed_tensor = ctypes.cast(ctypes.pythonapi.PyObject_Size, ctypes.c_void_p)
    with pytest.raises(TypeError, match='has no len'):
        ucd.pack_into(raising.Array(np.zeros(3)), bytearray(24))


def test_values_that_are_not_in_memory(library):
    class Grad(library.Array):
        __dlpack_c_exchange_api__ = library.Array.__dlpack_c_exchange_api__
        requires_grad = True

    class Negative(library.Array):
        __dlpack_c_exchange_api__ = library.Array.__dlpack_c_exchange_api__
        requires_grad = False

        def is_neg(self):
            return True

    class Conjugate(library.Array):
        __dlpack_c_exchange_api__ = library.Array.__dlpack_c_exchange_api__

        def is_conj(self):
            return True

    for kind, name in ((Grad, 'gradient'), (Negative, 'negated'), (Conjugate, 'conjugated')):
        with pytest.raises(BufferError, match=name):
            ucd.pack_into(kind(np.zeros(3, 'c8')), bytearray(24))
        assert ucd.pack_into(kind(np.zeros(3, 'i8')), bytearray(24)) == 24
    assert ucd.pack_into(Conjugate(np.zeros(3)), bytearray(24)) == 24


@pytest.mark.parametrize('how', [{'name': b'other'}, {'version': 2}, {'with_current_stream': False}], ids=repr)
def test_other_interfaces_are_left_alone(how):
    """Then the other protocols count."""
    other = Library(**how)
    with pytest.raises(TypeError, match='is no array'):
        ucd.pack_into(other.Array(np.zeros(3)), bytearray(24))
    other.Array.__dlpack__ = lambda self, **arguments: self.array.__dlpack__()
    other.Array.__dlpack_device__ = lambda self: (CPU, 0)
    assert ucd.pack_into(other.Array(np.zeros(3)), bytearray(24)) == 24


def test_a_version_that_is_understood_may_be_behind_another():
    newer = Library(version=7)
    newer.table.other_version = ctypes.pointer(LIBRARY.table)
    out = bytearray(24)
    assert ucd.pack_into(newer.Array(np.ones(3)), out) == 24 and out == np.ones(3).tobytes()
    ring = Library(version=7)
    ring.table.other_version = ctypes.pointer(ring.table)
    with pytest.raises(TypeError, match='is no array'):
        ucd.pack_into(ring.Array(np.ones(3)), bytearray(24))
    assert not LIBRARY.live


def test_a_class_that_only_inherits_it(library):
    class Wrapper(library.Array):
        pass

    with pytest.raises(TypeError, match='is no array'):
        ucd.pack_into(Wrapper(np.zeros(3)), bytearray(24))


def test_many_classes():
    """More than are remembered."""
    for _ in range(30):
        kind = LIBRARY.new_class()
        assert ucd.pack_into(kind(np.zeros(3)), bytearray(24)) == 24
    assert not LIBRARY.live


def test_streams(library, monkeypatch, no_driver):
    """The current one is asked for in C; one that is given and is another is told to __dlpack__, if
    there is no driver."""
    told = []

    def dlpack(self, *, stream, **arguments):
        told.append(stream)
        raise BufferError('not for long')

    monkeypatch.setattr(library.Array, '__dlpack__', dlpack, raising=False)
    monkeypatch.setattr(library.Array, '__dlpack_device__', lambda self: (CUDA, 0), raising=False)
    library.changes = {'device_type': CUDA}
    source, out = library.Array(np.zeros(3)), library.Array(np.zeros(3))
    asked = library.streams_asked
    nothing = {'type': ucd.types.BYTE, 'count': 0, 'partial': True}  # which may move without a backend
    with pytest.raises(ucd.NotSupported, match='cuda'):
        ucd.pack_into(source, out, **nothing)
    assert library.streams_asked == asked + 1 and not told
    with pytest.raises(ucd.NotSupported, match='cuda'):
        ucd.pack_into(source, out, stream=0x7000, **nothing)
    assert not told
    with pytest.raises(BufferError, match='not for long'):
        ucd.pack_into(source, out, stream=types.SimpleNamespace(cuda_stream=0x7100))
    assert told == [0x7100]


HUGE = 2**62


@pytest.mark.parametrize('shape', [(1,), (2, 0, 1), (0,)], ids=str)
def test_strides_that_find_no_element_may_be_anything(library, shape):
    strides = (ctypes.c_int64 * len(shape))(*([HUGE] * len(shape)))
    library.changes = {'strides': ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))}
    view = np.full(shape, 7, 'i4')
    out = np.zeros(shape, 'i4')
    assert ucd.pack_into(library.Array(view), out) == view.nbytes
    assert (out == view).all()
    library.changes['shape'] = ctypes.cast((ctypes.c_int64 * 3)(2, 2, 2), ctypes.POINTER(ctypes.c_int64))
    with pytest.raises(OverflowError, match='strides'):
        ucd.pack_into(library.Array(view), bytearray(32))


class Divided:
    """As CuPy has it: DLPack's strides are divided as unsigned numbers, those of the interface are right."""

    def __init__(self, array):
        self.array = array
        entries = array.__array_interface__
        self.__cuda_array_interface__ = entries | {'strides': array.strides, 'version': 3, 'stream': None}

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, **arguments):
        n = self.array.ndim
        shape = (ctypes.c_int64 * n)(*self.array.shape)
        strides = (ctypes.c_int64 * n)(*(s % 2**64 // self.array.itemsize for s in self.array.strides))
        self.tensor = Managed(
            1, 0, None, None, 0,
            Tensor(
                entries_of(self.array), CUDA, 0, n, CODES[self.array.dtype.kind], self.array.itemsize * 8, 1,
                ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)), 0,
            ),
        )  # fmt: skip
        self.lists = shape, strides
        return _capsule(ctypes.addressof(self.tensor), b'dltensor_versioned', None)


def entries_of(array):
    return array.__array_interface__['data'][0]


@given(view=views(dtypes=PLAIN, writable=True))
def test_strides_that_were_divided_as_unsigned(view):
    shape, strides = ucd._core.shape_and_strides(Divided(view))
    assert shape == view.shape
    if view.size:
        assert all(s == t for n, s, t in zip(shape, strides, view.strides) if n > 1)


def test_strides_of_zero_of_numba():
    """Its interface has no strides for them."""

    class Repeated:
        __module__ = 'numba.cuda.cudadrv.devicearray'
        strides = (0, 8)
        __cuda_array_interface__ = {'shape': (3, 2), 'typestr': '<f8', 'data': (64, False), 'version': 3, 'strides': None}

    assert ucd._core.shape_and_strides(Repeated()) == ((3, 2), (0, 8))
    Repeated.__module__ = 'other'
    assert ucd._core.shape_and_strides(Repeated()) == ((3, 2), (16, 8))


def test_no_references_are_left(library):
    array, out = LIBRARY.Array(np.zeros(3)), bytearray(24)
    before = sys.getrefcount(array), sys.getrefcount(LIBRARY.Array)
    for _ in range(1000):
        ucd.pack_into(array, out)
    assert sys.getrefcount(array) == before[0] and sys.getrefcount(LIBRARY.Array) <= before[1] + 1
