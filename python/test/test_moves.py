"""Reductions, requests, gather and scatter, lists, streams, threads, leaks."""

import array
import asyncio
import gc
import os
import subprocess
import sys
import threading
import types
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
from views import filled, views


@pytest.mark.parametrize(
    ('op', 'combine'),
    [('sum', np.add), ('prod', np.multiply), ('max', np.maximum), ('min', np.minimum), ('bxor', np.bitwise_xor)],
)
@given(view=views(dtypes=['i4', 'u2', 'i8', 'u1'], writable=True))
def test_reductions(op, combine, view):
    total = filled((view.size,), view.dtype, 7)
    expected = combine(total, view.ravel())
    assert ucd.pack_into(view, total, op=op) == view.nbytes
    assert (total == expected).all()
    expected = combine(view, total.reshape(view.shape))
    ucd.unpack(total, view, op=op)
    assert (view == expected).all()
    other = filled(view.shape, view.dtype, 8)
    expected = combine(other, view)
    ucd.copy_bytes(view, other, op=op)
    assert (other == expected).all()


@given(view=views(dtypes=['i4', 'u2', 'f8', 'f4', 'f2', 'u1']))
def test_conversions(view):
    for dtype in ('f8', 'f4', 'i8', 'u1') if view.dtype.kind in 'iu' else ('f8', 'f4', 'f2'):
        with np.errstate(over='ignore', invalid='ignore'):
            expected = view.astype(dtype)
        cast = ucd.cast(view, dtype)
        assert cast.dtype == dtype and cast.shape == view.shape
        np.testing.assert_array_equal(cast, expected)
        other = np.zeros_like(expected)
        if other.ndim > 0:
            other = other[..., ::-1]
        assert ucd.copy_bytes(view, other, convert=True) == expected.nbytes
        np.testing.assert_array_equal(other, expected)


def test_conversions_that_saturate():
    numbers = np.array([1e30, -np.inf, 3], np.float32)
    assert ucd.cast(numbers, np.float16).tolist() == [np.inf, -np.inf, 3]
    assert ucd.cast(numbers, np.float16, saturate=True).tolist() == [65504, -65504, 3]
    assert ucd.cast(numbers, np.int8).tolist() == [127, -128, 3]
    out = np.zeros(3, np.float16)
    ucd.copy_bytes(numbers, out, convert='saturate')
    assert out.tolist() == [65504, -65504, 3]
    assert ucd.icopy_bytes(numbers, out, convert=True).wait() == 6


def test_conversions_that_are_refused():
    numbers, out = np.zeros(3, np.float32), np.zeros(3, np.float16)
    with pytest.raises(ValueError, match='exclude'):
        ucd.copy_bytes(numbers, out, op='sum', convert=True)
    with pytest.raises(ValueError, match="True, False or 'saturate'"):
        ucd.copy_bytes(numbers, out, convert='yes')
    with pytest.raises(ucd.NotSupported, match='CONVERT'):
        ucd.copy_bytes(numbers, np.zeros(3, 'V4'), convert=True)
    with pytest.raises(ucd.Truncated):
        ucd.copy_bytes(numbers, out[:2], convert=True)


def test_reductions_of_other_elements():
    a = np.arange(6, dtype=np.float16)
    out = np.ones(6, np.float16)
    ucd.pack_into(a[::-1], out, op='sum')
    assert out.tolist() == [6, 5, 4, 3, 2, 1]
    pairs = np.array([(1.0, 7), (5.0, 3)], dtype=[('v', 'f8'), ('i', 'i4')])
    both = bytearray(np.array([(2.0, 9)], dtype=[('v', 'f8'), ('i', 'i4')]).tobytes())
    ucd.pack_into(bytes(pairs.tobytes()[12:]) + bytes(4), both, type=ucd.types.DOUBLE_INT, op='maxloc')
    assert np.frombuffer(both, dtype=pairs.dtype)[0].tolist() == (5.0, 3)
    with pytest.raises(ucd.NotSupported):
        ucd.pack_into(np.zeros(2, '>f8'), np.zeros(2), op='sum')
    assert ucd.op_is_supported('sum', 'float32') and not ucd.op_is_supported('sum', ucd.types.BYTE)


@given(views())
def test_requests(view):
    out = np.empty(view.size, view.dtype)
    request = ucd.ipack_into(view, out)
    assert request.done() and request.wait() == request.bytes == view.nbytes
    assert out.tobytes() == np.ascontiguousarray(view).tobytes()
    back = filled(view.shape, view.dtype, 5)

    async def there_and_back():
        return await ucd.iunpack(out, back), await ucd.icopy_bytes(view, back)

    assert asyncio.run(there_and_back()) == (view.nbytes, view.nbytes)
    assert ucd.pack(back).tobytes() == out.tobytes()


