"""Batches: members of all kinds, other arrays, and what is refused."""

import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
from views import filled, views

A = np.arange(60.0).reshape(3, 4, 5)
COLUMN = ucd.Type.vector(3, 1, 20, 'float64')


def alike(array):
    """Other memory with the same shape and strides."""
    reach = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)] if array.size else []
    before, behind = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    memory = bytearray(before + behind + array.itemsize)
    made = np.ndarray(array.shape, array.dtype, memory, before, array.strides)
    made[...] = filled(array.shape, array.dtype, 8)
    return made


def arrays_of(kind, view):
    """A view on a typed side, and what it is packed into, unpacked from or copied to."""
    if kind == 'unpack':
        return filled((view.size,), view.dtype, 3), view
    return view, np.zeros(2 * view.size, view.dtype)[::-2] if kind == 'copy' else np.zeros(view.size, view.dtype)


def all_moved(members):
    return all(to.tobytes() == source.tobytes() for source, to in members)


@given(st.lists(st.tuples(st.sampled_from(['pack', 'unpack', 'copy']), views(writable=True)), max_size=5))
def test_members_of_all_kinds(drawn):
    members = [arrays_of(kind, view) for kind, view in drawn]
    batch = ucd.Batch((kind, *arrays) for (kind, _), arrays in zip(drawn, members))
    assert len(batch) == len(drawn)
    size = sum(view.nbytes for _, view in drawn)
    assert batch.run() == size and all_moved(members)
    for source, _ in members:
        source[...] = filled(source.shape, source.dtype, 9)
    assert batch.start().wait() == size and all_moved(members)
    first = len(drawn) // 2
    others = members[:first] + [(alike(source), alike(to)) for source, to in members[first:]]
    batch.rebase(others[first:], first)
    for _, to in members[first:]:
        to[...] = filled(to.shape, to.dtype, 10)
    before = [to.copy() for _, to in members[first:]]
    assert batch.run() == size and all_moved(others)
    assert all(to.tobytes() == was.tobytes() for (_, to), was in zip(members[first:], before))


def test_batches_of_one_kind():
    a = A.copy()
    outs = [np.empty(12) for _ in range(5)]
    batch = ucd.Batch.pack([(a[:, :, i], out) for i, out in enumerate(outs)])
    for _ in range(3):
        a += 1
        assert batch.run() == a.nbytes and len(batch) == 5
        assert all((out == a[:, :, i].ravel()).all() for i, out in enumerate(outs))
    back = np.zeros_like(a)
    ucd.Batch.unpack([(np.full(12, float(i)), back[:, :, i]) for i in range(5)]).run()
    assert (back == np.arange(5)).all()
    ucd.Batch.copy([(a[i], back[2 - i]) for i in range(3)]).run()
    assert (back == a[::-1]).all()
    assert ucd.Batch.pack([]).run() == ucd.Batch([]).start().wait() == 0
    generated = ucd.Batch.copy((a[i], back[i]) for i in range(3))
    assert generated.run() == a.nbytes and (back == a).all()


ROW = ucd.Type.contiguous(3, 'float64')
WITH_TYPES = {
    'pack': (lambda to: ('pack', A, to, COLUMN), [0, 20, 40]),
    'pack, count': (lambda to: ('pack', A, to, ucd.types.DOUBLE, 4), [0, 1, 2, 3]),
    'pack, room for less': (lambda to: ('pack', A, to[:2], COLUMN), [0, 20]),
    'unpack': (lambda to: ('unpack', A[0, 0, 1:4].copy(), to, ROW), [1, 2, 3]),
    'unpack, count': (lambda to: ['unpack', A[0, 0].copy(), to, ucd.types.DOUBLE, 4], [0, 1, 2, 3]),
    'copy, src_type': (lambda to: ('copy', A, to[:3], COLUMN), [0, 20, 40]),
    'copy, src_count': (lambda to: ('copy', A, to, ucd.types.DOUBLE, 4), [0, 1, 2, 3]),
    'copy, dst_type': (lambda to: ('copy', A[:, 0, 1], to, None, 1, ROW), [1, 21, 41]),
    'copy, dst_count': (lambda to: ('copy', A[:, 0, 1], to, COLUMN, 1, ucd.types.DOUBLE, 4), [1, 21, 41]),
}


@pytest.mark.parametrize('name', WITH_TYPES)
def test_members_with_types(name):
    make, expected = WITH_TYPES[name]
    to = np.full(6, -1.0)
    batch = ucd.Batch([make(to)], hints=ucd.Hints({'gpu': 'none'}), partial=True)
    assert batch.run() == 8 * len(expected)
    assert to.tolist() == expected + [-1.0] * (6 - len(expected))


def test_reductions_of_members():
    total, other, back = np.ones(3), np.ones((1, 3)), np.ones(6)[::2]
    batch = ucd.Batch([('pack', A[:, 0, 0], total), ('unpack', A[0, 0, :3].copy(), back), ('copy', A[:, 1, 0], other)], op='sum')
    batch.run()
    batch.run()
    assert total.tolist() == [1, 41, 81] and back.tolist() == [1, 3, 5] and other.tolist() == [[11, 51, 91]]


