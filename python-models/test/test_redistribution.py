"""Redistribution against NumPy: who owns which index is computed anew in placements_oracle, index by index."""

import itertools
import os
import time
import tracemalloc
import types

import numpy as np
import pytest
from placements_oracle import parts_of, random_distribution

import ucd
import ucd_models
from ucd_models import _rounds, _routes

# UCD_TEST_PLANS=100000 is the long run.
PLANS = int(os.environ.get('UCD_TEST_PLANS', '1500'))
SEED = int(os.environ.get('UCD_TEST_SEED', '45')) if os.environ.get('UCD_TEST_SEED') != 'random' else time.time_ns() % 10**6


def check(source, target, dtype='int32'):
    field = np.arange(np.prod(source.shape, dtype=int), dtype=dtype).reshape(source.shape)
    before = parts_of(field, source)
    assert [a.shape for a in before] == [source.local_shape(r) for r in source.ranks]
    routing = ucd_models.routing(source, target, dtype)
    after = ucd_models.redistribute(before, source, target)
    for place, (found, expected) in enumerate(zip(after, parts_of(field, target), strict=True)):
        assert found.dtype == expected.dtype and (found == expected).all(), (source, target, place)
    # Each rank of the target gets each byte once, and no route is empty.
    routes = list(routing.routes)
    assert all(route.nbytes > 0 for route in routes)
    assert len({(route.source, route.target) for route in routes}) == len(routes)
    for place, rank in enumerate(target.ranks):
        assert sum(route.nbytes for route in routing.receives(rank)) == after[place].nbytes
        # What the receiver finds is what the senders find.
        assert set(routing.receives(rank)) == {route for route in routes if route.target == rank}
    assert len(routing.sends(10**6)) == len(routing.receives(-1)) == 0
    return routing


def test_random_plans():
    rng = np.random.default_rng(SEED)
    print(f'seed {SEED}, {PLANS} plans')
    for case in range(PLANS):
        shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, rng.choice([4, 10, 40]), rng.integers(1, 4)))
        if rng.random() < 0.02:  # blocks that come again many times
            shape = (int(rng.integers(500, 3000)),)
        most = int(rng.choice([4, 8, 64]) if np.prod(shape) < 3000 else 8)
        world = None if rng.random() < 0.5 else 80
        source, target = [random_distribution(rng, shape, most, world) for _ in range(2)]
        try:
            check(source, target)
        except Exception as e:
            raise AssertionError(f'seed {SEED}, case {case}: {source} to {target}') from e


def test_every_pair_of_distributions_on_up_to_8_ranks():
    single = [
        ucd_models.Distribution((23,), ranks, placement)
        for ranks in (1, 2, 3, 5, 8)
        for placement in (ucd_models.Shard(0), ucd_models.Cyclic(0), ucd_models.Cyclic(0, 2), ucd_models.Cyclic(0, 5), ucd_models.Replicate())
    ]
    for source, target in itertools.product(single, repeat=2):
        check(source, target)


