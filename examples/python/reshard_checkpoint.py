"""A checkpoint of 8 ranks, one .npy file for each, becomes one of 3 ranks.

The files are memory-mapped: only the pages that a rank needs are read, and no tensor is ever whole.
"""

import pathlib
import tempfile

import numpy as np

import ucd_models

ROWS, COLUMNS = 1000, 96
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    weight = np.random.default_rng(2).random((ROWS, COLUMNS), dtype=np.float32)

    # 8 ranks: a mesh of 4 x 2 that splits rows and columns.
    before = ucd_models.Distribution(weight.shape, (4, 2), [ucd_models.Shard(0), ucd_models.Shard(1)])
    for rank in before.ranks:
        i, j = divmod(rank, 2)
        np.save(path / f'before{rank}.npy', weight[i * 250 : i * 250 + 250, j * 48 : j * 48 + 48])

    # 3 ranks, which split the rows.
    after = ucd_models.Distribution(weight.shape, 3, ucd_models.Shard(0))
    sources = [np.load(path / f'before{rank}.npy', mmap_mode='r') for rank in before.ranks]
    targets = [
        np.lib.format.open_memmap(
            path / f'after{rank}.npy', mode='w+', dtype=weight.dtype, shape=after.local_shape(rank)
        )
        for rank in after.ranks
    ]
    ucd_models.redistribute(sources, before, after, out=targets)
    for target in targets:
        target.flush()

    found = np.concatenate([np.load(path / f'after{rank}.npy') for rank in after.ranks])
    assert (found == weight).all()
    print(ucd_models.routing(before, after, 'float32'))
    del sources, targets  # before their files go
