"""Pages of a KV cache in GPU memory by index: ucd.gather beside kernels by hand and PyTorch.

    python3 python-models/bench/kv_pages.py [--csv FILE]

A page has 61 fragments: one or two for each of 43 layers. Indices are new for every call, and in device
memory. All contenders run in turns; medians count. "device" is the time between two events on a busy stream:
the kernels alone. "call" is by the clock, from the call until the device is done. Needs a GPU, PyTorch and
CuPy; the kernel in Triton is left out where there is no Triton.
"""

import argparse
import csv
import ctypes
import pathlib
import statistics
import sys
import time

import cupy
import torch

import ucd

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'python/bench'))
from peers import c_program  # noqa: E402

LAYERS, FRAGMENTS = 43, 61
CASES = [(32_768, 512), (32_768, 4096), (254_000, 512), (254_000, 4096)]
BUSY_CYCLES = 1_500_000  # somewhat below a millisecond: longer than Python takes to enqueue
INDEX_LISTS = 16

CUDA_SOURCE = r"""
// 16 bytes a thread, `unroll` of them with a block between them.
template <int words, int unroll>
__global__ void pages(const uint4 *pool, const long long *indices, uint4 *out, int chosen,
                      long long pool_pages, long long total) {
    long long at = (long long)blockIdx.x * blockDim.x * unroll + threadIdx.x;
    uint4 value[unroll];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        const long long word = at + (long long)k * blockDim.x;
        if (word >= total) continue;
        const unsigned fragment = (unsigned)(word / words), rest = (unsigned)(word % words);
        const unsigned layer = fragment / (unsigned)chosen, page = fragment % (unsigned)chosen;
        value[k] = pool[(layer * pool_pages + indices[page]) * words + rest];
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        const long long word = at + (long long)k * blockDim.x;
        if (word < total) out[word] = value[k];
    }
}
"""

try:
    import triton
    import triton.language as tl

    @triton.jit
    def triton_pages(pool, indices, out, chosen, pool_pages, words: tl.constexpr, fragments: tl.constexpr, total):
        """A block of fragments for each program, 8 bytes an element."""
        fragment = tl.program_id(0).to(tl.int64) * fragments + tl.arange(0, fragments)
        inside = fragment < total
        layer = fragment // chosen
        page = tl.load(indices + fragment % chosen, mask=inside, other=0)
        word = tl.arange(0, words)
        source = (layer * pool_pages + page)[:, None] * words + word[None, :]
        target = fragment[:, None] * words + word[None, :]
        tl.store(out + target, tl.load(pool + source, mask=inside[:, None]), mask=inside[:, None])

except ImportError:
    triton = None


