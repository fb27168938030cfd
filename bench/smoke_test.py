"""The benchmark program's sections run, check what they move, and write rows for each layout."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

program = sys.argv[1]
quick = ['--no-mpi', '--repetitions', '1', '--min-time', '1e-6']
sections = {'apps': ('--apps', ['NAS MG x face', 'NAS MG y face', 'NAS MG z face'], 'NAS MG')}


def run(*arguments):
    return subprocess.run([program, *quick, *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    for section, (option, subjects, text) in sections.items():
        path = Path(folder) / f'{section}.csv'
        done = run(option, '--filter', text, '--csv', str(path))
        assert done.returncode == 0, done.stderr
        with path.open() as file:
            rows = list(csv.DictReader(file))
        assert {row['section'] for row in rows} == {section}, rows
        for subject in subjects:
            assert subject in done.stdout, done.stdout
            for operation in ('pack', 'unpack'):
                found = {r['contender'] for r in rows
                         if r['subject'] == subject and r['operation'] == operation}
                assert {'UCD', 'hand, loop', 'memcpy'} <= found, (subject, operation, found)
        assert {row['subject'] for row in rows} == set(subjects), rows

    nothing = run('--apps', '--filter', 'no such layout')
    assert nothing.returncode == 1 and 'no such layout' in nothing.stderr, nothing
