"""Types: constructors against a type map walked block by block, flattening, pickling, bounds."""

import copy
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
import ucd_models

# A recipe is a type and what it means: the displacement of each byte in packed order, lb and extent.


def element(name='int32'):
    size = np.dtype(name).itemsize
    return ucd._dtypes.of(name), list(range(size)), size


def blocks(placed):
    """The bytes of old types at displacements."""
    return [at + byte for at, bytes in placed for byte in bytes]


def span(bytes):
    """Extent without padding: elements are of int32, at multiples of 4."""
    return max(bytes) + 1 - min(bytes) if bytes else 0


@st.composite
def recipes(draw, depth=3):
    if depth == 0:
        return element()
    old, bytes, extent = draw(recipes(depth=depth - 1))
    kind = draw(st.sampled_from(['contiguous', 'vector', 'hvector', 'indexed_block', 'hindexed_block', 'indexed', 'hindexed', 'resized', 'dup', 'ndarray', 'subarray']))  # fmt: skip
    small, displacement = st.integers(0, 3), st.integers(-4, 6)
    if kind == 'dup':
        return ucd.Type.dup(old), bytes, extent
    if kind == 'resized':
        lb, new = 4 * draw(displacement), 4 * draw(st.integers(0, 8))
        return ucd.Type.resized(old, lb, new), bytes, new
    if kind == 'contiguous':
        n = draw(small)
        made, found = ucd.Type.contiguous(n, old), [(i * extent, bytes) for i in range(n)]
    elif kind in ('vector', 'hvector'):
        n, length, stride = draw(small), draw(small), draw(displacement)
        unit = extent if kind == 'vector' else 4
        given = stride if kind == 'vector' else 4 * stride
        made = getattr(ucd.Type, kind)(n, length, given, old)
        found = [(i * stride * unit + j * extent, bytes) for i in range(n) for j in range(length)]
    elif kind in ('indexed_block', 'hindexed_block'):
        length, places = draw(small), draw(st.lists(displacement, max_size=4))
        unit = extent if kind == 'indexed_block' else 4
        given = places if kind == 'indexed_block' else [4 * p for p in places]
        made = getattr(ucd.Type, kind)(length, draw(st.sampled_from([list, np.array]))(given) if given else given, old)
        found = [(p * unit + j * extent, bytes) for p in places for j in range(length)]
    elif kind in ('indexed', 'hindexed'):
        places = draw(st.lists(st.tuples(small, displacement), max_size=4))
        unit = extent if kind == 'indexed' else 4
        given = [p if kind == 'indexed' else 4 * p for _, p in places]
        made = getattr(ucd.Type, kind)([n for n, _ in places], given, old)
        found = [(p * unit + j * extent, bytes) for n, p in places for j in range(n)]
    elif kind == 'ndarray':
        shape = draw(st.lists(small, max_size=3))
        strides = [4 * draw(displacement) for _ in shape]
        made = ucd.Type.ndarray(shape, strides, old)
        found = [(sum(i * s for i, s in zip(index, strides)), bytes) for index in np.ndindex(*shape)]
    else:
        sizes = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(1, 2)))]
        parts = [draw(st.integers(0, n)) for n in sizes]
        starts = [draw(st.integers(0, n - p)) for n, p in zip(sizes, parts)]
        made = ucd.Type.subarray(sizes, parts, starts, old)
        weights = [int(np.prod(sizes[k + 1 :])) for k in range(len(sizes))]
        found = [
            (sum((s + i) * w for s, i, w in zip(starts, index, weights)) * extent, bytes)
            for index in np.ndindex(*parts)
        ]
    # Bounds are the library's business (its own tests check them); here only what follows from them.
    return made, blocks(found), made.extent


def bytes_of(type):
    return [int(at) + k for at, n in ucd.iov(0, type).astype(np.int64) for k in range(int(n))]


@given(recipes())
def test_constructors_place_bytes(recipe):
    type, expected, extent = recipe
    assert bytes_of(type) == expected
    assert type.size == len(expected) and type.extent == extent


