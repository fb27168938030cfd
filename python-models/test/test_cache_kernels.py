"""Caches beyond whole pages: tokens that are interleaved over ranks, last pages that are not full, pages that are left out,
layers that differ, pools, and scales. The oracle indexes arrays of NumPy element by element."""

import itertools

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import libraries
import scales_oracle as oracle
import ucd
from ucd_models.cache import Cache, Format, Relayout, descriptor_pair, descriptors, relayout

GUARD = 48
AXES = ('kv', 'page', 'token', 'head', 'dim')


class Pool:
    """Arrays of an engine, one for each layer, whose sizes may differ, with guard bytes around."""

    def __init__(self, rng, order, shapes, dtype, pages):
        """shapes: for each layer, sizes of kv, token, head and dim."""
        self.order, self.pages, self.shapes = order, pages, shapes
        self.memory, self.arrays = [], []
        for kv, token, head, dim in shapes:
            sizes = {'kv': kv, 'page': pages, 'token': token, 'head': head, 'dim': dim}
            shape = [sizes[axis] for axis in order]
            shape[-1] += 1  # padding
            count = int(np.prod(shape)) * np.dtype(dtype).itemsize
            memory = rng.integers(0, 256, count + 2 * GUARD).astype('u1')
            self.memory.append(memory)
            self.arrays.append(memory[GUARD : GUARD + count].view(dtype).reshape(shape)[..., :-1])

    def view(self, layer):
        """As kv, page, token, head, dim."""
        return self.arrays[layer].transpose([self.order.index(axis) for axis in AXES])

    def cache(self):
        return Cache.of(self.arrays, ' '.join(self.order))


