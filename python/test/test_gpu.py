"""What only a GPU shows: order in streams, graphs, memories, threads and leaks.

UCD_TEST_CALLS=1000000 runs a million calls where leaks are looked for.
"""

import gc
import os
import threading

import numpy as np
import pytest

import ucd
from libraries import CuPy, Numba, Torch
from ucd_models.cache import Cache, Relayout


def _available(library):
    reason = library.missing()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def torch():
    _available(Torch('cuda'))
    import torch

    yield torch
    torch.cuda.synchronize()


@pytest.fixture
def cupy():
    _available(CuPy())
    import cupy

    yield cupy
    cupy.cuda.Device().synchronize()


# Cycles of the GPU's clock for which a stream is kept busy: about 50 ms. A call in the wrong stream is
# long done by then.
LONG = 100_000_000
SHAPE = (64, 96)


def hold(torch, stream):
    """Keeps a stream busy."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(LONG)


class OfCuda:
    """A stream by the protocol of CUDA's Python libraries."""

    def __init__(self, address):
        self.address = address

    def __cuda_stream__(self):
        return 0, self.address


FORMS = {
    'torch': lambda s: s,
    'integer': lambda s: s.cuda_stream,
    'protocol': lambda s: OfCuda(s.cuda_stream),
    'external': lambda s: __import__('cupy').cuda.ExternalStream(s.cuda_stream),
    'current': lambda s: None,
}


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('own', [False, True], ids=['default', 'own'])
def test_work_is_ordered_by_its_stream(torch, form, own):
    """A slow producer, ucd, and a consumer in one stream: nobody waits for anybody by hand."""
    if form == 'external':
        pytest.importorskip('cupy')
    if not own and form in ('integer', 'external'):
        pytest.skip('the default stream has no address')
    stream = torch.cuda.Stream() if own else torch.cuda.default_stream()
    source, out = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE[::-1], device='cuda')
    back, seen = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE, device='cuda')
    given = FORMS[form](stream)
    for first in (1, 2):
        values = torch.arange(first, first + source.numel(), device='cuda').view(SHAPE)
        torch.cuda.synchronize()
        hold(torch, stream)
        with torch.cuda.stream(stream):
            source.copy_(values)
            ucd.pack_into(source.T, out, stream=given)
            ucd.unpack(out, back.T, stream=given)
            seen.copy_(back)
        # The first time, kernels are loaded, which may wait for the device.
        assert first == 1 or not stream.query(), 'a call waited for the stream'
        stream.synchronize()
        assert (seen == values).all() and (out == values.T).all()


def test_a_stream_that_is_given_waits_for_the_current_one(torch):
    """As in DLPack: what the producer's stream has enqueued comes first."""
    other = torch.cuda.Stream()
    source, out = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE[::-1], device='cuda')
    torch.cuda.synchronize()
    hold(torch, torch.cuda.current_stream())
    source.fill_(7)
    ucd.pack_into(source.T, out, stream=other)
    other.synchronize()
    assert (out == 7).all()


def test_events_between_streams(torch):
    producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
    source, out = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE[::-1], device='cuda')
    torch.cuda.synchronize()
    for value in range(1, 6):
        hold(torch, producer)
        with torch.cuda.stream(producer):
            source.fill_(value)
        consumer.wait_event(producer.record_event())
        with torch.cuda.stream(consumer):
            ucd.pack_into(source.T, out)
        producer.wait_event(consumer.record_event())
        consumer.synchronize()
        assert (out == value).all()


def test_without_an_order_the_race_shows(torch):
    """The tests above can fail: another stream's call is not held up."""
    busy, free = torch.cuda.Stream(), torch.cuda.Stream()
    source, out = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE[::-1], device='cuda')
    ucd.pack_into(source.T, out)
    torch.cuda.synchronize()
    hold(torch, busy)
    with torch.cuda.stream(busy):
        source.fill_(7)
    with torch.cuda.stream(free):
        ucd.pack_into(source.T, out)
    free.synchronize()
    assert not busy.query() and (out == 0).all()


