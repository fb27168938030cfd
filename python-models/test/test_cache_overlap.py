"""Moves of pages within one pool: as if the source had been copied first, and copied only where that may matter."""

import gc
import weakref

import numpy as np
import pytest

import scales_oracle as oracle
import ucd
from ucd import interop
from ucd_models.cache import Cache, Format, Relayout, relayout

LAYOUTS = {
    'page kv token head dim': (9, 2, 4, 4, 3),
    'kv page token head dim': (2, 9, 4, 4, 3),
    'kv token page head dim': (2, 4, 9, 4, 3),
    'head dim page kv token': (4, 3, 9, 2, 4),
}


@pytest.mark.parametrize('axes', LAYOUTS)
def test_pages_within_a_pool(axes):
    """Random tables, of the whole and of heads of it: what NumPy gives of a copy. The pool is copied where a page is read and
    written, and not elsewhere."""
    rng = np.random.default_rng(7)
    at = axes.split().index('page')
    heads = axes.split().index('head')
    copied = 0
    for case in range(120):
        pool = rng.integers(0, 1000, LAYOUTS[axes]).astype('f4')
        cache = Cache.of(pool, axes)
        first, second = [(0, 4), (0, 4)] if case % 3 == 0 else [(0, 2), (2, 4)] if case % 3 == 1 else [(0, 2), (1, 3)]
        sides = [cache.select(head=slice(*some)) for some in (first, second)]
        count = int(rng.integers(1, 4))
        source, target = rng.integers(0, 9, count), rng.permutation(9)[:count]
        before = pool.copy()
        again = Relayout([(*sides, source, target)])
        again.run()
        expected = np.moveaxis(before.copy(), (at, heads), (0, 1))
        pages = np.moveaxis(before, (at, heads), (0, 1))
        expected[target, second[0] : second[1]] = pages[source, first[0] : first[1]]
        assert (np.moveaxis(pool, (at, heads), (0, 1)) == expected).all(), (case, source, target)
        shares = first[1] > second[0]
        in_place = first == second
        clashes = shares and any(q in source and not (in_place and p == q) for p, q in zip(source, target))
        assert bool(again._staged) is clashes, (case, source, target)
        copied += clashes
    assert 0 < copied < 120


@pytest.mark.parametrize('kib', [2, 2048])
def test_whatever_the_size_of_a_page(kib):
    pool = np.arange(4 * kib * 256, dtype='f4').reshape(4, 8, -1)
    cache, before = Cache.of(pool, 'page token dim'), pool.copy()
    relayout(cache, cache, [0, 1, 2], [1, 2, 3])
    assert (pool[1:] == before[:3]).all() and (pool[0] == before[0]).all()
    pool[...] = before
    relayout(cache, cache, [0, 1, 2, 3], [3, 2, 1, 0])
    assert (pool == before[::-1]).all()
    pool[...] = before
    relayout(cache, cache, [0, 1], [3, 2])
    assert (pool[[3, 2]] == before[[0, 1]]).all() and (pool[:2] == before[:2]).all()


def test_tables_are_looked_at_in_each_run():
    pool = np.arange(48.0, dtype='f4').reshape(6, 2, 4)
    cache = Cache.of(pool, 'page token dim')
    tables = np.array([0, 1]), np.array([2, 3])
    again = Relayout([(cache, cache, *tables)])
    for target in ([2, 3], [1, 4], [4, 5], [-1, 0], [1, 0]):
        tables[1][:] = target
        for call in (again.run, lambda: again.start().wait()):
            expected = pool.copy()
            for p, q in zip(tables[0], target):
                if q >= 0:
                    expected[q] = pool[p]
            assert call() == 64
            assert (pool == expected).all(), target
    # A page that is left out is not read and written.
    tables[0][:], tables[1][:] = [-1, 1], [3, 1]
    before = pool.copy()
    again.run()
    assert (pool == before).all()


def test_pools_that_lie_in_one_allocation():
    memory = np.arange(96.0, dtype='f4').reshape(12, 2, 4)
    before = memory.copy()
    # Page p of the second is page p + 3 of the first.
    first, second = Cache.of(memory[:9], 'page token dim'), Cache.of(memory[3:], 'page token dim')
    relayout(first, second, [0, 5], [2, 8])
    assert (memory[[5, 11]] == before[[0, 5]]).all()
    memory[...] = before
    relayout(first, second, [0, 2], [2, 8])
    assert (memory[[5, 11]] == memory[[0, 2]]).all()
    # Pages of other lengths in one memory: no table tells, so the source is copied.
    memory[...] = before
    long = Cache.of(memory.reshape(6, 4, 4), 'page token dim')
    relayout(first, long, [0, 8, 3, 1], [4, 1])
    expected = before.copy()
    expected[[8, 9, 2, 3]] = before[[0, 8, 3, 1]]
    assert (memory == expected).all()
    # Those that only lie side by side.
    wide = np.arange(96.0, dtype='f4').reshape(6, 2, 8)
    left, right = [Cache.of(wide[:, :, some], 'page token dim') for some in (slice(0, 4), slice(4, 8))]
    relayout(left, right, [0, 1, 2], [1, 0, 2])
    assert (wide[[1, 0, 2], :, 4:] == wide[:3, :, :4]).all()


