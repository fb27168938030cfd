"""Names of engines' caches: each describes the arrays that its words say."""

import numpy as np
import pytest

from ucd_models.cache import NAMES, Cache, Format, relayout

LAYERS, PAGES, TOKENS, HEADS, DIMS = 3, 5, 4, 2, 6
REFERENCE = ('NL', 'TWO', 'NB', 'BS', 'NH', 'HS')


def reference(kv=2, heads=HEADS):
    """Layer, kv, page, token, head, dim."""
    return np.arange(LAYERS * kv * PAGES * TOKENS * heads * DIMS, dtype='i4').reshape(LAYERS, kv, PAGES, TOKENS, heads, DIMS)


def arrays_of(words, whole):
    """An array with these dimensions."""
    split = [word for word in words if word != 'ONE']
    apart = []
    for word in split:
        apart += {'NBBS': ['NB', 'BS'], 'CS': ['TWO', 'HS']}.get(word, [word])
    missing = [word for word in REFERENCE if word not in apart]  # of one index
    order = [REFERENCE.index(word) for word in missing + apart]
    made = whole.transpose(order).copy()
    sizes = dict(zip(REFERENCE, whole.shape))
    shape = {'NBBS': sizes['NB'] * sizes['BS'], 'CS': sizes['TWO'] * sizes['HS'], 'ONE': 1, **sizes}
    return made.reshape([shape[word] for word in words])


def nested(array, depth):
    return array if depth == 0 else [nested(part, depth - 1) for part in array]


@pytest.mark.parametrize('name', [name for name in NAMES if 'BSV' not in name and ':' not in name and '_' in name])
def test_names_of_lmcache(name):
    lists, axes = name.split('_X_')[:-1], name.split('_X_')[-1].split('_')
    words = [*lists, *axes]
    has_kv = 'TWO' in words or 'CS' in words
    whole = reference(2 if has_kv else 1, HEADS if 'NH' in words else 1)
    tensors = nested(arrays_of(words, whole), len(lists))
    sizes = {'token': TOKENS} if 'NBBS' in words else {}
    check(Cache.of(tensors, name, **sizes), whole)


def check(cache, whole):
    assert cache.format.sizes == dict(zip(('layer', 'kv', 'page', 'token', 'head', 'dim'), whole.shape))
    out = np.zeros_like(whole)
    relayout(cache, Cache.of(out, 'layer kv page token head dim'), range(PAGES), range(PAGES))
    assert (out == whole).all()


@pytest.mark.parametrize('name', [name for name in NAMES if len(name) == 5])
def test_names_of_vllm(name):
    """One tensor, and its layers as views."""
    letters = {'L': 'NL', 'B': 'NB', 'N': 'BS', 'H': 'NH', 'C': 'CS'}
    whole = reference()
    tensor = arrays_of([letters[letter] for letter in name], whole)
    check(Cache.of(tensor, name), whole)
    views = [tensor.take(k, name.index('L')) if name[0] == 'L' else np.moveaxis(tensor, name.index('L'), 0)[k] for k in range(LAYERS)]
    check(Cache.of(views, name), whole)
    # Latent attention has no keys and values apart.
    latent = reference(1, 1)
    words = [{'CS': 'HS'}.get(letters[letter], letters[letter]) for letter in name]
    check(Cache.of(arrays_of(words, latent), name, kv=1), latent)


def test_names_of_sglang():
    whole = reference()
    for name, words in (
        ('sglang:layer_first', ['TWO', 'NL', 'NBBS', 'NH', 'HS']),
        ('sglang:page_first', ['TWO', 'NB', 'BS', 'NL', 'NH', 'HS']),
        ('sglang:page_first_direct', ['TWO', 'NB', 'NL', 'BS', 'NH', 'HS']),
        ('sglang:page_head', ['TWO', 'NB', 'NH', 'BS', 'NL', 'HS']),
    ):
        tensor = arrays_of(words, whole)
        if name == 'sglang:page_first':
            tensor = tensor.reshape(2, PAGES * TOKENS, LAYERS, HEADS, DIMS)
        sizes = {'token': TOKENS} if tensor.ndim == 5 else {}
        check(Cache.of(tensor, name, **sizes), whole)
    check(Cache.of(nested(arrays_of(['TWO', 'NL', 'NBBS', 'NH', 'HS'], whole), 2), 'sglang:mha', token=TOKENS), whole)
    latent = reference(1, 1)
    check(Cache.of(nested(arrays_of(['NL', 'NBBS', 'ONE', 'HS'], latent), 1), 'sglang:mla', token=TOKENS), latent)


def test_values_then_scales():
    """To rows in which each token's values and scales are side by side."""
    rng = np.random.default_rng(2)
    pages = [rng.integers(0, 256, (PAGES, 8, 132)).astype('u1') for _ in range(LAYERS)]
    cache = Cache.of(pages, 'NL_X_NB_BSV_BSS', dim=128)
    rows = [np.zeros((PAGES, 8, 132), 'u1') for _ in range(LAYERS)]
    relayout(cache, Cache.of(rows, 'page token dim'), [3, 1], [0, 4])
    for array, found in zip(pages, rows):
        for p, q in ((3, 0), (1, 4)):
            flat = array[p].ravel()
            assert (found[q, :, :128] == flat[:1024].reshape(8, 128)).all()
            assert (found[q, :, 128:] == flat[1024:].reshape(8, 4)).all()
    assert Format.of_shapes('u1', 'NL_X_NB_BSV_BSS', [(9, 8, 132)] * 2, dim=128).sizes['dim'] == 132
    with pytest.raises(ValueError, match='needs dim='):
        Cache.of(pages, 'NL_X_NB_BSV_BSS')


def test_there_are_the_names():
    assert len([name for name in NAMES if '_' in name and ':' not in name]) >= 17 and 'LBNHC' in NAMES
    with pytest.raises(ValueError, match='does not say where'):
        Format.of_shapes('f4', 'NHD', [(2, 3, 4, 5, 6)])
    with pytest.raises(ValueError, match='says which lists'):
        Format.of_shapes('f4', 'LBNHC', [(3, 4, 5, 6)], lists=('layer',))
    with pytest.raises(ValueError, match="'NL_X_TWO_NB_BS_NH_HD' is none of cache.NAMES, and none of layer"):
        Format.of_shapes('f4', 'NL_X_TWO_NB_BS_NH_HD', [(2, 3, 4, 5, 6)])
    with pytest.raises(ValueError, match='there is no list along layer, but a ndarray'):
        Format.of(np.zeros((2, 3, 4, 5, 6)), 'NL_X_TWO_NB_BS_NH_HS')
    with pytest.raises(ValueError, match=r'a tensor of shape \(2, 9, 4, 5, 6\) has 9 of kv, not 2'):
        Format.of_shapes('f4', 'NL_X_NB_TWO_BS_NH_HS', [(2, 9, 4, 5, 6)])
    with pytest.raises(ValueError, match='has 16 of token, not 32'):
        Format.of_shapes('f4', 'page token dim', [(2, 16, 4)], token=32)
    with pytest.raises(ValueError, match='a dimension of 7'):
        Format.of_shapes('f4', 'LBNHC', (2, 3, 4, 5, 7))
