"""A model of 7 billion parameters from one sharding to another, on the GPUs of one machine, one process for each.

    torchrun --nproc-per-node 2 python-models/bench/moving_model.py        # --layers 4 for a smaller one

The shapes are those of Mistral 7B, the data is random. Beside ucd_models.Redistribution: all_gather, slice and cast in
PyTorch, whose result must be the same bit for bit; and the link's bound, from messages of the same bytes that are
contiguous already. Rates are of the bytes that a rank sends. With messages, and with direct access between the devices.
"""

import argparse
import statistics
import time

import torch
import torch.distributed as dist

import ucd_models

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, WIDTH, VOCABULARY = 4096, 14336, 32, 8, 128, 32000
ROWS = {'q': (HEADS * WIDTH, WIDTH), 'k': (KV_HEADS * WIDTH, WIDTH), 'v': (KV_HEADS * WIDTH, WIDTH)}
QKV_ROWS = sum(size for size, _ in ROWS.values())


def tensors(layers):
    """Names, shapes, and how an engine of tensor parallelism shards them."""
    found = {'embedding': ((VOCABULARY, HIDDEN), ucd_models.Shard(0))}
    for k in range(layers):
        found[f'{k}.qkv'] = (QKV_ROWS, HIDDEN), ucd_models.Segment(0, ROWS)
        found[f'{k}.o'] = (HIDDEN, HIDDEN), ucd_models.Shard(1)
        found[f'{k}.gate_up'] = (2 * INTERMEDIATE, HIDDEN), ucd_models.Segment(0, {'gate': INTERMEDIATE, 'up': INTERMEDIATE})
        found[f'{k}.down'] = (HIDDEN, INTERMEDIATE), ucd_models.Shard(1)
        found[f'{k}.norm'] = (HIDDEN,), ucd_models.Replicate()
    found['head'] = (VOCABULARY, HIDDEN), ucd_models.Shard(0)
    return found


def fully_sharded(shape, ranks):
    return ucd_models.Distribution(shape, ranks, ucd_models.Shard(0))


def seconds(work, repeats):
    """The median time of some runs, which all ranks begin together."""
    found = []
    for _ in range(repeats + 1):
        dist.barrier()
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - began)
    slowest = torch.tensor(found[1:], device='cuda')
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return statistics.median(slowest.tolist())


def gathered(local, shape, held):
    """The whole of a tensor that is sharded by rows or columns, by all_gather."""
    ranks = dist.get_world_size()
    rows = local.new_empty((ranks * local.shape[0], *local.shape[1:]))
    dist.all_gather_into_tensor(rows, local)
    if held.placements[0] == ucd_models.Shard(1):
        return torch.cat(rows.chunk(ranks), dim=1)
    if isinstance(held.placements[0], ucd_models.Segment):
        parts = rows.chunk(ranks)
        whole, at = [], 0
        for piece in held.placements[0].pieces:
            each = piece.size // ranks
            whole += [part[at : at + each] for part in parts]
            at += each
        return torch.cat(whole)
    return rows[: shape[0]] if held.placements[0] == ucd_models.Shard(0) else local


def by_torch(local, target, before, after):
    """all_gather, slice and cast: what one writes by hand."""
    me, ranks = dist.get_rank(), dist.get_world_size()
    whole = gathered(local, after.shape, before)
    placement = after.placements[0]
    if isinstance(placement, ucd_models.Segment):
        at, to = 0, 0
        for piece in placement.pieces:
            each = piece.size // ranks
            target[to : to + each].copy_(whole[at + me * each : at + (me + 1) * each])
            at, to = at + piece.size, to + each
    elif isinstance(placement, ucd_models.Shard):
        target.copy_(whole.chunk(ranks, placement.dim)[me])
    else:
        target.copy_(whole)


def messages(nbytes, largest=128 << 20):
    """The link's bound: that many bytes to the next rank and from the one before, in messages of `largest` at most."""
    me, ranks = dist.get_rank(), dist.get_world_size()
    out, into = [torch.empty(min(nbytes, largest), dtype=torch.uint8, device='cuda') for _ in range(2)]

    def work():
        left = nbytes
        while left > 0:
            n = min(left, len(out))
            ops = [
                dist.P2POp(dist.isend, out[:n], (me + 1) % ranks),
                dist.P2POp(dist.irecv, into[:n], (me - 1) % ranks),
            ]
            for request in dist.batch_isend_irecv(ops):
                request.wait()
            left -= n

    return work


