"""Arrays of all protocols and forms: what is packed is what NumPy says."""

import array
import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
import ucd_models
from views import DTYPES, PACKED_STRUCTS, PADDED_STRUCTS, filled, packed_bytes, views


@given(views())
def test_pack_is_ravel(view):
    packed = ucd.pack(view)
    assert packed.dtype == view.dtype and packed.shape == (view.size,)
    assert packed.tobytes() == np.ascontiguousarray(view).tobytes()


@given(views(dtypes=PADDED_STRUCTS, max_dims=2))
def test_padding_is_not_packed(view):
    packed = ucd.pack(view)
    assert packed.tobytes() == packed_bytes(view)
    assert packed.dtype.names == view.dtype.names


@given(views(writable=True), st.integers(0, 99))
def test_unpack_fills_the_view_and_nothing_else(view, seed):
    root = view
    while root.base is not None and isinstance(root.base, np.ndarray):
        root = root.base
    before = root.tobytes()
    expected = np.frombuffer(bytearray(before), dtype=np.uint8)
    data = filled(view.shape, view.dtype, seed)
    # The same view of a copy of all memory, filled by NumPy.
    first = root.__array_interface__['data'][0]
    twin = np.ndarray(
        view.shape,
        view.dtype,
        buffer=expected,
        offset=view.__array_interface__['data'][0] - first if view.size else 0,
        strides=view.strides,
    ) if view.size else view
    if view.size:
        twin[...] = data
    assert ucd.unpack(np.ascontiguousarray(data), view) == data.nbytes
    if not np.issubdtype(view.dtype, np.inexact) and view.dtype.names is None:
        assert root.tobytes() == expected.tobytes()
    assert ucd.pack(view).tobytes() == data.tobytes()


@given(views(), st.data())
def test_any_piece_of_the_stream(view, data):
    whole = ucd.pack(view).tobytes()
    offset = data.draw(st.integers(0, len(whole)))
    room = bytearray(data.draw(st.integers(0, len(whole) + 3)))
    if len(room) != len(whole) - offset:
        with pytest.raises(ucd.Truncated, match=f'out has {len(room)} bytes, and src has {len(whole) - offset} packed'):
            ucd.pack_into(view, room, offset=offset)
    moved = ucd.pack_into(view, room, offset=offset, partial=True)
    assert moved == min(len(room), len(whole) - offset)
    assert bytes(room[:moved]) == whole[offset : offset + moved]
    assert not any(room[moved:])


@given(st.data())
def test_copy_from_view_to_view(data):
    dtype = data.draw(st.sampled_from(DTYPES + PACKED_STRUCTS))
    src = data.draw(views(dtypes=[dtype]))
    shape = src.shape[::-1]
    room = filled(tuple(2 * n for n in shape), src.dtype, 1)
    dst = room[tuple(slice(None, None, -2) for _ in shape)] if shape else room
    assert ucd.copy_bytes(src, dst) == src.nbytes
    assert ucd.pack(dst).tobytes() == np.ascontiguousarray(src).tobytes()


@pytest.mark.parametrize('dtype', DTYPES + PACKED_STRUCTS + PADDED_STRUCTS, ids=str)
def test_formats_of_buffers_agree_with_dtypes(dtype):
    """Two independent readers: of the buffer protocol's format, and of the dtype's fields."""
    dtype = np.dtype(dtype)
    by_dtype = ucd.Type.resized(dtype, 0, dtype.itemsize)
    try:
        memory = memoryview(np.zeros(1, dtype))
    except ValueError:
        pytest.skip('NumPy does not export it')
    assert ucd._core.element_of(memory).extent == dtype.itemsize
    by_format = ucd.Type.resized(ucd._core.element_of(memory), 0, dtype.itemsize)
    assert by_format.layout() == by_dtype.layout()
    assert ucd.iov(0, by_format).tolist() == ucd.iov(0, by_dtype).tolist()


def test_bfloat16():
    ml_dtypes = pytest.importorskip('ml_dtypes')
    a = np.arange(12).astype(ml_dtypes.bfloat16).reshape(3, 4)
    assert ucd.pack(a[::-1, 1::2]).tobytes() == a[::-1, 1::2].tobytes()
    assert ucd._core.element_of(a) is ucd.types.BFLOAT16
    total = np.ones(12, ml_dtypes.bfloat16)
    ucd.pack_into(a, total, op='sum')
    assert (total == 1 + a.ravel()).all()