def test_parts_of_one_move():
    """What one part writes, another one reads as it was before."""
    pool = np.zeros((6, 2, 4), 'f4')
    cache, other = Cache.of(pool, 'page token dim'), Cache.of(np.ones((6, 2, 4), 'f4'), 'page token dim')
    Relayout([(other, cache, [0, 1], [1, 2]), (cache, other, [1], [5])]).run()
    assert pool.sum() == 16 and other.arrays[0].sum() == 40
    Relayout([(other, cache, [0, 1], [1, 2]), (cache, other, [3], [4])]).run()
    assert pool.sum() == 16 and other.arrays[0].sum() == 32


def test_parts_that_are_staged_keep_their_memory(monkeypatch):
    """The copies of all parts live as long as the move, and so have their memory for themselves."""
    pools = [np.random.default_rng(k).standard_normal((4, 2, 64, 8)).astype('f4') for k in range(3)]
    before = [pool.copy() for pool in pools]
    caches = [Cache.of(pool, 'page token head dim') for pool in pools]
    made, new_bytes = [], interop.new_bytes

    def noted(*given):
        memory = new_bytes(*given)
        made.append(weakref.ref(memory))
        return memory

    monkeypatch.setattr(interop, 'new_bytes', noted)
    again = Relayout([(cache, cache, [0, 1], [1, 0]) for cache in caches])
    for order in ([1, 0, 2, 3], [0, 1, 2, 3]):
        again._steps()  # as each run does
        gc.collect()
        assert [memory() is not None for memory in made] == [True] * 3
        others = [np.full(2 * 2 * 64 * 8, 7, 'f4') for _ in range(4)]
        again.run()
        assert all([(pool == was[order]).all() for pool, was in zip(pools, before)])
        assert all([(other == 7).all() for other in others])


@pytest.mark.parametrize('to_small', [False, True])
def test_scales_within_a_pool(to_small):
    """Floats of 8 bits with scales in pages beside them, and bfloat16, in one memory."""
    rng = np.random.default_rng(4)
    memory = rng.integers(0, 256, 6 * 4 * 32).astype('u1')
    scales = np.exp2(rng.integers(-3, 3, (6, 4, 1))).astype('f4')
    small, wide = memory.reshape(6, 4, 32), memory.view('u2').reshape(3, 4, 32)
    caches = [
        Cache(Format.of_shapes(element, 'page token dim', [array.shape]), [array])
        for element, array in (('float8_e5m2', small), ('bfloat16', wide))
    ]
    source, target = ([2, 0], [0, 5]) if to_small else ([1, 4], [2, 0])
    before = memory.copy()
    olds = before.reshape(6, 4, 32), before.view('u2').reshape(3, 4, 32)
    names = ('bfloat16', 'float8_e5m2') if to_small else ('float8_e5m2', 'bfloat16')
    expected = {
        q: oracle.converted(olds[to_small][p], *names, np.repeat(scales[q if to_small else p], 32, 1))
        for p, q in zip(source, target)
    }
    relayout(caches[to_small], caches[not to_small], source, target, convert=True, scale=Cache.of(scales, 'page token dim'))
    for q, page in expected.items():
        assert ((small if to_small else wide)[q] == page).all(), q


def test_conversion_within_a_pool():
    """Floats of 32 bits become those of 16 in the same memory."""
    memory = np.zeros(4 * 64, 'f4')
    memory[:] = np.random.default_rng(3).standard_normal(256)
    halves = memory.view('f2')[:256].reshape(4, 4, 16)
    expected = memory.reshape(4, 4, 16).astype('f2')
    relayout(Cache.of(memory.reshape(4, 4, 16), 'page token dim'), Cache.of(halves, 'page token dim'), range(4), range(4), convert=True)
    assert (halves == expected).all()
    integers = np.zeros((4, 4, 16), 'i4')
    with pytest.raises(ucd.NotSupported, match='INT32_T is not converted'):
        relayout(
            Cache.of(integers, 'page token dim'), Cache.of(integers.view('f4'), 'page token dim'), [0, 1], [1, 0], convert=True
        )
