"""What is embedded of the kernels, and what ocloc makes of those that most data passes through: nothing is kept in memory
that should be in registers, and 16 bytes are loaded and stored at once.

Usage: kernels_test.py INSPECT INDEX BUILD    INSPECT is tools/inspect-kernels

Without ocloc only the first is tested.
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys

MOST_BYTES = 10_260_000
DEVICES = ['pvc', 'dg2', 'tgllp', 'skl']
# Which of the two are to be seen.
WIDE = {
    'pack_s_w16': ('loads', 'stores'),
    'unpack_s_w16': ('loads', 'stores'),
    'pack_i_w16': ('loads', 'stores'),
    'copy_rows_w16': ('loads', 'stores'),
    'reduce_sum_float32': ('loads', 'stores'),
    'reduce_sum_float32_batch': ('loads', 'stores'),
    'pack_s_w1': ('stores',),
    'pack_s_w8': ('stores',),
    'unpack_s_w8': ('loads',),
    'pack_batch': ('loads', 'stores'),
}


def main():
    inspect, index, build = sys.argv[1:]
    modules = json.loads(pathlib.Path(index).read_text(encoding='ascii'))
    names = {kernel for module in modules for kernel in module['kernels']}
    # Two directions, five widths, and three kinds of up to three levels.
    moves = {name for name in names if name.split('_')[0] in ('pack', 'unpack') and not name.split('_')[1].strip('sbi')}
    assert len(moves) == 2 * 5 * (3 + 9 + 27), len(moves)
    spirv = sum(module['bytes'] for module in modules)
    print(f'{len(names)} kernels in {len(modules)} modules of {spirv} bytes')
    assert spirv <= MOST_BYTES, spirv

    if shutil.which('ocloc') is None:
        print('no ocloc')
        return
    run = subprocess.run([sys.executable, inspect, 'ze', '--all', '--devices', ','.join(DEVICES), '--kernels',
                          '|'.join(WIDE), build], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    rows = list(csv.DictReader(run.stdout.splitlines()))
    for device in DEVICES:
        found = {row['kernel'] for row in rows if row['device'] == device}
        assert set(WIDE) <= found, (device, set(WIDE) - found)
    for row in rows:
        assert row['spilled'] == row['memory_bytes'] == '0', row
        for kind in WIDE.get(row['kernel'], ()):
            # Without a disassembler ocloc cannot say.
            assert row['wide_' + kind] == '' or int(row['wide_' + kind]) > 0, (kind, row)
    print(run.stderr.strip())


main()