@pytest.mark.parametrize('name', ['float8_e4m3fn', 'float8_e5m2'])
def test_float8(name):
    ml_dtypes = pytest.importorskip('ml_dtypes')
    dtype = getattr(ml_dtypes, name)
    every = np.arange(256).astype(np.uint8).view(dtype)
    assert ucd._core.element_of(every).name == ('FLOAT8_E4M3' if name == 'float8_e4m3fn' else 'FLOAT8_E5M2')
    for op, combine in [('sum', np.add), ('prod', np.multiply)]:
        with np.errstate(all='ignore'):
            a, b = (part.ravel() for part in np.meshgrid(every, every))
            total = a.copy()
            ucd.pack_into(b, total, op=op)
            expected = combine(a.astype(np.float32), b.astype(np.float32)).astype(dtype)
        number = ~np.isnan(expected.astype(np.float32))
        assert (total.view(np.uint8)[number] == expected.view(np.uint8)[number]).all()
        assert np.isnan(total[~number].astype(np.float32)).all()


def test_exporters_without_numpy():
    assert bytes(ucd.pack(memoryview(b'abcdef')[::2])) == b'ace'
    assert bytes(ucd.pack(b'')) == b''
    assert ucd.pack(array.array('d', [1, 2])).tolist() == [1, 2]

    class Pair(ctypes.Structure):
        _fields_ = [('a', ctypes.c_byte), ('b', ctypes.c_double), ('c', ctypes.c_short * 2)]

    pairs = (Pair * 2)()
    pairs[1].b = 2.5
    pairs[1].c[1] = -3
    out = bytearray(2 * 13)
    assert ucd.pack_into(pairs, out) == 26
    assert out == b''.join(bytes(p)[:1] + bytes(p)[8:20] for p in pairs)
    assert ucd.pack(pairs)['c'].tolist() == [[0, 0], [0, -3]]
    grid = ((ctypes.c_int * 3) * 2)((1, 2, 3), (4, 5, 6))
    assert ucd.pack(grid).tolist() == [1, 2, 3, 4, 5, 6]
    assert ucd._core.shape_and_strides(grid) == ((2, 3), (12, 4))


class Interface:
    """Something with __array_interface__ only."""

    def __init__(self, array, **changes):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


@given(views(dtypes=['i4', 'f8', 'S3', '>f8', 'M8[s]'], max_dims=3))
def test_array_interface(view):
    out = np.empty(view.size, view.dtype)
    assert ucd.pack_into(Interface(view), out) == view.nbytes
    assert out.tobytes() == np.ascontiguousarray(view).tobytes()


@pytest.mark.parametrize(
    'changes',
    [
        {'mask': np.zeros(3)},
        {'typestr': '|O8'},
        {'typestr': 'x'},
        {'data': None},
        {'shape': (-1,)},
        {'strides': (4, 4)},
        {'shape': (1,) * 65},
        {'shape': (2**40, 2**40), 'strides': None},
    ],
    ids=str,
)
def test_bad_interfaces_are_refused(changes):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        ucd.pack_into(Interface(np.zeros(3), **changes), bytearray(8))


class Producer:
    """Something with DLPack only, of version 1 or from before."""

    def __init__(self, array, versioned=True):
        self.array = array
        self.versioned = versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if not self.versioned and 'max_version' in arguments:
            raise TypeError('max_version')
        if self.versioned and np.lib.NumpyVersion(np.__version__) < '2.1.0':
            pytest.skip('this NumPy has no versioned DLPack')
        return self.array.__dlpack__(**arguments)


@pytest.mark.parametrize('versioned', [False, True])
@given(view=views(dtypes=['?', 'i1', 'u2', 'i4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16'], max_dims=3, writable=True))
def test_dlpack(versioned, view):
    out = np.empty(view.size, view.dtype)
    assert ucd.pack_into(Producer(view, versioned), out) == view.nbytes
    assert out.tobytes() == np.ascontiguousarray(view).tobytes()
    ucd.unpack(out[::-1].copy(), Producer(view, versioned))
    assert ucd.pack(view).tobytes() == out[::-1].tobytes()


def test_dlpack_says_read_only():
    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.raises(BufferError):
        ucd.unpack(bytes(24), Producer(a))


def test_read_only_arrays_are_refused():
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for call in (
        lambda: ucd.unpack(bytes(24), frozen),
        lambda: ucd.pack_into(np.zeros(3), bytes(24)),
        lambda: ucd.copy_bytes(np.zeros(3), frozen),
        lambda: ucd.ipack_into(np.zeros(3), frozen),
        lambda: ucd.iunpack(bytes(24), frozen),
        lambda: ucd.Batch.unpack([(bytes(24), frozen)]),
        lambda: ucd.scatter(bytes(8), frozen, np.array([0])),
        lambda: ucd.unpack(bytes(3), Interface(frozen)),
    ):
        with pytest.raises(BufferError, match='read-only'):
            call()