@given(recipes(), st.integers(1, 3))
def test_typed_moves_and_their_limits(recipe, count):
    type, expected, extent = recipe
    placed = [i * extent + byte for i in range(count) for byte in expected]
    low, high = (min(placed), max(placed) + 1) if placed else (0, 0)
    # Memory that the type just fits into, with an element before it where byte 0 of the type is.
    memory = np.random.default_rng(1).integers(0, 256, max(high, 0) - min(low, 0) + 1, np.uint8)
    at = memory[: max(high, 1)] if low >= 0 else memory[::-1][: 1 - low][::-1]
    if low >= 0:
        assert ucd.pack(at, type=type, count=count).tolist() == [memory[b] for b in placed]
        if placed:
            with pytest.raises(ValueError, match='touches bytes'):
                ucd.pack(memory[: high - 1], type=type, count=count)
    elif placed:
        with pytest.raises(ValueError, match='touches bytes'):
            ucd.pack(memory, type=type, count=count)


@given(recipes())
def test_flattened_and_pickled_types_are_the_same(recipe):
    type, expected, extent = recipe
    for twin in (ucd.Type.unflatten(type.flatten()), pickle.loads(pickle.dumps(type))):
        assert bytes_of(twin) == expected and twin.extent == extent
        assert twin.flatten() == type.flatten()
    assert copy.copy(type) is type and copy.deepcopy([type])[0] is type


@given(recipes())
def test_types_as_text_and_pictures(recipe):
    type, expected, extent = recipe
    twin = ucd.Type.from_text(type.to_text())
    assert bytes_of(twin) == expected and twin.extent == extent and twin.flatten() == type.flatten()
    figure = ElementTree.fromstring(type._repr_svg_())
    assert figure.tag.endswith('svg') and type.svg(2, columns=9, rows=3).count('<rect') < 9 * 3 * 2 + 60


def test_text_is_the_language_of_the_tool(tmp_path):
    field = np.arange(12.0).reshape(3, 4)
    column = ucd.Type.from_text('a = vector(3, 1, 4, double); a  # a column')
    assert ucd.pack(field, type=column).view(float).tolist() == [0.0, 4.0, 8.0]
    assert column.to_text() == 'vector(3,1,4,double)' and ucd.types.INT.to_text() == 'int32_t'
    bad = {
        'vector(3,1,4,duble)': r'byte 14: .*; did you mean double\?\n.*\n {15}\^',
        'contig(-1,int)': 'count is -1; it must be >= 0',
        'a\0b\u00e9': 'byte 2: byte 0 is no part of the language',
        'indexed([0:134217729],[0],int)': 'the most is 134217728',
    }
    for text, sentence in bad.items():
        with pytest.raises(ValueError, match=sentence):
            ucd.Type.from_text(text)
    deep = 100_000
    assert ucd.Type.from_text('dup(' * deep + 'int' + ')' * deep).size == 4
    np.save(tmp_path / 'list.npy', np.array([1, 2]))
    named = f'indexed_block(1,@{tmp_path}/list.npy,int)'
    assert ucd.Type.from_text(named, files=True).true_lb == 4
    with pytest.raises(ValueError, match='not opened here'):
        ucd.Type.from_text(named)


def test_types_by_reference_have_no_text_and_no_picture():
    type = ucd.Type.indexed_block_ref(1, np.array([1, 2], np.int32), 8, 0, 100, 'float64')
    assert type._repr_svg_() is None
    for call in (type.to_text, type.svg, type.flatten):
        with pytest.raises(ucd.NotSupported):
            call()
    for limits in ({'columns': 0}, {'rows': 1001}):
        with pytest.raises(ValueError):
            ucd.types.INT.svg(**limits)


def test_struct():
    type = ucd.Type.struct([1, 2], [8, 0], ['float64', ucd.Type.contiguous(2, 'int16')])
    assert bytes_of(type) == [*range(8, 16), *range(8)]
    assert [(r.element.name, r.elements) for r in ucd.element_runs(type)] == [('DOUBLE', 1), ('INT16_T', 4)]