def case(title, model, before_of, after_of, dtype, target_dtype, repeats, budget):
    me = dist.get_rank()
    pairs = {name: (before_of(shape, tp), after_of(shape, tp)) for name, (shape, tp) in model.items()}
    torch.manual_seed(me)
    sources = {n: torch.randn(a.local_shape(me), dtype=dtype, device='cuda') for n, (a, _) in pairs.items()}
    for name, (a, _) in pairs.items():
        if a.placements[0] == ucd_models.Replicate():
            dist.broadcast(sources[name], 0)
    targets = {n: torch.zeros(b.local_shape(me), dtype=target_dtype, device='cuda') for n, (_, b) in pairs.items()}
    began = time.perf_counter()
    move = ucd_models.Redistribution(
        {n: (a, b, str(dtype)[6:]) for n, (a, b) in pairs.items()}, convert=str(target_dtype)[6:], budget=budget
    )
    rounds = move.rounds(me)
    planned = time.perf_counter() - began
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated()
    began = time.perf_counter()
    execution = move.prepare(dist, sources, targets)
    torch.cuda.synchronize()
    prepared = time.perf_counter() - began
    ours = seconds(execution.run, repeats)
    extra = torch.cuda.max_memory_allocated() - held
    del execution
    result = {name: target.clone() for name, target in targets.items()}
    for target in targets.values():
        target.zero_()
    began = time.perf_counter()
    execution = move.prepare(dist, sources, targets, direct=True)
    torch.cuda.synchronize()
    opened = time.perf_counter() - began
    direct = seconds(execution.run, repeats)
    peers = len(execution.direct_peers)
    equal = all(torch.equal(result[n].view(torch.uint8), targets[n].view(torch.uint8)) for n in targets)
    del execution

    def theirs_once():
        for name, (a, b) in pairs.items():
            by_torch(sources[name], targets[name], a, b)

    torch.cuda.reset_peak_memory_stats()
    held = torch.cuda.memory_allocated()
    theirs = seconds(theirs_once, max(repeats // 2, 1))
    extra_theirs = torch.cuda.max_memory_allocated() - held
    equal &= all(torch.equal(result[n].view(torch.uint8), targets[n].view(torch.uint8)) for n in targets)
    sent = sum(share.fan.number * share.nbytes for r in rounds for share in r.sends)
    moved = sum(t.nbytes for t in sources.values()) + sum(t.nbytes for t in targets.values())
    del result, targets, sources
    link = max(seconds(messages(sent), repeats), 1e-9)
    each = -(-sent // len(move))
    alike = max(seconds(messages(sent, each), repeats), 1e-9)
    if me == 0:
        print(
            f'{title}: {ours * 1e3:.1f} ms, {sent / ours / 1e9:.0f} GB/s sent a rank; the link alone {link * 1e3:.1f} ms '
            f'({sent / link / 1e9:.0f} GB/s), so {link / ours:.2f} of its bound; in messages of {each / 2**20:.0f} MiB, as '
            f'these are, {alike * 1e3:.1f} ms; all_gather + slice + cast '
            f'{theirs * 1e3:.1f} ms, {theirs / ours:.2f} times; {moved / ours / 1e9:.0f} GB/s of arrays; without messages '
            f'({peers} peers) {direct * 1e3:.1f} ms, {link / direct:.2f} of the bound, {theirs / direct:.2f} times, prepare '
            f'{opened * 1e3:.0f} ms; with messages '
            f'plan {planned * 1e3:.0f} ms, prepare {prepared * 1e3:.0f} ms, {len(move)} rounds; extra memory '
            f'{extra / 2**20:.0f} MiB (PyTorch {extra_theirs / 2**20:.0f}); {"equal" if equal else "DIFFERENT"}',
            flush=True,
        )
    assert equal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--layers', type=int, default=32)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--budget', type=int, default=256, help='MiB')
    arguments = parser.parse_args()
    import os

    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    dist.init_process_group('nccl')
    ranks = dist.get_world_size()
    model = tensors(arguments.layers)

    def sharded(shape, placement):
        return fully_sharded(shape, ranks)

    def parallel(shape, placement):
        return ucd_models.Distribution(shape, ranks, placement)

    rest = arguments.repeats, arguments.budget << 20
    case('FSDP float32 to TP bfloat16', model, sharded, parallel, torch.float32, torch.bfloat16, *rest)
    case('TP bfloat16 to FSDP bfloat16', model, parallel, sharded, torch.bfloat16, torch.bfloat16, *rest)
    case('FSDP bfloat16 to TP bfloat16', model, sharded, parallel, torch.bfloat16, torch.bfloat16, *rest)
    dist.destroy_process_group()


if __name__ == '__main__':
    main()
