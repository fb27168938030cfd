"""Checkpoints of 64 ranks, read by one of 3: beside safetensors' slices and torch.distributed.checkpoint.

    python3 python-models/bench/checkpoints.py [--mib 1024] [--repeats 5] [--folder /tmp]

The files are in the page cache. Readers have one thread each, and take turns, and their results are compared bit for bit. Times are medians of processor time, since other processes may run.
Needs safetensors; torch for the rows of directories of torch.distributed.checkpoint. Beside ucd there is what a program
would do: safe_open(...).get_slice of each file that has something, and dcp.load of DTensors.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

import ucd_models

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'test'))
import checkpoint_files  # noqa: E402  writes directories without 64 processes

WRITERS, READERS, RANK = 64, 3, 1


def shapes(mib):
    """Weights of one size, by whose number the model grows."""
    return {f'layers.{k}.weight': (4096, 4096) for k in range(max(mib // 64, 1))}


def rows(n, ranks, rank):
    block = -(-n // ranks)
    return slice(min(rank * block, n), min((rank + 1) * block, n))


def write_shards(folder, arrays):
    paths = []
    for rank in range(WRITERS):
        here = {name: array[rows(len(array), WRITERS, rank)] for name, array in arrays.items()}
        paths.append(checkpoint_files.safetensors_file(folder / f'{rank}.safetensors', here))
    return paths


def mine(shape, dim):
    return ucd_models.Distribution(shape, READERS, ucd_models.Shard(dim))


def local_slices(shape, dim):
    return tuple(rows(n, READERS, RANK) if axis == dim else slice(0, n) for axis, n in enumerate(shape))


def by_safetensors(paths, arrays, dim, targets, convert):
    import torch
    from safetensors import safe_open

    files = [safe_open(path, framework='pt') for path in paths]
    for name, shape in arrays.items():
        want = local_slices(shape, dim)
        for rank, file in enumerate(files):
            held = rows(shape[0], len(files), rank)
            low, high = max(held.start, want[0].start), min(held.stop, want[0].stop)
            if low < high:
                part = file.get_slice(name)[low - held.start : high - held.start, want[1]]
                torch.from_numpy(targets[name][low - want[0].start : high - want[0].start]).copy_(part)


class ByTorch:
    """dcp.load of what one rank has, in a process group that only this rank is in."""

    def __init__(self, folder):
        import torch
        import torch.distributed as dist
        from torch.distributed.device_mesh import DeviceMesh
        from torch.testing._internal.distributed.fake_pg import FakeStore

        self.folder = folder
        if not dist.is_initialized():
            dist.init_process_group('fake', rank=RANK, world_size=READERS, store=FakeStore())
        self.mesh = DeviceMesh('cpu', torch.arange(READERS))

    def __call__(self, paths, arrays, dim, targets, convert):
        import torch
        import torch.distributed.checkpoint as dcp
        from torch.distributed.tensor import DTensor, Shard

        state = {}
        for name, shape in arrays.items():
            local = torch.from_numpy(targets[name]) if not convert else torch.empty(targets[name].shape)
            state[name] = DTensor.from_local(local, self.mesh, [Shard(dim)], shape=torch.Size(shape), stride=(shape[1], 1))
        dcp.load(state, checkpoint_id=str(self.folder), no_dist=True)
        if convert:
            for name in arrays:
                torch.from_numpy(targets[name]).copy_(state[name].to_local())


def by_ucd(saved, dim, targets, convert, mapped=None):
    held = {name: mine(saved[name].shape, dim) for name in targets}
    return saved.read(targets, rank=RANK, placements=held, convert=convert, mapped=mapped)


def measure(what, arrays, dim, convert, repeats, ours, others):
    """A row for each reader beside ucd."""
    def new():
        return {
            name: np.zeros(mine(shape, dim).local_shape(RANK), convert or 'float32') for name, shape in arrays.items()
        }

    sets = {name: new() for name in ['ucd', *others]}
    times = {name: [] for name in sets}
    for _ in range(repeats + 1):
        for name, targets in sets.items():
            began = time.process_time()
            if name == 'ucd':
                report = ours(targets)
            else:
                others[name](targets)
            times[name].append(time.process_time() - began)
    medians = {name: statistics.median(found[1:]) for name, found in times.items()}
    for name in others:
        assert all((sets[name][key] == sets['ucd'][key]).all() for key in arrays), name
        print(
            f'| {what} | {report.needed >> 20} | {report.read >> 20} | {report.calls} | {medians["ucd"] * 1e3:.0f} | '
            f'{name} | {medians[name] * 1e3:.0f} | {medians[name] / medians["ucd"]:.2f} |',
            flush=True,
        )


def measure_pieces(folder, repeats):
    """A matrix of 128 MiB in bfloat16 with 4096 columns, by the columns of one of several ranks: short pieces."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = folder / 'bfloat16.safetensors'
    save_file({'w': torch.randn(16384, 4096).bfloat16()}, path)
    print('\n| one of | ucd, ms | not mapped | safe_open |\n|---|---|---|---|')
    for ranks in (2, 3, 8, 64):
        held = ucd_models.Distribution((16384, 4096), ranks, ucd_models.Shard(1))
        begin, shape = -(-4096 // ranks), held.local_shape(1)

        def by_ucd(target, mapped, held=held):
            ucd_models.checkpoint.open(path).read({'w': target}, rank=1, placements={'w': held}, mapped=mapped)

        def by_safe_open(target, begin=begin, shape=shape):
            with safe_open(path, framework='pt') as file:
                target.copy_(file.get_slice('w')[:, begin : begin + shape[1]])

        readers = [lambda t: by_ucd(t, None), lambda t: by_ucd(t, False), by_safe_open]
        targets = [torch.zeros(shape, dtype=torch.bfloat16) for _ in readers]
        times = [[] for _ in readers]
        for _ in range(repeats + 1):
            for reader, target, found in zip(readers, targets, times):
                began = time.process_time()
                reader(target)
                found.append(time.process_time() - began)
        assert torch.equal(targets[0], targets[1]) and torch.equal(targets[0], targets[2])
        print(f'| {ranks} ranks | ' + ' | '.join([f'{statistics.median(found[1:]) * 1e3:.0f}' for found in times]) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--mib', type=int, default=1024)
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--folder')
    options = parser.parse_args()
    arrays = shapes(options.mib)
    rng = np.random.default_rng(1)
    print('| files, to | MiB needed | MiB read | calls | ucd, ms | beside | ms | ratio |\n|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        data = {name: rng.standard_normal(shape, 'f4') for name, shape in arrays.items()}
        paths = write_shards(folder, data)
        whole = checkpoint_files.safetensors_file(folder / 'whole', data)
        parts = {
            name: ('float32', array, [(r, (rows(len(array), WRITERS, r), slice(0, array.shape[1]))) for r in range(WRITERS)])
            for name, array in data.items()
        }
        checkpoint_files.write_dcp(folder / 'dcp', parts)
        del data, parts
        layout = {name: ucd_models.Distribution(shape, WRITERS, ucd_models.Shard(0)) for name, shape in arrays.items()}
        try:
            import torch as pytorch

            pytorch.set_num_threads(1)  # as ucd: processor time of threads that wait would count
            torch = ByTorch(folder / 'dcp')
        except ImportError:
            torch = None
        for dim, to in ((0, 'rows'), (1, 'columns')):
            for convert in (None, 'float16'):
                said = f'{to}, {convert}' if convert else to

                def from_shards(targets, mapped=None):
                    return by_ucd(ucd_models.checkpoint.open(paths, layout), dim, targets, convert, mapped)

                def from_one(targets, mapped=None):
                    return by_ucd(ucd_models.checkpoint.open(whole), dim, targets, convert, mapped)

                def from_dcp(targets, mapped=None):
                    return by_ucd(ucd_models.checkpoint.open(folder / 'dcp'), dim, targets, convert, mapped)

                others = {
                    'safe_open': lambda t: by_safetensors(paths, arrays, dim, t, convert),
                    'ucd, not mapped': lambda t: from_shards(t, False),
                }
                measure(f'64 safetensors, {said}', arrays, dim, convert, options.repeats, from_shards, others)
                others = {
                    'safe_open': lambda t: by_safetensors([whole], arrays, dim, t, convert),
                    'ucd, not mapped': lambda t: from_one(t, False),
                }
                measure(f'1 safetensors, {said}', arrays, dim, convert, options.repeats, from_one, others)
                if torch:
                    others = {'dcp.load': lambda t: torch(None, arrays, dim, t, convert), 'ucd, not mapped': lambda t: from_dcp(t, False)}
                    measure(f'64 distcp, {said}', arrays, dim, convert, options.repeats, from_dcp, others)
        if torch:
            measure_pieces(folder, options.repeats)


if __name__ == '__main__':
    main()