def moved(source, target, pages, tokens, convert=None):
    """The bytes of the target's memory after the move, by NumPy."""
    before = [memory.copy() for memory in target.memory]
    for layer in range(len(source.arrays)):
        a, b = source.view(layer), target.view(layer)
        for i, j in zip(*[t if t is not None else range(len(p) * v.shape[2]) for t, p, v in zip(tokens, pages, (a, b))]):
            p, q = int(pages[0][i // a.shape[2]]), int(pages[1][j // b.shape[2]])
            if p < 0 or q < 0:
                continue
            values = a[:, p, i % a.shape[2]]
            b[:, q, j % b.shape[2]] = values if convert is None else convert(values, layer, p, i % a.shape[2], q, j % b.shape[2])
    after = [memory.copy() for memory in target.memory]
    for memory, was in zip(target.memory, before):
        memory[...] = was
    return after


def token_range(draw, count, most):
    """A range with so many numbers, below most."""
    step = draw(st.integers(1, max(1, (most - 1) // max(count - 1, 1))))
    start = draw(st.integers(0, most - 1 - (count - 1) * step))
    return range(start, start + (count - 1) * step + 1, step)


@given(st.data())
def test_tokens_holes_and_unlike_layers(data):
    seed = data.draw(st.integers(0, 1 << 30))
    note(f'seed {seed}')
    rng = np.random.default_rng(seed)
    layers = data.draw(st.integers(1, 3))
    like = [(data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 4, 6, 16]))) for _ in range(layers)]
    dtype = data.draw(st.sampled_from(['u1', 'i2', 'f4', 'f8']))
    sides, tables, lengths = [], [], []
    for _ in range(2):
        page_sizes = [data.draw(st.sampled_from([1, 2, 4, 5])) for _ in range(layers)]
        order = data.draw(st.permutations(AXES))
        sides.append(Pool(rng, order, [(kv, n, head, dim) for n, (kv, head, dim) in zip(page_sizes, like)], dtype, 7))
        count = data.draw(st.integers(1, 7))
        table = rng.permutation(7)[:count]
        table[rng.random(count) < data.draw(st.sampled_from([0, 0.3, 1]))] = -1
        tables.append(table.astype(data.draw(st.sampled_from(['i4', 'i8']))))
        lengths.append(count * min(page_sizes))
    count = data.draw(st.integers(1, min(lengths)))
    tokens = [token_range(data.draw, count, n) for n in lengths]
    expected = moved(*sides, tables, tokens)
    original = [memory.copy() for memory in sides[0].memory]
    caches = [side.cache().select(token=chosen) for side, chosen in zip(sides, tokens)]
    size = relayout(*caches, *tables)
    assert size == count * sum(kv * head * dim for kv, head, dim in like) * np.dtype(dtype).itemsize
    assert all((a == b).all() for a, b in zip(sides[1].memory, expected))
    assert all((a == b).all() for a, b in zip(sides[0].memory, original))


def test_whole_pages_of_unlike_layers():
    """By the batch of ucd, and by the kernels where a page is left out."""
    rng = np.random.default_rng(8)
    shapes = [(2, 4, 3, 8), (1, 8, 1, 24), (2, 2, 6, 4)]
    a, b = Pool(rng, AXES, shapes, 'f4', 6), Pool(rng, ('page', 'head', 'kv', 'token', 'dim'), shapes, 'f4', 9)
    assert a.cache().format.sizes_of(1) == {'kv': 1, 'page': 6, 'token': 8, 'head': 1, 'dim': 24}
    assert a.cache().format.page_bytes == 4 * (2 * 4 * 3 * 8 + 8 * 24 + 2 * 2 * 6 * 4)
    tables = np.array([5, 0, 3]), np.array([1, 8, 7])
    again = Relayout([(a.cache(), b.cache(), *tables)])
    for change in (lambda: None, lambda: tables[1].__setitem__(1, -1), lambda: tables[0].__setitem__(0, -5)):
        change()
        expected = moved(a, b, tables, (None, None))
        again.run()
        assert all((x == y).all() for x, y in zip(b.memory, expected))
    # Formats of such caches are exchanged and compared.
    format = a.cache().format
    assert Format.from_bytes(format.to_bytes()).id == format.id
    assert format.difference(b.cache().format).axis == 'kv'
    c = Pool(rng, AXES, [(2, 4, 3, 8), (1, 8, 2, 24), (2, 2, 6, 4)], 'f4', 6)
    with pytest.raises(ValueError, match='the source has 1 of head, the target 2, in layer 1'):
        relayout(a.cache(), c.cache(), [0], [0])
    d = Pool(rng, AXES, [(2, 4, 3, 8), (1, 4, 1, 24), (2, 2, 6, 4)], 'f4', 6)
    with pytest.raises(ValueError, match='1 pages of 8 tokens for 1 pages of 4'):
        relayout(a.cache(), d.cache(), [0], [0])


def test_interleaved_over_ranks():
    """Context parallelism of 2 to 3, with tokens in turns; the last pages are not full."""
    n, total = 23, np.arange(23 * 6, dtype='f4').reshape(23, 2, 3)
    senders = [np.zeros((4, 4, 2, 3), 'f4') for _ in range(2)]
    for rank, pool in enumerate(senders):
        own = total[rank::2]
        pool.reshape(16, 2, 3)[: len(own)] = own
    receivers = [np.full((3, 5, 2, 3), -1, 'f4') for _ in range(3)]
    for rank, sender in enumerate(senders):
        for other, receiver in enumerate(receivers):
            # Token t is with sender t % 2 at t // 2, and with receiver t % 3 at t // 3.
            common = [t for t in range(n) if t % 2 == rank and t % 3 == other]
            here, there = [range(common[0] // m, common[-1] // m + 1, 6 // m) for m in (2, 3)]
            a, b = Cache.of(sender, 'page token head dim'), Cache.of(receiver, 'page token head dim')
            relayout(a.select(token=here), b.select(token=there), range(4), range(3))
    for rank, receiver in enumerate(receivers):
        own = total[rank::3]
        flat = receiver.reshape(15, 2, 3)
        assert (flat[: len(own)] == own).all() and (flat[len(own) :] == -1).all()


def test_choosing_tokens():
    cache = Cache.of(np.zeros((3, 4, 2), 'f4'), 'page token dim')
    assert cache.select(token=slice(0, 7)).tokens == range(7)
    assert cache.select(token=range(1, 12, 2)).select(token=range(1, 4, 2)).tokens == range(3, 9, 4)
    assert cache.select(token=range(5)).placed.tokens == range(5)
    for bad in (range(3, 0, -1), slice(2, None), slice(-3, 2)):
        with pytest.raises(ValueError, match='ascending'):
            cache.select(token=bad)
    with pytest.raises(ValueError, match='of 2 tokens'):
        cache.select(token=range(2)).select(token=range(3))
    other = Cache.of(np.zeros((3, 4, 2), 'f4'), 'page token dim')
    with pytest.raises(ValueError, match='token 8 is chosen; 2 pages of 4 hold 8'):
        relayout(cache.select(token=range(9)), other.select(token=range(9)), [0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match='5 tokens for 8'):
        relayout(cache.select(token=range(5)), other, [0, 1], [0, 1])
    assert relayout(cache.select(token=range(0)), other.select(token=range(0)), [0, 1], [0, 1]) == 0
    with pytest.raises(ValueError, match='touches'):
        relayout(Cache(cache.format, [np.zeros(3, 'f4')]).select(token=range(2)), other.select(token=range(2)), [0], [0])


def bits_of(name, array):
    return np.ascontiguousarray(array).view(oracle.BITS[name])


KINDS = [('float32', 'float8_e4m3fn'), ('bfloat16', 'float8_e5m2'), ('float8_e4m3fn', 'bfloat16'), ('float8_e5m2', 'float16')]


@given(st.data())
def test_scales(data):
    """A number, an array for layers, keys and values and heads, or scales in pages."""
    seed = data.draw(st.integers(0, 1 << 30))
    note(f'seed {seed}')
    rng = np.random.default_rng(seed)
    source_name, target_name = data.draw(st.sampled_from(KINDS))
    kv, heads, dim = 2, data.draw(st.integers(1, 3)), data.draw(st.sampled_from([8, 16, 48]))
    sides, caches, tables = [], [], []
    for name, page in zip((source_name, target_name), data.draw(st.permutations([2, 4]))):
        pool = Pool(rng, data.draw(st.permutations(AXES)), [(kv, page, heads, dim)] * 2, oracle.BITS[name], 6)
        sides.append(pool)
        tables.append(rng.permutation(6)[: 8 // page])
        named = Format.of_shapes(name, ' '.join(pool.order), [a.shape for a in pool.arrays], pool.arrays[0].strides)
        caches.append(Cache(named, pool.arrays))
    tables[0][0] = data.draw(st.sampled_from([tables[0][0], -1]))
    small = 0 if source_name.startswith('float8') else 1
    form = data.draw(st.sampled_from(['number', 'layers', 'heads', 'pages', 'blocks', 'one head']))
    if form == 'number':
        scale = float(np.float32(rng.uniform(0.1, 3)))
        scale_at = lambda *_: np.float32(scale)
    elif form in ('layers', 'heads'):
        scale = np.exp2(rng.uniform(-3, 3, (2, kv) if form == 'layers' else (2, kv, heads))).astype('f4')
        scale_at = lambda layer, *_: scale[layer].reshape(kv, -1, 1)
    else:
        blocks = 2 if form == 'blocks' else 1
        shape = (kv, sides[small].shapes[0][1], 1 if form == 'one head' else heads, blocks)
        scales = Pool(rng, data.draw(st.permutations(AXES)), [shape] * 2, 'f4', 6)
        for array in scales.arrays:
            array[...] = np.exp2(rng.uniform(-3, 3, array.shape))
        scale = scales.cache()

        def scale_at(layer, p, i, q, j):
            page, token = ((p, i), (q, j))[small]
            return np.repeat(scales.view(layer)[:, page, token], dim // blocks, axis=2)

    def convert(values, layer, *at):
        return oracle.converted(bits_of(source_name, values), source_name, target_name, np.broadcast_to(scale_at(layer, *at), values.shape))

    expected = moved(*sides, tables, (None, None), convert)
    relayout(*caches, *tables, convert=True, scale=scale)
    assert all((a == b).all() for a, b in zip(sides[1].memory, expected))
    # Half of the heads and dims.
    if heads > 1 and dim > 8:
        part = {'head': slice(1, heads), 'dim': slice(dim // 2, dim)}
        if form == 'blocks':
            return
        if form == 'heads':
            scale = scale[:, :, 1:]
        elif form == 'pages':
            scale = scale.select(head=part['head'])
        for memory in sides[1].memory:
            memory[...] = 7
        relayout(caches[0].select(**part), caches[1].select(**part), *tables, convert=True, scale=scale)
        found, wanted = [sides[1].view(0)[:, tables[1][-1], -1, 1:, dim // 2 :].copy()], expected[0]
        sides[1].memory[0][...] = wanted
        assert (found[0] == sides[1].view(0)[:, tables[1][-1], -1, 1:, dim // 2 :]).all()


def test_scales_that_do_not_fit_the_pages():
    axes = 'page token head dim'
    values = Cache.of(np.ones((6, 4, 2, 8), 'f4'), axes)
    stored = Cache(Format.of_shapes('float8_e4m3fn', axes, [(6, 4, 2, 8)]), [np.zeros((6, 4, 2, 8), 'u1')])
    few, enough = [Cache.of(np.ones((pages, 4, 2, 1), 'f4'), axes) for pages in (5, 6)]
    for source, target in ((values, stored), (stored, values)):
        with pytest.raises(ValueError, match='a cache of scales with 5 pages for values with 6'):
            relayout(source, target, [0], [0], convert=True, scale=few)
        with pytest.raises(ValueError, match='without a selection'):
            relayout(source, target, [0], [0], convert=True, scale=enough.select(token=range(4)))
        relayout(source, target, [5], [0], convert=True, scale=enough)


def test_values_followed_by_scales():
    """Pages of an indexer's cache: 64 tokens x 128 floats of 8 bits, then 64 scales; to bfloat16, and back."""
    rng = np.random.default_rng(11)
    pages = [rng.integers(0, 256, (5, 64 * (128 + 4) + 60)).astype('u1') for _ in range(2)]
    for array in pages:
        array[:, 64 * 128 : 64 * 132].view('f4')[...] = np.exp2(rng.uniform(-3, 3, (5, 64)))
    values, scales = Cache.of_pages_with_scales(pages, token=64, dim=128)
    wide = [np.zeros((4, 64, 128), 'u2') for _ in range(2)]
    target = Cache(Format.of_shapes('bfloat16', 'page token dim', [w.shape for w in wide]), wide)
    relayout(values, target, [4, 1], [0, 3], convert=True, scale=scales)
    for array, found in zip(pages, wide):
        for p, q in ((4, 0), (1, 3)):
            stored, scale = array[p, : 64 * 128].reshape(64, 128), array[p, 64 * 128 : 64 * 132].view('f4')
            assert (found[q] == oracle.converted(stored, 'float8_e4m3fn', 'bfloat16', np.repeat(scale[:, None], 128, 1))).all()
    # Back, with other scales, which are there before.
    before = [array.copy() for array in pages]
    relayout(target, values, [0], [2], convert=True, scale=scales)
    for array, was, found in zip(pages, before, wide):
        scale = was[2, 64 * 128 : 64 * 132].view('f4')
        was[2, : 64 * 128] = oracle.converted(found[0], 'bfloat16', 'float8_e4m3fn', np.repeat(scale[:, None], 128, 1)).ravel()
        assert (array == was).all()
    # Both without conversion, in one move.
    other = [np.zeros((5, 64 * 132), 'u1') for _ in range(2)]
    into = Cache.of_pages_with_scales(other, token=64, dim=128)
    Relayout([(values, into[0], [4], [1]), (scales, into[1], [4], [1])]).run()
    assert all((o[1] == p[4, : 64 * 132]).all() for o, p in zip(other, pages))
    with pytest.raises(ValueError, match='8192 bytes and 256 of scales'):
        Cache.of_pages_with_scales([np.zeros((3, 8200), 'u1')], token=64, dim=128)


def test_what_scales_refuse():
    small = Cache(Format.of_shapes('float8_e4m3fn', 'page token head dim', (4, 2, 3, 8)), [np.zeros((4, 2, 3, 8), 'u1')])
    wide = Cache.of(np.zeros((4, 2, 3, 8), 'f4'), 'page token head dim')
    with pytest.raises(ValueError, match='a scale is for'):
        relayout(wide, Cache.of(np.zeros((4, 2, 3, 8), 'f4'), 'page token head dim'), [0], [0], scale=2.0)
    with pytest.raises(ValueError, match='layers x kv x heads are float32 of'):
        relayout(wide, small, [0], [0], convert=True, scale=np.ones((1, 2), 'f4'))
    with pytest.raises(ValueError, match='not DOUBLE'):
        relayout(wide, small, [0], [0], convert=True, scale=np.ones((1, 1)))
    bad = Cache.of(np.ones((4, 4, 3, 1), 'f4'), 'page token head dim')
    with pytest.raises(ValueError, match='a cache of scales'):
        relayout(wide, small, [0], [0], convert=True, scale=bad)
    # Heads of the scales that are split: a stride for all would leave them.
    small = Cache(Format.of_shapes('float8_e4m3fn', 'page token head dim', (4, 2, 6, 8)), [np.zeros((4, 2, 6, 8), 'u1')])
    wide = Cache.of(np.zeros((4, 2, 6, 8), 'f4'), 'page token head dim')
    split = Cache.of(np.ones((4, 2, 2, 3, 1), 'f4'), 'page head token head dim')
    with pytest.raises(ucd.NotSupported, match='heads of scales are split'):
        relayout(small, wide, [0], [0], convert=True, scale=split)
    # Tensors of 1, 6 and 1 dims: the second begins in a block of 4 dims, which is no matter unless dims are split.
    lengths, stored = (1, 6, 1), np.arange(56, 72, dtype='u1').reshape(2, 8)
    several = [np.ascontiguousarray(part) for part in np.split(stored, [1, 7], axis=1)]
    several = [np.stack([part] * 2) for part in several]  # two pages
    small = Cache(Format.of_shapes('float8_e4m3fn', 'page token dim', [[(2, 2, n) for n in lengths]], lists=('layer', 'dim')), several)
    scales = Cache.of([np.tile(np.array([1, 2], 'f4'), (2, 2, 1))], 'page token dim')
    wide = Cache.of([[np.zeros((2, 2, n), 'f4') for n in lengths]], 'page token dim', lists=('layer', 'dim'))
    relayout(small, wide, [0], [1], convert=True, scale=scales)
    expected = oracle.converted(stored, 'float8_e4m3fn', 'float32', np.repeat(np.array([[1, 2]] * 2, 'f4'), 4, 1))
    assert (bits_of('float32', np.concatenate([array[1] for array in wide.arrays], 1)) == expected).all()
    pairs = Cache.of([[np.zeros((2, n // 2 or 1, 2, min(n, 2)), 'f4') for n in lengths]], 'page dim token dim', lists=('layer', 'dim'))
    with pytest.raises(ucd.NotSupported, match='blocks of 4 dims from dim 1 of one on, which are split into 2'):
        relayout(small, pairs, [0], [0], convert=True, scale=scales)
