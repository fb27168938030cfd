"""A checkpoint of 6 ranks is read by 2: each reads the bytes that it needs, and nothing else.

The ranks that wrote had tensor parallelism of 2 under sharded data parallelism of 3, one safetensors file each. Those that
read split a fused projection between its heads, in bfloat16.
"""

import pathlib
import tempfile

import numpy as np

import ucd_models

HEADS, KV_HEADS, WIDTH, COLUMNS = 12, 4, 16, 128
ROWS = (HEADS + 2 * KV_HEADS) * WIDTH
pieces = {'q': (HEADS * WIDTH, WIDTH), 'k': (KV_HEADS * WIDTH, WIDTH), 'v': (KV_HEADS * WIDTH, WIDTH)}
before = ucd_models.Distribution((ROWS, COLUMNS), (3, 2), [ucd_models.Shard(0), ucd_models.Shard(1)])
after = ucd_models.Distribution((ROWS, COLUMNS), 2, ucd_models.Segment(0, pieces))

with tempfile.TemporaryDirectory() as folder:
    weight = np.random.default_rng(3).random((ROWS, COLUMNS), dtype=np.float32)
    shards = ucd_models.redistribute([weight], ucd_models.Distribution(weight.shape, 1, ucd_models.Replicate()), before)
    paths = [pathlib.Path(folder) / f'rank{rank}.safetensors' for rank in before.ranks]
    for path, shard in zip(paths, shards):
        file = ucd_models.Safetensors.create(path, {'qkv': ('F32', shard.shape)})
        file['qkv'][:] = shard
        file.flush()
        del file

    saved = ucd_models.checkpoint.open(paths, {'qkv': before})
    print(saved, saved['qkv'].dtype, saved['qkv'].placements)
    halves = [np.empty(after.local_shape(rank), np.uint16) for rank in after.ranks]  # bits of bfloat16
    for rank in after.ranks:
        report = saved.read({'qkv': halves[rank]}, rank=rank, placements={'qkv': after}, convert='bfloat16', gap=0)
        print(f'rank {rank}: {report}')
        assert report.read == report.needed == weight.nbytes // 2

    # The same by NumPy: query, key and value of the second rank, rounded to the nearest, ties to even.
    q, k, v = np.split(weight, [HEADS * WIDTH, (HEADS + KV_HEADS) * WIDTH])
    bits = np.concatenate([part[len(part) // 2 :] for part in (q, k, v)]).view(np.uint32)
    assert (halves[1] == (bits + 0x7FFF + (bits >> 16 & 1)) >> 16).all()
