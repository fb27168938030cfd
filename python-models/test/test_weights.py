"""Weights by rules, on tiny random models, against concatenating and cutting by hand."""


import numpy as np
import pytest
from placements_oracle import parts_of
from test_engines import needs_torch, separate_ranks

import ucd_models
from ucd_models import weights

HIDDEN, HEADS, WIDTH, INNER, VOCABULARY, EXPERTS = 24, 8, 4, 40, 130, 4


def model(kv_heads, experts=0, layers=2):
    """Names and arrays as Hugging Face's models have them."""
    rng = np.random.default_rng(3)

    def some(*shape):
        return rng.standard_normal(shape).astype('f4')

    found = {'model.embed_tokens.weight': some(VOCABULARY, HIDDEN), 'lm_head.weight': some(VOCABULARY, HIDDEN)}
    for k in range(layers):
        layer, attention = f'model.layers.{k}.', f'model.layers.{k}.self_attn.'
        for name, heads in (('q', HEADS), ('k', kv_heads), ('v', kv_heads)):
            found[attention + name + '_proj.weight'] = some(heads * WIDTH, HIDDEN)
            found[attention + name + '_proj.bias'] = some(heads * WIDTH)
        found[attention + 'o_proj.weight'] = some(HIDDEN, HEADS * WIDTH)
        found[attention + 'rotary_emb.inv_freq'] = some(WIDTH // 2)
        found[layer + 'input_layernorm.weight'] = some(HIDDEN)
        if experts:
            found[layer + 'block_sparse_moe.gate.weight'] = some(experts, HIDDEN)
        for e in range(experts):
            expert = f'{layer}block_sparse_moe.experts.{e}.'
            found |= {expert + 'w1.weight': some(INNER, HIDDEN), expert + 'w3.weight': some(INNER, HIDDEN)}
            found[expert + 'w2.weight'] = some(HIDDEN, INNER)
        if not experts:
            found |= {layer + 'mlp.gate_proj.weight': some(INNER, HIDDEN), layer + 'mlp.up_proj.weight': some(INNER, HIDDEN)}
            found[layer + 'mlp.down_proj.weight'] = some(HIDDEN, INNER)
    found['model.norm.weight'] = some(HIDDEN)
    return found


def served(whole, kv_heads, ranks, rank, experts=0, by_expert=False):
    """What vLLM's rank of some has, by hand."""

    def cut(array, dim=0):
        return np.split(array, ranks, dim)[rank]

    def heads(name, number):
        array = whole[name].reshape(number, WIDTH, *whole[name].shape[1:])
        mine = array[rank * number // ranks : (rank + 1) * number // ranks] if number >= ranks else array[[rank // (ranks // number)]]
        return mine.reshape(-1, *array.shape[2:])

    found = {}
    for name in ('model.embed_tokens.weight', 'lm_head.weight'):
        padded = np.zeros((192, HIDDEN), 'f4')
        padded[:VOCABULARY] = whole[name]
        found[name] = cut(padded)
    for k in range(2):
        layer, attention = f'model.layers.{k}.', f'model.layers.{k}.self_attn.'
        for what in ('weight', 'bias'):
            parts = [heads(f'{attention}{n}_proj.{what}', h) for n, h in (('q', HEADS), ('k', kv_heads), ('v', kv_heads))]
            found[f'{attention}qkv_proj.{what}'] = np.concatenate(parts)
        found[attention + 'o_proj.weight'] = cut(whole[attention + 'o_proj.weight'], 1)
        found[layer + 'input_layernorm.weight'] = whole[layer + 'input_layernorm.weight']
        if experts:
            moe = layer + 'block_sparse_moe.'
            found[moe + 'gate.weight'] = whole[moe + 'gate.weight']
            mine = np.split(np.arange(experts), ranks)[rank] if by_expert else range(experts)
            each = (lambda array, dim=0: array) if by_expert else cut
            w = {n: [each(whole[f'{moe}experts.{e}.w{n}.weight'], int(n == 2)) for e in mine] for n in (1, 2, 3)}
            found[moe + 'experts.w13_weight'] = np.stack([np.concatenate(pair) for pair in zip(w[1], w[3])])
            found[moe + 'experts.w2_weight'] = np.stack(w[2])
        else:
            pair = [cut(whole[f'{layer}mlp.{n}_proj.weight']) for n in ('gate', 'up')]
            found[layer + 'mlp.gate_up_proj.weight'] = np.concatenate(pair)
            found[layer + 'mlp.down_proj.weight'] = cut(whole[layer + 'mlp.down_proj.weight'], 1)
    found['model.norm.weight'] = whole['model.norm.weight']
    return found


@pytest.mark.parametrize('trainers', [(3, [ucd_models.Shard(0)]), ((2, 2), [ucd_models.Replicate(), ucd_models.Shard(0)])])
@pytest.mark.parametrize('mesh', [1, 2, 4, (2, 2)])
@pytest.mark.parametrize('kv_heads', [2, 8])
@pytest.mark.parametrize('experts, by_expert', [(0, False), (EXPERTS, False), (EXPERTS, True)])
def test_tiny_models(trainers, mesh, kv_heads, experts, by_expert):
    whole = model(kv_heads, experts)
    before = {name: (ucd_models.Distribution(a.shape, *trainers), 'float32') for name, a in whole.items()}
    replicas, parallel = (1, mesh) if isinstance(mesh, int) else mesh
    rules = weights.MIXTRAL if experts else weights.LLAMA
    ranks = range(100, 100 + replicas * parallel)
    sync = weights.Sync(rules, before, mesh, ranks=ranks, units={'head': WIDTH}, experts=experts if by_expert else 0)
    expected = [served(whole, kv_heads, parallel, at % parallel, experts, by_expert) for at in range(replicas * parallel)]
    found = [{name: np.zeros_like(a) for name, a in of_rank.items()} for of_rank in expected]
    views = [sync.targets(of_rank, rank) for of_rank, rank in zip(found, ranks)]
    move = sync.redistribution
    sources = {name: parts_of(whole[name], before[name][0]) for name in move.routings}
    targets = {name: [views[r - 100][name] for r in move.routings[name].target.ranks] for name in move.routings}
    move.execute(None, sources, targets)
    for one, other in zip(found, expected):
        assert all((one[name] == other[name]).all() for name in other)


@pytest.mark.parametrize('kv_heads', [2, 8])
def test_a_checkpoint_into_parameters_that_are_served(tmp_path, kv_heads):
    whole = model(kv_heads)
    file = ucd_models.Safetensors.create(tmp_path / 'x.safetensors', {name: ('F32', a.shape) for name, a in whole.items()})
    for name, array in whole.items():
        file[name][:] = array
    file.flush()
    saved = ucd_models.checkpoint.open(tmp_path)
    before = {name: (ucd_models.Distribution(e.shape, 1, ucd_models.Replicate()), e.dtype) for name, e in saved.items()}
    sync = weights.Sync(weights.LLAMA, before, 4, units={'head': WIDTH})
    placements = {name: routing.target for name, routing in sync.redistribution.routings.items()}
    for rank in range(4):
        expected = served(whole, kv_heads, 4, rank, 0, False)
        found = {name: np.zeros_like(a) for name, a in expected.items()}
        saved.read(sync.targets(found, rank), rank=rank, placements=placements)
        assert all((found[name] == expected[name]).all() for name in expected)


def test_what_rules_refuse():
    pair = ucd_models.Distribution((8, 4), 2, ucd_models.Shard(0)), 'float32'
    with pytest.raises(ValueError, match="'model.unknown' has no rule"):
        weights.Sync(weights.LLAMA, {'model.unknown': pair}, 2)
    twice = (weights.Rule('a|b', 'c', 0),)
    with pytest.raises(ValueError, match="'b' and another parameter have one place in 'c'"):
        weights.Sync(twice, {'a': pair, 'b': pair}, 2)
    with pytest.raises(ValueError, match="'a' has 8 indices in units of 1, which 3 ranks cannot share evenly"):
        weights.Sync(twice, {'a': pair}, 3)
    with pytest.raises(ValueError, match="units has no 'head'"):
        weights.Sync(weights.LLAMA, {'model.layers.0.self_attn.k_proj.weight': pair}, 2)
    with pytest.raises(ValueError, match='expert 4 of 4 on 2 ranks'):
        weights.Sync(weights.MIXTRAL, {'x.block_sparse_moe.experts.4.w1.weight': pair}, 2, experts=4)
    with pytest.raises(ValueError, match="'lm_head.weight' has 8 indices, padded to 64, in units of 1, which 3 ranks"):
        weights.Sync(weights.LLAMA, {'lm_head.weight': pair}, 3)
    with pytest.raises(TypeError, match="'a' is no DTensor, but a ndarray"):
        weights.described({'a': np.zeros(3)})
    with pytest.raises(TypeError, match=r"before\['a'\] is of class ndarray; it must be a pair of a Distribution"):
        weights.Sync(twice, {'a': np.zeros((8, 4))}, 2)
    sync = weights.Sync(twice, {'a': pair}, 2)
    with pytest.raises(ValueError, match="'c' has 5 indices; its sources have 4"):
        sync.targets({'c': np.zeros((5, 4), 'f4')}, 0)['a']
    # Experts that no parameter fills.
    of_expert = {n: (f'x.block_sparse_moe.experts.{n}.w2.weight', pair) for n in range(4)}
    for given, experts, missing in (((0, 1, 3), 0, 2), ((0, 1, 3), 4, 2), ((0, 1), 4, 2), ((1, 2), 0, 0)):
        with pytest.raises(ValueError, match=f"'x.block_sparse_moe.experts.w2_weight' has no source for expert {missing}"):
            weights.Sync(weights.MIXTRAL, dict([of_expert[n] for n in given]), 2, experts=experts)
    for experts, held in ((0, 4), (4, 2)):
        whole = weights.Sync(weights.MIXTRAL, dict(of_expert.values()), 2, experts=experts)
        for count in (held - 1, held + 1):
            with pytest.raises(ValueError, match=f'has {count} experts; its sources have {held} for a rank'):
                whole.targets({'x.block_sparse_moe.experts.w2_weight': np.zeros((count, 8, 4), 'f4')}, 0)[of_expert[0][0]]
    assert list(sync.targets({'c': 1, 'd': 2}, 5)) == ['d'] and sync.targets({'d': 2}, 0)['d'] == 2


@needs_torch
def test_from_fsdp_over_torch():
    """Parameters of fully_shard, of a model on two ranks, to two others."""
    said, codes = separate_ranks('weights_ranks.py', 4)
    assert codes == [0] * 4, said