def test_what_is_no_array_is_refused():
    for thing in (1, None, 'text', [1, 2], object()):
        with pytest.raises(TypeError, match='is no array|incompatible'):
            ucd.pack_into(thing, bytearray(8))
    with pytest.raises(TypeError, match='objects'):
        ucd.pack_into(np.array([None]), bytearray(8))
    with pytest.raises(ValueError, match='contiguous'):
        ucd.pack_into(np.zeros(4), np.zeros(8)[::2])


BIG, LITTLE = [('a', '>i4'), ('b', '>f8')], [('a', '<i4'), ('b', '<f8')]
SWAPPED = [
    ('<f8', '>f8'), ('>i2', '<i2'), ('<c16', '>c16'), ('<U3', '>U3'), (BIG, LITTLE), ([('s', BIG, (2,))], [('s', LITTLE, (2,))]),
    ([('a', '<i4'), ('b', '>i4')], [('a', '>i4'), ('b', '<i4')]), ('<f8', '>i8'),
]  # fmt: skip
OTHER_UNITS = [('M8[s]', 'M8[ns]'), ('m8[s]', 'm8[ms]'), ('M8[s]', 'm8[s]'), ([('t', 'M8[s]')], [('t', 'M8[us]')])]
# Bytes stand for anything, and dates for integers.
AGREED = [
    ('>f8', '>f8'), ('>f8', 'V8'), ('>f8', 'S8'), ('>i4', ('u1', 4)), ('i1', 'u1'), (BIG, BIG), (BIG, 'V12'), ('M8[s]', 'M8[s]'),
    ('M8[s]', 'i8'), ('<f8', '<i8'),
]  # fmt: skip


def moves_between(source, target):
    """All ways from an array into another one, in which the elements mean what they meant."""
    shape = (3,)
    whole = ucd_models.Distribution(shape, 1, ucd_models.Replicate())
    yield lambda: ucd.pack_into(source, target)
    yield lambda: ucd.unpack(source, target)
    yield lambda: ucd.copy_bytes(source, target)
    yield lambda: ucd.icopy_bytes(source, target).wait()
    yield lambda: ucd.Batch([('copy', source, target)]).run()
    yield lambda: ucd.Batch.pack([(source, target)]).run()
    yield lambda: ucd.Batch.unpack([(source, target)]).run()
    yield lambda: ucd.gather_into(source, np.arange(3), target)
    yield lambda: ucd.scatter(source, target, np.arange(3))
    if source.shape == target.shape == shape and source.itemsize == target.itemsize:
        yield lambda: ucd_models.redistribute([source], whole, whole, [target])
        for dtype in (source.dtype, target.dtype):
            move = ucd_models.Redistribution({'a': (whole, whole, dtype)})
            yield lambda: move.execute(None, {'a': [source]}, {'a': [target]})


@pytest.mark.parametrize(('source', 'target'), SWAPPED + OTHER_UNITS, ids=str)
def test_bytes_that_mean_something_else_are_not_moved(source, target):
    """Elements of the two byte orders, and dates in two units."""
    array, other = filled((3,), np.dtype(source), 1), np.zeros(3, target)
    before = other.tobytes()
    for number, call in enumerate(moves_between(array, other)):
        with pytest.raises(ucd.NotSupported, match='convert one side by astype'):
            call()
            pytest.fail(str(number))
    assert other.tobytes() == before
    ucd.pack_into(array, other, type=ucd.Type.from_view(array))  # a type that is given says what the bytes are
    assert other.tobytes() == array.tobytes()


@pytest.mark.parametrize(('source', 'target'), AGREED, ids=str)
def test_bytes_that_mean_the_same_are_moved(source, target):
    array, other = filled((3,), np.dtype(source), 1), np.zeros(3, target)
    for number, call in enumerate(moves_between(array, other)):
        other[...] = np.zeros((), other.dtype)
        call()
        assert other.tobytes() == ucd.pack(array).tobytes(), number


def test_casts_of_dates():
    seconds = np.array([1, -5], 'M8[s]')
    with pytest.raises(ucd.NotSupported, match='astype'):
        ucd.cast(seconds, 'M8[ns]')
    assert ucd.cast(seconds, 'M8[s]').tolist() == seconds.tolist()
    assert ucd.cast(seconds, 'f8').tolist() == [1.0, -5.0]
