"""Caches of keys and values in pages: the formats of engines, moves from any format to any other, and descriptor lists.

    prefill = ucd_models.cache.Cache.of(kv_caches, 'kv page token head dim')            # a tensor for each layer
    decode = ucd_models.cache.Cache.of(pool, 'page layer kv head token dim')            # one tensor
    ucd_models.cache.relayout(prefill, decode, prefill_pages, decode_pages)

The guide is docs/guide/caches.md of UCD.
"""

from ucd_models._cache import Cache
from ucd_models._cache_format import Difference, Format, Placed
from ucd_models._cache_lists import Descriptors, descriptor_pair, descriptors
from ucd_models._cache_moves import Relayout, relayout
from ucd_models._cache_names import NAMES
from ucd_models._cache_tensor import AXES, Dim, Tensor

__all__ = [
    'AXES',
    'NAMES',
    'Cache',
    'Descriptors',
    'Difference',
    'Dim',
    'Format',
    'Placed',
    'Relayout',
    'Tensor',
    'descriptor_pair',
    'descriptors',
    'relayout',
]
