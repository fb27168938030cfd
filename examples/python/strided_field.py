"""A part of a field in a file, read into an array: into GPU memory if PyTorch has a GPU.

The file is as simulations write it: steps of a 3-D grid, whose cells are records of several quantities. What
is wanted is one quantity of some blocks of cells, as HDF5 describes it: start, stride, count and block
along each dimension. The file is memory-mapped, so that only the pages with these cells are read.
"""

import pathlib
import tempfile

import numpy as np

import ucd

cell = np.dtype([('density', '<f8'), ('velocity', '<f4', 3), ('kind', '<i4')])
SHAPE = (4, 16, 24, 32)  # steps, z, y, x


def hyperslab(shape, start, stride, count, block, element, item_bytes):
    """A type for HDF5's selection of elements, which lie item_bytes apart."""
    bytes_along = [item_bytes * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    sizes = [n for pair in zip(count, block) for n in pair]
    strides = [n for s, b in zip(stride, bytes_along) for n in (s * b, b)]
    blocks = ucd.Type.ndarray(sizes, strides, element)
    return ucd.Type.hindexed_block(1, [sum(s * b for s, b in zip(start, bytes_along))], blocks)


def empty(count, dtype):
    """Uninitialised memory: of the GPU, if there is one."""
    try:
        import torch
    except ImportError:
        return np.empty(count, dtype)
    return torch.empty(count, dtype=torch.float32, device='cuda' if torch.cuda.is_available() else 'cpu')


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'field.bin'
    field = np.zeros(SHAPE, cell)
    field['velocity'] = np.random.default_rng(6).random((*SHAPE, 3))
    field.tofile(path)

    mapped = np.memmap(path, cell, 'r', shape=SHAPE)
    # The velocity in every second step, in blocks of 2 x 3 x 4 cells.
    start, stride, count, block = (1, 0, 2, 4), (2, 8, 6, 8), (2, 2, 3, 3), (1, 2, 3, 4)
    chosen = hyperslab(SHAPE, start, stride, count, block, ucd.Type.contiguous(3, 'float32'), cell.itemsize)
    out = empty(chosen.size // 4, 'float32')
    ucd.pack_into(mapped['velocity'], out, type=chosen)

    ranges = [
        [s + i * step + j for i in range(n) for j in range(b)] for s, step, n, b in zip(start, stride, count, block)
    ]
    expected = field['velocity'][np.ix_(*ranges)]
    found = out if isinstance(out, np.ndarray) else out.cpu().numpy()
    assert (found == expected.ravel()).all()
    pieces = chosen.layout()['segments']
    print(f'{expected.nbytes} bytes in {pieces} pieces of a file of {path.stat().st_size} bytes')
    del mapped  # before its file goes