class Case:
    """A pool with four times the pages that are taken, and lists of pages."""

    def __init__(self, fragments, size):
        self.size = size
        self.chosen = round(fragments / FRAGMENTS)
        self.pages = 4 * self.chosen
        self.fragments = self.chosen * FRAGMENTS
        self.bytes = self.fragments * size
        shape = (FRAGMENTS, self.pages, size // 2)
        self.pool = torch.randint(-30000, 30000, shape, dtype=torch.int16, device='cuda').view(torch.bfloat16)
        self.lists = [torch.randperm(self.pages, device='cuda')[: self.chosen] for _ in range(INDEX_LISTS)]
        self.turn = 0
        # 18 layers have two fragments, 25 have one.
        two = FRAGMENTS - LAYERS
        bounds = [2 * k for k in range(two)] + [2 * two + k for k in range(LAYERS - two + 1)]
        self.layers = [self.pool[a:b] for a, b in zip(bounds, bounds[1:])]
        self.wide_layers = [layer.view(torch.int64) for layer in self.layers]

    def indices(self):
        """Those of the next call."""
        self.turn = (self.turn + 1) % INDEX_LISTS
        return self.lists[self.turn]

    def new_out(self):
        return self.pool.new_empty((FRAGMENTS, self.chosen, self.size // 2))


def by_cuda(case, unroll, threads):
    words = case.size // 16
    name = f'pages<{words}, {unroll}>'
    module = cupy.RawModule(code=CUDA_SOURCE, options=('-std=c++17',), name_expressions=[name])
    kernel = module.get_function(name)
    total = case.fragments * words
    blocks = -(-total // (threads * unroll))

    def call(indices):
        out = case.new_out()
        arguments = (case.pool.data_ptr(), indices.data_ptr(), out.data_ptr(), case.chosen, case.pages, total)
        kernel((blocks,), (threads,), arguments)  # in the default stream, as PyTorch's work
        return out

    return call


def by_triton(case, per_program, warps):
    words = case.size // 8
    pool = case.pool.view(torch.int64)
    grid = (-(-case.fragments // per_program),)

    def call(indices):
        out = case.new_out()
        triton_pages[grid](
            pool, indices, out.view(torch.int64), case.chosen, case.pages, words, per_program, case.fragments,
            num_warps=warps,
        )  # fmt: skip
        return out

    return call


def by_layer(layers, dtype):
    """torch.index_select for each layer, and one torch.cat."""

    def call(indices):
        return torch.cat([layer.index_select(1, indices) for layer in layers]).view(dtype)

    return call


def by_memcpy(case, calls):
    """A copy for each fragment, by the driver. The host has the addresses for nothing."""
    copy = ctypes.cast(ctypes.CDLL('libcuda.so.1').cuMemcpyDtoDAsync_v2, ctypes.c_void_p)
    first, page_bytes, layer_bytes = case.pool.data_ptr(), case.size, case.size * case.pages
    layer = torch.arange(FRAGMENTS)[:, None] * layer_bytes + first
    pieces = {i.data_ptr(): (layer + i.cpu()[None, :] * page_bytes).contiguous() for i in case.lists}

    def call(indices):
        out = case.new_out()
        where = pieces[indices.data_ptr()]
        stream = torch.cuda.current_stream().cuda_stream
        rc = calls.copy_each(copy, out.data_ptr(), where.data_ptr(), case.size, case.fragments, stream)
        assert rc == 0, rc
        return out

    return call


def on_device(call):
    """Seconds between two events around a call, on a stream that is busy while it is enqueued."""
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(BUSY_CYCLES)
    before.record()
    call()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) / 1e3


def by_clock(call):
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def in_turns(contenders, seconds):
    """The medians of each contender by the clock and on the device. Slow ones get fewer turns."""
    times = {name: ([], []) for name in contenders}
    for call in contenders.values():
        call()
        by_clock(call)
    estimate = {name: by_clock(call) for name, call in contenders.items()}
    for turn in range(40):
        for name, call in contenders.items():
            if turn >= max(3, seconds / (2 * estimate[name])):
                continue
            times[name][0].append(by_clock(call))
            times[name][1].append(on_device(call))
    return {name: (statistics.median(clock), statistics.median(device)) for name, (clock, device) in times.items()}


def fastest(candidates, case):
    """The best of several ways to write a kernel, by its time on the device."""
    def cost(call):
        indices = case.indices()
        call(indices)
        return statistics.median(on_device(lambda: call(indices)) for _ in range(7))

    return min(candidates, key=cost)


def check(case, name, call):
    indices = case.indices()
    expected = torch.cat([layer.index_select(1, indices) for layer in case.layers]).view(torch.int16)
    assert torch.equal(call(indices).view(torch.int16), expected), f'{name} moves other bytes'


def gathers(case, calls):
    """All that gather pages within device memory."""
    contenders = {'ucd.gather': lambda indices: ucd.gather(case.pool, indices, axis=1)}
    made = [by_cuda(case, unroll, threads) for unroll in (1, 2, 4) for threads in (128, 256, 512)]
    contenders['CUDA by hand'] = fastest(made, case)
    if triton:
        made = [by_triton(case, n, w) for n in (1, 2, 4, 8) for w in (1, 2, 4, 8) if n * case.size >= 512 * w or n == 1]
        contenders['Triton by hand'] = fastest(made, case)
    contenders['index_select + cat'] = by_layer(case.layers, torch.bfloat16)
    contenders['index_select + cat, 8-byte elements'] = by_layer(case.wide_layers, torch.bfloat16)
    contenders['memcpy each'] = by_memcpy(case, calls)
    for name, call in contenders.items():
        check(case, name, call)
    found = {name: (lambda call=call: call(case.indices())) for name, call in contenders.items()}
    source, target = torch.empty(case.bytes, dtype=torch.uint8, device='cuda'), torch.empty_like(case.new_out())
    found['one contiguous copy'] = lambda: target.view(torch.uint8).view(-1).copy_(source)
    return found


def scatters(case):
    pages = case.new_out()

    def by_torch():
        case.pool.index_copy_(1, case.indices(), pages)

    def call():
        ucd.scatter(pages, case.pool, case.indices(), axis=1)

    return {'ucd.scatter': call, 'index_copy_': by_torch}


def to_the_host(case):
    """Both directions between the pool and pinned memory, beside the bus."""
    pinned = torch.empty((FRAGMENTS, case.chosen, case.size // 2), dtype=torch.bfloat16, pin_memory=True)
    device = torch.empty_like(case.new_out())
    indices = case.indices()
    ucd.gather_into(case.pool, indices, pinned, axis=1)
    torch.cuda.synchronize()
    assert torch.equal(pinned.view(torch.int16), case.pool.index_select(1, indices).cpu().view(torch.int16))
    return {
        'ucd.gather_into, to pinned': lambda: ucd.gather_into(case.pool, case.indices(), pinned, axis=1, non_blocking=True),
        'one contiguous copy, to pinned': lambda: pinned.copy_(device, non_blocking=True),
        'index_select + cat, then to pinned': lambda: pinned.copy_(
            torch.cat([layer.index_select(1, i) for i in [case.indices()] for layer in case.layers]), non_blocking=True
        ),
        'ucd.scatter, from pinned': lambda: ucd.scatter(pinned, case.pool, case.indices(), axis=1, non_blocking=True),
        'one contiguous copy, from pinned': lambda: device.copy_(pinned, non_blocking=True),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--csv', help='also write the table into this file')
    parser.add_argument('--seconds', type=float, default=1.0, help='about how long each contender runs')
    parser.add_argument('--cases', type=int, default=len(CASES), help='how many of the cases')
    options = parser.parse_args()
    calls = c_program()
    rows = []
    for fragments, size in CASES[: options.cases]:
        case = Case(fragments, size)
        print(f'\n{case.fragments} fragments of {size} B, {case.bytes / 2**20:.1f} MiB: {case.chosen} pages')
        print(f'{"":40}{"call us":>10}{"device us":>11}{"GB/s":>8}   of it by the first: call, device')
        for contenders in (gathers(case, calls), scatters(case), to_the_host(case)):
            medians = in_turns(contenders, options.seconds)
            first = next(iter(medians.values()))
            for name, (clock, device) in medians.items():
                rate = case.bytes / device / 1e9
                print(f'{name:40}{clock * 1e6:10.1f}{device * 1e6:11.1f}{rate:8.0f}   {clock / first[0]:8.2f}{device / first[1]:8.2f}', flush=True)
                rows.append([case.fragments, size, name, clock * 1e6, device * 1e6, rate])
        del case, contenders
        torch.cuda.empty_cache()
    if options.csv:
        with open(options.csv, 'w', newline='') as file:
            table = csv.writer(file)
            table.writerow(['fragments', 'bytes', 'contender', 'call_us', 'device_us', 'gigabytes_per_second'])
            table.writerows(rows)


if __name__ == '__main__':
    main()