def test_waitall():
    a, outs = np.arange(12).reshape(3, 4), [np.empty(3, int) for _ in range(4)]
    assert ucd.waitall(ucd.ipack_into(a[:, i], out) for i, out in enumerate(outs)) == [24] * 4
    assert [out.tolist() for out in outs] == a.T.tolist()


@given(st.data())
def test_gather_and_scatter(data):
    pool = data.draw(views(dtypes=['i2', 'f8', 'S3'], writable=True).filter(lambda v: v.ndim))
    axis = data.draw(st.integers(-pool.ndim, pool.ndim - 1))
    n = pool.shape[axis]
    chosen = data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else []
    indices = np.array(chosen, dtype=data.draw(st.sampled_from(['i4', 'u4', 'i8', 'u8'])))
    expected = np.take(pool, indices.astype(np.intp), axis=axis)
    assert (ucd.gather(pool, indices, axis=axis) == expected).all()
    assert ucd.gather(pool, indices, axis=axis).shape == expected.shape
    distinct = np.unique(indices)
    packed = filled((np.take(pool, distinct.astype(np.intp), axis=axis).size,), pool.dtype, 3)
    before = pool.copy()
    assert ucd.scatter(packed, pool, distinct, axis=axis) == packed.nbytes
    assert ucd.gather(pool, distinct, axis=axis).tobytes() == packed.tobytes()
    rest = np.array([i for i in range(n) if i not in set(chosen)], dtype=np.intp)
    assert (np.take(pool, rest, axis=axis) == np.take(before, rest, axis=axis)).all()


def test_indices_are_checked():
    pool = np.zeros((4, 3))
    for bad in ([4], [0, -1], [2**31 - 1]):
        with pytest.raises(IndexError, match=r'must be >= 0 and < 4'):
            ucd.gather(pool, np.array(bad))
    with pytest.raises(IndexError):
        ucd.gather(pool, np.array([2**63], dtype=np.uint64))
    for bad in (np.array([[0]]), np.array([0.0]), np.array([True]), [0.5], None):
        with pytest.raises((TypeError, ValueError)):
            ucd.gather_into(pool, bad, np.zeros(12))
        with pytest.raises(TypeError, match='indices'):
            ucd.gather(pool, bad)
    for axis in (2, -3):
        with pytest.raises(ValueError, match='axis'):
            ucd.gather(pool, np.array([0]), axis=axis)


def test_types_by_reference_keep_their_indices():
    indices = np.array([2, 0], dtype=np.int32)
    type = ucd.Type.indexed_block_ref(3, indices, 24, 0, 96, 'float64')
    outer = ucd.Type.struct([1], [0], [ucd.Type.dup(type)])
    alive = weakref.ref(indices)
    pool = np.arange(12.0).reshape(4, 3)
    indices[0] = 3  # read when data moves
    assert ucd.pack(pool, type=outer).view(float).tolist() == [9, 10, 11, 0, 1, 2]
    del indices, type
    gc.collect()
    assert alive() is not None
    del outer
    gc.collect()
    assert alive() is None


@given(views(writable=True))
def test_iov_and_boxes_cover_the_view(view):
    pieces = ucd.iov(view)
    first, stream = view.__array_interface__['data'][0], np.ascontiguousarray(view).tobytes()
    assert pieces.shape[1] == 2 and pieces.dtype == np.uint64
    read = (np.ctypeslib.ctypes.string_at(int(at), int(n)) for at, n in pieces)
    assert b''.join(read) == stream
    rows = ucd.boxes(view)
    assert rows.shape[1] == 5 and rows.dtype == np.int64
    found = b''
    for address, block, count, stride, offset in rows.tolist():
        assert offset == len(found)
        found += b''.join(np.ctypeslib.ctypes.string_at(address + i * stride, block) for i in range(count))
    assert found == stream
    lists = ucd.sgl(view)
    assert all(column.dtype == np.uint64 and column.flags.c_contiguous for column in lists)
    found = b''
    for address, block, count, stride, offset in zip(*map(np.ndarray.tolist, lists)):
        assert offset == len(found) and (count > 1 or stride == 0)
        found += b''.join(np.ctypeslib.ctypes.string_at(address + i * stride, block) for i in range(count))
    assert found == stream
    lists = ucd.sgl(view, expand=True)
    assert all(column.dtype == np.uint64 and column.flags.c_contiguous for column in lists)
    assert (lists.counts == 1).all() and (lists.strides == 0).all()
    assert (np.stack([lists.buffers, lists.lengths], axis=1) == pieces).all()
    assert lists.offsets.tolist() == [int(pieces[:i, 1].sum()) for i in range(len(pieces))]
    if view.size:
        low = ucd.Type.from_view(view).true_lb
        assert ucd.iov(0, ucd.Type.from_view(view))[:, 0].astype(np.int64).min() == low
        assert int(pieces[:, 0].min()) == first + low