def test_what_ends_on_the_host_waits(torch):
    """Requests and pageable memory: done on return, whatever the current stream has enqueued."""
    stream = torch.cuda.Stream()
    host, other = np.zeros(SHAPE[::-1], np.float32), torch.zeros(SHAPE[::-1], device='cuda')
    calls = {
        'pack_into': lambda source: ucd.pack_into(source.T, host),
        'copy': lambda source: ucd.copy_bytes(source.T, host),
        'request': lambda source: ucd.icopy_bytes(source.T, host).wait(),
        'batch': lambda source: ucd.Batch.pack([(source.T, host)]).run(),
        'device': lambda source: ucd.copy(source.T, other) and ucd.copy(other, host),
    }
    for value, call in enumerate(calls.values(), 1):
        source = torch.zeros(SHAPE, device='cuda')
        torch.cuda.synchronize()
        hold(torch, stream)
        with torch.cuda.stream(stream):
            source.fill_(value)
            call(source)
            assert (host == value).all()


def test_cupy_streams(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    slow = cupy.RawKernel(
        'extern "C" __global__ void slow(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', 'slow'
    )
    for form in (None, stream, stream.ptr, OfCuda(stream.ptr)):
        source, out = cupy.zeros(SHAPE, 'f4'), cupy.zeros(SHAPE[::-1], 'f4')
        cupy.cuda.Device().synchronize()
        for turn in (1, 2):
            with stream:
                slow((1,), (1,), (LONG,))
                source += 7
                ucd.pack_into(source[::-1].T, out, stream=form)
                total = out.sum()
            assert turn == 1 or not stream.done
            stream.synchronize()
            assert float(total) == 7 * turn * source.size


def test_numba_arrays_say_their_stream():
    _available(Numba())
    from numba import cuda

    stream = cuda.stream()
    host = np.arange(24.0).reshape(4, 6)
    source, out = cuda.to_device(host, stream=stream), cuda.device_array(12, stream=stream)
    for given in (None, stream):
        ucd.pack_into(source[:, 1:4], out, stream=given)
        stream.synchronize()
        assert out.copy_to_host().tolist() == host[:, 1:4].ravel().tolist()
        out.copy_to_device(np.zeros(12))


def test_libraries_together(torch, cupy):
    pool = torch.arange(60.0, device='cuda').view(3, 5, 4)
    chosen = cupy.asarray([4, 0], dtype='i4')
    cupy.cuda.Device().synchronize()
    out = cupy.empty((3, 2, 4), 'f4')
    ucd.gather_into(pool, chosen, out, axis=1)
    torch.cuda.synchronize()
    assert out.get().tolist() == pool[:, [4, 0]].tolist()
    ucd.scatter(out * 0, pool, chosen, axis=1)
    torch.cuda.synchronize()
    assert pool[:, [4, 0]].abs().sum() == 0 and pool[:, 1].abs().sum() > 0


TORCH_ELEMENTS = ['bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64',
                  'complex64', 'complex128', 'float8_e4m3fn', 'float8_e5m2', 'uint16', 'uint32', 'uint64']  # fmt: skip


@pytest.mark.parametrize('name', TORCH_ELEMENTS)
def test_elements_of_torch(torch, name):
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f'this PyTorch has no {name}')
    raw = torch.randint(0, 2 if name == 'bool' else 256, (5, 6, dtype.itemsize), dtype=torch.uint8, device='cuda')
    tensor = raw.view(dtype)[..., 0]
    out = ucd.pack(tensor[1::2, ::3])
    torch.cuda.synchronize()
    assert out.dtype == dtype and out.device == tensor.device
    assert out.view(torch.uint8).cpu().numpy().tobytes() == raw[1::2, ::3].cpu().numpy().tobytes()


@pytest.mark.parametrize('name', ['float16', 'bfloat16', 'float32', 'complex64'])
def test_sums_of_torch(torch, name):
    dtype = getattr(torch, name)
    tensor, total = torch.randn(SHAPE, device='cuda').to(dtype), torch.randn(SHAPE[::-1], device='cuda').to(dtype)
    expected = total + tensor.T
    ucd.pack_into(tensor.T, total, op='sum')
    torch.cuda.synchronize()
    torch.testing.assert_close(total, expected)