def test_rebase():
    outs = [np.zeros(12) for _ in range(4)]
    batch = ucd.Batch([('pack', A[:, :, i], out) for i, out in enumerate(outs[:2])])
    assert batch.rebase([(None, outs[2]), (A[:, :, 4], outs[3])]) is None
    assert batch.run() == 192
    assert not outs[0].any() and not outs[1].any()
    assert (outs[2] == A[:, :, 0].ravel()).all() and (outs[3] == A[:, :, 4].ravel()).all()
    batch.rebase([(A[:, :, 3], None)], first=1)
    batch.rebase([])
    batch.rebase([], first=2)
    batch.run()
    assert (outs[2] == A[:, :, 0].ravel()).all() and (outs[3] == A[:, :, 3].ravel()).all()
    typed = ucd.Batch([('copy', A, outs[0], COLUMN, 1, ROW)])
    typed.rebase([(A[:, 1], outs[1])])  # of another shape: the type says what is touched
    typed.run()
    assert outs[1][:3].tolist() == A[:, 1, 0].tolist() and not outs[0].any()
    records = np.zeros((4, 2), [('a', 'u1'), ('b', 'f8')])
    packed = bytearray(36)
    structured = ucd.Batch.pack([(records[:, 0], packed)])
    other = records.copy()
    other['b'][:, 0] = 5
    structured.rebase([(other[:, 0], None)])
    structured.run()
    assert bytes(packed) == other[:, 0].tobytes()


def test_a_batch_keeps_the_arrays_that_it_has():
    first, second = np.zeros(3), np.ones(3)
    kept = [weakref.ref(first), weakref.ref(second)]
    out = bytearray(24)
    batch = ucd.Batch([('pack', first, out)])
    del first
    gc.collect()
    assert kept[0]() is not None
    with pytest.raises(BufferError):
        out.extend(b'x')  # its memory is promised to the batch
    batch.rebase([(second, bytearray(24))])
    del second
    gc.collect()
    assert kept[0]() is None and kept[1]() is not None
    out.extend(b'x')
    request = batch.start()
    del batch
    gc.collect()
    assert kept[1]() is None and request.wait() == 24  # complete at once


