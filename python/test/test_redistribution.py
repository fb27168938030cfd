"""Redistribution against NumPy: who owns which index is computed anew here, index by index."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd


def owned_along(n, parts, block, part):
    """The indices of 0 to n - 1 that a part has, by the definition of block-cyclic."""
    block = block or max(-(-n // parts), 1)
    return [i for i in range(n) if i // block % parts == part]


def owned(distribution, rank):
    """For each dimension, the global indices that a rank has."""
    where = np.unravel_index(rank, distribution.mesh)
    found = [list(range(n)) for n in distribution.shape]
    for at, parts, placement in zip(where, distribution.mesh, distribution.placements):
        if isinstance(placement, ucd.Replicate):
            continue
        left = found[placement.dim]
        block = placement.block if isinstance(placement, ucd.Cyclic) else 0
        found[placement.dim] = [left[i] for i in owned_along(len(left), parts, block, at)]
    return found


def parts_of(field, distribution):
    return [np.ascontiguousarray(field[np.ix_(*owned(distribution, rank))]) for rank in range(distribution.ranks)]


def check(source, target, dtype='int32'):
    field = np.arange(np.prod(source.shape, dtype=int), dtype=dtype).reshape(source.shape)
    before = parts_of(field, source)
    assert [a.shape for a in before] == [source.local_shape(r) for r in range(source.ranks)]
    plan = ucd.plan(source, target, dtype)
    after = ucd.redistribute(before, source, target)
    for rank, (found, expected) in enumerate(zip(after, parts_of(field, target), strict=True)):
        assert found.dtype == expected.dtype and (found == expected).all(), (source, target, rank)
    # Each rank of the target gets each byte once, and no route is empty.
    assert all(route.nbytes > 0 for route in plan.routes)
    for rank in range(target.ranks):
        assert sum(route.nbytes for route in plan.receives(rank)) == after[rank].nbytes
    assert len({(route.source, route.target) for route in plan.routes}) == len(plan.routes)
    # What one rank asks for is worked out apart from the list of all.
    for rank in range(-1, max(source.ranks, target.ranks) + 1):
        assert plan.sends(rank) == [route for route in plan.routes if route.source == rank]
        assert plan.receives(rank) == [route for route in plan.routes if route.target == rank]
    return plan


def distributions(shape, ranks):
    """Every way to distribute an array of one dimension over this many ranks."""
    for mesh in [m for k in (1, 2) for m in itertools.product(range(1, ranks + 1), repeat=k) if np.prod(m) == ranks]:
        kinds = [ucd.Shard(0), ucd.Cyclic(0), ucd.Cyclic(0, 3), ucd.Replicate()]
        for placements in itertools.product(kinds, repeat=len(mesh)):
            if len(mesh) == 1 or any(isinstance(p, ucd.Replicate) for p in placements) or mesh[0] == 2:
                yield ucd.Distribution(shape, mesh, placements)


def test_every_pair_of_distributions_on_up_to_8_ranks():
    single = [
        ucd.Distribution((23,), ranks, placement)
        for ranks in range(1, 9)
        for placement in (ucd.Shard(0), ucd.Cyclic(0), ucd.Cyclic(0, 2), ucd.Cyclic(0, 5), ucd.Replicate())
    ]
    for source, target in itertools.product(single, repeat=2):
        check(source, target)


def test_meshes_of_two_dimensions():
    found = [d for ranks in (4, 6, 8) for d in distributions((29,), ranks) if len(d.mesh) == 2]
    chosen = np.random.default_rng(2).permutation(len(found) ** 2)[:250]
    for number in chosen:
        check(*(found[i] for i in divmod(int(number), len(found))))


@st.composite
def random_distributions(draw, shape):
    mesh = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda m: np.prod(m) <= 8))
    dims = st.integers(0, len(shape) - 1)
    placement = st.one_of(
        st.builds(ucd.Shard, dims), st.builds(ucd.Cyclic, dims, st.integers(1, 4)), st.just(ucd.Replicate())
    )
    return ucd.Distribution(shape, mesh, [draw(placement) for _ in mesh])


@given(st.data())
def test_random_distributions(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)))
    source, target = data.draw(random_distributions(shape)), data.draw(random_distributions(shape))
    check(source, target, data.draw(st.sampled_from(['u1', 'f4', 'c16'])))


@given(st.data())
def test_packed_streams_of_both_sides_agree(data):
    """What any transport needs: bytes by send_type, unpacked by receive_type, of any local strides."""
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    source, target = data.draw(random_distributions(shape)), data.draw(random_distributions(shape))
    field = np.random.default_rng(0).integers(0, 255, shape, np.uint8)
    before = parts_of(field, source)
    strided = [np.asfortranarray(a) for a in before]
    after = [np.zeros(target.local_shape(r), np.uint8, order='F') for r in range(target.ranks)]
    for route in ucd.plan(source, target, 'uint8').routes:
        contiguous = ucd.pack(before[route.source], type=route.send_type())
        message = ucd.pack(strided[route.source], type=route.send_type(strided[route.source].strides))
        assert message.tobytes() == contiguous.tobytes() and len(message) == route.nbytes
        there = after[route.target]
        ucd.unpack(message, there, type=route.receive_type(there.strides))
    for found, expected in zip(after, parts_of(field, target)):
        assert (found == expected).all()


def test_views_are_sources_and_targets():
    """Pages with the heads outside (HND) to pages with the tokens outside (NHD)."""
    heads, tokens, width = 8, 5, 4
    cache = np.arange(heads * tokens * width).reshape(heads, tokens, width)
    source = ucd.Distribution(cache.shape, 2, ucd.Shard(0))
    target = ucd.Distribution(cache.shape, 4, ucd.Shard(0))
    nhd = [np.empty((tokens, 2, width), cache.dtype) for _ in range(4)]
    ucd.redistribute([cache[:4], cache[4:]], source, target, out=[a.transpose(1, 0, 2) for a in nhd])
    for rank, pages in enumerate(nhd):
        assert (pages == cache[2 * rank : 2 * rank + 2].transpose(1, 0, 2)).all()


def test_replicas_share_the_work():
    source = ucd.Distribution((8,), 4, ucd.Replicate())
    target = ucd.Distribution((8,), 8, ucd.Replicate())
    plan = check(source, target)
    assert [(r.source, r.target) for r in plan.routes] == [(t % 4, t) for t in range(8)]


def test_plans_cost_what_is_exchanged():
    """64 to 128 ranks, 80 layers of 8 tensors: each rank of the target has one sender."""
    shapes = [(8192, 8192 + 1024 * k) for k in range(8)]
    plans = [
        ucd.plan(ucd.Distribution(s, 64, ucd.Shard(0)), ucd.Distribution(s, 128, ucd.Shard(0)), 'bfloat16')
        for _ in range(80)
        for s in shapes
    ]
    assert len(set(map(id, plans))) == 8
    assert all(len(plan.routes) == 128 for plan in plans)
    # Tensors in the same proportions share the list of who sends to whom; a rank lists its own routes only.
    assert len({id(plan.routes._exchanges) for plan in plans}) == 1
    uneven = ucd.plan(ucd.Distribution((2**40 + 1,), 2**16, ucd.Shard(0)), ucd.Distribution((2**40 + 1,), 3, ucd.Shard(0)), 'uint8')
    assert [len(uneven.sends(rank)) for rank in (0, 21845, 65535)] == [1, 2, 1] and 'routes' not in vars(uneven)
    huge = ucd.plan(ucd.Distribution((2**40,), 1000, ucd.Shard(0)), ucd.Distribution((2**40,), 1000, ucd.Shard(0)), 'uint8')
    assert len(huge.routes) == 1000
    cyclic = ucd.plan(
        ucd.Distribution((2**40,), 8, ucd.Cyclic(0, 4)), ucd.Distribution((2**40,), 4, ucd.Cyclic(0, 6)), 'uint8'
    )
    assert sum(route.nbytes for route in cyclic.routes) == 2**40
    assert sum(route.send_type().size for route in cyclic.routes) == 2**40


def test_what_is_refused():
    one = ucd.Distribution((4, 4), 2, ucd.Shard(0))
    for call in (
        lambda: ucd.Distribution((4,), 2, ucd.Shard(1)),
        lambda: ucd.Distribution((4,), 2, ucd.Cyclic(0, 0)),
        lambda: ucd.Distribution((-4,), 2, ucd.Shard(0)),
        lambda: ucd.Distribution((4,), 0, ucd.Shard(0)),
        lambda: ucd.Distribution((4,), (2, 2), [ucd.Shard(0)]),
        lambda: ucd.plan(one, ucd.Distribution((4,), 2, ucd.Shard(0)), 'int32'),
        lambda: ucd.redistribute([np.zeros((2, 4))], one, one),
        lambda: ucd.redistribute([np.zeros((4, 4))] * 2, one, one),
        lambda: one.local_shape(2),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        ucd.Distribution((4,), (2,), ['block'])
    # Elements of another size would leave the memory of an array.
    with pytest.raises((ValueError, ucd.Error)):
        ucd.plan(one, one, 'float64').execute([np.zeros((2, 4), 'f4')] * 2, [np.zeros((2, 4))] * 2)