def test_what_torch_does_not_share(torch):
    """A conjugate that is not carried out has other values than its memory; a gradient would get lost."""
    out = torch.zeros(6, dtype=torch.complex64, device='cuda')
    with pytest.raises((BufferError, RuntimeError)):
        ucd.pack_into(torch.ones(6, dtype=torch.complex64, device='cuda').conj(), out)
    with pytest.raises((BufferError, RuntimeError)):
        ucd.pack_into(torch.ones(6, device='cuda', requires_grad=True), out)


def test_memories(torch, cupy):
    import cupyx

    pageable, device = np.arange(6.0), torch.arange(6.0, dtype=torch.float64, device='cuda')
    pinned, managed = torch.zeros(6, dtype=torch.float64).pin_memory(), cupy.ndarray((6,), 'f8', cupy.cuda.malloc_managed(48))
    of_cupy = cupyx.zeros_pinned((6,), 'f8')
    memories = [ucd.memory(a) for a in (pageable, pinned, of_cupy, managed, device)]
    assert memories == ['host', 'pinned', 'pinned', 'managed', f'cuda:{device.device.index}']
    arrays = [pageable, pinned, of_cupy, managed, device]
    torch.cuda.synchronize()
    for source in arrays:
        for target in arrays:
            if source is target:
                continue
            ucd.copy_bytes(np.arange(6.0), source)
            ucd.copy_bytes(np.zeros(6), target)
            (ucd.pack_into if target is not device else ucd.unpack)(source, target)
            torch.cuda.synchronize()
            seen = np.zeros(6)
            ucd.copy_bytes(target, seen)
            assert seen.tolist() == list(range(6)), (ucd.memory(source), ucd.memory(target))


def test_managed_memory_is_in_stream_order(cupy):
    """Its library works in it by streams, though the host could reach it."""
    stream = cupy.cuda.Stream(non_blocking=True)
    slow = cupy.RawKernel(
        'extern "C" __global__ void slow(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', 'slow'
    )
    count = SHAPE[0] * SHAPE[1]
    managed, other = (cupy.ndarray(SHAPE, 'f4', cupy.cuda.malloc_managed(4 * count)) for _ in range(2))
    host = np.zeros(count, 'f4')
    for value in (1, 2, 3):
        for call in (
            lambda: ucd.pack_into(managed.T, host),
            lambda: ucd.copy_bytes(managed, host),
            lambda: ucd.pack_into(managed, other) and ucd.copy_bytes(other, host),
        ):
            with stream:
                managed.fill(0)
                slow((1,), (1,), (LONG,))
                managed.fill(value)
                call()
            assert (host == value).all()
            host[:] = 0


def test_strides_of_cupy(cupy):
    """CuPy's DLPack has negative strides as unsigned numbers."""
    base = np.arange(120, dtype='i2').reshape(2, 3, 4, 5)
    array = cupy.asarray(base)
    for where in (np.s_[::-1], np.s_[:, ::-1, 1::2], np.s_[1:0, ::-1], np.s_[0, 0, 0, ::-2], np.s_[..., ::-1]):
        assert ucd.pack(array[where]).get().tolist() == base[where].ravel().tolist()


def test_pinned_memory_is_in_stream_order(torch):
    """With non_blocking; without, the call returns when it may be read."""
    stream = torch.cuda.Stream()
    source, out = torch.zeros(SHAPE, device='cuda'), torch.zeros(SHAPE[::-1]).pin_memory()
    calls = {
        'pack_into': lambda **how: ucd.pack_into(source.T, out, **how),
        'copy': lambda **how: ucd.copy(source.T, out, **how),
        'copy_bytes': lambda **how: ucd.copy_bytes(source.T, out, **how),
        'batch': lambda **how: ucd.Batch.copy([(source.T, out)]).run(**how),
    }
    for value, call in enumerate(calls.values(), 1):
        call()
        torch.cuda.synchronize()
        hold(torch, stream)
        with torch.cuda.stream(stream):
            source.fill_(value)
            call(non_blocking=True)
        assert not stream.query()
        stream.synchronize()
        assert (out == value).all()
        hold(torch, stream)
        with torch.cuda.stream(stream):
            source.fill_(-value)
            call()
        assert (out == -value).all()


