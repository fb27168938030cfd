"""Views of the arrays of all libraries, in host and in device memory, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucd
import ucd_models
from libraries import LIBRARIES, Placed
from views import filled, views


@pytest.fixture(params=LIBRARIES, ids=repr, scope='module')
def library(request):
    reason = request.param.missing()
    if reason:
        pytest.skip(reason)
    return request.param


def usable(library, view):
    """The view, or one that the library can express."""
    if library.negative_strides:
        return view
    return view[(*(slice(None, None, -1 if s < 0 else 1) for s in view.strides), ...)]


def drawn(data, library, **how):
    how.setdefault('dtypes', library.dtypes)
    return usable(library, data.draw(views(**how)))


@given(data=st.data())
def test_pack_and_unpack(library, data):
    view = drawn(data, library, writable=True)
    placed = Placed(library, view)
    out = Placed(library, filled((view.size,), view.dtype, 1))
    assert ucd.pack_into(placed.view, out.view) == view.nbytes
    library.synchronize()
    out.mirror[...] = view.ravel()
    assert out.bytes() == out.host.tobytes()
    values = Placed(library, filled((view.size,), view.dtype, 2))
    assert ucd.unpack(values.view, placed.view) == view.nbytes
    library.synchronize()
    placed.mirror[...] = values.mirror.reshape(view.shape)
    assert placed.bytes() == placed.host.tobytes()


@given(data=st.data())
def test_pack_makes_an_array_of_the_library(library, data):
    placed = Placed(library, drawn(data, library))
    packed = ucd.pack(placed.view)
    library.synchronize()
    host = packed.cpu().numpy() if hasattr(packed, 'cpu') else getattr(packed, 'get', lambda: packed)()
    if library.name != 'numba':  # whose arrays ucd does not make
        assert type(packed).__module__.partition('.')[0] == library.name.partition(' ')[0]
        assert host.dtype == placed.mirror.dtype and host.shape == (placed.mirror.size,)
    assert host.tobytes() == placed.mirror.tobytes()


@given(data=st.data())
def test_host_and_library(library, data):
    """Pageable host memory on one side: all is done on return."""
    view = drawn(data, library, writable=True)
    placed = Placed(library, view)
    out = np.empty(view.size, view.dtype)
    assert ucd.pack_into(placed.view, out) == view.nbytes
    assert out.tobytes() == view.tobytes()
    values = filled((view.size,), view.dtype, 4)
    ucd.unpack(values, placed.view)
    placed.mirror[...] = values.reshape(view.shape)
    assert placed.bytes() == placed.host.tobytes()


@given(data=st.data())
def test_copy(library, data):
    view = drawn(data, library, writable=True)
    source, target = Placed(library, view), Placed(library, filled(view.shape[::-1], view.dtype, 5).T)
    assert ucd.copy_bytes(source.view, target.view) == view.nbytes
    target.mirror[...] = view
    assert target.bytes() == target.host.tobytes()
    host = np.empty(view.shape, view.dtype)
    assert ucd.icopy_bytes(source.view, host).wait() == view.nbytes
    assert host.tobytes() == view.tobytes()


@pytest.mark.parametrize(('op', 'combine'), [('sum', np.add), ('max', np.maximum), ('bxor', np.bitwise_xor)])
@given(data=st.data())
def test_reductions(library, op, combine, data):
    view = drawn(data, library, dtypes=('i4', 'u1', 'i8', 'i2'), writable=True)
    source, total = Placed(library, view), Placed(library, filled((view.size,), view.dtype, 6))
    ucd.pack_into(source.view, total.view, op=op)
    library.synchronize()
    total.mirror[...] = combine(total.mirror, view.ravel())
    assert total.bytes() == total.host.tobytes()
    ucd.unpack(total.view, source.view, op=op)
    library.synchronize()
    source.mirror[...] = combine(view, total.mirror.reshape(view.shape))
    assert source.bytes() == source.host.tobytes()


@given(data=st.data())
def test_gather_and_scatter(library, data):
    view = drawn(data, library, dtypes=('i2', 'f8', 'u1'), writable=True)
    if view.ndim == 0:
        view = view.reshape(1)
    axis = data.draw(st.integers(0, view.ndim - 1))
    n = view.shape[axis]
    chosen = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else [], dtype=np.int64)
    pool = Placed(library, view)
    taken = np.take(view, chosen, axis=axis)
    out = Placed(library, filled(taken.shape, taken.dtype, 7))
    ucd.gather_into(pool.view, library.indices(chosen), out.view, axis=axis)
    library.synchronize()
    out.mirror[...] = taken
    assert out.bytes() == out.host.tobytes()
    distinct = np.unique(chosen)
    values = Placed(library, filled(np.take(view, distinct, axis=axis).shape, view.dtype, 8))
    ucd.scatter(values.view, pool.view, library.indices(distinct), axis=axis)
    library.synchronize()
    pool.mirror[(slice(None),) * axis + (distinct,)] = values.mirror
    assert pool.bytes() == pool.host.tobytes()


@given(data=st.data())
def test_batches(library, data):
    placed = [Placed(library, drawn(data, library)) for _ in range(3)]
    outs = [Placed(library, filled((p.mirror.size,), p.mirror.dtype, 9)) for p in placed]
    batch = ucd.Batch.pack([(p.view, o.view) for p, o in zip(placed, outs)])
    for p, o in zip(placed, outs):
        o.mirror[...] = p.mirror.ravel()
    for run in (batch.run, lambda: batch.start().wait()):
        assert run() == sum(p.mirror.nbytes for p in placed)
        library.synchronize()
        for p, o in zip(placed, outs):
            assert o.bytes() == o.host.tobytes(), (p.mirror.dtype, p.mirror.shape, p.mirror.strides)


@given(data=st.data())
def test_types_at_an_address(library, data):
    """A type is laid over memory from the array's first element on."""
    base = filled((6, 8), data.draw(st.sampled_from(('i4', 'f8'))))
    rows, columns = (slice(*sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))) for n in base.shape)
    placed = Placed(library, base)
    type = ucd.slice_type(base.shape, (rows, columns), base.dtype)
    out = Placed(library, np.zeros(type.size, np.uint8))
    assert ucd.pack_into(placed.view, out.view, type=type) == type.size
    library.synchronize()
    out.mirror[...] = np.frombuffer(base[rows, columns].tobytes(), np.uint8)
    assert out.bytes() == out.host.tobytes()
    with pytest.raises(ValueError, match='touches bytes'):
        ucd.pack_into(placed.view, out.view, type=type, count=0 if type.true_extent == 0 else 3)
        raise ValueError('touches bytes')  # an empty type touches none