FROZEN = np.zeros(12)
FROZEN.flags.writeable = False
OUT = np.zeros(12)
REFUSED = {
    'no kind': ([('pack', A[0, 0], OUT), (A, OUT)], TypeError, r"members\[1\]: a member begins with 'pack', 'unpack' or 'copy'"),
    'another kind': ([('move', A, OUT)], TypeError, r"members\[0\].* with 'move'"),
    'empty': ([()], TypeError, r'members\[0\].*with None'),
    'no tuple': ([7], TypeError, r'members\[0\]'),
    'one array': ([('pack', A)], TypeError, r'members\[0\]: what a batch is to pack is .src, out.*has 1 entries'),
    'too many entries': ([('unpack', OUT, A, None, 1, 1)], TypeError, r'members\[0\].*has 5 entries'),
    'too many entries of a copy': ([('copy', A, OUT, None, 1, None, 1, 1)], TypeError, r'has 7 entries'),
    'count is no number': ([('pack', A, OUT, ucd.types.DOUBLE, 'x')], TypeError, r'members\[0\]: an entry is not of the type'),
    'no array': ([('pack', A[0, 0], OUT[:5]), ('pack', object(), OUT)], TypeError, r"members\[1\]: src is of class 'object', which is no array"),
    'no type': ([('pack', A, OUT, 'nothing')], TypeError, r'members\[0\]: .*nothing'),
    'beyond the array': ([('pack', A, OUT, COLUMN, 2)], ValueError, r'members\[0\]: the type touches bytes'),
    'packed with gaps': ([('pack', A[0, 0], OUT[:10:2])], ValueError, r'members\[0\]: out must be contiguous'),
    'read-only': ([('copy', A[0, 0], OUT[:5]), ('copy', OUT, FROZEN)], BufferError, r'members\[1\]: dst is read-only'),
    'read-only out': ([('pack', A[0, 0], bytes(40))], BufferError, r'members\[0\]: out is read-only'),
    'no room': ([('copy', A, A.copy()), ('copy', A, OUT)], ucd.Truncated, r'members\[1\]: dst has 96 bytes, and src has 480'),
    'too much room': ([('pack', A[0, 0], OUT)], ucd.Truncated, r'members\[0\]: out has 96 bytes, and src has 40 packed bytes'),
    'too few bytes': ([('unpack', OUT, A)], ucd.Truncated, r'members\[0\]: packed has 96 bytes, and dst has 480 packed bytes'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_wrong_members(name):
    members, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        ucd.Batch(members)


def test_streams_are_for_device_memory():
    with pytest.raises(ValueError, match='stream is for arrays in device memory'):
        ucd.Batch([('pack', A[0, 0], OUT[:5])]).run(stream=7)


def test_what_the_library_refuses_has_the_index():
    with pytest.raises(ucd.NotSupported, match=r'moves\[1\]'):
        ucd.Batch([('pack', A[0, 0], OUT[:5]), ('pack', np.zeros(2, '>f8'), bytearray(16))], op='sum')
    with pytest.raises(ucd.InvalidArgument, match=r'moves\[0\]'):
        ucd.Batch.copy([(np.zeros(3, 'i4'), np.zeros(3, 'f4'))], op='sum')


REBASES = {
    'one array': ([(A[:, :, 2],)], 0, TypeError, r'members\[0\]: what replaces arrays is \(from, to\); this one has 1'),
    'no tuple': ([7], 0, TypeError, r'members\[0\]'),
    'other strides': ([(None, None), (A[:, 0, 0], None)], 0, ValueError, r'members\[1\]: src is laid out otherwise'),
    'other elements': ([(A[:, :, 2].view('i8'), None)], 0, ValueError, r'members\[0\]: src is laid out otherwise'),
    'fewer elements': ([(A[:2, :, 2], None)], 0, ValueError, r'members\[0\]: src is laid out otherwise'),
    'fewer bytes': ([(None, np.zeros(11))], 1, ValueError, r'members\[1\]: out has 88 bytes; it must have 96, as before'),
    'read-only': ([(None, FROZEN)], 1, BufferError, r'members\[1\]: out is read-only'),
    'with gaps': ([(None, np.zeros(24)[::2])], 1, ValueError, r'members\[1\]: out must be contiguous'),
    'beyond the last': ([(None, None), (None, OUT)], 1, IndexError, r'members\[2\]: the batch has 2 members'),
    'first beyond the last': ([], 3, ucd.InvalidArgument, r'first is 3'),
    'first is negative': ([(None, OUT)], -1, ValueError, r'first is -1; it must be >= 0'),
}


@pytest.mark.parametrize('name', REBASES)
def test_wrong_arrays_leave_a_batch_as_it_was(name):
    members, first, error, words = REBASES[name]
    outs = [np.zeros(12), np.zeros(12)]
    batch = ucd.Batch.pack([(A[:, :, i], out) for i, out in enumerate(outs)])
    with pytest.raises(error, match=words):
        batch.rebase(members, first)
    batch.run()
    assert all((out == A[:, :, i].ravel()).all() for i, out in enumerate(outs))


class OnDevice:
    """An array that its protocol says is in device memory."""

    def __init__(self, address=0x10000, shape=(3, 4)):
        self.__cuda_array_interface__ = {'shape': shape, 'typestr': '<f8', 'data': (address, False), 'version': 3, 'strides': None}


def test_device_memory_without_a_backend(no_driver):
    host = np.zeros((3, 4))
    for kind in ('pack', 'unpack', 'copy'):
        for arrays in ((OnDevice(), host), (host, OnDevice()), (OnDevice(), OnDevice())):
            with pytest.raises(ucd.NotSupported, match=r'members\[1\]: .* is in device memory of cuda'):
                ucd.Batch([('pack', host, OUT), (kind, *arrays)])
    batch = ucd.Batch([('copy', host, np.zeros(12))])
    for arrays in ((OnDevice(), None), (None, OnDevice(shape=(12,)))):
        with pytest.raises(ValueError, match=r'members\[0\]: .* is in another kind of memory'):
            batch.rebase([arrays])
    assert batch.run() == host.nbytes


def test_a_rebase_while_another_one_reads_its_arrays():
    outs = [np.zeros(3) for _ in range(4)]
    batch = ucd.Batch.pack([(A[:, 0, i], out) for i, out in enumerate(outs[:2])])

    class Array:
        @property
        def __array_interface__(self):
            batch.rebase([(None, outs[3])], 1)
            return outs[2].__array_interface__

    batch.rebase([(None, Array())])
    kept, outs[3] = weakref.ref(outs[3]), None
    gc.collect()
    assert kept() is not None
    batch.run()
    assert not outs[0].any() and not outs[1].any()
    assert (outs[2] == A[:, 0, 0]).all() and (kept() == A[:, 0, 1]).all()


def test_threads_that_rebase_a_batch():
    """Each run moves whole arrays to whole arrays, whichever thread gave them last."""
    outs = [np.zeros(5000) for _ in range(2)]
    sources = [[np.full(5000, float(2 * k + i)) for i in range(2)] for k in range(4)]
    batch = ucd.Batch.pack(list(zip(sources[0], outs)))
    failures = []

    def work(k):
        try:
            for i in range(200):
                batch.rebase([(sources[k][i % 2].copy(), None)], i % 2)
                assert batch.run() == 80000
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(len(set(out)) == 1 and out[0] % 2 == i for i, out in enumerate(outs))