def test_many_blocks_are_few_rows():
    pages = ucd.Type.ndarray([8, 16, 10840], [2**40, 2**34, 4096], ucd.Type.contiguous(512, 'uint8'))
    rows = ucd.boxes(0, pages)
    assert len(rows) == 128 and rows[:, 2].sum() == 8 * 16 * 10840 == 1387520
    lists = ucd.sgl(0, pages)
    assert (np.stack(lists, axis=1) == rows.astype(np.uint64)).all()
    backwards = ucd.sgl(1000, ucd.Type.hvector(3, 8, -16, 'uint8'))
    assert backwards.buffers.tolist() == [1000, 984, 968] and backwards.counts.tolist() == [1, 1, 1]
    assert ucd.sgl(0, ucd.Type.vector(3, 1, 2, 'float32'), expand=True).buffers.tolist() == [0, 8, 16]
    assert [len(column) for column in ucd.sgl(0, ucd.Type.contiguous(0, 'int8'), expand=True)] == [0] * 5
    with pytest.raises(TypeError, match='needs a type'):
        ucd.boxes(0)


class Stream:
    """A library's stream of which it is known whether it was synchronised."""

    def __init__(self, cuda_stream=0x5000):
        self.cuda_stream = cuda_stream
        self.synchronized = 0

    def synchronize(self):
        self.synchronized += 1


class Tensor:
    """A tensor in device memory, as its protocols say; never read."""

    def __init__(self, shape=(2, 3)):
        self.asked = []
        self.__cuda_array_interface__ = {'shape': shape, 'typestr': '<f8', 'data': (0x10000, False), 'version': 3, 'strides': None}


@pytest.fixture
def torch(monkeypatch, no_driver):
    """Something that stands in for torch."""
    current = Stream()
    fake = types.SimpleNamespace(Tensor=Tensor, cuda=types.SimpleNamespace(current_stream=lambda device: current))
    monkeypatch.setitem(sys.modules, 'torch', fake)
    return current


def test_device_arrays_go_into_the_current_stream(torch):
    # There is no GPU: the library says so when it is asked to enqueue.
    for call in (
        lambda: ucd.pack_into(Tensor(), Tensor((6,))),
        lambda: ucd.unpack(Tensor((6,)), Tensor(), stream=7),
        lambda: ucd.Batch.pack([(Tensor(), Tensor((6,)))]).run(),
        lambda: ucd.gather_into(Tensor(), np.array([1]), Tensor((3,)), stream=Stream()),
    ):
        with pytest.raises(ucd.NotSupported, match='cuda'):
            call()
    assert torch.synchronized == 0


def test_device_and_pageable_memory_wait_for_the_stream(torch):
    # Without a GPU the address is not the device's, so nothing of it may move: count is 0.
    assert ucd.pack_into(Tensor(), bytearray(48), type=ucd.types.BYTE, count=0, partial=True) == 0
    assert torch.synchronized == 1
    given = Stream()
    assert ucd.unpack(bytes(8), Tensor(), type=ucd.types.BYTE, count=0, partial=True, stream=given) == 0
    assert (torch.synchronized, given.synchronized) == (1, 1)
    assert ucd.copy_bytes(Tensor((0,)), bytearray(8)) == 0
    assert torch.synchronized == 2
    with pytest.raises(RuntimeError, match='no driver of cuda'):
        ucd.unpack(bytes(8), Tensor(), type=ucd.types.BYTE, count=0, partial=True, stream=7)


def test_streams_of_all_libraries(torch):
    class OfCuda:
        def __cuda_stream__(self):
            return 0, 0x6000

    for stream in (
        7,
        OfCuda(),
        types.SimpleNamespace(__cuda_stream__=(0, 9)),
        types.SimpleNamespace(cuda_stream=9),
        types.SimpleNamespace(ptr=9),
        types.SimpleNamespace(handle=9),
        types.SimpleNamespace(handle=types.SimpleNamespace(value=None)),
    ):
        with pytest.raises(ucd.NotSupported, match='cuda'):
            ucd.pack_into(Tensor(), Tensor((6,)), stream=stream)
    with pytest.raises(TypeError, match='stream must be'):
        ucd.pack_into(Tensor(), Tensor((6,)), stream='0')
    with pytest.raises(ValueError, match='device memory'):
        ucd.pack_into(np.zeros(3), bytearray(24), stream=7)