DEVICE_CALLS = {
    'copy': lambda s, o, **how: ucd.copy(s.T, o, **how),
    'copy, converted': lambda s, o, **how: ucd.copy(s.T, o, convert=True, **how),
    'copy_bytes': lambda s, o, **how: ucd.copy_bytes(s.T, o, **how),
    'pack_into': lambda s, o, **how: ucd.pack_into(s.T, o, **how),
    'unpack': lambda s, o, **how: ucd.unpack(s, o.view(SHAPE), **how),
    'gather_into': lambda s, o, **how: ucd.gather_into(s, torch_range(s), o, **how),
}


def torch_range(like):
    import torch

    return torch.arange(len(like), device=like.device)


@pytest.mark.parametrize('name', DEVICE_CALLS)
def test_calls_on_a_device_enqueue_and_wait_only_if_told(torch, name):
    stream = torch.cuda.Stream()
    source = torch.zeros(SHAPE, device='cuda')
    out = torch.zeros(SHAPE[::-1], device='cuda', dtype=torch.float64 if 'converted' in name else torch.float32)
    call = DEVICE_CALLS[name]
    call(source, out)
    torch.cuda.synchronize()
    for value, how in ((1, {}), (2, {'wait': True})):
        with torch.cuda.stream(stream):
            torch_range(source)  # memory of this stream
            hold(torch, stream)
            source.fill_(value)
            call(source, out, **how)
        assert stream.query() == bool(how)
        stream.synchronize()
        assert (out == value).all()


def test_cast_on_a_device_enqueues(torch):
    stream, source = torch.cuda.Stream(), torch.zeros(SHAPE, device='cuda')
    ucd.cast(source.T, torch.float16)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.empty(SHAPE[::-1], device='cuda', dtype=torch.float16)
        hold(torch, stream)
        source.fill_(5)
        made = ucd.cast(source.T, torch.float16)
    assert not stream.query()
    stream.synchronize()
    assert made.dtype == torch.float16 and (made == 5).all()


def test_sides_on_a_device_that_overlap(torch):
    memory = torch.arange(1000, device='cuda', dtype=torch.float32)
    before = memory.clone()
    ucd.copy(memory[:-1], memory[1:])
    assert torch.equal(memory[1:], before[:-1])
    square = torch.arange(64 * 64, device='cuda').view(64, 64)
    before = square.clone()
    ucd.copy(square.T, square)
    assert torch.equal(square, before.T)
    other = torch.cuda.Stream()
    ucd.copy(square.T, square, stream=other)
    assert torch.equal(square, before)
    pool = torch.arange(60, device='cuda').view(10, 6)
    before = pool.clone()
    ucd.gather_into(pool, [7, 0, 3], pool[:3])
    assert torch.equal(pool[:3], before[[7, 0, 3]])


def test_indices_on_a_device_of_any_form(torch):
    pool = torch.randn(20, 5, device='cuda')
    many = torch.tensor([3, 9, 0, 9, 7, 9], device='cuda')
    for indices in (many[::2], many.to(torch.int16)[::2], many.to(torch.uint8)[::2].contiguous(), [3, 0, 7]):
        assert torch.equal(ucd.gather(pool, indices), pool[[3, 0, 7]])


