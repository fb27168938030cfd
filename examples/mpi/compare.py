#!/usr/bin/env python3
"""Runs an MPI program plain and with libucd-mpi-preload, in turns, and compares the times that it prints.

    compare.py [--rounds N] [--processes N] [--launcher NAME] --preload LIBRARY PROGRAM [ARGUMENT...]

The program prints lines that begin with "time: "; each number in them that has "ms" behind it is a time. Of each, the shortest of
all rounds counts: on a machine that does other work, the others say how busy it was.
"""

import argparse
import os
import re
import subprocess
import sys

TIME = re.compile(r'([\d.]+) ms')


def times(command):
    done = subprocess.run(command, env=os.environ, stdout=subprocess.PIPE, text=True, check=False)
    text = done.stdout
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)} returned {done.returncode}')
    found = [float(number) for line in text.splitlines() if line.startswith('time: ') for number in TIME.findall(line)]
    if not found:
        sys.exit(f'{" ".join(command)} prints no time:\n{text}')
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--processes', type=int, default=2)
    parser.add_argument('--launcher', default='mpiexec')
    parser.add_argument('--preload', required=True)
    parser.add_argument('program', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    start = [options.launcher, '-n', str(options.processes)]
    plain, with_ucd = [], []
    for _ in range(options.rounds):
        plain.append(times(start + options.program))
        with_ucd.append(times([*start, 'env', f'LD_PRELOAD={os.path.abspath(options.preload)}', *options.program]))
    for before, after in zip(map(min, zip(*plain)), map(min, zip(*with_ucd))):
        print(f'plain {before:.3f} ms, with UCD {after:.3f} ms: {before / after:.2f}')


if __name__ == '__main__':
    main()