def test_memory_and_hints():
    assert ucd.memory(np.zeros(3)) == 'host'
    assert [b.name for b in ucd.backends()][:1] == ['seq'] and ucd.backends()[0].available
    hints = ucd.Hints({'threads': 2, 'ucd.gpu': 'none'})
    assert repr(hints) == "ucd.Hints({'ucd.gpu': 'none', 'ucd.threads': '2'})"
    a = np.arange(1000)
    assert (ucd.pack(a[::-2], hints=hints) == a[::-2]).all()
    with pytest.raises(ucd.InvalidArgument):
        ucd.Hints({'threads': 0})
    with pytest.raises(ucd.InvalidArgument, match='ucd.thread".*ucd.threads'):
        ucd.Hints({'thread': 2})
    with pytest.raises(TypeError):
        ucd.Hints([1])


def test_threads():
    """Types, batches and arrays that threads share; each has its own outputs."""
    field = np.arange(60000).reshape(100, 600)
    type = ucd.slice_type(field.shape, ':, 5', 'int64')
    shared = [np.empty(100, int) for _ in range(4)]
    batch = ucd.Batch.pack([(field[:, i], out) for i, out in enumerate(shared)])
    failures = []

    def work(k):
        try:
            for i in range(200):
                view = field[k::8, i % 7 :: 3]
                assert (ucd.pack(view) == view.ravel()).all()
                assert (ucd.pack(field, type=type).view(int) == field[:, 5]).all()
                out = np.empty(600 * 50, int)
                assert ucd.ipack_into(field[::2], out).wait() == out.nbytes
                assert (out.reshape(50, 600) == field[::2]).all()
                if k % 2:
                    batch.run()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all((out == field[:, i]).all() for i, out in enumerate(shared))


def test_other_threads_run_during_long_moves():
    field = np.zeros((2000, 2000))
    out = np.empty(field.size)
    ran = threading.Event()

    def wait_for_a_turn():
        ran.set()

    previous = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # only a call that gives up the GIL lets the other thread run
    try:
        thread = threading.Thread(target=wait_for_a_turn)
        for _ in range(100):
            if not thread.ident:
                thread.start()
            ucd.pack_into(field.T, out)
            if ran.is_set():
                break
    finally:
        sys.setswitchinterval(previous)
    thread.join()
    assert ran.is_set()


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def everything(i):
    """Calls of all kinds, on new objects each time, with failures in between."""
    a = np.empty((4, 6 + i % 50))
    out = np.empty(a.size)
    ucd.pack_into(a[:, ::2], out, partial=True)
    ucd.unpack(out, a[::-1].T)
    ucd.copy_bytes(a, out)
    ucd.ipack_into(a, out).wait()
    type = ucd.Type.indexed([1, 2], [0, i % 9], ucd.Type.vector(2, 1, 3, 'int32'))
    ucd.Type.unflatten(type.flatten()).describe()
    ucd.gather(a, np.array([i % 4, 0]))
    ucd.boxes(a.T)
    batch = ucd.Batch([('pack', a, out), ('copy', a, a.copy())])
    batch.run()
    batch.rebase([(a.copy(), None)])
    batch.start().wait()
    with pytest.raises(ucd.InvalidArgument):
        ucd.Type.vector(1, -1, 1, type)
    with pytest.raises(BufferError):
        ucd.pack_into(a, bytes(8))
    with pytest.raises(ValueError):
        ucd.pack_into(a, a[:, 0])
    with pytest.raises(ValueError):
        batch.rebase([(a.T, None)])