def test_darray_is_what_numpy_says():
    field = np.arange(7 * 10, dtype=np.int64).reshape(7, 10)
    found = []
    for rank in range(6):
        type = ucd.Type.darray(6, rank, [7, 10], ['block', 'cyclic'], [None, 2], [2, 3], 'int64')
        row, column = divmod(rank, 3)
        mine = field[row * 4 : (row + 1) * 4][:, [j for j in range(10) if j // 2 % 3 == column]]
        found += ucd.pack(field, type=type).view(np.int64).tolist()
        assert ucd.pack(field, type=type).tobytes() == np.ascontiguousarray(mine).tobytes()
    assert sorted(found) == list(range(70))
    with pytest.raises(ucd.InvalidArgument):
        ucd.Type.darray(6, 6, [7, 10], ['block', 'cyclic'], [None, 2], [2, 3], 'int64')


@st.composite
def indices(draw):
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    entries = []
    for n in shape:
        kind = draw(st.sampled_from(['slice', 'slice', 'int', 'list']))
        if kind == 'int':
            entries.append(draw(st.integers(-n, n - 1)))
        elif kind == 'list':
            entries.append(draw(st.lists(st.integers(-n, n - 1), max_size=5)))
        else:
            ends = st.none() | st.integers(-n - 1, n + 1)
            entries.append(slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, -1, -2, 3]))))
    return shape, entries


@given(indices())
def test_slice_expressions(case):
    shape, entries = case
    array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    expected = array
    for dim, entry in reversed(list(enumerate(entries))):
        chosen = entry if not isinstance(entry, list) else np.array(entry, dtype=np.intp)
        expected = expected[(slice(None),) * dim + (chosen,)]
    type = ucd.slice_type(shape, tuple(entries), 'int16')
    assert ucd.pack(array, type=type).tobytes() == expected.tobytes()
    assert (type.lb, type.extent) == (0, array.nbytes)


def test_slices_as_text():
    array = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    for text, expected in {
        '0:4:2, :, 3': array[0:4:2, :, 3],
        '..., -1': array[..., -1],
        '1': array[1],
        '::-1,...,2:': array[::-1, ..., 2:],
    }.items():
        type = ucd.slice_type(array.shape, text, 'float32')
        assert ucd.pack(array, type=type).tobytes() == expected.tobytes()
    for bad, error in (('7', IndexError), ('1,2,3,0', IndexError), ('...,...', IndexError), ('x', ValueError)):
        with pytest.raises(error):
            ucd.slice_type(array.shape, bad, 'float32')


