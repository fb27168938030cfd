"""Each section of the application benchmark runs on host memory and checks what it moves; the program
says if there is no GPU, and fails loudly if its processes do."""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

program = sys.argv[1]
host = ['--memory', 'host', '--repetitions', '1']
quick = [*host, '--min-time', '1e-6']
environment = {**os.environ, 'UCX_TLS': 'sm,self', 'UCX_LOG_LEVEL': 'error'}
ways = {'UCD', 'hand', 'copies'}
# Options, the subjects and operations to be found, and who takes part.
sections = {
    'stencil': (['--sizes', '3,64', '--procs', '2x3'],
                {'float 3^2', 'double 3^2', 'float 64^2', 'double 64^2'}, {'iteration', 'halo'}, ways),
    # More than one chunk each, and one UCP call each.
    'pingpong': (['--sizes', '40,301'],
                 {f'{name}, {n}' for n in (40, 301)
                  for name in ('sub-matrix', 'lower triangle', 'sub-matrix to contiguous',
                               'indexed, 8 to 248 B', 'transposed')},
                 {'one way'}, {'UCD', 'unpipelined', 'hand', 'contiguous'}),
    'particles': (['--sizes', '1,1000'], {'1, host', '1000, host'}, {'pack', 'unpack'},
                  ways | {'relative', 'new type', 'one copy'}),
    # Long enough for the load to be seen going on.
    'busy': (['--sizes', '64', '--min-time', '0.02'], {'sub-matrix, 64'},
             {'alone', 'beside a load on 1/4', 'beside a load on 1/2', 'beside a load on all'},
             {'UCD', 'hand', 'contiguous'}),
}


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment,
                          timeout=100)


with tempfile.TemporaryDirectory() as folder:
    for section, (options, subjects, operations, contenders) in sections.items():
        done = run(f'--{section}', *(host if '--min-time' in options else quick), *options,
                   '--csv', folder)
        assert done.returncode == 0, done.stdout + done.stderr
        with (Path(folder) / f'{section}.csv').open() as file:
            rows = list(csv.DictReader(file))
        for subject in subjects:
            assert subject in done.stdout, (subject, done.stdout)
            for operation in operations:
                found = {r['contender'] for r in rows
                         if r['subject'] == subject and r['operation'] == operation}
                assert found == contenders, (subject, operation, found)
        assert {r['subject'] for r in rows} == subjects, rows
        assert all(float(r['median_seconds']) > 0 for r in rows), rows

    # One row and one column of processes, and one process that has no neighbour.
    for processes in ('1x2', '3x1', '1x1'):
        done = run('--stencil', *quick, '--sizes', '8', '--procs', processes)
        assert done.returncode == 0, done.stdout + done.stderr

    done = run('--pingpong', '--one-process', *quick, '--sizes', '301')
    assert done.returncode == 0 and 'to itself' in done.stdout, done.stdout + done.stderr

    # What goes wrong in one of the processes is told and fails, and the other sections go on.
    done = run('--pingpong', '--busy', *quick, '--sizes', '8', '--csv', str(Path(folder) / 'none'))
    assert done.returncode == 1, done
    assert '--pingpong FAILED' in done.stdout and '--busy FAILED' in done.stdout, done.stdout

done = run('--stencil', '--procs', '2x')
assert done.returncode == 1 and 'not like 2x2' in done.stderr, done
# With no device to be seen.
environment['CUDA_VISIBLE_DEVICES'] = ''
done = run('--stencil')
assert done.returncode == 77 and 'no CUDA device' in done.stdout, done
