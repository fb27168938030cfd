"""What planning costs one rank of many, and what goes over which links, without any machine of that size.

    python3 python-models/bench/planner_scale.py

First 4,096 ranks to 4,096 ranks, 1,000 tensors in 12 shapes. Ranks are numbered along NVLink domains of 72, and nodes of 8
on leaves of 256 of a fat tree. Traffic is that of one rank in the middle.

Then 640 tensors from 64 to 128 ranks, of 12 different lengths and of 640: the process's time, the median of five, until
the routes of one rank of the source and of one of the target are known, and until the bytes of each are counted.
"""

import statistics
import time
import tracemalloc

import ucd_models
from ucd_models import _placements, _routing

RANK, TENSORS, SHAPES = 2077, 1000, 12
FSDP_64_TP_64 = (64, 64), [ucd_models.StridedShard(0, 64), ucd_models.Shard(0)]
FSDP_512_TP_8 = (512, 8), [ucd_models.StridedShard(0, 8), ucd_models.Shard(0)]
CASES = {
    'FSDP 4096 to FSDP 512 x TP 8': ((4096, ucd_models.Shard(0)), FSDP_512_TP_8),
    'FSDP 64 x TP 64 to FSDP 512 x TP 8': (FSDP_64_TP_64, FSDP_512_TP_8),
    'FSDP 512 x TP 8 to rows x columns': (FSDP_512_TP_8, ((512, 8), [ucd_models.Shard(0), ucd_models.Shard(1)])),
    'FSDP 4096 to cyclic blocks of 3': ((4096, ucd_models.Shard(0)), (4096, ucd_models.Cyclic(0, 3))),
}


def planned(source, target):
    found = []
    for k in range(TENSORS):
        shape = (8192 + 4096 * (k % SHAPES), 4096)
        routing = ucd_models.routing(ucd_models.Distribution(shape, *source), ucd_models.Distribution(shape, *target), 'bfloat16')
        found.append((routing.sends(RANK), routing.receives(RANK)))
    return found


def forget():
    for holder in (_placements, _routing):
        for remembered in vars(holder).values():
            if hasattr(remembered, 'cache_clear'):
                remembered.cache_clear()


print('| from, to | ms | MiB | peers | MB sent | within 72 | within a leaf | beyond |\n|---|---|---|---|---|---|---|---|')
for name, (source, target) in CASES.items():
    forget()
    began = time.perf_counter()
    found = planned(source, target)
    elapsed = time.perf_counter() - began
    forget()
    tracemalloc.start()
    planned(source, target)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    by_peer = {}
    for sends, _ in found:
        for route in sends:
            if route.target != RANK:
                by_peer[route.target] = by_peer.get(route.target, 0) + route.nbytes
    within, leaf, beyond = [
        sum(n for peer, n in by_peer.items() if where(peer)) / 1e6
        for where in (
            lambda peer: peer // 72 == RANK // 72,
            lambda peer: peer // 256 == RANK // 256,
            lambda peer: peer // 256 != RANK // 256,
        )
    ]
    total = sum(by_peer.values()) / 1e6
    print(
        f'| {name} | {elapsed * 1e3:.0f} | {memory / 2**20:.1f} | {len(by_peer)} | {total:.1f} | {within:.1f} | {leaf:.1f} '
        f'| {beyond:.1f} |',
        flush=True,
    )

MODEL, SENDER, RECEIVER = 640, 21, 85
SOURCES = {
    'FSDP 64': (64, ucd_models.Shard(0)),
    'FSDP 8 x TP 8': ((8, 8), [ucd_models.StridedShard(0, 8), ucd_models.Shard(0)]),
    'cyclic(3) 64': (64, ucd_models.Cyclic(0, 3)),
}
TARGETS = {
    'FSDP 128': (128, ucd_models.Shard(0)),
    'cyclic(1) 128': (128, ucd_models.Cyclic(0, 1)),
    'cyclic(3) 128': (128, ucd_models.Cyclic(0, 3)),
    'cyclic(5) 128': (128, ucd_models.Cyclic(0, 5)),
    'cyclic(127) 128': (128, ucd_models.Cyclic(0, 127)),
}
LENGTHS = {
    '12 odd lengths': [8191 + 4098 * (k % 12) for k in range(MODEL)],
    '640 odd lengths': [8191 + 90 * k for k in range(MODEL)],
}


def milliseconds(lengths, source, target):
    listed, counted = [], []
    for _ in range(5):
        forget()
        began = time.process_time()
        routes = {}
        for n in lengths:
            shape = n, 4096
            routing = ucd_models.routing(ucd_models.Distribution(shape, *source), ucd_models.Distribution(shape, *target), 'bfloat16')
            routes[n] = routing.sends(SENDER), routing.receives(RECEIVER)
        listed.append(time.process_time() - began)
        sum([route.nbytes for pair in routes.values() for of_rank in pair for route in of_rank])
        counted.append(time.process_time() - began)
    number = sum([len(of_rank) for pair in routes.values() for of_rank in pair])
    return statistics.median(listed) * 1e3, statistics.median(counted) * 1e3, number


print('\n| lengths | from | to | ms | ms with bytes | routes |\n|---|---|---|---|---|---|')
for kind, lengths in LENGTHS.items():
    for source in SOURCES:
        for target in TARGETS:
            listed, counted, routes = milliseconds(lengths, SOURCES[source], TARGETS[target])
            print(f'| {kind} | {source} | {target} | {listed:.1f} | {counted:.1f} | {routes} |', flush=True)
