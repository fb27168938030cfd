"""KV-cache pages from an engine with 2 tensor-parallel ranks to one with 4.

Each rank has the pages of its heads. The sender keeps heads outside of tokens (HND), the receiver tokens
outside of heads (NHD). A request owns some pages, which lie anywhere in the pools of both sides.
"""

import numpy as np

import ucd
import ucd_models

LAYERS, HEADS, TOKENS, WIDTH = 3, 8, 16, 32
POOL_PAGES = 40
rng = np.random.default_rng(1)
sent, received = rng.permutation(POOL_PAGES)[:10], rng.permutation(POOL_PAGES)[:10]

# What the request's pages hold: (page, layer, head, token, width).
truth = rng.random((len(sent), LAYERS, HEADS, TOKENS, WIDTH), dtype=np.float32)

# Pools of the two senders: (layer, page, head, token, width), with the pages at sent[...].
senders = [np.zeros((LAYERS, POOL_PAGES, HEADS // 2, TOKENS, WIDTH), np.float32) for _ in range(2)]
for rank, pool in enumerate(senders):
    pool[:, sent] = truth[:, :, rank * 4 : rank * 4 + 4].swapaxes(0, 1)
# Pools of the four receivers: (layer, page, token, head, width).
receivers = [np.zeros((LAYERS, POOL_PAGES, TOKENS, HEADS // 4, WIDTH), np.float32) for _ in range(4)]

# Gather the pages of all layers, whatever their number: one call for each sender.
messages = [ucd.gather(pool, sent, axis=1) for pool in senders]

# Heads to other ranks: which rank sends what to whom, as two types for each pair.
shape = (LAYERS, len(sent), HEADS, TOKENS, WIDTH)
before, after = ucd_models.Distribution(shape, 2, ucd_models.Shard(2)), ucd_models.Distribution(shape, 4, ucd_models.Shard(2))
pages = [np.empty((LAYERS, len(received), TOKENS, HEADS // 4, WIDTH), np.float32) for _ in receivers]
ucd_models.redistribute(messages, before, after, out=[p.swapaxes(2, 3) for p in pages])

# Scatter them into the receivers' own pages.
for packed, pool in zip(pages, receivers):
    ucd.scatter(packed, pool, received, axis=1)

for rank, pool in enumerate(receivers):
    expected = truth[:, :, rank * 2 : rank * 2 + 2].transpose(1, 0, 3, 2, 4)
    assert (pool[:, received] == expected).all()
routes = list(ucd_models.routing(before, after, 'float32').routes)
print(f'{len(routes)} routes, {sum(route.nbytes for route in routes)} bytes')
