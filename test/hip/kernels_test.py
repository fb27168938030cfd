"""What hipcc made of the kernels: all are there for each architecture, and none keeps anything in memory that should be in
registers.

Usage: kernels_test.py INSPECT PLUGIN ARCHITECTURE...

INSPECT is tools/inspect-kernels. Without llvm-readelf, which it needs, the test is skipped.
"""

import collections
import csv
import subprocess
import sys

inspect, plugin, *architectures = sys.argv[1:]
run = subprocess.run([sys.executable, inspect, 'hip', '--all', plugin], check=False, capture_output=True, text=True)
if 'no llvm-readelf' in run.stderr:
    sys.exit(77)
assert run.returncode == 0, run.stderr
rows = list(csv.DictReader(run.stdout.splitlines()))
kernels = collections.defaultdict(set)
for row in rows:
    kernels[row['architecture']].add(row['kernel'])
    # Reductions of 8-bit floats, and the kernel for all pairs of types, compare masks of lanes more often than there are
    # scalar registers. clang 15 keeps some of these in lanes of vector registers, which is not in memory: there are no
    # private bytes.
    in_lanes = 0
    if row['kernel'].startswith('reduce') and 'float8' in row['kernel']:
        in_lanes = 64
    elif row['kernel'] == 'convert_any':
        in_lanes = 32
    bounds = {'spilled_vector': 0, 'spilled_scalar': in_lanes, 'private_bytes': 0}
    in_memory = [name for name, most in bounds.items() if int(row[name]) > most]
    assert not in_memory, (row, in_memory)
    assert int(row['waves_per_simd'] or 1) > 0, row
assert set(kernels) == set(architectures), sorted(kernels)
first = kernels[architectures[0]]
print(run.stderr.strip())
# Two directions, five widths, and three kinds of up to three levels.
moves = {name for name in first if name.startswith(('pack_', 'unpack_')) and name.split('_')[1].strip('sbi') == ''}
assert len(moves) == 2 * 5 * (3 + 9 + 27), len(moves)
assert {'pack_small_batch', 'unpack_small_batch', 'copy_rows_w16', 'reduce_any'} <= first, sorted(first - moves)
for architecture, names in kernels.items():
    assert names == first, (architecture, names ^ first)
