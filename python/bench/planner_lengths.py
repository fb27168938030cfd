"""What planning 640 tensors from 64 to 128 ranks costs one rank, if the lengths of their rows are all different, or 12.

    python3 python/bench/planner_lengths.py

The time of the process, the median of five: planned anew each time, with the routes of one rank of the source and of one
of the target listed (and, second, their bytes counted). No machine of that size is needed.
"""

import statistics
import time

import ucd
from ucd import _placements, _routing

TENSORS, SENDER, RECEIVER = 640, 21, 85
SOURCES = {
    'FSDP 64': (64, ucd.Shard(0)),
    'FSDP 8 x TP 8': ((8, 8), [ucd.StridedShard(0, 8), ucd.Shard(0)]),
    'cyclic(3) 64': (64, ucd.Cyclic(0, 3)),
}
TARGETS = {
    'FSDP 128': (128, ucd.Shard(0)),
    'cyclic(1) 128': (128, ucd.Cyclic(0, 1)),
    'cyclic(3) 128': (128, ucd.Cyclic(0, 3)),
    'cyclic(5) 128': (128, ucd.Cyclic(0, 5)),
    'cyclic(127) 128': (128, ucd.Cyclic(0, 127)),
}
LENGTHS = {
    '12 odd lengths': [8191 + 4098 * (k % 12) for k in range(TENSORS)],
    '640 odd lengths': [8191 + 90 * k for k in range(TENSORS)],
}


def forget():
    for holder in (_placements, _routing):
        for remembered in vars(holder).values():
            if hasattr(remembered, 'cache_clear'):
                remembered.cache_clear()


def milliseconds(lengths, source, target):
    listed, counted = [], []
    for _ in range(5):
        forget()
        began = time.process_time()
        routes = []
        for n in lengths:
            shape = n, 4096
            routing = ucd.routing(ucd.Distribution(shape, *source), ucd.Distribution(shape, *target), 'bfloat16')
            routes += [routing.sends(SENDER), routing.receives(RECEIVER)]
        listed.append(time.process_time() - began)
        sum([route.nbytes for of_tensor in {id(r): r for r in routes}.values() for route in of_tensor])
        counted.append(time.process_time() - began)
    different = {id(r): len(r) for r in routes}
    return statistics.median(listed) * 1e3, statistics.median(counted) * 1e3, sum(different.values())


print('| lengths | from | to | ms | ms with bytes | routes |\n|---|---|---|---|---|---|')
for kind, lengths in LENGTHS.items():
    for source in SOURCES:
        for target in TARGETS:
            listed, counted, routes = milliseconds(lengths, SOURCES[source], TARGETS[target])
            print(f'| {kind} | {source} | {target} | {listed:.1f} | {counted:.1f} | {routes} |', flush=True)
