#!/usr/bin/env python3
"""How soon the fuzzer finds each kind of what there is to find, for so many seeds: a table.

    table.py BINARY SEEDS SECONDS KIND,KIND,...
"""

import re
import subprocess
import sys

FOUND = re.compile(r'found (\S+) after ([\d.]+) s, (\d+) messages')


def main():
    binary, seeds, seconds, kinds = sys.argv[1:]
    kinds = kinds.split(',')
    times = {kind: [] for kind in kinds}
    print('seed', *kinds, sep='\t', flush=True)
    for seed in range(1001, 1001 + int(seeds)):
        command = [binary, '--keep-going', '--until', ','.join(kinds), '--seconds', seconds,
                   '--seed', str(seed)]
        output = subprocess.run(command, capture_output=True, text=True).stdout
        found = {m.group(1): float(m.group(2)) for m in FOUND.finditer(output)}
        for kind in kinds:
            if kind in found:
                times[kind].append(found[kind])
        print(seed, *(found.get(kind, '-') for kind in kinds), sep='\t', flush=True)
    print('found', *(len(times[kind]) for kind in kinds), sep='\t')
    print('median', *(sorted(t)[len(t) // 2] if t else '-' for t in times.values()), sep='\t')


main()
