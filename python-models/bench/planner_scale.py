"""What planning costs a rank of many, and what a move puts on ranks and links: a simulation, without a machine of that size.

    python3 python-models/bench/planner_scale.py

First 16,384 ranks that train to 4,096 that serve, 1,000 tensors in 12 shapes, in bfloat16. Time and memory are those of the
whole plan of a rank: rounds, messages, and types of arrays; the largest of some ranks of both sides, in processor time. Bytes are those of
all ranks. Ranks are numbered along NVLink domains of 72, and along leaves of 256 of a fat tree, whose links up and down
have what leaves a leaf and what comes in. "Balance" is the largest divided by the mean: over the ranks that have something
to send, to receive, and over the leaves that do. Then what one rank of 64 takes to plan an all-to-all.

Last, 640 tensors from 64 to 128 ranks, of 12 different lengths and of 640: the process's time, the median of five, until
the routes of one rank of the source and of one of the target are known, and until the bytes of each are counted.
"""

import math
import statistics
import time
import tracemalloc

import numpy as np

import ucd_models
from ucd_models import _fans, _placements, _rounds, _routing

TRAINERS, SERVERS, TENSORS, SHAPES = 16384, 4096, 1000, 12
DOMAIN, LEAF = 72, 256
APART, AMONG = range(TRAINERS, TRAINERS + SERVERS), range(0, TRAINERS, TRAINERS // SERVERS)
FSDP = TRAINERS, ucd_models.Shard(0)
HSDP = (64, 256), [ucd_models.Replicate(), ucd_models.Shard(0)]


def served(first, second, ranks):
    return (SERVERS // 8, 8), [first, second], ranks


SHARDED = ucd_models.StridedShard(0, 8), ucd_models.Shard(0)
REPLICATED = ucd_models.Replicate(), ucd_models.Shard(0)
COLUMNS = ucd_models.Replicate(), ucd_models.Shard(1)
CASES = {
    'FSDP 16384 to FSDP 512 x TP 8': (FSDP, served(*SHARDED, APART)),
    'the same, served by every fourth rank': (FSDP, served(*SHARDED, AMONG)),
    'HSDP 64 x 256 to 512 x TP 8': (HSDP, served(*REPLICATED, APART)),
    'HSDP 64 x 256 to 512 x TP 8, columns': (HSDP, served(*COLUMNS, APART)),
    'FSDP 16384 to 512 x TP 8': (FSDP, served(*REPLICATED, APART)),
    'FSDP 16384 to 512 x TP 8, columns': (FSDP, served(*COLUMNS, APART)),
}


def shape(k):
    return 8192 + 4096 * (k % SHAPES), 4096


def plan(source, target, rank):
    """As Redistribution.prepare plans: without arrays, and without memory for messages."""
    move = ucd_models.Redistribution({
        f'{k}': (ucd_models.Distribution(shape(k), *source), ucd_models.Distribution(shape(k), *target), 'bfloat16')
        for k in range(TENSORS)
    })
    return [
        share.routing.type_of(share.fan, side, (8192, 2))
        for made in move.rounds(rank)
        for side, way in enumerate((made.sends, made.receives))
        for share, _, _ in _rounds.Messages(way).stretches
    ]


def forget():
    for holder in (_placements, _routing, _fans):
        for remembered in vars(holder).values():
            if hasattr(remembered, 'cache_clear'):
                remembered.cache_clear()


def cost(source, target, ranks):
    """The most milliseconds and MiB of any of some ranks."""
    times, sizes = [], []
    for rank in ranks:
        forget()
        began = time.process_time()
        plan(source, target, rank)
        times.append(time.process_time() - began)
        forget()
        tracemalloc.start()
        plan(source, target, rank)
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return max(times) * 1e3, max(sizes) / 2**20


def traffic(source, target):
    """What ranks send and receive, and what goes between leaves; bytes within domains and in all."""
    world = TRAINERS + SERVERS
    sent, received = np.zeros(world), np.zeros(world)
    between = np.zeros((math.ceil(world / LEAF),) * 2)
    within = 0.0
    for k in range(SHAPES):
        of_array = ucd_models.routing(
            ucd_models.Distribution(shape(k), *source), ucd_models.Distribution(shape(k), *target), 'bfloat16'
        )
        times = len(range(k, TENSORS, SHAPES))
        for rank in of_array.source.ranks:
            for fan in of_array.fans(0, rank)[0]:
                each = fan.elements * 2 * times
                others = fan.place + fan.step * np.arange(fan.number)
                sent[rank] += each * len(others)
                received[others] += each
                between[rank // LEAF] += each * np.bincount(others // LEAF, minlength=len(between))
                within += each * np.count_nonzero(others // DOMAIN == rank // DOMAIN)
    return sent, received, between, within


def balance(numbers):
    used = numbers[numbers > 0]
    return f'{used.max() / used.mean():.2f}' if len(used) else '-'


print('| from, to | ms | MiB | TB | within 72 | within a leaf | balance: sent | received | links up | links down |')
print('|---|---|---|---|---|---|---|---|---|---|')
for name, (source, target) in CASES.items():
    spent, memory = cost(source, target, (0, 5, TRAINERS // 2 + 4, target[2][0], target[2][5], target[2][-1]))
    sent, received, between, within = traffic(source, target)
    total = sent.sum()
    leaf = np.trace(between)
    outside = between - np.diag(np.diag(between))
    print(
        f'| {name} | {spent:.0f} | {memory:.1f} | {total / 1e12:.2f} | {within / total:.3f} | {leaf / total:.3f} '
        f'| {balance(sent)} | {balance(received)} | {balance(outside.sum(1))} | {balance(outside.sum(0))} |',
        flush=True,
    )
all_to_all = (64, ucd_models.Shard(0)), (64, ucd_models.Shard(1))
print('\nall-to-all of 64 ranks, 1,000 tensors: {:.0f} ms, {:.1f} MiB'.format(*cost(*all_to_all, (0, 63))), flush=True)

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