def test_long_cycles():
    """Where blocks meet at few distances, runs are found by the Euclidean algorithm and not by counting."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(500, 3000))
        ranks, blocks = rng.integers(1, 9, 2), rng.integers(1, 7, 2)
        source, target = [ucd_models.Distribution((n,), int(r), ucd_models.Cyclic(0, int(b))) for r, b in zip(ranks, blocks)]
        check(source, target)
    huge = [ucd_models.Distribution((10**15 + 1,), ranks, ucd_models.Cyclic(0, block)) for ranks, block in ((63, 5), (127, 7))]
    routing = ucd_models.routing(*huge, 'uint8')
    assert sum(route.nbytes for route in routing.sends(62)) == huge[0].local_shape(62)[0]
    assert sum(len(route._fan.runs[0]) for route in routing.sends(62)) < 127 * 13


def fused(heads, kv_heads, width, groups=0):
    return ucd_models.Segment(0, {'q': (heads * width, width), 'k': (kv_heads * width, width), 'v': (kv_heads * width, width)}, groups)


def test_fused_projections():
    """Rows of query, key and value with 8 heads and 2 key-value heads of 3 rows."""
    width, shape = 3, (36, 5)
    field = np.arange(180).reshape(shape)
    q, k, v = field[:24], field[24:30], field[30:]
    whole = ucd_models.Distribution(shape, 1, ucd_models.Replicate())
    by_two = ucd_models.Distribution(shape, 2, fused(8, 2, width))
    found = ucd_models.redistribute([field], whole, by_two)
    assert (found[1] == np.concatenate([q[12:], k[3:], v[3:]])).all()
    # 4 ranks: a key-value head is on two of them. Two ranks that both have it each serve one.
    by_four = ucd_models.Distribution(shape, 4, fused(8, 2, width))
    found = ucd_models.redistribute([field], whole, by_four)
    assert (found[1] == np.concatenate([q[6:12], k[:3], v[:3]])).all()
    assert (found[2] == np.concatenate([q[12:18], k[3:], v[3:]])).all()
    back = check(by_four, ucd_models.Distribution(shape, 8, fused(8, 2, width)))
    assert [r.source for r in back.receives(0)] == [0] and [r.source for r in back.receives(1)] == [0, 1]
    # Beside each other by groups, as some trainers have them.
    grouped = ucd_models.Distribution(shape, 2, fused(8, 2, width, groups=2))
    found = ucd_models.redistribute([field], whole, grouped)
    assert (found[0] == np.concatenate([q[:12], k[:3], v[:3]])).all()
    one = ucd_models.redistribute([field], whole, ucd_models.Distribution(shape, 1, fused(8, 2, width, groups=2)))
    assert (one[0] == np.concatenate([q[:12], k[:3], v[:3], q[12:], k[3:], v[3:]])).all()
    check(grouped, by_four)
    with pytest.raises(ValueError, match="3 ranks"):
        ucd_models.Distribution(shape, 3, fused(8, 2, width))
    with pytest.raises(ValueError, match='whole units'):
        ucd_models.Segment(0, {'q': (10, 3)})
    with pytest.raises(ValueError, match='12 indices for a dimension of 13'):
        ucd_models.Distribution((13,), 2, ucd_models.Segment(0, [8, 4]))
    with pytest.raises(ValueError, match='before its Segment'):
        ucd_models.Distribution((12,), (2, 2), [ucd_models.Shard(0), ucd_models.Segment(0, [8, 4])])


def test_sharded_data_parallelism_over_tensor_parallelism():
    """FSDP splits what each rank of tensor parallelism has, in uneven shards too."""
    field = np.arange(11)
    source = ucd_models.Distribution((11,), (3, 2), [ucd_models.StridedShard(0, split_factor=2), ucd_models.Shard(0)])
    expected = [[0, 1], [6, 7], [2, 3], [8, 9], [4, 5], [10]]
    assert [a.tolist() for a in parts_of(field, source)] == expected
    found = ucd_models.redistribute([field], ucd_models.Distribution((11,), 1, ucd_models.Replicate()), source)
    assert [a.tolist() for a in found] == expected
    check(source, ucd_models.Distribution((11,), 5, ucd_models.Shard(0)))
    of_segment = ucd_models.Distribution((12,), (2, 2), [ucd_models.StridedShard(0, 2), ucd_models.Segment(0, [8, 4])])
    found = ucd_models.redistribute([np.arange(12)], ucd_models.Distribution((12,), 1, ucd_models.Replicate()), of_segment)
    assert [a.tolist() for a in found] == [[0, 1, 2], [4, 5, 6], [3, 8, 9], [7, 10, 11]]


def test_rank_maps():
    shape = (8, 3)
    source = ucd_models.Distribution(shape, 4, ucd_models.Shard(0), ranks=[7, 2, 11, 0])
    target = ucd_models.Distribution(shape, (2, 2), [ucd_models.Replicate(), ucd_models.Shard(1)], ranks=[5, 2, 0, 7])
    routing = check(source, target)
    assert sorted(route.target for route in routing.sends(11)) == [0, 2, 5, 7] and not routing.sends(5)
    assert source.local_shape(11) == (2, 3) and source.position(3) is None
    with pytest.raises(ValueError, match='rank 1 is not in the mesh'):
        source.local_shape(1)
    for ranks in ([1, 1, 2, 3], [0, 1, 2, -1], [0, 1, 2], []):
        with pytest.raises(ValueError, match='rank'):
            ucd_models.Distribution(shape, 4, ucd_models.Shard(0), ranks)
    assert ucd_models.Distribution(shape, 2, ucd_models.Shard(0), [0, 1]) == ucd_models.Distribution(shape, 2, ucd_models.Shard(0))


def test_a_rank_that_has_a_replica_sends_to_itself():
    shape = (4,)
    source = ucd_models.Distribution(shape, 3, ucd_models.Replicate(), ranks=[4, 9, 2])
    target = ucd_models.Distribution(shape, 4, ucd_models.Replicate(), ranks=[2, 4, 6, 9])
    assert {(r.source, r.target) for r in check(source, target).routes} >= {(2, 2), (4, 4), (9, 9)}
    source, target = ucd_models.Distribution((8,), 4, ucd_models.Replicate()), ucd_models.Distribution((8,), 8, ucd_models.Replicate())
    assert {(r.source, r.target) for r in check(source, target).routes} == {(t % 4, t) for t in range(8)}


def named(name, **fields):
    """An object of a class of this name, as those of other libraries are told by."""
    return type(name, (), fields)()


def test_placements_of_dtensor():
    tensor = types.SimpleNamespace(
        shape=(12, 8),
        device_mesh=types.SimpleNamespace(mesh=np.array([[3, 1], [0, 2], [5, 4]])),
        placements=(named('_StridedShard', dim=0, split_factor=2), named('Shard', dim=0)),
    )
    found = ucd_models.Distribution.from_dtensor(tensor)
    assert found == ucd_models.Distribution((12, 8), (3, 2), [ucd_models.StridedShard(0, 2), ucd_models.Shard(0)], [3, 1, 0, 2, 5, 4])
    assert ucd_models.Distribution.from_mesh((4,), [[0, 1], [2, 3]], [named('Replicate'), ucd_models.Cyclic(0, 2)]).mesh == (2, 2)
    for name in ('Partial', '_Partial', '_MaskPartial', '_NormPartial'):
        with pytest.raises(TypeError, match='Partial'):
            ucd_models.Distribution.from_mesh((4,), [0, 1], [named(name)])
    with pytest.raises(TypeError, match='no placement that is known'):
        ucd_models.Distribution.from_mesh((4,), [0, 1], [named('Ragged')])
    last = ucd_models.Distribution.from_mesh((4, 6), [0, 1], [named('Shard', dim=-1)])
    assert last == ucd_models.Distribution((4, 6), 2, ucd_models.Shard(1))
    for dim in (-3, 2):
        with pytest.raises(ValueError, match='dim must be >= 0 and < 2'):
            ucd_models.Distribution.from_mesh((4, 6), [0, 1], [named('Shard', dim=dim)])
    for given in (named('Shard', dim=0), [named('Shard', dim=0)]):
        with pytest.raises(TypeError, match='from_mesh takes those of DTensor'):
            ucd_models.Distribution((4,), 2, given)
    with pytest.raises(ValueError, match='differ in length'):
        ucd_models.Distribution.from_mesh((4,), [[0, 1], [2]], [ucd_models.Replicate()] * 2)
    with pytest.raises(ValueError, match='no ranks'):
        ucd_models.Distribution.from_mesh((4,), [[], []], [ucd_models.Replicate()] * 2)


def test_packed_streams_of_both_sides_agree():
    """What any transport needs: bytes by send_type, unpacked by receive_type, of any local strides."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        shape = tuple(int(n) for n in rng.integers(1, 10, rng.integers(1, 4)))
        source, target = random_distribution(rng, shape, 8), random_distribution(rng, shape, 8)
        field = rng.integers(0, 255, shape, np.uint8)
        before = parts_of(field, source)
        strided = [np.asfortranarray(a) for a in before]
        after = [np.zeros(target.local_shape(r), np.uint8, order='F') for r in target.ranks]
        for route in ucd_models.routing(source, target, 'uint8').routes:
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
    source = ucd_models.Distribution(cache.shape, 2, ucd_models.Shard(0))
    target = ucd_models.Distribution(cache.shape, 4, ucd_models.Shard(0))
    nhd = [np.empty((tokens, 2, width), cache.dtype) for _ in range(4)]
    ucd_models.redistribute([cache[:4], cache[4:]], source, target, out=[a.transpose(1, 0, 2) for a in nhd])
    for rank, pages in enumerate(nhd):
        assert (pages == cache[2 * rank : 2 * rank + 2].transpose(1, 0, 2)).all()


