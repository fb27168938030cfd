"""Caches of keys and values in pages: the formats of engines, moves from any format to any other, and descriptor lists.

    prefill = ucd_models.cache.Cache.of(kv_caches, 'kv page token head dim')            # a tensor for each layer
    decode = ucd_models.cache.Cache.of(pool, 'page layer kv head token dim')            # one tensor
    ucd_models.cache.relayout(prefill, decode, prefill_pages, decode_pages)

The guide is docs/guide/caches.md of UCD.
"""

from ucd_models._cache import Cache as Cache
from ucd_models._cache_format import Difference as Difference, Format as Format, Placed as Placed
from ucd_models._cache_lists import Descriptors as Descriptors, descriptor_pair as descriptor_pair, descriptors as descriptors
from ucd_models._cache_moves import Relayout as Relayout, relayout as relayout
from ucd_models._cache_names import NAMES as NAMES
from ucd_models._cache_tensor import AXES as AXES, Dim as Dim, Tensor as Tensor

__all__ = sorted(name for name in globals() if not name.startswith('_'))
