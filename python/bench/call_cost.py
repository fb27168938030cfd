"""What a call costs in Python beyond the same call in C, for the arrays of each library.

    python3 python/bench/call_cost.py [--json FILE]

Time to return: on a GPU, to enqueue. The least mean of many bursts of calls counts. A GPU is given time to
finish between bursts, which are too short to fill its queue. At last, on a GPU, copies beside PyTorch's copy_:
in loops, until the device is done.
"""

import argparse
import json
import statistics
import time

import numpy as np

import ucd
from peers import c_program, extents

SHAPE, STEP = (8, 8), 2  # a view of 64 floats, two apart


def least(burst, between=lambda: None, rounds=300):
    """The least of what bursts take for each of their calls."""
    found = []
    for _ in range(rounds):
        between()
        found.append(burst())
    return min(found)


def burst_of(call, calls):
    def burst():
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - start) / calls

    return burst


def in_loops(turns=7):
    """Copies of PyTorch's arrays in loops: microseconds of each, beside copy_."""
    import torch

    def seconds(call, calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    print('\n| float32, by copy; copy_ | KiB | us | us | ratio |\n|---|---|---|---|---|')
    for kib in (4, 64, 1024, 4096, 16 << 10, 64 << 10):
        n = kib << 8
        x, half = torch.randn(2 * n, device='cuda'), torch.zeros(n, dtype=torch.bfloat16, device='cuda')
        square, out = x[:n].view(64, n // 64), torch.zeros(n, device='cuda')
        pairs = {
            'contiguous': (x[:n], out),
            'every second element': (x[::2], out),
            'transposed': (square.T, out.view(n // 64, 64)),
            'to bfloat16': (x[:n], half),
            'every second element, to bfloat16': (x[::2], half),
            'from bfloat16': (half, out),
        }
        for name, (source, target) in pairs.items():
            convert = source.dtype != target.dtype
            ours = (lambda a=source, b=target: ucd.copy(a, b, convert=True)) if convert else (lambda a=source, b=target: ucd.copy(a, b))
            theirs = lambda a=source, b=target: b.copy_(a)  # noqa: E731
            found = ([], [])
            for turn in range(turns + 1):
                for call, times in zip((ours, theirs), found):
                    times.append(seconds(call, 1000 if kib < 16 << 10 else 200))
            one, other = [statistics.median(times[1:]) * 1e6 for times in found]
            print(f'| {name} | {kib} | {one:.1f} | {other:.1f} | {one / other:.2f} |', flush=True)


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, python, c=None):
        self.rows.append({'call': name, 'python_us': python * 1e6, 'c_us': c and c * 1e6, 'beyond_us': c and (python - c) * 1e6})
        if c is not None and c < 0:
            raise RuntimeError(f'{name}: libucd refused the call in C')
        numbers = [f'{python * 1e6:8.2f}', *([f'{c * 1e6:8.2f}', f'{(python - c) * 1e6:8.2f}'] if c else [])]
        print(f'{name:44}' + ' '.join(numbers), flush=True)


def with_numpy(table, calls):
    source = np.zeros((SHAPE[0], SHAPE[1] * STEP), np.float32)[:, ::STEP]
    out = np.zeros(source.size, np.float32)
    kind = calls.view_type(2, extents(source.shape), extents(source.strides))
    c = least(lambda: calls.pack_seconds(1000, source.ctypes.data, kind, out.ctypes.data, out.nbytes))
    table.add('NumPy: pack_into', least(burst_of(lambda: ucd.pack_into(source, out), 1000)), c)


def on_device(table, calls, name, source, out, addresses, strides, stream, synchronize):
    """A library's arrays in device memory."""
    kind = calls.view_type(2, extents(SHAPE), extents(strides))
    ucd.pack_into(source, out)

    def enqueue():
        return calls.enqueue_seconds(100, addresses[0], kind, addresses[1], SHAPE[0] * SHAPE[1] * 4, stream)

    c = least(enqueue, synchronize)
    table.add(f'{name}: pack_into', least(burst_of(lambda: ucd.pack_into(source, out), 100), synchronize), c)
    one = burst_of(lambda: ucd._core.shape_and_strides(source), 100)
    table.add(f'{name}: one array read', least(one, synchronize))
    return c


def with_torch(table, calls):
    import torch

    source = torch.zeros(SHAPE[0], SHAPE[1] * STEP, device='cuda')[:, ::STEP]
    out = torch.zeros(source.numel(), device='cuda')
    own = torch.cuda.Stream()
    for name, stream in {'torch': torch.cuda.current_stream(), 'torch, own stream': own}.items():
        with torch.cuda.stream(stream):
            on_device(
                table, calls, name, source, out, (source.data_ptr(), out.data_ptr()),
                [4 * s for s in source.stride()], stream.cuda_stream, torch.cuda.synchronize,
            )  # fmt: skip
    given = burst_of(lambda: ucd.pack_into(source, out, stream=own), 100)
    table.add('torch: pack_into, stream=', least(given, torch.cuda.synchronize))
    out2 = torch.zeros(8, 16, device='cuda')
    table.add('torch: out.copy_(view), for comparison', least(burst_of(lambda: out2[:, :8].copy_(source), 100), torch.cuda.synchronize))

    pool, indices = torch.zeros(4, 64, 128, device='cuda'), torch.arange(8, device='cuda')
    pages = torch.zeros(4, 8, 128, device='cuda')

    def gather_in_c():
        return calls.gather_seconds(
            100, pool.data_ptr(), 4, 64, 512, indices.data_ptr(), 8, pages.data_ptr(), torch.cuda.current_stream().cuda_stream
        )

    c = least(gather_in_c, torch.cuda.synchronize)
    into = burst_of(lambda: ucd.gather_into(pool, indices, pages, axis=1), 100)
    table.add('torch: gather_into', least(into, torch.cuda.synchronize), c)
    table.add('torch: gather', least(burst_of(lambda: ucd.gather(pool, indices, axis=1), 100), torch.cuda.synchronize), c)
    select = burst_of(lambda: pool.index_select(1, indices), 100)
    table.add('torch: index_select, for comparison', least(select, torch.cuda.synchronize))
    parts = {
        'torch.cuda.current_stream': torch.cuda.current_stream,
        '__dlpack__': lambda: source.__dlpack__(stream=-1, max_version=(1, 0)),
        '__dlpack_device__': source.__dlpack_device__,
    }
    for name, call in parts.items():
        table.add(f'torch: {name}', least(burst_of(call, 100)))


def with_cupy(table, calls):
    import cupy

    source, out = cupy.zeros((SHAPE[0], SHAPE[1] * STEP), 'f4')[:, ::STEP], cupy.zeros(SHAPE[0] * SHAPE[1], 'f4')
    synchronize = cupy.cuda.Device().synchronize
    on_device(
        table, calls, 'CuPy', source, out, (source.data.ptr, out.data.ptr), source.strides,
        cupy.cuda.get_current_stream().ptr, synchronize,
    )  # fmt: skip
    parts = {
        'get_current_stream': cupy.cuda.get_current_stream,
        '__dlpack__': lambda: source.__dlpack__(stream=-1, max_version=(1, 0)),
        '__dlpack_device__': source.__dlpack_device__,
        '__cuda_array_interface__': lambda: source.__cuda_array_interface__,
    }
    for name, call in parts.items():
        table.add(f'CuPy: {name}', least(burst_of(call, 100)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--json', help='also write the table into this file')
    options = parser.parse_args()
    calls, table = c_program(), Table()
    print(f'{"microseconds":44}{"Python":>8} {"C":>8} {"beyond":>8}')
    with_numpy(table, calls)
    gpu = any(b.name == 'cuda' and b.available and b.devices for b in ucd.backends())
    for name, measure in {'torch': with_torch, 'cupy': with_cupy}.items():
        if not gpu:
            print(f'{name}: no GPU')
            continue
        try:
            measure(table, calls)
        except ImportError as error:
            print(f'{name}: {error}')
    if gpu:
        in_loops()
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(table.rows, file, indent=1)


if __name__ == '__main__':
    main()
