"""Pages of caches from one format to another in GPU memory: ucd_models.cache.relayout beside PyTorch and a plain copy.

    python3 python-models/bench/caches.py [--csv FILE] [--only WORD]

Each contender is captured once as a graph, and the graph is replayed with other page tables each time. Its result is
compared with PyTorch's indexing before it is timed. "copy" is one contiguous copy of as many bytes, the faster of the
driver's and of a kernel of PyTorch that reads and writes 16 bytes a thread. "PyTorch" is the faster of two expressions:
assignment by advanced indices, and index_select, permute and index_copy_. All run in turns, and medians count. Last
comes what a small request and a new Relayout cost. Needs a GPU and PyTorch.
"""

import argparse
import csv
import statistics
import time

import torch

import ucd
import ucd_models

LAYERS, HEADS, DIM, TOKENS = 32, 8, 128, 4096
LATENT, ROPE = 512, 64
REPLAYS = 8  # in one measurement
HOLES = False
TURNS = 9


def indexable(view):
    """PyTorch does not index all 8-bit elements: as bytes."""
    return view.view(torch.uint8) if view.dtype.itemsize == 1 else view


class Engine:
    """Tensors of an engine, with what UCD and PyTorch need to know of them."""

    def __init__(self, axes, page, heads=HEADS, dtype=torch.bfloat16, pad=0, mla=()):
        self.axes, self.page, self.heads, self.dtype, self.pad, self.mla = axes, page, heads, dtype, pad, mla
        # Twice the pages that are moved.
        self.pages, self.chosen = 2 * TOKENS // page, TOKENS // page

    def allocate(self):
        self.tensors = []
        for _ in range(1 if 'layer' in self.axes else LAYERS):
            if self.mla:
                parts = [self._filled((self.pages, self.page, dim)) for dim in self.mla]
                self.tensors.append(parts)
                continue
            sizes = {'layer': LAYERS, 'kv': 2, 'page': self.pages, 'token': self.page, 'head': self.heads, 'dim': DIM}
            names = self.axes.split()
            inner = names[-2]
            shape = [sizes[name] + (self.pad if name == inner else 0) for name in names]
            whole = self._filled(shape)
            self.tensors.append(whole.narrow(len(names) - 2, 0, sizes[inner]))
        if self.mla:
            self.cache = ucd_models.cache.Cache.of(self.tensors, 'page token dim', lists=('layer', 'dim'))
        else:
            self.cache = ucd_models.cache.Cache.of(self.tensors, self.axes)
        self.table = torch.empty(self.chosen, dtype=torch.int64, device='cuda')
        self.renew()
        return self

    def _filled(self, shape):
        return torch.randn(shape, device='cuda', dtype=torch.float32).to(self.dtype)

    def renew(self):
        """Other pages."""
        self.table.copy_(torch.randperm(self.pages, device='cuda')[: self.chosen])

    # PyTorch's side. A view is (page, kv, token, head, dim); of MLA (page, token, dim).

    def views(self, layer):
        if self.mla:
            return self.tensors[layer]
        names = self.axes.split()
        tensor = self.tensors[0] if 'layer' in names else self.tensors[layer]
        if 'layer' in names:
            tensor = tensor.select(names.index('layer'), layer)
            names.remove('layer')
        return [tensor.permute([names.index(n) for n in ('page', 'kv', 'token', 'head', 'dim')])]

    def taken(self, layer, by_index):
        """The chosen pages, as (kv, tokens, head, dim) or (tokens, dim)."""
        views = map(indexable, self.views(layer))
        parts = [view[self.table] if by_index else view.index_select(0, self.table) for view in views]
        parts = [part.view(self.dtype) for part in parts]
        if self.mla:
            return (torch.cat(parts, -1) if len(parts) > 1 else parts[0]).flatten(0, 1)
        return parts[0].transpose(0, 1).flatten(1, 2)

    def put(self, layer, tokens, by_index, heads=slice(None)):
        first = 0
        for view in self.views(layer):
            if self.mla:
                part = tokens[..., first : first + view.shape[-1]].unflatten(0, (self.chosen, self.page))
                first += view.shape[-1]
            else:
                view = view[:, :, :, heads]
                part = tokens.unflatten(1, (self.chosen, self.page)).transpose(0, 1)
            view, part = indexable(view), indexable(part.to(self.dtype))
            if by_index:
                view[self.table] = part
            else:
                view.index_copy_(0, self.table, part)


