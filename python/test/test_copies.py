"""What copy promises beyond copy_bytes: equal shapes and dtypes, sides that overlap; and what calls say of arrays that
they cannot move."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
from views import DTYPES, PACKED_STRUCTS, PADDED_STRUCTS, filled, views


@given(st.data())
def test_copy(data):
    dtype = data.draw(st.sampled_from(DTYPES + PACKED_STRUCTS + PADDED_STRUCTS))
    src = data.draw(views(dtypes=[dtype]))
    room = filled(tuple(2 * n for n in src.shape), src.dtype, 1)
    dst = room[tuple(slice(None, None, -2) for _ in src.shape)] if src.shape else room
    ucd.copy(src, dst)
    assert ucd.pack(dst).tobytes() == ucd.pack(src).tobytes()


@pytest.mark.parametrize('shapes', [((3, 4), (4, 3)), ((3, 4), (12,)), ((3,), (3, 1)), ((3,), (4,)), ((), (1,)), ((0, 2), (0, 3))])
def test_shapes_must_be_equal(shapes):
    src, dst = [np.zeros(shape) for shape in shapes]
    for call in (lambda **how: ucd.copy(src, dst, **how), lambda **how: ucd.icopy(src, dst, **how)):
        for how in ({}, {'convert': True}, {'op': 'sum'}):
            with pytest.raises(ValueError) as raised:
                call(**how)
            assert f'src has shape {src.shape}, and dst has shape {dst.shape}' in str(raised.value)


@pytest.mark.parametrize(
    ('source', 'target', 'words'),
    [
        ('f4', 'i4', 'src has elements FLOAT, and dst has INT32_T'),
        ('f8', 'i8', 'src has elements DOUBLE, and dst has INT64_T'),
        ('>f8', '<f8', 'src has elements >f8, and dst has DOUBLE'),
        ('<i2', '>i2', 'src has elements INT16_T, and dst has >i2'),
        ('?', 'u1', 'src has elements C_BOOL, and dst has UINT8_T'),
        ('M8[s]', 'M8[ns]', r'src has elements <M8\[s\], and dst has <M8\[ns\]|datetime64\[s\].*datetime64\[ns\]'),
        ('M8[s]', 'i8', r'M8\[s\]|datetime64\[s\]'),
        ('V8', 'f8', 'V8'),
        ('>U3', '<U3', 'U3'),
        ([('a', 'i4'), ('b', 'f8')], [('a', 'i4'), ('b', 'i8')], "'a'"),
        ([('a', '>i4')], [('a', '<i4')], "'a'"),
    ],
)
def test_dtypes_must_be_equal(source, target, words):
    src, dst = np.zeros(3, source), np.zeros(3, target)
    for call in (ucd.copy, ucd.icopy):
        with pytest.raises(ValueError, match=words) as raised:
            call(src, dst)
        assert all(word in str(raised.value) for word in ('convert=True', "convert='saturate'", 'copy_bytes'))


@pytest.mark.parametrize('source, target, hinted', [('u2', 'f4', True), ('u1', 'f2', True), ('i2', 'f4', False), ('u2', 'i4', False)])
def test_integers_that_may_be_floats_of_a_file(source, target, hinted):
    with pytest.raises(ValueError, match='convert=True') as raised:
        ucd.copy(np.zeros(3, source), np.zeros(3, target))
    assert ('.view(ml_dtypes.bfloat16)' in str(raised.value)) is hinted


def test_byte_orders_are_named():
    for call in (
        lambda: ucd.copy(np.zeros(3, '>f4'), np.zeros(3, 'f8'), convert=True),
        lambda: ucd.copy_bytes(np.zeros(3, '>f4'), np.zeros(3, 'f4')),
    ):
        with pytest.raises(ucd.NotSupported, match='src has the byte order >, and dst has <; these are not swapped'):
            call()


def test_dtypes_that_are_equal():
    """By what elements are, not by how a library spells it."""
    for source, target in (('l', 'q'), ('=f8', '<f8'), ([('a', 'i4')], [('b', 'i4')])):
        src, dst = np.arange(3).astype(source), np.zeros(3, target)
        ucd.copy(src, dst)
        assert src.tobytes() == dst.tobytes()
    target = bytearray(3)
    ucd.copy(memoryview(b'abc')[::-1], target)
    assert target == b'cba'
    halves = np.zeros(3, 'f2')
    ucd.copy(np.array([1.0, 1e9, -1e9]), halves, convert='saturate')
    assert halves.tolist() == [1, 65504, -65504]


OVERLAPPING = {
    'copy': (lambda src, dst: ucd.copy(src, dst), lambda src, dst: dst.__setitem__(..., src)),
    'copy, sum': (lambda src, dst: ucd.copy(src, dst, op='sum'), lambda src, dst: dst.__iadd__(src)),
    'icopy': (lambda src, dst: ucd.icopy(src, dst).wait(), lambda src, dst: dst.__setitem__(..., src)),
    'copy_bytes': (lambda src, dst: ucd.copy_bytes(src, dst), lambda src, dst: dst.__setitem__(..., src)),
}


@pytest.mark.parametrize('kind', ['i4', 'u4', 'i8', 'u8'])
def test_indices_that_are_written(kind):
    """Those that were checked are those that are used, wherever in the output they lie. What overwrites them are
    other rows of the pool, so that a fault is no crash."""
    rng = np.random.default_rng(5)
    for count in (1, 7, 400, 2000):
        for width in (1, 2, 16):
            rows = 2 * count
            words = np.zeros((2 + rows) * width, kind)
            at = int(rng.integers(0, rows * width - count + 1))
            given = words[at : at + count]
            given[:] = rng.permutation(rows)[:count]
            for call in (ucd.gather_into, ucd.scatter):
                chosen, found = given.astype(np.intp), words.copy()
                apart = np.repeat(np.arange(rows, dtype=kind)[::-1], width).reshape(rows, width)
                expected = words.copy()
                if call is ucd.gather_into:
                    expected[: count * width] = apart[chosen].ravel()
                    call(apart, found[at : at + count], found[: count * width], hints=None)
                else:
                    expected[: rows * width].reshape(rows, width)[chosen] = apart[:count]
                    call(apart[:count], found[: rows * width].reshape(rows, width), found[at : at + count])
                assert (found == expected).all(), (call, count, width, at)


@pytest.mark.parametrize('name', OVERLAPPING)
@given(st.data())
def test_sides_that_overlap(name, data):
    """Any two views of one array of equal shape: as if the source had been copied first."""
    call, expected = OVERLAPPING[name]
    memory = np.arange(60, dtype='i4')
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    sides = []
    for _ in range(2):
        strides = [data.draw(st.integers(-6, 6)) for _ in shape]
        if name == 'copy, sum' or len(sides) == 1:  # each element of the target is written once
            strides = [s or 1 for s in strides]
        reach = [(n - 1) * s for n, s in zip(shape, strides)]
        low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
        first = data.draw(st.integers(-low, max(59 - high, -low)))
        sides.append((first, strides))
    def place(array):
        return [np.lib.stride_tricks.as_strided(array[first:], shape, [4 * s for s in strides]) for first, strides in sides]

    src, dst = place(memory)
    if len(set(np.lib.array_utils.byte_bounds(dst))) and np.unique(place(np.arange(60, dtype='i4'))[1]).size < dst.size:
        return  # an element that its strides repeat gets an unspecified value
    wanted = memory.copy()
    before = place(wanted)[0].copy()
    expected(before, place(wanted)[1])
    call(src, dst)
    assert (memory == wanted).all()


def test_packed_sides_that_overlap():
    memory = np.arange(24, dtype='i4')
    columns = memory[:16].reshape(4, 4).T
    wanted = columns.ravel().copy()
    ucd.pack_into(columns, memory[4:20])
    assert (memory[4:20] == wanted).all()
    memory = np.arange(24, dtype='i4')
    source = memory[4:20].copy()
    ucd.unpack(memory[4:20], memory[:16].reshape(4, 4).T)
    assert (memory[:16].reshape(4, 4).T == source.reshape(4, 4)).all()
    pool = np.arange(24, dtype='i4').reshape(6, 4)
    wanted = pool[[5, 0, 5]].copy()
    ucd.gather_into(pool, [5, 0, 5], pool[:3])
    assert (pool[:3] == wanted).all()
    pool = np.arange(24, dtype='i4').reshape(6, 4)
    wanted = pool[:3].copy()
    ucd.scatter(pool[:3], pool, [2, 1, 0])
    assert (pool[:3] == wanted[::-1]).all()
    text = np.frombuffer(bytearray(b'0123456789'), 'u1')
    ucd.copy_bytes(text, text, src_type=ucd.Type.contiguous(8, 'uint8'), dst_type=ucd.Type.resized(
        ucd.Type.hindexed_block(8, [2], 'uint8'), 0, 10))
    assert text.tobytes() == b'0101234567'
    numbers = np.arange(1.0, 5.0)
    ucd.copy(numbers, numbers.view('f4')[::2], convert=True)
    assert numbers.view('f4')[::2].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize('indices', [[3, 0], (3, 0), range(3, -1, -3), np.array([3, 9, 0, 9])[::2], *(np.array([3, 0], d) for d in ('i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8'))])
def test_indices_of_any_form(indices):
    pool = np.arange(12.0).reshape(4, 3)
    assert ucd.gather(pool, indices).tolist() == [[9, 10, 11], [0, 1, 2]]
    ucd.scatter(np.zeros(6), pool, indices)
    assert pool[:, 0].tolist() == [0, 3, 6, 0]
    assert ucd.gather(pool, indices[:0]).shape == (0, 3)


def test_arrays_that_cannot_be_moved_are_named():
    with pytest.raises(TypeError, match='src is None, which is no array'):
        ucd.pack_into(None, bytearray(8))
    with pytest.raises(TypeError, match='dst is None, which is no array'):
        ucd.copy(np.zeros(3), None)
    with pytest.raises(TypeError, match="packed is of class 'list', which is no array"):
        ucd.unpack([1, 2], np.zeros(2))
    with pytest.raises(TypeError, match='indices is None'):
        ucd.gather_into(np.zeros((4, 3)), None, np.zeros(3))
    with pytest.raises(TypeError, match='pool is None'):
        ucd.gather(None, [0])


def test_tensors_of_pytorch_that_cannot_be_moved_are_named():
    torch = pytest.importorskip('torch')
    eye = torch.eye(3)
    refused = {
        'a sparse tensor .torch.sparse_coo.; give to_dense': eye.to_sparse(),
        'a sparse tensor .torch.sparse_csr.; give to_dense': eye.to_sparse_csr(),
        "on PyTorch's device 'meta'": torch.empty(3, device='meta'),
        'a nested tensor; give the tensors of unbind': torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        'a quantised tensor .torch.qint8.; give int_repr': torch.quantize_per_tensor(eye, 0.1, 0, torch.qint8),
    }
    for words, tensor in refused.items():
        with pytest.raises(BufferError, match=f'src is {words}'):
            ucd.copy(tensor, eye)
        with pytest.raises(BufferError, match=f'dst is {words}'):
            ucd.copy(eye, tensor)


def test_pairs_of_elements_of_four_bits_are_one_byte():
    torch = pytest.importorskip('torch')
    if not hasattr(torch, 'float4_e2m1fn_x2'):
        pytest.skip('this PyTorch has no float4_e2m1fn_x2')
    pairs = torch.arange(6, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    packed = ucd.pack(pairs[::2])
    assert packed.dtype is pairs.dtype and packed.view(torch.uint8).tolist() == [0, 2, 4]
    assert ucd.Type.contiguous(3, torch.float4_e2m1fn_x2).size == 3


def test_results_for_jax_have_dtypes_of_ml_dtypes():
    jax = pytest.importorskip('jax')
    import ml_dtypes

    with jax.default_device(jax.devices('cpu')[0]):
        for name in ('bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float8_e8m0fnu', 'float8_e4m3b11fnuz'):
            array = jax.numpy.arange(6, dtype='float32').astype(name).reshape(2, 3)
            assert ucd.pack(array).dtype == getattr(ml_dtypes, name)
            assert ucd.gather(array, [1]).tobytes() == np.asarray(array)[1:].tobytes()
        assert ucd.cast(array.astype('bfloat16'), 'float32').tolist() == array.astype('float32').tolist()
        with pytest.raises(BufferError, match='src is an array of (float4_e2m1fn|int4), whose elements are no whole bytes'):
            ucd.pack(jax.numpy.zeros(6, 'float4_e2m1fn'))


def quick_and_general(call, *arrays):
    """The results of a call with nothing but arrays, which may take the quick way, and of one with an option."""
    return call(*arrays), call(*arrays, hints=None)


@given(st.data())
def test_small_arrays_are_read_as_large_ones_are(data):
    """Arrays alone take a way of their own, up to some size and number of dimensions."""
    view = data.draw(views(dtypes=DTYPES))
    quick, general = quick_and_general(ucd.pack, view)
    assert quick.dtype == general.dtype and quick.tobytes() == general.tobytes() and quick.shape == general.shape
    for make in (lambda: np.zeros(view.shape, view.dtype), lambda: np.zeros(view.shape[::-1], view.dtype).T):
        first, second = make(), make()
        assert ucd.copy(view, first) == ucd.copy(view, second, hints=None)
        assert first.tobytes() == second.tobytes() == view.tobytes()
        assert ucd.unpack(general, first) == view.nbytes and first.tobytes() == view.tobytes()
    if view.dtype.kind in 'iuf' and view.dtype.isnative and view.dtype.itemsize <= 8:
        with np.errstate(all='ignore'):
            quick, general = [made.tobytes() for made in quick_and_general(lambda a, **how: ucd.cast(a, np.float64, **how), view)]
        assert quick == general
        for convert, dtype in itertools.product((True, 'saturate'), ('f8', 'f2', 'i1')):
            first, second = [np.zeros((*view.shape, 2), dtype)[..., 0] for _ in range(2)]
            moved = ucd.copy(view, first, convert=convert), ucd.copy(view, second, convert=convert, hints=None)
            assert moved == (first.nbytes,) * 2 and first.tobytes() == second.tobytes()
    if view.ndim and view.shape[0]:
        rows = np.array(data.draw(st.lists(st.integers(0, view.shape[0] - 1), max_size=5)), dtype=np.int64)
        quick, general = quick_and_general(lambda a, **how: ucd.gather(a, rows, **how), view)
        assert quick.dtype == general.dtype and quick.shape == general.shape and quick.tobytes() == general.tobytes()


def test_what_is_not_ordinary_is_left_to_the_general_function():
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    for call in (ucd.copy, ucd.pack_into, ucd.unpack):
        with pytest.raises(BufferError, match='read-only'):
            call(np.ones(4), frozen)
    with pytest.raises(BufferError, match='read-only'):
        ucd.copy(np.ones(4, 'f4'), frozen, convert=True)
    with pytest.raises(ValueError, match="convert must be True, False or 'saturate'"):
        ucd.copy(np.ones(4, 'f4'), np.zeros(4), convert='saturated')
    with pytest.raises(ValueError, match='has shape'):
        ucd.copy(np.ones(4, 'f4'), np.zeros((2, 2)), convert=True)
    with pytest.raises(ValueError, match='dtype|elements'):
        ucd.copy(np.ones(4, 'f4'), np.zeros(4), convert=False)
    both = np.arange(8, dtype='f4')
    ucd.copy(both[:4], both.view('f8'), convert=True)
    assert both.view('f8').tolist() == [0, 1, 2, 3]
    with pytest.raises(ucd.Truncated):
        ucd.pack_into(np.ones(3), np.zeros(4))
    with pytest.raises(ValueError, match='must be contiguous'):
        ucd.pack_into(np.ones(3), np.zeros(6)[::2])
    with pytest.raises(IndexError, match=r'indices\[1\] is 4'):
        out = np.zeros((2, 3))
        ucd.gather_into(np.ones((4, 3)), np.array([0, 4]), out)
    assert not out.any()
    with pytest.raises(BufferError, match='out is read-only'):
        ucd.gather_into(np.ones((4, 1)), np.arange(4), frozen)
    with pytest.raises(TypeError):
        ucd.pack_into(np.ones(3))
    with pytest.raises(ValueError, match='masked arrays'):
        ucd.pack(np.ma.array([1, 2], mask=[0, 1]))
    memory = np.zeros(3)
    before = np.ones(3)
    before.shape  # noqa: B018 -- the struct is read at each call, so an array may change between them
    ucd.copy(before, memory)
    before.resize((2, 3), refcheck=False)
    with pytest.raises(ValueError, match='shape'):
        ucd.copy(before, memory)


STRIDED_PAIRS = """
import itertools, numpy, ucd
memory = numpy.arange(600)
for first, second in itertools.product(range(2, 10), repeat=2):
    for converts, dtype in ((False, 'i8'), (True, 'f8')):
        view, out = memory[: 9 * first : first], numpy.zeros(9 * second, dtype)[::second]
        ucd.copy(view, out, convert=True) if converts else ucd.copy(view, out)
        assert view.tolist() == out.tolist()
"""


def test_types_of_both_sides_live_through_a_call():
    """Types of strided arrays are cached, and the one side's may take the place of the other's. With each handle looked up, a
    freed one is logged; the general function, which then makes the call, would hide it."""
    checked = {**os.environ, 'UCD_CHECK': 'handles', 'UCD_LOG_LEVEL': 'error'}
    made = subprocess.run([sys.executable, '-c', STRIDED_PAIRS], env=checked, capture_output=True, text=True)
    assert made.returncode == 0 and 'ucd_copy' not in made.stderr, made.stderr


def test_values_of_pytorch_that_differ_from_their_memory():
    torch = pytest.importorskip('torch')
    out = torch.zeros(3)
    ucd.copy(torch.ones(3), out)  # from now on the class is known
    for tensor in (torch.ones(3, requires_grad=True), torch._neg_view(torch.ones(3))):
        for call in (ucd.copy, ucd.pack_into, ucd.unpack):
            with pytest.raises((BufferError, RuntimeError)):
                call(tensor, out)
        with pytest.raises((BufferError, RuntimeError)):
            ucd.pack(tensor)
    with torch.no_grad():
        ucd.copy(torch.full((3,), 2.0, requires_grad=True), out)
    assert out.tolist() == [2, 2, 2]
