"""From engines that prefill, with tensor parallelism of 4 and context parallelism of 2, to one that decodes with tensor
parallelism of 2.

Eight ranks prefill. A rank has two of eight heads, of every second token: token t is on the ranks of t % 2, so that causal
attention is balanced. Two ranks decode. Each has four heads of all tokens, in pages of another size and layout. The prompt ends
within a page.
"""

import numpy as np

from ucd_models.cache import Cache, Relayout

LAYERS, HEADS, DIM = 3, 8, 32
PREFILL, CONTEXT, DECODE = 4, 2, 2  # ranks
TOKENS = 150  # of the prompt
PREFILL_PAGE, DECODE_PAGE = 16, 64
POOL = 20

rng = np.random.default_rng(2)
truth = rng.random((LAYERS, 2, TOKENS, HEADS, DIM), np.float32)  # keys and values


def pages_for(tokens, page):
    """Pages of a pool, in any order: as many as the tokens need."""
    return rng.permutation(POOL)[: -(-tokens // page)]


class PrefillRank:
    """vLLM's layout: a tensor for each layer, 2 x pages x tokens x heads x dim."""

    def __init__(self, context, part):
        self.heads = slice(part * HEADS // PREFILL, (part + 1) * HEADS // PREFILL)
        self.tokens = range(context, TOKENS, CONTEXT)
        self.tensors = [np.zeros((2, POOL, PREFILL_PAGE, HEADS // PREFILL, DIM), np.float32) for _ in range(LAYERS)]
        self.cache = Cache.of(self.tensors, 'NL_X_TWO_NB_BS_NH_HS')
        self.pages = pages_for(len(self.tokens), PREFILL_PAGE)
        mine = truth[:, :, self.tokens, self.heads]
        for k in range(len(self.tokens)):
            for layer, tensor in enumerate(self.tensors):
                tensor[:, self.pages[k // PREFILL_PAGE], k % PREFILL_PAGE] = mine[layer, :, k]


class DecodeRank:
    """One tensor: layers x pages x tokens x heads x (key, value)."""

    def __init__(self, part):
        self.heads = slice(part * HEADS // DECODE, (part + 1) * HEADS // DECODE)
        self.tensor = np.zeros((LAYERS, POOL, DECODE_PAGE, HEADS // DECODE, 2 * DIM), np.float32)
        self.cache = Cache.of(self.tensor, 'LBNHC')
        self.pages = pages_for(TOKENS, DECODE_PAGE)

    def part_of(self, rank):
        """Of this rank's cache, what a rank that prefills has: its heads and tokens. None: nothing."""
        first = rank.heads.start - self.heads.start
        count = rank.heads.stop - rank.heads.start
        if not 0 <= first < self.heads.stop - self.heads.start:
            return None
        return self.cache.select(head=slice(first, first + count), token=rank.tokens)

    def check(self):
        for token in range(TOKENS):
            page, at = self.pages[token // DECODE_PAGE], token % DECODE_PAGE
            expected = truth[:, :, token, self.heads].transpose(0, 2, 1, 3).reshape(LAYERS, -1, 2 * DIM)
            assert (self.tensor[:, page, at] == expected).all()
        last = self.tensor[:, self.pages[-1], TOKENS % DECODE_PAGE :]
        assert not last.any(), 'the rest of the last page is not touched'


prefill = [PrefillRank(context, part) for context in range(CONTEXT) for part in range(PREFILL)]
decode = [DecodeRank(part) for part in range(DECODE)]

for number, receiver in enumerate(decode):
    # The source's tokens are its own, one after the other; the last page is not full.
    moves = [
        (sender.cache.select(token=range(len(sender.tokens))), receiver.part_of(sender), sender.pages, receiver.pages)
        for sender in prefill
        if receiver.part_of(sender) is not None
    ]
    move = Relayout(moves)  # one launch, on a GPU; prepared once for tables that change
    moved = move.run()
    receiver.check()
    assert moved == truth.nbytes // DECODE
    print(f'decode rank {number}: {len(moves)} ranks sent {moved} bytes')