def nhd(page=16, **more):
    return Engine('kv page token head dim', page, **more)


def hnd(page=16, **more):
    return Engine('page kv head token dim', page, **more)


def mla(*parts, page=16):
    return Engine('', page, mla=parts)


FORMATS = {
    'NHD': nhd,
    'HND': hnd,
    'NHD, page 64': lambda: nhd(64),
    'HND, page 64': lambda: hnd(64),
    'padded': lambda: nhd(pad=1),
    'NHD, one tensor': lambda: Engine('page layer kv token head dim', 16),
}
LATENTS = {
    'MLA 576': lambda: mla(LATENT + ROPE),
    'MLA 576, page 64': lambda: mla(LATENT + ROPE, page=64),
    'MLA 512 + 64': lambda: mla(LATENT, ROPE),
}


def pairs():
    """Name, sources, target; each source has heads of the target."""
    for name, target in (('NHD', nhd), ('HND', hnd), ('HND, page 64', lambda **more: hnd(64, **more))):
        for other, source in (('NHD', nhd), ('HND', hnd)):
            yield f'{other} of TP 4 -> {name} of TP 2', [lambda s=source: s(heads=2)] * 2, lambda t=target: t(heads=4)
    for formats in (FORMATS, LATENTS):
        for a, source in formats.items():
            for b, target in formats.items():
                yield f'{a} -> {b}', [source], target
    yield 'NHD bf16 -> HND fp16', [nhd], lambda: hnd(dtype=torch.float16)
    yield 'NHD bf16 -> NHD fp8', [nhd], lambda: nhd(dtype=torch.float8_e4m3fn)
    yield 'HND fp8 -> NHD bf16, page 64', [lambda: hnd(dtype=torch.float8_e4m3fn)], lambda: nhd(64)


class Pair:
    def __init__(self, sources, target):
        self.sources, self.target = [make().allocate() for make in sources], target().allocate()
        self.converts = any(s.dtype != self.target.dtype for s in self.sources)
        step = self.target.heads // len(self.sources)
        self.heads = [slice(i * step, (i + 1) * step) for i in range(len(self.sources))]
        parts = [
            (s.cache, self.target.cache if s.mla else self.target.cache.select(head=h), s.table, self.target.table)
            for s, h in zip(self.sources, self.heads)
        ]
        self.relayout = ucd_models.cache.Relayout(parts, convert=self.converts, holes=HOLES)
        moved = [2 * LAYERS * TOKENS * s.heads * DIM if not s.mla else LAYERS * TOKENS * 576 for s in self.sources]
        self.bytes = sum(n * (s.dtype.itemsize + self.target.dtype.itemsize) for n, s in zip(moved, self.sources)) // 2

    def by_torch(self, by_index):
        for layer in range(LAYERS):
            for source, heads in zip(self.sources, self.heads):
                self.target.put(layer, source.taken(layer, by_index), by_index, heads)

    def renew(self):
        for engine in (*self.sources, self.target):
            engine.renew()

    def memory(self):
        """All bytes of the target's tensors, padding included."""
        parts = [t for layer in self.target.tensors for t in (layer if self.target.mla else [layer])]
        return [torch.empty(0, dtype=torch.uint8, device='cuda').set_(t.untyped_storage()) for t in parts]

    def check(self, graph):
        """Compares replays of the graph with PyTorch's expression, for other pages."""
        before = [m.clone() for m in self.memory()]
        for _ in range(2):
            self.renew()
            for m, b in zip(self.memory(), before):
                m.copy_(b)
            self.by_torch(True)
            expected = [m.clone() for m in self.memory()]
            for m, b in zip(self.memory(), before):
                m.copy_(b)
            graph.replay()
            torch.cuda.synchronize()
            assert all(torch.equal(m, e) for m, e in zip(self.memory(), expected)), 'other bytes than PyTorch'


