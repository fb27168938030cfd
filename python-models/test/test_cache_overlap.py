"""Moves of pages within one pool: right, as if all pages were copied first, or refused."""

import numpy as np
import pytest

from ucd_models.cache import Cache, Relayout, relayout

LAYOUTS = {
    'page kv token head dim': (9, 2, 4, 4, 3),
    'kv page token head dim': (2, 9, 4, 4, 3),
    'kv token page head dim': (2, 4, 9, 4, 3),
    'head dim page kv token': (4, 3, 9, 2, 4),
}


def tried(move):
    try:
        move()
    except ValueError as error:
        assert 'one memory' in str(error), error
        return False
    return True


@pytest.mark.parametrize('axes', LAYOUTS)
def test_pages_within_a_pool(axes):
    """Random tables, of the whole and of heads of it. What is not refused is what NumPy gives of a copy; what no page
    has in common is not refused."""
    rng = np.random.default_rng(7)
    at = axes.split().index('page')
    heads = axes.split().index('head')
    refused = 0
    for case in range(120):
        pool = rng.integers(0, 1000, LAYOUTS[axes]).astype('f4')
        cache = Cache.of(pool, axes)
        first, second = [(0, 4), (0, 4)] if case % 3 == 0 else [(0, 2), (2, 4)] if case % 3 == 1 else [(0, 2), (1, 3)]
        sides = [cache.select(head=slice(*some)) for some in (first, second)]
        count = int(rng.integers(1, 4))
        source, target = rng.integers(0, 9, count), rng.permutation(9)[:count]
        before = pool.copy()
        moved = tried(lambda: relayout(*sides, source, target))
        expected = np.moveaxis(before.copy(), (at, heads), (0, 1))
        pages = np.moveaxis(before, (at, heads), (0, 1))
        if moved:
            expected[target, second[0] : second[1]] = pages[source, first[0] : first[1]]
        assert (np.moveaxis(pool, (at, heads), (0, 1)) == expected).all(), (case, source, target)
        shares = first[1] > second[0]
        in_place = first == second
        clashes = shares and any(q in source and not (in_place and p == q) for p, q in zip(source, target))
        assert moved is not clashes, (case, source, target)
        refused += not moved
    assert 0 < refused < 120


@pytest.mark.parametrize('kib', [2, 2048])
def test_whatever_the_size_of_a_page(kib):
    """Pages of 2 KiB were moved rightly, those of 2 MiB were not."""
    pool = np.arange(4 * kib * 256, dtype='f4').reshape(4, 8, -1)
    cache, before = Cache.of(pool, 'page token dim'), pool.copy()
    with pytest.raises(ValueError, match='page 1 of target_pages is written, and read as page 1'):
        relayout(cache, cache, [0, 1, 2], [1, 2, 3])
    assert (pool == before).all()
    relayout(cache, cache, [0, 1], [3, 2])
    assert (pool[[3, 2]] == before[[0, 1]]).all() and (pool[:2] == before[:2]).all()


def test_tables_are_looked_at_in_each_run():
    pool = np.arange(48.0, dtype='f4').reshape(6, 2, 4)
    cache = Cache.of(pool, 'page token dim')
    tables = np.array([0, 1]), np.array([2, 3])
    again = Relayout([(cache, cache, *tables)])
    again.run()
    tables[1][:] = 1, 4
    for call in (again.run, again.start):
        with pytest.raises(ValueError, match='one memory'):
            call()
    tables[1][:] = 4, 5
    again.start().wait()
    assert (pool[[4, 5]] == pool[[0, 1]]).all()


def test_pools_that_lie_in_one_allocation():
    memory = np.arange(96.0, dtype='f4').reshape(12, 2, 4)
    # Page p of the second is page p + 3 of the first.
    first, second = Cache.of(memory[:9], 'page token dim'), Cache.of(memory[3:], 'page token dim')
    with pytest.raises(ValueError, match='page 2 of target_pages is written, and read as page 5 of source_pages'):
        relayout(first, second, [0, 5], [2, 8])
    relayout(first, second, [0, 2], [2, 8])
    assert (memory[[5, 11]] == memory[[0, 2]]).all()
    # Pages of other lengths in one memory: no table tells.
    long = Cache.of(memory.reshape(6, 4, 4), 'page token dim')
    with pytest.raises(ValueError, match='pages of the one are not pages of the other'):
        relayout(first, long, [0, 1], [4])
    # Those that only lie side by side.
    wide = np.arange(96.0, dtype='f4').reshape(6, 2, 8)
    left, right = [Cache.of(wide[:, :, some], 'page token dim') for some in (slice(0, 4), slice(4, 8))]
    relayout(left, right, [0, 1, 2], [1, 0, 2])
    assert (wide[[1, 0, 2], :, 4:] == wide[:3, :, :4]).all()


def test_parts_of_one_move():
    """What one part writes, no other one reads."""
    pool = np.zeros((6, 2, 4), 'f4')
    cache, other = Cache.of(pool, 'page token dim'), Cache.of(np.ones((6, 2, 4), 'f4'), 'page token dim')
    with pytest.raises(ValueError, match='page 1 of target_pages'):
        Relayout([(other, cache, [0, 1], [1, 2]), (cache, other, [1], [5])]).run()
    Relayout([(other, cache, [0, 1], [1, 2]), (cache, other, [3], [5])]).run()
    assert pool.sum() == 16 and other.arrays[0].sum() == 40
