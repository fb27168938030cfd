"""Why messages of a redistribution take longer than NCCL's messages alone: what each step costs by itself.

    torchrun --nproc-per-node 2 python-models/bench/message_profile.py       # --layers 16 --budget 256

FSDP to tensor parallelism, as in moving_model.py. Beside the move: the link alone in messages of 128 MiB, and in messages as
long as the move's; the move's messages without packing and unpacking; packing and unpacking without messages; the move
without the one or the other; and how long NCCL's kernels run in the move and without it, from PyTorch's profiler.
"""

import argparse
import os

import moving_model
import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

import ucd_models


def kernels_of_nccl(work):
    """How many there are, and their time in ms."""
    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        work()
        torch.cuda.synchronize()
    times = [e.time_range.elapsed_us() for e in found.events() if e.name.startswith('ncclDevKernel_SendRecv')]
    return f'{len(times)} in {sum(times) / 1e3:.2f}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--layers', type=int, default=16)
    parser.add_argument('--budget', type=int, default=256, help='MiB')
    arguments = parser.parse_args()
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    dist.init_process_group('nccl')
    me, ranks = dist.get_rank(), dist.get_world_size()
    pairs = {
        name: (moving_model.fully_sharded(shape, ranks), ucd_models.Distribution(shape, ranks, placement))
        for name, (shape, placement) in moving_model.tensors(arguments.layers).items()
    }
    sources, targets = [
        {n: torch.ones(pair[side].local_shape(me), dtype=torch.bfloat16, device='cuda') for n, pair in pairs.items()}
        for side in (0, 1)
    ]
    move = ucd_models.Redistribution({n: (*pair, 'bfloat16') for n, pair in pairs.items()}, budget=arguments.budget << 20)
    sent = sum(share.fan.number * share.nbytes for made in move.rounds(me) for share in made.sends)
    execution = move.prepare(dist, sources, targets)

    def messages():
        waits = [wait for made in execution._rounds for _, wait in execution._engine.post(*made.by_peer())]
        for wait in waits:
            wait()

    def packing():
        for made in execution._rounds:
            made.packing.run(True)
            made.unpacking.run(True)

    def without(name):
        reduced = move.prepare(dist, sources, targets)
        for made in reduced._rounds:
            getattr(made, name).run = lambda in_stream: None
        return reduced.run

    steps = {
        'move': execution.run,
        'link': moving_model.messages(sent),
        'link, messages as long as the move has': moving_model.messages(sent, -(-sent // len(move))),
        'messages of the move': messages,
        'packing and unpacking': packing,
        'move without packing': without('packing'),
        'move without unpacking': without('unpacking'),
    }
    times = {name: moving_model.seconds(work, 7) for name, work in steps.items()}
    kernels = {name: kernels_of_nccl(steps[name]) for name in ('move', 'messages of the move')}
    if me == 0:
        print(f'{len(move)} rounds, {sent >> 20} MiB sent by each rank\n\n| | ms | kernels of NCCL, and ms |\n|---|---|---|')
        for name, spent in times.items():
            print(f'| {name} | {spent * 1e3:.2f} | {kernels.get(name, "")} |')
    dist.destroy_process_group()


if __name__ == '__main__':
    main()