def test_errors_are_by_status_and_carry_the_sentence():
    with pytest.raises(ucd.InvalidArgument, match='blocklength is -3; it must be >= 0') as raised:
        ucd.Type.vector(1, -3, 1, 'int32')
    assert raised.value.status == 1 and isinstance(raised.value, (ucd.Error, ValueError))
    with pytest.raises(ucd.Overflow):
        ucd.Type.contiguous(2**62, 'int32')
    with pytest.raises(ucd.Corrupt):
        ucd.Type.unflatten(b'not a type at all...')
    with pytest.raises(ucd.NotSupported, match='SUM'):
        ucd.pack_into(np.zeros(3, bool), bytearray(3), op='sum')
    with pytest.raises(ucd.Truncated):
        ucd.copy_bytes(np.zeros(3), np.zeros(2))
    for call in (
        lambda: ucd.Type.indexed([1], [1, 2], 'int32'),
        lambda: ucd.Type.subarray([4], [2], [1], 'int32', 'X'),
        lambda: ucd.pack_into(np.zeros(3), bytearray(3), op='total'),
        lambda: ucd.pack_into(np.zeros(3), bytearray(3), offset=-1),
        lambda: ucd.pack_into(np.zeros(3), bytearray(3), type=ucd.types.BYTE, count=-1),
        lambda: ucd.Type.darray(2, 0, [4], ['diagonal'], [-1], [2], 'int32'),
        lambda: ucd.gather_into(np.zeros((2, 2)), np.array([0]), np.zeros(2), axis=2),
        lambda: ucd.gather_into(np.zeros((2, 2)), np.array([0]), np.zeros(2), axis=-3),
        lambda: ucd._core.reaches([(1, 2)], 0, 1),
        lambda: ucd._core.reaches([(2, 1, 8)], 0, 1),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (
        lambda: ucd.Type.contiguous(1, 'no such type'),
        lambda: ucd.Type.contiguous(1, object),
        lambda: ucd.Type.indexed_block(1, 7, 'int32'),
        lambda: ucd.Type.indexed_block(1, [1.5], 'int32'),
        lambda: ucd.pack_into(np.zeros(3), bytearray(3), hints=7),
        lambda: ucd.pack_into(np.zeros(3), bytearray(24), op=1.5),
        lambda: ucd.Type.indexed_block_ref(1, np.zeros(2), 8, 0, 16, 'int32'),
    ):
        with pytest.raises(TypeError):
            call()


def test_predefined_types():
    assert len(ucd.predefined) == 62
    assert {name: getattr(ucd.types, name) for name in ucd.types.__all__} == ucd.predefined
    assert ucd.types.DOUBLE.size == 8 and ucd.types.DOUBLE.name == 'DOUBLE' and repr(ucd.types.TWOINT) == 'ucd.types.TWOINT'
    assert pickle.loads(pickle.dumps(ucd.types.DOUBLE)) is ucd.types.DOUBLE
    assert ucd._dtypes.of('float8_e4m3fn') is ucd.types.FLOAT8_E4M3 and ucd._dtypes.of('float8_e5m2') is ucd.types.FLOAT8_E5M2
    assert ucd.Type.vector(2, 1, 3, ucd.types.DOUBLE).name is None
    assert 'layout' in ucd.Type.vector(2, 1, 3, ucd.types.DOUBLE).describe()


class TorchDtype:
    """What is known of a dtype of torch: where its class is from, and its text."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f'torch.{self.name}'


TorchDtype.__module__ = 'torch'


def test_dtypes_of_torch():
    expected = {
        'float64': ucd.types.DOUBLE, 'float32': ucd.types.FLOAT, 'float16': ucd.types.FLOAT16, 'bfloat16': ucd.types.BFLOAT16,
        'float8_e4m3fn': ucd.types.FLOAT8_E4M3, 'int64': ucd.types.INT64_T, 'uint8': ucd.types.UINT8_T, 'bool': ucd.types.C_BOOL,
        'complex64': ucd.types.C_COMPLEX,
    }  # fmt: skip
    for name, type in expected.items():
        assert ucd.Type.contiguous(3, TorchDtype(name)).flatten() == ucd.Type.contiguous(3, type).flatten()
    with pytest.raises(TypeError, match='torch.qint8 is not one of bool, bfloat16'):
        ucd.Type.contiguous(1, TorchDtype('qint8'))


def test_a_name_that_the_library_of_the_array_has_not():
    torch = pytest.importorskip('torch')
    with pytest.raises(TypeError, match='longdouble'):
        ucd.cast(torch.ones(3), 'longdouble')


@pytest.mark.parametrize('library', ['numpy', 'torch'])
@pytest.mark.parametrize('name, known', [('bf16', 'bfloat16'), ('fp16', 'float16'), ('fp8_e4m3', 'float8_e4m3fn')])
def test_names_that_no_library_has(library, name, known):
    """Every function refuses them, and says the name that was meant."""
    ones = pytest.importorskip(library).ones(3)
    source, target = [ucd_models.Distribution((3,), 1, ucd_models.Replicate())] * 2
    for call in (
        lambda: ucd.Type.contiguous(3, name),
        lambda: ucd.cast(ones, name),
        lambda: ucd_models.cast(ones, name, 1.0),
        lambda: ucd_models.Redistribution({'a': (source, target, name)}),
        lambda: ucd_models.Redistribution({'a': (source, target, 'float32')}, convert=name),
        lambda: ucd_models.cache.Format.of_shapes(name, 'page token', [(2, 2)]),
    ):
        with pytest.raises(TypeError, match=f"{name} is not one of bool, .*; say '{known}'"):
            call()


def test_advice():
    rows = ucd.Type.hvector(1000, 64, 5000, ucd.types.BYTE)
    assert rows.advice() == {'form': 'boxes', 'segments': 1000, 'boxes': 1, 'bytes': 64000, 'mean_segment': 64}
    assert rows.advice(min_segment=64)['form'] == 'iov'
    assert rows.advice(min_segment=64, max_entries=999)['form'] == 'boxes'
    assert rows.advice(0)['form'] == 'contiguous'
    assert ucd.Type.vector(9, 1, 2, ucd.types.INT).advice(2)['form'] == 'pack'
    with pytest.raises(ucd.Overflow):
        rows.advice(1 << 62)
