"""Models that move, over arrays of ucd: distributions over ranks, moves between them, checkpoints, caches.

    out = ucd_models.redistribute(parts, before, after)              # all ranks in this process
    ucd_models.Redistribution({'weight': (before, after, 'bfloat16')}).execute(comm, sources, targets)

The guides are docs/guide/moving-a-model.md and docs/guide/caches.md of UCD.
"""

from ucd_models import cache, checkpoint, weights
from ucd_models._errors import RedistributionError
from ucd_models._local import redistribute
from ucd_models._placements import Cyclic, Distribution, Piece, Replicate, Segment, Shard, StridedShard
from ucd_models._redistribution import Redistribution
from ucd_models._routing import Route, Routing, routing
from ucd_models._safetensors import Safetensors
from ucd_models._scales import Scales, cast, copy
from ucd_models._ucx_engine import UcxEngine

__all__ = [
    'Cyclic',
    'Distribution',
    'Piece',
    'Redistribution',
    'RedistributionError',
    'Replicate',
    'Route',
    'Routing',
    'Safetensors',
    'Scales',
    'Segment',
    'Shard',
    'StridedShard',
    'UcxEngine',
    'cache',
    'cast',
    'checkpoint',
    'copy',
    'redistribute',
    'routing',
    'weights',
]
