"""Descriptor lists in rows of five, with tokens that are chosen and pages that are left out."""

import ctypes

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from test_cache_kernels import AXES, Pool, moved, token_range
from ucd_models.cache import Cache, Format, descriptor_pair, descriptors


def ranges(rows):
    """Address and length of each range of rows of five."""
    return [(a + k * stride, n) for a, n, _, stride, count in rows.tolist() for k in range(count)]


@given(st.data())
def test_rows_of_five(data):
    """They are the ranges that rows of three are, and moving them is moving the tokens."""
    seed = data.draw(st.integers(0, 1 << 30))
    note(f'seed {seed}')
    rng = np.random.default_rng(seed)
    like = [(2, data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 4]))) for _ in range(data.draw(st.integers(1, 2)))]
    sides, tables, lengths = [], [], []
    for _ in range(2):
        token = data.draw(st.sampled_from([1, 2, 4, 5]))
        sides.append(Pool(rng, data.draw(st.permutations(AXES)), [(kv, token, head, dim) for kv, head, dim in like], 'i2', 9))
        count = data.draw(st.integers(1, 9))
        first, step = int(rng.integers(0, 9)), int(rng.integers(1, 9))
        table = (first + step * np.arange(count)) % 9 if data.draw(st.booleans()) else rng.permutation(9)[:count]
        table[rng.random(count) < data.draw(st.sampled_from([0, 0.2]))] = -1
        tables.append(table)
        lengths.append(count * token)
    count = data.draw(st.integers(1, min(lengths)))
    tokens = [token_range(data.draw, count, n) for n in lengths]
    caches = [side.cache().select(token=chosen) for side, chosen in zip(sides, tokens)]
    # A page is there once only: of the target, since the order of writes would matter.
    for table in tables:
        table[[p in table[:k] for k, p in enumerate(table)]] = -1
    expected = moved(*sides, tables, tokens)
    reads, writes = descriptor_pair(*caches, *tables)
    five = [side.nixl(3, strided=True) for side in (reads, writes)]
    assert len(five[0]) == len(five[1]) and (five[0][:, [1, 2, 4]] == five[1][:, [1, 2, 4]]).all() and (five[0][:, 2] == 3).all()
    assert all((side[:, 3] >= side[:, 1]).all() for side in five)
    assert sum(n for _, n in ranges(five[0])) == reads.nbytes == writes.nbytes == sum(reads.rows[:, 1].tolist())
    before = [memory.copy() for memory in sides[1].memory]
    for lists in (list(zip(ranges(five[0]), ranges(five[1]))), list(zip(reads.rows.tolist(), writes.rows.tolist()))):
        for memory, was in zip(sides[1].memory, before):
            memory[...] = was
        for (a, n), (b, m) in lists:
            assert n == m
            ctypes.memmove(b, a, n)
        assert all((x == y).all() for x, y in zip(sides[1].memory, expected))
    # One side: all tokens of its pages.
    whole = descriptors(sides[0].cache(), tables[0])
    listed = [byte for a, n in ranges(whole.nixl(strided=True)) for byte in range(a, a + n)]
    assert len(listed) == len(set(listed)) == whole.nbytes
    assert set(listed) == {byte for a, n in whole.rows.tolist() for byte in range(a, a + n)}


def test_a_request_in_few_rows():
    """112,000 ranges: 1,750 pages of 32 layers, keys and values."""
    format = Format.of_shapes('bfloat16', 'page layer kv token head dim', (4000, 32, 2, 16, 8, 128))
    part = format.select(head=slice(0, 4))
    nhd = Format.of_shapes('bfloat16', 'kv page token head dim', [(2, 4000, 16, 8, 128)] * 32)
    here, there = format.at([1 << 40]), nhd.at([(1 << 41) + k * (1 << 30) for k in range(32)])
    pages = np.arange(100, 100 + 2 * 1750, 2)
    reads, writes = descriptor_pair(here, there, pages, np.arange(1750) * 2)
    five = reads.nixl(strided=True), writes.nixl(strided=True)
    assert five[0].shape == five[1].shape == (64, 5) and five[0][:, 4].sum() == 112000 == len(reads)
    assert ranges(five[0])[:3] == [((1 << 40) + p * 32 * 2 * 32768, 32768) for p in (100, 102, 104)]
    assert len(descriptors(there, pages).nixl(strided=True)) == 64
    assert len(descriptors(here, pages).nixl(strided=True)) == 1
    assert len(descriptors(part.at([1 << 40]), pages).nixl(strided=True)) == 32 * 2 * 16


def test_pages_without_order():
    """Pages in descending order stay single ranges."""
    format = Format.of_shapes('bfloat16', 'page token head dim', [(100, 16, 8, 128)] * 2)
    placed = format.at([0, 1 << 30])
    for pages in ([9, 7, 5, 3], [50, 3, 71, 4], [5]):
        five = descriptors(placed, pages).nixl(strided=True)
        assert len(five) == (6 if pages[0] == 50 else 2 * len(pages))  # pages 3 and 71 are a row
        assert ranges(five)[: len(pages)] == [(page * 32768, 32768) for page in pages]
    assert descriptors(placed, [4, 5, 6, 20]).nixl(strided=True)[:2].tolist() == [
        [4 * 32768, 3 * 32768, 0, 3 * 32768, 1], [20 * 32768, 32768, 0, 32768, 1],
    ]  # fmt: skip
    assert descriptors(placed, [-1, 4, -1]).rows.tolist() == [[4 * 32768, 32768], [(1 << 30) + 4 * 32768, 32768]]
    assert descriptors(placed, [-1]).nixl(strided=True).shape == (0, 5)


def test_chosen_tokens_are_listed():
    array = np.zeros((4, 4, 8), 'f4')
    cache = Cache.of(array, 'page token dim').select(token=range(1, 12, 2))
    rows = descriptors(cache, [2, 0, 1]).rows
    assert rows.tolist() == [[array.ctypes.data + at * 32, 32] for at in (9, 11, 1, 3, 5, 7)]
    # In the order of the table, so that two lists of one format correspond, whatever tokens are chosen.
    for axes in ('page token head dim', 'page head token dim', 'kv page token head dim'):
        shape = [{'kv': 2, 'page': 5, 'token': 4, 'head': 3, 'dim': 2}[axis] for axis in axes.split()]
        source, target = np.arange(np.prod(shape), dtype='i2').reshape(shape), np.zeros(shape, 'i2')
        chosen, pages = (range(2, 12), range(0, 10)), ([4, 1, 3], [0, 4, 2])
        lists = [descriptors(Cache.of(a, axes).select(token=t), p) for a, t, p in zip((source, target), chosen, pages)]
        for rows in ([side.rows.tolist() for side in lists], [ranges(side.nixl(strided=True)) for side in lists]):
            read, written = [[byte for a, n in side for byte in range(a, a + n)] for side in rows]
            target[...] = 0
            for here, there in zip(read, written, strict=True):
                ctypes.memmove(there, here, 1)
            by_axis = [np.moveaxis(a, [axes.split().index(axis) for axis in ('page', 'token')], (0, 1)) for a in (source, target)]
            for at in range(10):
                (p, i), (q, j) = [divmod(t[at], 4) for t in chosen]
                assert (by_axis[1][pages[1][q], j] == by_axis[0][pages[0][p], i]).all()
    other = Cache.of(np.zeros((3, 4, 8), 'f4'), 'page token dim')
    with pytest.raises(ValueError, match='6 tokens for 12'):
        descriptor_pair(cache, other, [2, 0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match='token 11 is chosen; the pages hold 8'):
        descriptors(cache, [2, 0])