def test_no_leaks():
    """UCD_TEST_CALLS=1000000 runs a million calls."""
    rounds = max(200, int(os.environ.get('UCD_TEST_CALLS', '18000')) // 12)
    for i in range(200):
        everything(i)
    gc.collect()
    objects, bytes = len(gc.get_objects()), resident()
    references = sys.getrefcount(ucd.types.DOUBLE)
    for i in range(rounds):
        everything(i)
    gc.collect()
    assert len(gc.get_objects()) - objects < 100
    assert sys.getrefcount(ucd.types.DOUBLE) - references < 10
    # A leak of one small object for each round would be more.
    assert resident() - bytes < max(1 << 20, rounds * 64)


def test_arrays_in_use_stay():
    buffer = bytearray(24)
    batch = ucd.Batch.pack([(np.zeros(3), buffer)])
    with pytest.raises(BufferError):
        buffer.extend(b'x')  # its memory is promised to the batch
    del batch
    buffer.extend(b'x')
    indices = array.array('i', [1])
    type = ucd.Type.indexed_block_ref(1, indices, 8, 0, 16, 'float64')
    with pytest.raises(BufferError):
        indices.append(2)
    del type
    indices.append(2)


def test_the_process_may_end_with_work_and_types_left():
    program = 'import ucd, numpy; t = ucd.Type.vector(2, 1, 2, "int32"); r = ucd.ipack_into(numpy.zeros(9), bytearray(72))'
    subprocess.run([sys.executable, '-c', program], check=True)


def layouts_that_repeat():
    """Views of 3 doubles and more, and types for 3 doubles, in which elements share bytes."""
    memory = np.zeros(24)
    view = np.lib.stride_tricks.as_strided
    yield view(memory, (3,), (0,)), None
    yield view(memory, (3, 2), (8, 8)), None
    yield view(memory[2:], (2, 3), (-8, 8)), None
    yield np.ndarray((3,), 'f8', memory, 0, (4,)), None
    yield memory, ucd.Type.indexed_block(1, [4, 0, 4], 'float64')
    yield memory, ucd.Type.hvector(3, 1, 4, 'float64')
    yield memory, ucd.Type.resized(ucd.Type.vector(2, 1, 2, 'float64'), 0, 16)
    yield memory, ucd.Type.struct([1, 1, 1], [0, 16, 4], ['float64'] * 3)
    yield memory, ucd.Type.indexed_block_ref(1, np.array([4, 0, 4]), 8, 0, 40, 'float64')


@pytest.mark.parametrize('number', range(len(list(layouts_that_repeat()))))
def test_ops_into_elements_that_repeat_are_refused(number):
    """The library's result is unspecified there. Replacing is not refused: one of the values stays."""
    array, type = list(layouts_that_repeat())[number]
    count = 3 if type is not None and type.extent == 16 else 1
    data = np.ones(array.size if type is None else count * type.size // 8)
    members = (data, array) if type is None else (data, array, type, count)
    own = {} if type is None else {'dst_type': type, 'dst_count': count}
    for op in ('sum', 'max', 'prod', 'min'):
        for call in (
            lambda: ucd.unpack(data, array, type=type, count=count, op=op),
            lambda: ucd.iunpack(data, array, type=type, count=count, op=op),
            lambda: ucd.copy_bytes(data, array, **own, op=op),
            lambda: ucd.icopy_bytes(data, array, **own, op=op),
            lambda: ucd.Batch.unpack([members], op=op),
        ):
            with pytest.raises(ValueError, match='several places'):
                call()
    assert not array.any()
    ucd.unpack(data, array, type=type, count=count)
    assert array.any()


def test_ops_into_repeated_indices_are_refused():
    for dtype in ('i4', 'u4', 'i8', 'u8'):
        pool = np.zeros((5, 2))
        with pytest.raises(ValueError, match='several places'):
            ucd.scatter(np.ones((3, 2)), pool, np.array([3, 1, 3], dtype), op='sum')
        assert not pool.any()
        ucd.scatter(np.ones((3, 2)), pool, np.array([3, 1, 0], dtype), op='sum')
        ucd.scatter(np.ones((2, 2)), pool, np.array([3, 3], dtype))
        assert pool.sum() == 6
    strided = np.lib.stride_tricks.as_strided(np.zeros(8), (4, 2), (8, 8))
    with pytest.raises(ValueError, match='several places'):
        ucd.scatter(np.ones((2, 2)), strided, np.array([0, 1]), op='sum')


def test_which_views_overlap_themselves():
    """By the addresses of all their bytes."""
    rng = np.random.default_rng(6)
    met = set()
    memory = np.zeros(4096, 'i2')
    for case in range(400):
        shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 5)))
        strides = tuple(int(rng.choice([-1, 1]) * rng.integers(0, 13)) for _ in shape)
        view = np.ndarray(shape, 'i2', memory, 4000, strides)
        starts = [sum(i * s for i, s in zip(index, strides)) for index in np.ndindex(shape)]
        touched = [at + k for at in starts for k in (0, 1)]
        twice = len(set(touched)) < len(touched)
        met.add(twice)
        try:
            ucd.unpack(np.zeros(view.size, 'i2'), view, op='sum')
        except ValueError:
            assert twice, (case, shape, strides)
        else:
            assert not twice, (case, shape, strides)
    assert met == {False, True}
