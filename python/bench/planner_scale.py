"""What planning costs one rank of many, and what goes over which links, without any machine of that size.

    python3 python/bench/planner_scale.py

4,096 ranks to 4,096 ranks, 1,000 tensors in 12 shapes. Ranks are numbered along NVLink domains of 72, and nodes of 8 on
leaves of 256 of a fat tree. Traffic is that of one rank in the middle.
"""

import time
import tracemalloc

import ucd
from ucd import _placements, _routing

RANK, TENSORS, SHAPES = 2077, 1000, 12
FSDP_64_TP_64 = (64, 64), [ucd.StridedShard(0, 64), ucd.Shard(0)]
FSDP_512_TP_8 = (512, 8), [ucd.StridedShard(0, 8), ucd.Shard(0)]
CASES = {
    'FSDP 4096 to FSDP 512 x TP 8': ((4096, ucd.Shard(0)), FSDP_512_TP_8),
    'FSDP 64 x TP 64 to FSDP 512 x TP 8': (FSDP_64_TP_64, FSDP_512_TP_8),
    'FSDP 512 x TP 8 to rows x columns': (FSDP_512_TP_8, ((512, 8), [ucd.Shard(0), ucd.Shard(1)])),
    'FSDP 4096 to cyclic blocks of 3': ((4096, ucd.Shard(0)), (4096, ucd.Cyclic(0, 3))),
}


def planned(source, target):
    found = []
    for k in range(TENSORS):
        shape = (8192 + 4096 * (k % SHAPES), 4096)
        routing = ucd.routing(ucd.Distribution(shape, *source), ucd.Distribution(shape, *target), 'bfloat16')
        found.append((routing.sends(RANK), routing.receives(RANK)))
    return found


def forget():
    for remembered in (_placements.part_spans, _placements.neighbours, _routing.common, _routing.routing):
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
