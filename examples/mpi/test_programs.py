#!/usr/bin/env python3
"""The programs of this folder print the same with libucd-mpi-preload and without, and it packs for them.

    test_programs.py LAUNCHER PRELOAD PROGRAM...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LAUNCHER, PRELOAD, *PROGRAMS = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
del sys.argv[1:]

# By name: arguments that take a second, what the programs say, and the calls that must be taken over.
CASES = {
    'halo': (['48', '3'], 2, ['Send_init', 'Recv_init', 'Isend', 'Irecv']),
    'transpose': (['32', '2'], 3, ['Alltoallw']),
    'particles': (['20000', '4'], 1, ['Isend', 'Recv']),
    'columns': (['256', '2'], 3, ['Scatter', 'Bcast', 'Sendrecv', 'Gather']),
    'halo_f08': (['48', '3'], 1, ['Send_init', 'Recv_init']),
    'transpose_f08': (['128', '2'], 3, ['Alltoallw']),
    'rows_f08': (['256', '2'], 3, ['Scatter', 'Bcast', 'Sendrecv_replace', 'Gather']),
}
LINE = re.compile(r'rank \d+: MPI_(\w+): (\d+) taken over, (\d+) bytes')


def run(program, processes, *arguments, **environment):
    # Launchers of Open MPI at the same time need folders of their own for temporary files.
    with tempfile.TemporaryDirectory() as temporary:
        done = subprocess.run([LAUNCHER, '-n', str(processes), 'env',
                               *(f'{key}={value}' for key, value in environment.items()), program, *arguments],
                              env=os.environ | {'TMPDIR': temporary}, capture_output=True, text=True, check=False, timeout=100)
    if done.returncode != 0:
        raise AssertionError(f'{program} with {processes} processes and {environment}:\n{done.stdout}{done.stderr}')
    return done.stdout, done.stderr


def results(text):
    return [line for line in text.splitlines() if not line.startswith(('time: ', 'libucd-mpi-preload: '))]


class Programs(unittest.TestCase):
    def compare(self, program, processes):
        name = pathlib.Path(program).name.rpartition('_')[0]
        arguments, lines, calls = CASES[name]
        plain = results(run(program, processes, *arguments)[0])
        self.assertEqual(len(plain), lines)
        for line in plain:
            self.assertRegex(line, r': checksum [0-9a-fA-F]{16}, .*: right$')
        output, errors = run(program, processes, *arguments, LD_PRELOAD=PRELOAD, UCD_MPI_STATS='1')
        self.assertEqual(results(output), plain)
        taken = {}
        for call, _, size in LINE.findall(output + errors):
            taken[call] = taken.get(call, 0) + int(size)
        for call in calls:
            self.assertGreater(taken.get(call, 0), 0, call)


def add_test(program, processes):
    setattr(Programs, f'test_{pathlib.Path(program).name}_of_{processes}', lambda self: self.compare(program, processes))


for each in PROGRAMS:
    for number in (2, 4):
        add_test(each, number)

if __name__ == '__main__':
    unittest.main()
