"""Conversion with scales beside PyTorch and a plain copy of as many bytes, on the host and on a GPU.

    python3 python-models/bench/scales.py [--device cuda] [--mib 64]

"bound" is the time of one copy that reads and writes as many bytes in all; "of bound" is that time over ours. PyTorch's
expression is x.float() / scale, or times it, and to(): in several passes. On a GPU each is captured once as a graph, which is
replayed, so that what calls take by the clock is not measured; it comes last, for 64 x 64 elements. All run in turns, and medians
count. The first result is compared with PyTorch's, with scales that are powers of two, where both round once. No number is too
large: some versions of PyTorch saturate, and others do not.
"""

import argparse
import statistics
import time

import torch

import ucd_models

PAIRS = [('bfloat16', 'float8_e4m3fn'), ('float16', 'float8_e5m2'), ('float32', 'float8_e4m3fn')]
PAIRS += [(b, a) for a, b in PAIRS]
BLOCKS = {'tensor': None, 'row': (1, 4096), '1 x 128': (1, 128), '128 x 128': (128, 128)}
COLUMNS, TURNS = 4096, 11


def clock(call, device):
    start = time.perf_counter()
    call()
    if device == 'cuda':
        torch.cuda.synchronize()
    return time.perf_counter() - start


def seconds(call, device):
    if device == 'cpu':
        return clock(call, device)
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(4):
        call()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / 4e3


def prepared(call, device):
    if device == 'cpu':
        return call
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def in_turns(calls, measure, device):
    times = [[measure(call, device) for call in calls] for _ in range(TURNS)]
    return [statistics.median(column[1:]) for column in zip(*times)]


def by_torch(x, out, scale, block):
    if block is None:
        wide, each = x.float(), scale
    else:
        wide = x.float().view(x.shape[0] // block[0], block[0], x.shape[1] // block[1], block[1])
        each = scale.view(scale.shape[0], 1, scale.shape[1], 1)
    return (wide / each if out.itemsize == 1 else wide * each).to(out.dtype).view(x.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--mib', type=int, default=256, help='of the wider side')
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    print(f'{"":32}{"scale":>10}{"GB/s":>8}{"of bound":>10}{"x torch":>9}')
    for source, target in PAIRS:
        kinds = [getattr(torch, name) for name in (source, target)]
        rows = options.mib * 2**20 // max(kind.itemsize for kind in kinds) // COLUMNS // 128 * 128
        x = torch.randn(rows, COLUMNS, device=options.device).mul_(3).to(kinds[0])
        out = torch.empty(rows, COLUMNS, device=options.device, dtype=kinds[1])
        nbytes = x.nbytes + out.nbytes
        plain = [torch.empty(nbytes // 2, dtype=torch.uint8, device=options.device) for _ in range(2)]
        for name, block in BLOCKS.items():
            counts = (1, 1) if block is None else (rows // block[0], COLUMNS // block[1])
            scale = torch.exp2(torch.randint(-3, 3, counts, device=options.device).float())
            ucd_models.copy(x, out, scale, block=block, saturate=True)
            expected = by_torch(x, out, scale, block)
            assert torch.equal(out.view(torch.uint8), expected.view(torch.uint8)), (source, target, name)
            scale = scale * 1.1
            calls = [
                lambda: ucd_models.copy(x, out, scale, block=block, saturate=True),
                lambda: plain[1].copy_(plain[0]),
                lambda: by_torch(x, out, scale, block),
            ]
            own, bound, other = in_turns([prepared(call, options.device) for call in calls], seconds, options.device)
            print(f'{source + " to " + target:32}{name:>10}{nbytes / own / 1e9:8.1f}{bound / own:10.2f}{other / own:9.1f}', flush=True)
    x, out = torch.randn(64, 64, device=options.device), torch.empty(64, 64, device=options.device, dtype=torch.float8_e4m3fn)
    scale = torch.full((64, 1), 0.5, device=options.device)
    small = {
        'copy': lambda: ucd_models.copy(x, out, scale),
        'cast': lambda: ucd_models.cast(x, 'float8_e4m3fn', scale),
        'PyTorch': lambda: by_torch(x, out, scale, (1, 64)),
    }
    many = [lambda call=call: [call() for _ in range(100)] for call in small.values()]
    for name, each in zip(small, in_turns(many, clock, options.device)):
        print(f'float32 to float8_e4m3fn, 64 x 64, rows: {name:10}{each * 1e4:8.1f} us a call')


if __name__ == '__main__':
    main()
