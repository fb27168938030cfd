"""A connector of caches by names: two engines say what they call their layouts, and pages go from the one to the other.

The engine that asks has SGLang's pool of slots, the one that answers vLLM's tensors. They exchange their formats as bytes, once.
Then a request is a list of pages on each side: the connector makes the descriptor list of a transfer library, or, where
both are in one process, moves them by one launch.
"""

import ctypes

import numpy as np

from ucd_models.cache import NAMES, Cache, Format, descriptor_pair, relayout


class Engine:
    """What an engine tells a connector: its tensors, and the name of their layout."""

    def __init__(self, name, tensors, **sizes):
        self.cache = Cache.of(tensors, name, name=name, **sizes)

    def handshake(self):
        """Bytes for the other engine: the layout, and the addresses of the tensors, which it needs for transfers."""
        placed = self.cache.placed
        return placed.format.to_bytes(), list(placed.addresses)


class Connector:
    """Gets pages of another engine into those of this one."""

    def __init__(self, engine):
        self.engine = engine
        self.remote = None

    def connect(self, handshake):
        """Raises ValueError if the other side does not mean the same: other layers, heads, dims or elements."""
        layout, addresses = handshake
        theirs = Format.from_bytes(layout)
        mine = self.engine.cache.format
        for axis in ('layer', 'kv', 'head', 'dim'):
            if theirs.sizes[axis] != mine.sizes[axis]:
                raise ValueError(f'{theirs.sizes[axis]} of {axis} there, {mine.sizes[axis]} here')
        self.remote = theirs.at(addresses)
        return str(mine.difference(theirs)) if mine.page_id != theirs.page_id else 'the same layout'

    def load(self, transfer, their_pages, my_pages):
        """By a transfer library, which reads ranges of the other's memory into ranges of this one's."""
        source, target = descriptor_pair(self.remote, self.engine.cache, their_pages, my_pages)
        transfer(source.nixl(strided=True), target.nixl(strided=True))
        return source.nbytes, len(source.nixl(strided=True)), len(source)


def transfer(source, target):
    """In place of a NIXL agent: rows are address, length, device, stride and count."""
    for (a, length, _, step_a, count), (b, _, _, step_b, _) in zip(source.tolist(), target.tolist(), strict=True):
        for k in range(count):
            ctypes.memmove(b + k * step_b, a + k * step_a, length)


LAYERS, HEADS, DIM = 4, 8, 64
rng = np.random.default_rng(7)
theirs = [rng.random((2, 40, 16, HEADS, DIM), np.float32) for _ in range(LAYERS)]  # 40 pages of 16 tokens
mine = [[np.zeros((30 * 64, HEADS, DIM), np.float32) for _ in range(LAYERS)] for _ in range(2)]  # slots: 30 pages of 64

vllm = Engine('NL_X_TWO_NB_BS_NH_HS', theirs)
sglang = Engine('sglang:mha', mine, token=64)
connector = Connector(sglang)
print(f'of {len(NAMES)} names; the first difference is in', connector.connect(vllm.handshake()))

their_pages, my_pages = rng.permutation(40)[:8], np.array([21, 4])
nbytes, few, many = connector.load(transfer, their_pages, my_pages)
print(f'{nbytes} bytes in {few} rows of five, or {many} of three')


def check(k):
    """Token k of the request, in all layers."""
    slot = my_pages[k // 64] * 64 + k % 64
    for layer in range(LAYERS):
        for kv in range(2):
            assert (mine[kv][layer][slot] == theirs[layer][kv, their_pages[k // 16], k % 16]).all()


for token in range(8 * 16):
    check(token)

for tensors in mine:
    for tensor in tensors:
        tensor[:] = 0
assert relayout(vllm.cache, sglang.cache, their_pages, my_pages) == nbytes  # in one process, or on one GPU
for token in range(8 * 16):
    check(token)

half = Engine('LBNHC', np.zeros((LAYERS, 5, 16, HEADS // 2, 2 * DIM), np.float32))
try:
    Connector(half).connect(vllm.handshake())
except ValueError as refused:
    print('refused:', refused)
