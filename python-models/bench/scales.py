"""Conversion with scales beside PyTorch and a plain copy of as many bytes, on the host and on a GPU.

    python3 python-models/bench/scales.py [--device cuda] [--mib 64]

"bound" is the time of one copy that reads and writes as many bytes in all; "of bound" is that time over ours. PyTorch's
expression is x.float() / scale, or times it, and to(): in several passes. All run in turns, and medians count. The first
result is compared with PyTorch's, with scales that are powers of two, where both round once. Too large numbers saturate in both.
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


def seconds(call, device):
    if device == 'cpu':
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(4):
        call()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / 4e3


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
    parser.add_argument('--mib', type=int, default=64, help='of the wider side')
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    print(f'{"":32}{"scale":>10}{"GB/s":>8}{"of bound":>10}{"x torch":>9}')
    for source, target in PAIRS:
        kinds = [getattr(torch, name) for name in (source, target)]
        rows = options.mib * 2**20 // max(kind.itemsize for kind in kinds) // COLUMNS // 128 * 128
        x = torch.randn(rows, COLUMNS, device=options.device).mul_(20).to(kinds[0])
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
            times = [[seconds(call, options.device) for call in calls] for _ in range(TURNS)]
            own, bound, other = [statistics.median(column[1:]) for column in zip(*times)]
            print(f'{source + " to " + target:32}{name:>10}{nbytes / own / 1e9:8.1f}{bound / own:10.2f}{other / own:9.1f}', flush=True)


if __name__ == '__main__':
    main()