def test_graphs_of_torch(torch):
    """gather and scatter in a graph read the indices that are there when it is replayed."""
    layers, pages, width, chosen = 3, 40, 65, 12
    pool = torch.randn(layers, pages, width, device='cuda')
    indices = torch.arange(chosen, device='cuda')
    out = torch.zeros(layers, chosen, width, device='cuda')
    other = torch.zeros_like(pool)
    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        ucd.gather_into(pool, indices, out, axis=1)
        ucd.scatter(out, other, indices, axis=1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        ucd.gather_into(pool, indices, out, axis=1)
        ucd.scatter(out, other, indices, axis=1)
        made = ucd.gather(pool, indices, axis=1)
    for seed in range(20):
        new = torch.randperm(pages, generator=torch.Generator().manual_seed(seed))[:chosen]
        indices.copy_(new)
        pool.normal_()
        other.zero_()
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        expected = pool.index_select(1, indices)
        assert torch.equal(out, expected) and torch.equal(made, expected)
        assert torch.equal(other.index_select(1, indices), expected)
        other[:, indices] = 0
        assert not other.any()


def test_graphs_of_batches(torch):
    field = torch.randn(8, 40, 30, device='cuda')
    outs = [torch.zeros(8 * 40, device='cuda') for _ in range(5)]
    batch = ucd.Batch.pack([(field[:, :, i], out) for i, out in enumerate(outs)])
    batch.run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch.run()
    for _ in range(5):
        field.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert all(torch.equal(out, field[:, :, i].reshape(-1)) for i, out in enumerate(outs))


def mixed_batch(torch):
    """A batch of each kind of member, its inputs, and what says whether their values have arrived."""
    field, target = torch.randn(8, 40, 30, device='cuda'), torch.zeros(40, 9, 8, device='cuda')
    message, out = torch.randn(8 * 40, device='cuda'), torch.zeros(8 * 40, device='cuda')
    batch = ucd.Batch([
        ('pack', field[:, :, 3], out),
        ('unpack', message, target[:, 0]),
        ('copy', field[:, :, 5], target[:, 4].T),
    ])  # fmt: skip

    def arrived():
        return (
            torch.equal(out, field[:, :, 3].reshape(-1))
            and torch.equal(target[:, 0].reshape(-1), message)
            and torch.equal(target[:, 4].T, field[:, :, 5])
        )

    return batch, (field, message), arrived


def test_batches_with_members_of_all_kinds(torch):
    batch, inputs, arrived = mixed_batch(torch)
    for start in (batch.run, lambda: batch.start().wait(), lambda: batch.run(stream=torch.cuda.current_stream())):
        for array in inputs:
            array.normal_()
        assert start() == 3 * 8 * 40 * 4
        torch.cuda.synchronize()
        assert arrived()


def test_graphs_of_batches_with_members_of_all_kinds(torch):
    batch, inputs, arrived = mixed_batch(torch)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch.run()
    # The graph goes on with the arrays of its capture, and without the batch.
    batch.rebase([(None, torch.zeros(8 * 40, device='cuda'))])
    del batch
    gc.collect()
    for _ in range(5):
        for array in inputs:
            array.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert arrived()


def test_batches_with_other_arrays(torch):
    fields = [torch.randn(8, 40, 30, device='cuda') for _ in range(6)]
    outs = [torch.zeros(8 * 40, device='cuda') for _ in range(6)]
    batch = ucd.Batch.pack([(fields[i][:, :, 1], outs[i]) for i in range(2)])
    batch.run()
    for k in (2, 4):  # while the device may still be busy with what was run before
        batch.rebase([(fields[k + i][:, :, 1], outs[k + i]) for i in range(2)])
        batch.run()
    torch.cuda.synchronize()
    assert all(torch.equal(out, field[:, :, 1].reshape(-1)) for field, out in zip(fields, outs))
    with pytest.raises(ValueError, match=r'members\[1\]: out is in another kind of memory'):
        batch.rebase([(None, torch.zeros(8 * 40))], 1)


def test_batches_of_device_and_pageable_memory(torch):
    """All members are moved, wherever the first one is."""
    field, out = torch.randn(8, 40, device='cuda'), torch.zeros(40, 8, device='cuda')
    host, back = np.zeros(320, np.float32), torch.zeros(8, 40, device='cuda')
    numbers = np.arange(320, dtype=np.float32)
    batch = ucd.Batch([('copy', field.T, out), ('pack', field.T, host), ('unpack', numbers, back), ('copy', numbers, numbers.copy())])
    for _ in range(3):
        field.normal_()
        batch.run()
        assert torch.equal(out, field.T) and (host == field.T.cpu().numpy().ravel()).all()
        assert (back.cpu().numpy().ravel() == numbers).all()


def test_what_was_never_run_before_can_be_captured(torch):
    """Of new types, whose lists are uploaded during the capture; what is captured is not run."""
    pool, indices = torch.randn(3, 37, 19, 3, device='cuda'), torch.tensor([4, 0, 31], device='cuda')
    rows = torch.zeros(11, device='cuda')
    irregular = ucd.Type.indexed([1] * 11, [0, 3, 4, 9, 17, 18, 30, 44, 51, 52, 99], 'float32')
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pages = ucd.gather(pool[..., 1], indices, axis=1)
        ucd.pack_into(pool, rows, type=irregular)
        transposed = ucd.pack(pool.permute(3, 1, 0, 2))
    assert rows.abs().sum() == 0
    for _ in range(3):
        pool.normal_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(pages, pool[..., 1].index_select(1, indices))
        assert torch.equal(rows, pool.view(-1)[[0, 3, 4, 9, 17, 18, 30, 44, 51, 52, 99]])
        assert torch.equal(transposed, pool.permute(3, 1, 0, 2).reshape(-1))


def test_a_graph_keeps_the_types_that_it_uses(torch):
    """Memory of lists is used again as soon as their type goes."""
    field, out = torch.randn(4000, device='cuda'), torch.zeros(3, 200, device='cuda')
    numbers = np.random.default_rng(5)
    chosen = [numbers.permutation(4000)[:200] for _ in range(3)]
    types = [ucd.Type.indexed([1] * 200, list(map(int, where)), 'float32') for where in chosen]
    batch = ucd.Batch.pack([(field, row, type) for row, type in zip(out, types)])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batch.run()
    del batch, types
    gc.collect()
    noise = torch.zeros(200, device='cuda')
    for _ in range(50):
        other = ucd.Type.indexed([1] * 200, list(map(int, numbers.permutation(4000)[:200])), 'float32')
        ucd.pack_into(field, noise, type=other)
        torch.cuda.synchronize()
        del other
    field.normal_()
    graph.replay()
    torch.cuda.synchronize()
    for row, where in zip(out, chosen):
        assert torch.equal(row, field[torch.from_numpy(where).cuda()])


def test_graphs_that_come_and_go(torch):
    pool, out = torch.randn(5, 40, 7, device='cuda'), torch.zeros(5, 3, 7, device='cuda')
    indices = torch.tensor([1, 39, 20], device='cuda')
    for _ in range(20):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            ucd.gather_into(pool, indices, out, axis=1)
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, pool.index_select(1, indices))


