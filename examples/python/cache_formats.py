"""A request's cache from a prefill engine to a decode engine that keep it in different formats.

Prefill has tensor parallelism 2 and pages of 16 tokens, tokens outside of heads; decode has one rank, pages of 64, heads
outside of tokens, and half the precision. First both sides find out what the other one means.
"""

import numpy as np

import ucd_models
from ucd_models.cache import Cache, Format, Relayout

LAYERS, HEADS, DIM = 3, 4, 32
rng = np.random.default_rng(1)

# Prefill: of each rank, a tensor for each layer.
prefill = []
for rank in range(2):
    tensors = [rng.random((2, 30, 16, HEADS // 2, DIM), np.float32) for _ in range(LAYERS)]
    prefill.append(Cache.of(tensors, 'kv page token head dim', name='paged'))

# Decode: one tensor.
pool = np.zeros((10, LAYERS, 2, HEADS, 64, DIM), np.float16)
decode = Cache.of(pool, 'page layer kv head token dim', name='paged')

# Each side sends its format, and finds that "paged" means two things.
received = Format.from_bytes(decode.format.to_bytes())
print(prefill[0].format.difference(received))

# The request's pages: 12 of 16 tokens on each rank, 3 of 64. Each rank has its heads.
tables = [rng.permutation(30)[:12] for _ in prefill]
places = np.array([8, 0, 5])
parts = [
    (cache, decode.select(head=slice(2 * rank, 2 * rank + 2)), tables[rank], places)
    for rank, cache in enumerate(prefill)
]
moved = Relayout(parts, convert=True).run()

for rank, cache in enumerate(prefill):
    for layer, tensor in enumerate(cache.arrays):
        tokens = tensor[:, tables[rank]].reshape(2, 3, 64, HEADS // 2, DIM)
        part = pool[places, layer, :, 2 * rank : 2 * rank + 2]
        assert (part == tokens.transpose(1, 0, 3, 2, 4).astype(np.float16)).all()

# What a transfer library would be given, where both sides have one format.
rows = ucd_models.cache.descriptors(decode, places)
print(f'{moved} bytes moved; the pages are {len(rows)} ranges of memory')
