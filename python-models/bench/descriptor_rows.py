"""How long the descriptors of a request take: 112,000 ranges, of 1,750 pages in 32 layers, keys and values.

    descriptor_rows.py

In rows of five, in rows of three, and in rows of three by NumPy from addresses that are known, in turns; medians count.
"""

import statistics
import time

import numpy as np

from ucd_models import cache

LAYERS, POOL, PAGES, PAGE_BYTES = 32, 4000, 1750, 16 * 8 * 128 * 2
TURNS = 31


def main():
    format = cache.Format.of_shapes('bfloat16', 'kv page token head dim', [(2, POOL, 16, 8, 128)] * LAYERS)
    bases = [(1 << 41) + k * (1 << 30) for k in range(LAYERS)]
    placed, pages = format.at(bases), np.arange(100, 100 + 2 * PAGES, 2)

    def by_numpy():
        tensors = np.add.outer(np.array(bases), np.arange(2) * POOL * PAGE_BYTES).ravel()
        addresses = np.add.outer(tensors, pages * PAGE_BYTES).ravel()
        return np.stack([addresses, np.full(len(addresses), PAGE_BYTES), np.zeros(len(addresses), int)], 1).astype(np.uint64)

    calls = {
        'rows of five': lambda: cache.descriptors(placed, pages).nixl(strided=True),
        'rows of three': lambda: cache.descriptors(placed, pages).nixl(),
        'rows of three by NumPy': by_numpy,
    }
    times = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            rows = None  # to free what the one before has made is not this one's time
            start = time.perf_counter()
            rows = call()
            times[name].append((time.perf_counter() - start) * 1e3)
            assert (rows[:, 1] * (rows[:, 4] if rows.shape[1] == 5 else 1)).sum() == 2 * LAYERS * PAGES * PAGE_BYTES
    for name, call in calls.items():
        print(f'{name:24}{len(call()):8} rows {statistics.median(times[name]):8.2f} ms')


if __name__ == '__main__':
    main()