@given(data=st.data())
def test_redistribution(library, data):
    whole = filled((data.draw(st.integers(1, 12)), data.draw(st.integers(1, 9))), 'f4')
    ranks = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    before = ucd_models.Distribution(whole.shape, ranks[0], ucd_models.Shard(0))
    after = ucd_models.Distribution(whole.shape, ranks[1], ucd_models.Cyclic(1, block=2))
    block = -(-whole.shape[0] // ranks[0])
    parts = [Placed(library, whole[k * block : (k + 1) * block]) for k in range(ranks[0])]
    targets = [Placed(library, np.zeros(after.local_shape(rank), 'f4')) for rank in range(ranks[1])]
    ucd_models.redistribute([p.view for p in parts], before, after, [t.view for t in targets])
    for rank, target in enumerate(targets):
        owned = [j for j in range(whole.shape[1]) if j // 2 % ranks[1] == rank]
        target.mirror[...] = whole[:, owned]
        assert target.bytes() == target.host.tobytes()


def test_dtypes_of_torch():
    torch = pytest.importorskip('torch')
    names = ('bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64', 'complex64')
    for name in names:
        assert ucd.Type.contiguous(2, getattr(torch, name)).flatten() == ucd.Type.contiguous(2, name).flatten()
    numbers = torch.arange(6.0).reshape(2, 3).T
    for dtype in (torch.bfloat16, 'bfloat16'):
        cast = ucd.cast(numbers, dtype)
        assert cast.dtype == torch.bfloat16 and torch.equal(cast, numbers.to(torch.bfloat16))
