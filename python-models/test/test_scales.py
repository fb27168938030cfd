"""Conversion with scales: all bits of all values of 8 and 16 bits, and scales of all blocks and strides."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import libraries
import scales_oracle as oracle
import ucd
import ucd_models
from ucd_models import Scales, _kernels

WIDE, SMALL = ('float32', 'bfloat16', 'float16'), ('float8_e4m3fn', 'float8_e5m2')
PAIRS = [(a, b) for wide in WIDE for small in SMALL for a, b in ((wide, small), (small, wide))]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1e-38, 2.0**-61, 2.0**-60, 2.0**100, 2.0**101, 3e38]
FEW = [1.0, 0.5, -2.5, 3.0, 0.1, 1 / 448, 7.3e5]


def convert(bits, source, target, scale, saturate=False, **more):
    out = np.zeros(bits.shape, oracle.BITS[target])
    ucd_models.copy(bits, out, scale, src_dtype=source, dst_dtype=target, saturate=saturate, **more)
    return out


def random_scales(seed, count):
    """Of all exponents, most of ordinary size."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 1 << 32, count // 2, np.uint32).view('f4')
    return np.concatenate([any_bits, (rng.standard_normal(count // 2) * 10.0 ** rng.integers(-8, 8, count // 2)).astype('f4')])


@pytest.mark.parametrize('source, target', [pair for pair in PAIRS if pair[0] != 'float32'])
def test_all_values_of_8_and_16_bits(source, target):
    kind = np.dtype(oracle.BITS[source])
    bits = np.arange(1 << (8 * kind.itemsize)).astype(kind)
    count = 40 if kind.itemsize == 2 else 800
    with np.errstate(all='ignore'):
        scales = np.concatenate([np.array(FEW + SPECIAL, 'f4'), random_scales(1, count)])
    for scale in scales:
        for saturate in (False, True):
            found = convert(bits, source, target, np.array([scale]), saturate)
            expected = oracle.converted(bits, source, target, scale, saturate)
            assert (found == expected).all(), (float(scale).hex(), bits[found != expected][:4], saturate)


@pytest.mark.parametrize('instructions', _kernels.instruction_sets())
@pytest.mark.parametrize('source, target', PAIRS)
def test_instruction_sets(source, target, instructions):
    """The same bits with each, those without fused multiply-adds included; of some 64 elements, and of those that are left."""
    rng = np.random.default_rng(9)
    kind = np.dtype(oracle.BITS[source])
    bits = rng.integers(0, 1 << (8 * kind.itemsize), 1000, np.uint64).astype(kind)
    if source == 'float32':  # many near middles
        bits = (rng.integers(1, 16, 1000) * 2.0 ** rng.integers(-9, 6, 1000)).astype('f4').view('u4') + rng.integers(-2, 3, 1000).astype('u4')
    out = np.zeros(1000, oracle.BITS[target])
    digits = [(1000, kind.itemsize, out.itemsize, 1, 0, 0)]
    numbers = [{'float32': 0, 'bfloat16': 1, 'float16': 2, 'float8_e4m3fn': 3, 'float8_e5m2': 4}[name] for name in (source, target)]
    for scale in np.array(FEW + SPECIAL, 'f4'):
        member = (bits.ctypes.data, out.ctypes.data, digits, 0, float(scale), None)
        _kernels.Moves(*numbers, False, [member]).run(instructions)
        assert (out == oracle.converted(bits, source, target, scale)).all(), (float(scale), instructions)


@pytest.mark.parametrize('target', SMALL)
def test_floats_near_the_middles(target):
    """Quotients that are as near to a middle between two numbers as can be, which rounding twice gets wrong."""
    known = oracle.numbers(target)
    middles = (known + np.append(np.diff(known), known[-1] - known[-2]) / 2).astype(np.longdouble)
    wrong_twice = 0
    for scale in np.concatenate([np.array(FEW + SPECIAL, 'f4'), random_scales(2, 200)]):
        with np.errstate(all='ignore'):
            near = (middles * np.longdouble(scale)).astype('f4').view('u4').astype('i8')
        bits = (near[:, None] + np.arange(-3, 4)).clip(0, (1 << 32) - 1).astype('u4').ravel()
        bits = np.concatenate([bits, bits ^ 0x80000000])
        for saturate in (False, True):
            expected = oracle.converted(bits, 'float32', target, scale, saturate)
            assert (convert(bits, 'float32', target, np.array([scale]), saturate) == expected).all(), float(scale).hex()
        with np.errstate(all='ignore'):
            quotients = bits.view('f4') / scale
        wrong_twice += (oracle.rounded(quotients.astype(np.longdouble), np.signbit(quotients), target, True) != expected).sum()
    assert wrong_twice > 100  # so the cases are near enough


@pytest.mark.parametrize('target', WIDE)
@pytest.mark.parametrize('source', SMALL)
def test_a_round_trip(source, target):
    """Values that are multiples of the scale come back."""
    bits = np.arange(256, dtype='u1')
    bits = bits[np.isfinite(oracle.values(bits, source).astype('f4'))]
    for scale in (1.0, 2.0**-6, 2.0**3):
        if target == 'float16' and source == 'float8_e5m2' and scale != 1.0:
            continue  # too small or large for float16
        wide = convert(bits, source, target, scale)
        assert (convert(wide, target, source, scale) == bits).all()


BLOCKS = [None, (1, 128), (128, 128), (1, 16), (3, 5), (1, 1), (200, 1)]


@given(st.data())
def test_scales_of_blocks_and_any_strides(data):
    source, target = data.draw(st.sampled_from(PAIRS))
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 7, 40, 128, 200]), min_size=2, max_size=2)))
    block = data.draw(st.sampled_from(BLOCKS))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    counts = tuple(-(-n // b) for n, b in zip(shape, block)) if block else data.draw(st.sampled_from([(1, 1), (shape[0], 1), (1, shape[1])]))
    room = np.exp2(rng.uniform(-4, 4, (counts[0] * 2, counts[1] * 3))).astype('f4')
    scales = room[::2, ::3] if data.draw(st.booleans()) else np.ascontiguousarray(room[::2, ::3].T).T
    assert scales.shape == counts

    def laid_out(kind):
        how = data.draw(st.sampled_from(['C', 'F', 'apart', 'reversed']))
        whole = rng.integers(0, 1 << 8 * np.dtype(kind).itemsize, (shape[0] + 2, 2 * shape[1] + 3), 'u8').astype(kind)
        if how == 'F':
            return whole.T.copy().T[1 : 1 + shape[0], 3 : 3 + shape[1]], whole
        if how == 'reversed':
            return whole[shape[0] : 0 : -1, shape[1] + 2 : 2 : -1], whole
        view = whole[1 : 1 + shape[0], 3 : 3 + 2 * shape[1] : 2] if how == 'apart' else whole[1 : 1 + shape[0], 3 : 3 + shape[1]]
        return view, whole

    src, _ = laid_out(oracle.BITS[source])
    dst, memory = laid_out(oracle.BITS[target])
    each = scales[tuple(np.ix_(*[np.arange(n) // -(-n // c) if block is None else np.arange(n) // b for n, c, b in zip(shape, counts, block or (0, 0))]))]
    expected = oracle.converted(np.ascontiguousarray(src), source, target, each)
    before = memory.copy()
    assert ucd_models.copy(src, dst, Scales(scales, block), src_dtype=source, dst_dtype=target) == expected.nbytes
    assert (dst == expected).all()
    dst[...] = 0
    if dst.base is memory or np.shares_memory(dst, memory):  # nothing else is written
        copied = before.copy()
        start = (dst.__array_interface__['data'][0] - memory.__array_interface__['data'][0])
        np.ndarray(shape, memory.dtype, copied, start, dst.strides)[...] = 0
        assert (memory == copied).all()


def test_three_dimensions_and_one():
    """Scales for each token and head, and those of a vector."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 4, 64)).astype('f4')
    scales = np.exp(rng.standard_normal((5, 4, 1))).astype('f4')
    found = ucd_models.cast(x, 'float8_e4m3fn', scales)
    assert found.dtype == np.uint8 and (found == oracle.converted(x.view('u4'), 'float32', 'float8_e4m3fn', scales)).all()
    wide = ucd_models.cast(found, 'float32', scales, src_dtype='float8_e4m3fn')
    assert wide.dtype == np.float32 and (wide.view('u4') == oracle.converted(found, 'float8_e4m3fn', 'float32', scales)).all()
    assert ucd_models.cast(found, 'float16', scales, src_dtype='float8_e4m3fn').dtype == np.float16
    vector = np.arange(10, dtype='f4')
    by_blocks = ucd_models.cast(vector, 'float8_e5m2', np.array([1, 2, 4, 8], 'f4'), block=(3,))
    assert (by_blocks == oracle.converted(vector.view('u4'), 'float32', 'float8_e5m2', np.repeat([1, 2, 4, 8], 3)[:10])).all()
    assert ucd_models.cast(np.zeros((0, 3), 'f4'), 'float8_e5m2', 2.0).shape == (0, 3)


def test_large_arrays():
    """Dimensions are joined as long as their indices have 31 bits. Nothing is moved here."""
    for digits, vector in (
        ([(1 << 20, 1 << 14, 1 << 12, 1, 0, 0), (1 << 12, 4, 1, 1, 0, 0)], 4),
        ([(1 << 31, 4, 1, 1, 0, 0)], None),
        ([(1 << 20, 4 << 20, 1 << 20, 1, 0, 0), (1 << 20, 4, 1, 1, 0, 0)], None),
    ):
        if vector is None:
            with pytest.raises(ValueError, match='2.31|too many'):
                _kernels.Moves(0, 3, False, [(0, 0, digits, 0, 1.0, None)])
        else:
            assert _kernels.Moves(0, 3, False, [(0, 0, digits, 0, 1.0, None)]).vector == vector


def test_overlapping_arrays():
    rng = np.random.default_rng(4)
    memory = rng.integers(0, 255, 4096).astype('u1')
    wide = memory[64 : 64 + 2048].view('u2')
    expected = oracle.converted(wide.copy(), 'bfloat16', 'float8_e4m3fn', 0.25)
    ucd_models.copy(wide, memory[100:1124], 0.25, src_dtype='bfloat16', dst_dtype='float8_e4m3fn')
    assert (memory[100:1124] == expected).all()


def test_what_is_refused():
    x, out = np.zeros((4, 6), 'f4'), np.zeros((4, 6), 'u1')
    named = {'dst_dtype': 'float8_e4m3fn'}
    for sentence, call in {
        'src has shape': lambda: ucd_models.copy(x, out[:3], 1.0, **named),
        'name the dtypes': lambda: ucd_models.copy(x, out, 1.0),
        'wider|a scale is for': lambda: ucd_models.copy(x, x.copy(), 1.0),
        'float32, not DOUBLE': lambda: ucd_models.copy(x, out, np.ones((4, 1)), **named),
        r'dimensions are needed; \(4, 1\) is one for each row': lambda: ucd_models.copy(x, out, np.ones(4, 'f4'), **named),
        'FLOAT to DOUBLE: a scale is for': lambda: ucd_models.cast(x, 'float64', 1.0),
        'FLOAT to C_DOUBLE_COMPLEX: a scale is for': lambda: ucd_models.cast(x, 'complex128', 1.0),
        'FLOAT to bytes: a scale is for': lambda: ucd_models.copy(x, np.zeros((4, 6), 'V1'), 1.0),
        r'\(4, 2\) are needed': lambda: ucd_models.copy(x, out, np.ones((4, 3), 'f4'), block=(1, 4), **named),
        'has no blocks': lambda: ucd_models.copy(x, out, 2.0, block=(1, 4), **named),
        'given by the Scales': lambda: ucd_models.copy(x, out, Scales(2.0), block=(1, 4), **named),
        'elements of 1 bytes': lambda: ucd_models.copy(x, out, 1.0, dst_dtype='bfloat16'),
        'stream is for': lambda: ucd_models.copy(x, out, 1.0, stream=7, **named),
    }.items():
        with pytest.raises(ValueError, match=sentence):
            call()
    with pytest.raises(ucd.NotSupported, match='DOUBLE is not converted'):
        ucd_models.copy(np.zeros(3), np.zeros(3, 'u1'), 1.0, **named)
    out.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        ucd_models.copy(x, out, 1.0, **named)


def test_on_a_device():
    missing = libraries.Torch('cuda').missing()
    if missing:
        pytest.skip(missing)
    import torch

    rng = np.random.default_rng(5)
    for source, target in PAIRS:
        kind = np.dtype(oracle.BITS[source])
        bits = rng.integers(0, 1 << (8 * kind.itemsize), (256, 384), np.uint64).astype(kind)
        host = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[kind.itemsize]
        src = torch.from_numpy(bits.view(f'i{kind.itemsize}' if kind.itemsize > 1 else 'u1')).to(host).cuda().view(getattr(torch, source))
        for block in (None, (1, 128), (128, 128), (1, 1)):
            counts = tuple(-(-n // b) for n, b in zip(bits.shape, block)) if block else (1, 1)
            scales = np.exp2(rng.uniform(-4, 4, counts)).astype('f4')
            each = np.repeat(np.repeat(scales, block[0] if block else 256, 0), block[1] if block else 384, 1)
            found = ucd_models.cast(src, target, torch.from_numpy(scales).cuda(), block=block)
            got = found.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[found.itemsize]).cpu().numpy()
            assert (got.view(oracle.BITS[target]) == oracle.converted(bits, source, target, each)).all(), (source, target, block)


def test_torch_on_the_host():
    torch = sys.modules.get('torch') or pytest.importorskip('torch')
    x = torch.randn(6, 256).to(torch.bfloat16)
    scales = x.float().unflatten(1, (2, 128)).abs().amax(2) / 448
    found = ucd_models.cast(x, torch.float8_e4m3fn, scales, block=(1, 128))
    assert found.dtype == torch.float8_e4m3fn
    expected = oracle.converted(
        x.view(torch.int16).numpy().view('u2'), 'bfloat16', 'float8_e4m3fn', np.repeat(scales.numpy(), 128, 1)
    )
    assert (found.view(torch.uint8).numpy() == expected).all()
    for name, sentence in (('V1', 'V1 is not one of'), ('longdouble', 'library of src has no'), ('float8_e4', "say 'float8_e4m3fn'"), ('float8_e4m3fnuz', 'complex128$')):
        with pytest.raises(TypeError, match=sentence):
            ucd_models.cast(x, name, 1.0)


DISTRIBUTIONS = {
    'rows': (2, [ucd_models.Shard(0)]),
    'columns': (3, [ucd_models.Shard(1)]),
    'both': ((2, 2), [ucd_models.Shard(0), ucd_models.Shard(1)]),
    'strided': ((2, 2), [ucd_models.StridedShard(0, split_factor=2), ucd_models.Shard(0)]),
    'cyclic': (3, [ucd_models.Cyclic(0, 4)]),
    'cyclic blocks': (3, [ucd_models.Cyclic(1, 3)]),
    'whole': (2, [ucd_models.Replicate()]),
}


def local(held, whole, rank):
    """A rank's part, by moving indices."""
    indices = np.arange(whole.size, dtype='i8').reshape(whole.shape)
    one = ucd_models.Distribution(whole.shape, 1, [ucd_models.Replicate()])
    parts = ucd_models.redistribute([indices], one, held)
    return whole.ravel()[parts[list(held.ranks).index(rank)]]


@pytest.mark.parametrize('block', [None, (1, 128), (16, 16), (4, 1)])
@pytest.mark.parametrize('names', [('rows', 'columns'), ('strided', 'both'), ('cyclic', 'rows'), ('columns', 'cyclic blocks'), ('both', 'whole')])
@pytest.mark.parametrize('pair', [('float32', 'float8_e4m3fn'), ('float8_e5m2', 'bfloat16')])
def test_redistribution(pair, names, block):
    """Scales of the whole array, whatever part of it a rank has."""
    source, target = pair
    rng = np.random.default_rng(6)
    whole = rng.integers(0, 1 << 8 * np.dtype(oracle.BITS[source]).itemsize, (36, 150), np.uint64).astype(oracle.BITS[source])
    held = [ucd_models.Distribution(whole.shape, *DISTRIBUTIONS[name]) for name in names]
    counts = tuple(-(-n // b) for n, b in zip(whole.shape, block)) if block else (36, 1)
    scales = np.exp2(rng.uniform(-3, 3, counts)).astype('f4')
    each = np.repeat(np.repeat(scales, block[0] if block else 1, 0), block[1] if block else 150, 1)[:36, :150]
    expected = oracle.converted(whole, source, target, each)
    move = ucd_models.Redistribution({'w': (*held, source)}, convert=target, scales={'w': Scales(scales, block)}, budget=4000)
    targets = [np.zeros(held[1].local_shape(rank), oracle.BITS[target]) for rank in held[1].ranks]
    prepared = move.prepare(None, {'w': [local(held[0], whole, rank) for rank in held[0].ranks]}, {'w': targets})
    prepared.run()
    for rank, found in zip(held[1].ranks, targets):
        assert (found == local(held[1], expected, rank)).all()


def test_what_redistributions_refuse():
    held = ucd_models.Distribution((4, 6), 2, [ucd_models.Shard(0)])
    for sentence, scales, dtype, convert in (
        ("scales has 'v'", {'v': 1.0}, 'float32', 'float8_e4m3fn'),
        ('a scale is for', {'w': 1.0}, 'float32', 'float16'),
        ('are needed', {'w': Scales(np.ones((4, 2), 'f4'), (1, 2))}, 'float32', 'float8_e4m3fn'),
        ('no scales of it', {'w': None}, 'float32', 'float8_e4m3fn'),
    ):
        with pytest.raises(ValueError, match=sentence):
            move = ucd_models.Redistribution({'w': (held, held, dtype)}, convert=convert, scales=scales)
            move.execute(None, {'w': [np.zeros((2, 6), 'f4')] * 2}, {'w': [np.zeros((2, 6), 'u1')] * 2})


def test_targets_of_redistributions_that_share_bytes_are_refused():
    """Though memory of their own stands for those that are converted behind the move."""
    held = ucd_models.Distribution((4,), 1, ucd_models.Replicate())
    move = ucd_models.Redistribution({n: (held, held, 'float8_e4m3fn') for n in 'ab'}, convert='float32', scales={'a': 2.0})
    sources, memory = {n: [np.full(4, 56, 'u1')] for n in 'ab'}, np.full(16, 56, 'u1')
    targets = {n: [np.zeros(4, 'f4')] for n in 'ab'}
    for sentence, given, into in (
        (r"targets\['b'\]\[0\] is written, and has bytes in common with targets\['a'\]\[0\]", {}, {'b': targets['a']}),
        (r"targets\['a'\]\[0\] is written, and has bytes .* sources\['b'\]\[0\]", {'b': [memory[:4]]}, {'a': [memory.view('f4')]}),
        ('several indices for one place', {}, {'a': [np.lib.stride_tricks.as_strided(np.zeros(1, 'f4'), (4,), (0,))]}),
    ):
        with pytest.raises(ValueError, match=sentence):
            move.execute(None, sources | given, targets | into)
    assert not any(array.any() for arrays in targets.values() for array in arrays) and (memory == 56).all()
    move.execute(None, sources, targets)
    assert (targets['a'][0] == 2).all() and (targets['b'][0] == 1).all()