def test_graphs_of_cupy(cupy):
    pool, indices = cupy.random.rand(50, 33), cupy.arange(9)
    out = cupy.zeros((9, 33))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        ucd.gather_into(pool, indices, out)
        stream.synchronize()
        stream.begin_capture()
        try:
            ucd.gather_into(pool, indices, out)
        finally:
            graph = stream.end_capture()
        for seed in range(10):
            indices[...] = cupy.asarray(np.random.default_rng(seed).permutation(50)[:9])
            graph.launch(stream)
            stream.synchronize()
            assert bool((out == pool[indices]).all())


def test_many_indices(torch):
    """As many as a request of an inference engine has."""
    pool = torch.randint(0, 256, (61, 2000, 512), dtype=torch.uint8, device='cuda')
    for seed in range(3):
        indices = torch.randperm(2000, generator=torch.Generator().manual_seed(seed))[:537].cuda()
        for kind in (torch.int64, torch.int32):
            assert torch.equal(ucd.gather(pool, indices.to(kind), axis=1), pool.index_select(1, indices))
        pages = torch.randint(0, 256, (61, 537, 512), dtype=torch.uint8, device='cuda')
        expected = pool.clone().index_copy_(1, indices, pages)
        ucd.scatter(pages, pool, indices, axis=1)
        assert torch.equal(pool, expected)


def test_indices_on_the_host(torch):
    """The stream is synchronised, and the work is done on return."""
    pool = torch.arange(40.0, device='cuda').reshape(10, 4)
    for indices in (np.array([7, 2, 2]), torch.tensor([7, 2, 2], dtype=torch.int32)):
        pages = ucd.gather(pool, indices)
        assert torch.equal(pages, pool[[7, 2, 2]])
        other = torch.zeros_like(pool)
        ucd.scatter(pages[:2], other, indices[:2])
        assert torch.equal(other[[7, 2]], pool[[7, 2]]) and not other[0].any()
    axes, shape = 'page layer kv head token dim', (6, 1, 2, 2, 4, 8)
    caches = [Cache.of(torch.rand(shape, device='cuda', dtype=kind), axes) for kind in (torch.float32, torch.float16)]
    tables = np.array([5, 0, 3]), [1, 4, 2]
    Relayout([(*caches, *tables)], convert=True).run()
    (source,), (target,) = (cache.arrays for cache in caches)
    assert torch.equal(target[tables[1]], source[torch.from_numpy(tables[0])].half())