def captured(call):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def time_of(replay):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(REPLAYS):
        replay()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / REPLAYS / 1e3


def print_small_requests():
    """What does not grow with the pages: a replay, a call, and a new Relayout; of PyTorch, a replay and a call."""
    global TOKENS
    before, TOKENS = TOKENS, 64
    pair = Pair([nhd], lambda: hnd(64))
    graphs = captured(pair.relayout.run), captured(lambda: pair.by_torch(False))
    parts = [(pair.sources[0].cache, pair.target.cache, pair.sources[0].table, pair.target.table)]
    calls = {
        'replay': graphs[0].replay,
        'Relayout.run': pair.relayout.run,
        'Relayout(...)': lambda: ucd_models.cache.Relayout(parts),
        'PyTorch, replay': graphs[1].replay,
        'PyTorch': lambda: pair.by_torch(False),
    }
    print(f'64 tokens of {LAYERS} layers, us by the clock:')
    for name, call in calls.items():
        times = []
        for _ in range(12):
            torch.cuda.synchronize()
            start = time.perf_counter()
            call()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        print(f'{name:40}{statistics.median(times) * 1e6:10.1f}')
    TOKENS = before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--csv', help='also write the table into this file')
    parser.add_argument('--only', default='', help='only pairs whose names have this in them')
    parser.add_argument('--holes', action='store_true', help='by the kernels of ucd-models, which leave out pages below 0')
    options = parser.parse_args()
    global HOLES
    HOLES = options.holes
    torch.manual_seed(1)
    rows = []
    print(f'{torch.cuda.get_device_name()}, ucd {ucd.__version__}, torch {torch.__version__}')
    print(f'{"":40}{"MiB":>7}{"GB/s":>7}{"of copy":>9}{"x PyTorch":>11}  (GB/s: bytes read, or written)')
    for name, sources, target in pairs():
        if options.only not in name:
            continue
        pair = Pair(sources, target)
        graph = captured(pair.relayout.run)
        pair.check(graph)
        plain = [torch.empty(pair.bytes, dtype=torch.uint8, device='cuda') for _ in range(2)]
        contenders = [
            graph.replay,
            captured(lambda: plain[1].copy_(plain[0])).replay,
            captured(lambda: torch.bitwise_not(plain[0].view(torch.int32), out=plain[1].view(torch.int32))).replay,
            *(captured(lambda i=by_index: pair.by_torch(i)).replay for by_index in (True, False)),
        ]
        times = [[] for _ in contenders]
        for turn in range(TURNS + 1):
            pair.renew()
            for replay, found in zip(contenders, times):
                seconds = time_of(replay)
                if turn > 0:
                    found.append(seconds)
        own, driver, kernel, *torchs = map(statistics.median, times)
        row = [name, pair.bytes / 2**20, pair.bytes / own / 1e9, min(driver, kernel) / own, min(torchs) / own]
        rows.append(row)
        print(f'{row[0]:40}{row[1]:7.0f}{row[2]:7.0f}{row[3]:9.2f}{row[4]:11.2f}', flush=True)
        del pair, graph, plain, contenders
        torch.cuda.empty_cache()
    for title, column in (('of copy', 3), ('x PyTorch', 4)):
        found = [row[column] for row in rows]
        print(f'{title}: least {min(found):.2f}, median {statistics.median(found):.2f}')
    print_small_requests()
    if options.csv:
        with open(options.csv, 'w', newline='') as file:
            table = csv.writer(file)
            table.writerow(['pair', 'mebibytes', 'gigabytes_per_second', 'of_copy', 'times_pytorch'])
            table.writerows(rows)


if __name__ == '__main__':
    main()