def test_structured_elements_and_those_without_bytes():
    padded = np.dtype({'names': ['a', 'b'], 'formats': ['u1', 'f8'], 'offsets': [0, 8], 'itemsize': 16})
    field = np.zeros(6, padded)
    field['a'], field['b'] = range(6), range(6)
    source, target = [ucd_models.Distribution((6,), n, ucd_models.Shard(0)) for n in (2, 3)]
    found = ucd_models.redistribute([field[:3], field[3:]], source, target)
    assert [a['b'].tolist() for a in found] == [[0, 1], [2, 3], [4, 5]]
    check(ucd_models.Distribution((), 2, ucd_models.Replicate()), ucd_models.Distribution((), 3, ucd_models.Replicate()))


def test_fans_are_the_routes():
    """And shares of many peers are few stretches of the memory for messages."""
    rng = np.random.default_rng(SEED)
    for _ in range(PLANS // 5):
        shape = tuple(int(n) for n in rng.integers(1, 30, rng.integers(1, 4)))
        source, target = [random_distribution(rng, shape, int(rng.choice([4, 30])), 80) for _ in range(2)]
        routing = ucd_models.routing(source, target, 'int32')
        for side, held in enumerate((source, target)):
            for rank in held.ranks:
                others, kept = routing.fans(side, rank)
                found = [(p, fan.part(k, 1).runs) for fan in others for k, p in enumerate(fan.places)]
                found += [(rank, kept.runs)] if kept else []
                routes = routing.receives(rank) if side else routing.sends(rank)
                assert sorted(found) == sorted([((r.target, r.source)[side], r._fan.runs) for r in routes])
    rows, columns = [ucd_models.Distribution((8192, 4096), 64, ucd_models.Shard(dim)) for dim in (0, 1)]
    move = ucd_models.Redistribution({f'{k}': (rows, columns, 'float32') for k in range(20)})
    for made in move.rounds(5):
        for way in (made.sends, made.receives):
            messages = _rounds.Messages(way)
            assert len(messages.peers) == 63 and len(messages.stretches) == 2 * len({share.name for share in way})


def test_messages_are_laid_out_by_peer():
    """Each peer's shares follow each other in its message, whatever way they are written down."""
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        fans = [(int(rng.integers(40)), int(rng.integers(1, 5)), int(rng.integers(1, 30)), 16 * int(rng.integers(1, 4))) for _ in range(rng.integers(1, 8))]
        peers, begins, found = _routes.layout(fans)
        peers, begins = list(memoryview(peers).cast('q')), list(memoryview(begins).cast('q'))
        messages = {peer: [] for peer in peers}
        for number, (rank, step, count, nbytes) in enumerate(fans):
            for k in range(count):
                messages[rank + k * step].append((number, k, nbytes))
        expected = {}
        for peer, begin, end in zip(peers, begins, begins[1:], strict=False):
            for number, k, nbytes in messages[peer]:
                expected[number, k] = begin
                begin += nbytes
            assert begin == end
        shares = [
            ((number, k + i * stride), at + i * step)
            for number, stretches in enumerate(found)
            for k, many, stride, at, step in stretches
            for i in range(many)
        ]
        assert sorted(peers) == peers and dict(shares) == expected and len(shares) == len(expected)
    # Lengths that repeat after 12 peers: as many stretches, whatever the number of peers.
    _, _, found = _routes.layout([(k, n, 12000 // n, 16) for n in (3, 4) for k in range(0, n, 2)])
    assert all(len(stretches) <= 4 for stretches in found)
    with pytest.raises(ValueError, match='larger than'):
        _routes.layout([(2**40, 1, 1, 16)])


def test_replicas_take_turns():
    """Whatever the mesh, those that have the same send as much."""
    for mesh, placements in (((6, 4), [ucd_models.Replicate(), ucd_models.Shard(0)]), ((4, 6), [ucd_models.Shard(0), ucd_models.Replicate()])):
        for apart in (0, 100):
            source = ucd_models.Distribution((24, 4), (2, 3), [ucd_models.Replicate(), ucd_models.Shard(0)], range(apart, apart + 6))
            target = ucd_models.Distribution((24, 4), mesh, placements)
            routing = ucd_models.routing(source, target, 'int32')
            sent = [sum(route.nbytes for route in routing.sends(rank)) for rank in source.ranks]
            assert sum(sent) == 6 * 24 * 16 and max(sent) <= min(sent) * (1 if apart else 1.5)


def memory_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_plans_cost_what_is_exchanged():
    """One rank of 4,096 with 1,000 tensors in 50 shapes. The bound of time is generous: machines are busy."""

    def model():
        found = 0
        for k in range(1000):
            shape = (8192 + 64 * (k % 50), 4096)
            source = ucd_models.Distribution(shape, (64, 64), [ucd_models.StridedShard(0, 64), ucd_models.Shard(0)])
            target = ucd_models.Distribution(shape, (512, 8), [ucd_models.StridedShard(0, 8), ucd_models.Shard(0)])
            routing = ucd_models.routing(source, target, 'bfloat16')
            found += len(routing.sends(77)) + len(routing.receives(4000))
        assert 1000 <= found <= 6000

    began = time.perf_counter()
    model()
    assert time.perf_counter() - began < 10
    ucd_models.routing.cache_clear()
    assert memory_of(model) < 100 << 20
    uneven = ucd_models.Distribution((2**40 + 1,), 2**16, ucd_models.Shard(0)), ucd_models.Distribution((2**40 + 1,), 3, ucd_models.Shard(0))
    assert memory_of(lambda: ucd_models.routing(*uneven, 'uint8').sends(2**15)) < 1 << 20


def test_bad_arguments():
    for wrong in (
        lambda: ucd_models.Distribution((4,), 2, ucd_models.Shard(1)),
        lambda: ucd_models.Distribution((4,), (2, 2), ucd_models.Shard(0)),
        lambda: ucd_models.Distribution((-4,), 2, ucd_models.Shard(0)),
        lambda: ucd_models.Distribution((4,), 0, ucd_models.Shard(0)),
        lambda: ucd_models.Distribution((4,), 2, ucd_models.Cyclic(0, 0)),
        lambda: ucd_models.Distribution((4,), 2, ucd_models.StridedShard(0, 0)),
        lambda: ucd_models.Segment(0, [4], groups=3),
        lambda: ucd_models.routing(ucd_models.Distribution((4,), 2, ucd_models.Shard(0)), ucd_models.Distribution((5,), 2, ucd_models.Shard(0)), 'u1'),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        ucd_models.Distribution((4,), 2, ['rows'])
    source, target = [ucd_models.Distribution((4,), n, ucd_models.Shard(0)) for n in (2, 4)]
    with pytest.raises(ValueError, match='1 arrays for 2 ranks'):
        ucd_models.redistribute([np.zeros(2)], source, target)
    with pytest.raises(ValueError, match=r'arrays\[1\] has shape'):
        ucd_models.redistribute([np.zeros(2), np.zeros(3)], source, target)
    with pytest.raises(ValueError, match='elements of 4 bytes'):
        ucd_models.redistribute([np.zeros(2)] * 2, source, target, out=[np.zeros(1, 'f4')] * 4)


def sums(terms):
    return {sum(values) for values in itertools.product(*[[x * stride for x in range(low, high + 1)] for low, high, stride in terms])}


def test_which_sums_of_strides_are_reached():
    """By all sums."""
    rng = np.random.default_rng(SEED)
    met = set()
    for _ in range(600):
        terms = []
        for _ in range(rng.integers(0, 5)):
            low = int(rng.integers(-3, 4))
            terms.append((low, low + int(rng.integers(0, 4)), int(rng.integers(-40, 41))))
        found = sums(terms)
        first = int(rng.integers(-120, 121))
        last = first + int(rng.integers(-1, 4))
        expected = any(first <= number <= last for number in found)
        assert ucd.interop.reaches(terms, first, last) is expected, (terms, first, last)
        met.add(expected)
    assert met == {False, True}
    far = 2**62
    assert ucd.interop.reaches([(-far, far, far), (-far, far, 3)], far + 1, far + 1) is True
    assert ucd.interop.reaches([(-far, far, far), (-far, far, 2)], far + 1, far + 1) is False
    # A sum of which the search is given up: subsets of numbers with nothing in common.
    hard = [(0, 1, 2**45 + int(k)) for k in np.random.default_rng(1).integers(0, 2**40, 50)]
    assert ucd.interop.reaches(hard, 25 * 2**45 + 12345, 25 * 2**45 + 12345) is None
    with pytest.raises(ValueError):
        ucd.interop.reaches([(1, 0, 4)], 0, 0)


def test_targets_that_share_bytes_are_refused():
    """With a source, or with each other. Views of one array that share none are taken."""
    halves = ucd_models.Distribution((8, 4), 2, ucd_models.Shard(0))
    columns = ucd_models.Distribution((8, 4), 2, ucd_models.Shard(1))
    whole = ucd_models.Distribution((8, 4), 2, ucd_models.Replicate())
    move = ucd_models.Redistribution({'a': (halves, columns, 'float32'), 'b': (halves, columns, 'float32')})
    sources = {name: [np.ones((4, 4), 'f4') for _ in range(2)] for name in 'ab'}

    def targets(**changes):
        fused = np.zeros((8, 8), 'f4')
        both = {'a': [fused[:, :2], fused[:, 4:6]], 'b': [fused[:, 6:], fused[:, 2:4]]}
        for name, array in changes.items():
            both[name[0]][int(name[1])] = array(fused)
        return both

    move.execute(None, sources, right := targets())
    assert all((array == 1).all() for name in 'ab' for array in right[name])
    for changes, told in (
        ({'a1': lambda fused: fused[:, :2]}, r"targets\['a'\]\[\d\] is written, .* targets\['a'\]\[\d\]"),
        ({'a1': lambda fused: fused[:, 5:7]}, r"targets\['\w'\]\[\d\] is written, .* targets"),
        ({'b0': lambda fused: fused[::-1, 1:3]}, 'is written'),
        ({'b1': lambda fused: sources['a'][0].reshape(8, 2)}, r"targets\['b'\]\[1\] is written, .* sources\['a'\]\[0\]"),
    ):
        with pytest.raises(ValueError, match=told):
            move.prepare(None, sources, targets(**changes))
    # One target for two ranks.
    one = np.zeros((8, 4), 'f4')
    with pytest.raises(ValueError, match='is written'):
        ucd_models.Redistribution({'a': (halves, whole, 'float32')}).execute(None, {'a': sources['a']}, {'a': [one, one]})
    with pytest.raises(ValueError, match=r'out\[\d\] is written'):
        ucd_models.redistribute(sources['a'], halves, whole, [one, one])
    memory = np.arange(32, dtype='f4')
    with pytest.raises(ValueError, match=r'out\[0\] is written, and has bytes in common with arrays\[0\]'):
        ucd_models.redistribute([memory[:16].reshape(4, 4), memory[16:].reshape(4, 4)], halves, columns, [memory[:16].reshape(8, 2), one[:, :2]])
    assert memory.tolist() == list(range(32)) and not one.any()


def test_arrays_without_routes_may_be_none():
    """The first one, too: ranks that have the same take turns in sending."""
    x = np.arange(4.0)
    for most in range(1, 4):
        source = ucd_models.Distribution((4,), most, ucd_models.Replicate())
        for rank in range(3):
            target = ucd_models.Distribution((4,), 1, ucd_models.Replicate(), ranks=[rank])
            sending = {route.source for route in ucd_models.routing(source, target, 'f8').routes}
            given = [x if place in sending else None for place in range(most)]
            assert ucd_models.redistribute(given, source, target)[0].tolist() == x.tolist()
    with pytest.raises(ValueError, match='arrays has no array'):
        ucd_models.redistribute([None], *[ucd_models.Distribution((4,), 1, ucd_models.Replicate())] * 2)