def test_requests_keep_their_arrays(torch):
    """What the caller drops stays until the request is complete."""
    for seed in range(20):
        torch.manual_seed(seed)
        source = torch.randn(2000, 1001, device='cuda')
        expected = source.T.cpu().numpy()
        out = torch.empty(1001, 2000).pin_memory()
        request = ucd.ipack_into(source.T, out)
        del source
        noise = [torch.full((2000, 1001), float(i), device='cuda') for i in range(3)]
        request.wait()
        assert (out.numpy() == expected).all()
        del noise


def test_batches_keep_their_arrays(torch):
    source = torch.randn(200, 101, device='cuda')
    expected, out = source.T.contiguous(), torch.empty(101, 200, device='cuda')
    batch = ucd.Batch.pack([(source.T, out)])
    del source
    noise = [torch.zeros(200, 101, device='cuda') for _ in range(20)]
    batch.run()
    torch.cuda.synchronize()
    assert torch.equal(out, expected) and noise


def test_threads_with_streams_of_their_own(torch):
    pool = torch.randn(64, 100, 33, device='cuda')
    torch.cuda.synchronize()
    failures = []

    def work(k):
        try:
            # A thread begins with device 0, whichever the pool is on.
            with torch.cuda.stream(torch.cuda.Stream(pool.device)):
                for i in range(150):
                    view = pool[k::8, i % 9 :: 3]
                    packed = ucd.pack(view)
                    indices = torch.randint(0, 100, (17,), device=pool.device)
                    pages = ucd.gather(pool, indices, axis=1)
                    assert torch.equal(packed.view(view.shape), view)
                    assert torch.equal(pages, pool.index_select(1, indices))
                    if i % 50 == 0:
                        host = np.empty(view.numel(), np.float32)
                        ucd.ipack_into(view, host).wait()
                        assert (host == view.cpu().numpy().ravel()).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def test_no_leaks(torch, cupy):
    tensor, out = torch.randn(8, 60, device='cuda'), torch.zeros(480, device='cuda')
    array, target = cupy.zeros((8, 60)), cupy.zeros(480)
    indices = torch.tensor([3, 1], device='cuda')

    def everything(i):
        ucd.pack_into(tensor[:, i % 50 :], out, partial=True)
        ucd.unpack(out, tensor.T)
        ucd.gather(tensor, indices)
        ucd.pack_into(array[:, :: 1 + i % 7], target, partial=True)
        ucd.pack(tensor[i % 8])
        if i % 100 == 0:
            torch.cuda.synchronize()
            ucd.copy_bytes(tensor, target.view('f4')[:480])
            ucd.ipack_into(tensor, out).wait()
            batch = ucd.Batch([('pack', tensor.T, out), ('copy', tensor, torch.zeros_like(tensor.T).T)])
            batch.run()
            batch.rebase([(torch.zeros_like(tensor).T, None)])
            batch.start().wait()
            with pytest.raises(ValueError):
                ucd.pack_into(tensor, tensor.T)

    rounds = max(2000, int(os.environ.get('UCD_TEST_CALLS', '50000')) // 5)

    def growth():
        """Of resident memory, of what is in use on the whole device, and of PyTorch's allocations."""
        samples = []
        for i in range(rounds):
            if i % (rounds // 10) == 0:
                torch.cuda.synchronize()
                gc.collect()
                samples.append((resident(), -torch.cuda.mem_get_info()[0], torch.cuda.memory_allocated()))
            everything(i)
        return [last - settled for settled, last in zip(samples[2], samples[-1])]

    # Other processes may take memory of the device meanwhile. What leaks grows each time.
    grown = [growth()]
    while grown[-1][1] >= 64 << 20 and len(grown) < 4:
        grown.append(growth())
    process, device, tensors = grown[-1]
    assert process < max(4 << 20, rounds * 64), grown
    assert device < 64 << 20, grown
    assert tensors <= 1 << 20, grown
