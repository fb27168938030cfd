"""Includes of the benchmark go downwards only, and only the vendor's header names a GPU vendor's calls."""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
# Each room, and the rooms that it may include besides itself.
below = {
    'gpu': set(),
    'shapes': set(),
    'report': set(),
    'harness': {'shapes', 'report', 'gpu'},
    'baselines': {'shapes', 'gpu'},
    'cases': {'shapes', 'report', 'harness', 'baselines', 'gpu'},
}
include = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
# CCCL, a peer, takes the mdspans of <cuda/std/mdspan>, which has no calls.
vendors_call = re.compile(r'\b(cuda|hip)[A-Z]\w*|<(cuda(?!/std/)|hip)|__CUDACC__|__HIPCC__')

for room, allowed in below.items():
    files = [p for p in (root / room).rglob('*') if p.is_file()]
    assert files, room
    for path in files:
        text = path.read_text()
        for name in include.findall(text):
            other = 'gpu' if name == 'vendor.hpp' else name.split('/')[0]
            if other in below:
                assert other in allowed | {room}, f'{path} includes {name}'
        if room != 'gpu':
            found = vendors_call.search(text)
            assert found is None, f'{path}: {found.group()}'
