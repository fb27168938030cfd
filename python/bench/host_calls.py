"""Calls of small arrays on the host beside those of NumPy and PyTorch.

    python3 python/bench/host_calls.py [--threads N]

ns of each call: the median of rounds of many calls, of which each takes turns with all others of its size. PyTorch is left
out if it is not installed.
"""

import argparse
import statistics
import time

import numpy as np

import ucd

try:
    import torch
except ImportError:
    torch = None

SIZES = (64, 512, 4096)
GATHERS = ((64, 256), (2000, 512), (200, 32768))  # rows, bytes of each


def medians(calls, repeat, rounds):
    found = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            for _ in range(repeat):
                call()
            found[name].append((time.perf_counter_ns() - start) / repeat)
    return {name: statistics.median(times) for name, times in found.items()}


def show(title, calls, repeat=1000, rounds=40):
    """calls: by name, in pairs of ours and a peer's."""
    print(title)
    found = list(medians(calls, repeat, rounds).items())
    for (ours, mine), (peer, theirs) in zip(found[::2], found[1::2]):
        print(f'  {ours:24} {mine:9.0f}   {peer:24} {theirs:9.0f}   {mine / theirs:5.2f}', flush=True)


def of_numpy(size):
    plain, other = np.arange(size // 4, dtype='f4'), np.empty(size // 4, 'f4')
    strided = np.zeros((size // 4, 2), 'f4')[:, 0]
    return {
        'copy': lambda: ucd.copy(plain, other), 'copyto': lambda: np.copyto(other, plain),
        'copy, strided': lambda: ucd.copy(strided, other), 'copyto, strided': lambda: np.copyto(other, strided),
        'copy, to strided': lambda: ucd.copy(other, strided), 'copyto, to strided': lambda: np.copyto(strided, other),
        'pack': lambda: ucd.pack(strided), 'ravel': lambda: np.ravel(strided),
        'cast': lambda: ucd.cast(strided, np.float16), 'astype': lambda: strided.astype(np.float16),
    }  # fmt: skip


def of_torch(size):
    plain, other = torch.arange(size // 4, dtype=torch.float32), torch.empty(size // 4)
    strided = torch.zeros(size // 4, 2)[:, 0]
    return {
        'copy': lambda: ucd.copy(plain, other), 'copy_': lambda: other.copy_(plain),
        'copy, strided': lambda: ucd.copy(strided, other), 'copy_, strided': lambda: other.copy_(strided),
        'copy, to strided': lambda: ucd.copy(other, strided), 'copy_, to strided': lambda: strided.copy_(other),
        'pack': lambda: ucd.pack(strided), 'contiguous': lambda: strided.contiguous(),
        'cast': lambda: ucd.cast(strided, torch.float16), 'to': lambda: strided.to(torch.float16),
    }  # fmt: skip


def gathers(rows, width):
    random = np.random.default_rng(1)
    pool, indices = random.integers(0, 255, (4 * rows, width), dtype='u1'), random.integers(0, 4 * rows, rows)
    calls = {'gather': lambda: ucd.gather(pool, indices), 'take': lambda: np.take(pool, indices, 0)}
    if torch:
        tensor, chosen = torch.from_numpy(pool).clone(), torch.from_numpy(indices)
        out = torch.empty((rows, width), dtype=torch.uint8)
        calls |= {
            'gather, PyTorch': lambda: ucd.gather(tensor, chosen), 'index_select': lambda: torch.index_select(tensor, 0, chosen),
            'gather_into, PyTorch': lambda: ucd.gather_into(tensor, chosen, out),
            'index_select, out': lambda: torch.index_select(tensor, 0, chosen, out=out),
        }  # fmt: skip
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--threads', type=int, help='of PyTorch')
    threads = parser.parse_args().threads
    if torch and threads:
        torch.set_num_threads(threads)
    for size in SIZES:
        show(f'NumPy, {size} bytes', of_numpy(size))
        if torch:
            show(f'PyTorch, {size} bytes', of_torch(size))
    for rows, width in GATHERS:
        show(f'{rows} rows of {width} bytes', gathers(rows, width), 20 if width > 1000 else 300)


if __name__ == '__main__':
    main()
