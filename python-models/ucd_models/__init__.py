"""Models that move, over arrays of ucd: distributions over ranks, moves between them, checkpoints, caches.

    out = ucd_models.redistribute(parts, before, after)              # all ranks in this process
    ucd_models.Redistribution({'weight': (before, after, 'bfloat16')}).execute(comm, sources, targets)

The guides are docs/guide/moving-a-model.md and docs/guide/caches.md of UCD.
"""

from ucd_models import cache as cache, checkpoint as checkpoint, weights as weights
from ucd_models._errors import RedistributionError as RedistributionError
from ucd_models._local import redistribute as redistribute
from ucd_models._placements import (
    Cyclic as Cyclic,
    Distribution as Distribution,
    Piece as Piece,
    Replicate as Replicate,
    Segment as Segment,
    Shard as Shard,
    StridedShard as StridedShard,
)
from ucd_models._redistribution import Redistribution as Redistribution
from ucd_models._routing import Route as Route, Routing as Routing, routing as routing
from ucd_models._safetensors import Safetensors as Safetensors
from ucd_models._scales import Scales as Scales, cast as cast, copy as copy
from ucd_models._ucx_engine import UcxEngine as UcxEngine

__all__ = sorted(name for name in globals() if not name.startswith('_'))
