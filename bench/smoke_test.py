"""The benchmark program's sections run, check what they move, and write rows for each layout."""

import csv
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

program = sys.argv[1]
quick = ['--no-mpi', '--repetitions', '1', '--min-time', '1e-6']
by_hand = {'UCD', 'hand, loop', 'memcpy', 'roofline'}
# Option, filter, the subjects to be found, and who takes part.
sections = {
    'apps': ('--apps', 'NAS MG', ['NAS MG x face', 'NAS MG y face', 'NAS MG z face'], by_hand),
    'sweep': ('--sweep', '40 B of 528', ['40 B of 528, 16 KiB', '40 B of 528, 256 KiB',
                                         '40 B of 528, 16384 KiB'], {'UCD', 'hand'}),
    'equivalents': ('--equivalents', '20^3', ['20^3 of 64^3 doubles'],
                    {'subarray', 'hvector of hvectors', 'indexed planes'}),
    'reductions': ('--reductions', 'MAX double, 2 of 8', ['MAX double, 2 of 8, 16 KiB',
                                                           'MAX double, 2 of 8, 8192 KiB'],
                   {'UCD', 'hand', 'REPLACE'}),
    'batches': ('--batches', '57 vectors of 64', ['57 vectors of 64 bytes'], {'batch', 'calls'}),
    'permutations': ('--permutations', 'transpose 128^2', ['transpose 128^2, 4 B'], {'UCD', 'copy'}),
    'threads': ('--threads', '128 B', ['128 B of 512'],
                {'UCD', 'UCD, two threads', 'hand, two threads'}),
}


def run(*arguments):
    return subprocess.run([program, *quick, *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    for section, (option, text, subjects, expected) in sections.items():
        path = Path(folder) / f'{section}.csv'
        done = run(option, '--filter', text, '--csv', str(path))
        assert done.returncode == 0, done.stderr
        with path.open() as file:
            rows = list(csv.DictReader(file))
        assert {row['section'] for row in rows} == {section}, rows
        for subject in subjects:
            assert subject.split(', ')[0] in done.stdout, done.stdout
            for operation in ('pack', 'unpack'):
                found = {r['contender'] for r in rows
                         if r['subject'] == subject and r['operation'] == operation}
                assert expected <= found, (subject, operation, found)
        assert {row['subject'] for row in rows} == set(subjects), rows

    path = Path(folder) / 'fresh.csv'
    done = run('--fresh', '--filter', ' 1000 of 8 B', '--csv', str(path))
    assert done.returncode == 0, done.stderr
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert {row['section'] for row in rows} == {'fresh'}, rows
    for subject in ('random, 1000 of 8 B', 'sorted, 1000 of 8 B', 'runs, 1000 of 8 B'):
        found = {row['contender'].split(', ')[0] for row in rows if row['subject'] == subject}
        assert found == {'UCD', 'again', 'create', 'hand'}, (subject, found)

    done = run('--type', 'vector(100,3,5,double)', '--count', '2')
    assert done.returncode == 0 and 'UCD/roof' in done.stdout, done.stderr
    done = run('--kernels', '--filter', 'pack_sbs_w8')
    assert done.returncode == 0 and 'unpack_sbs_w8' in done.stdout, done.stderr
    picture = Path(folder) / 'rates.svg'
    done = run('--apps', '--filter', 'NAS MG', '--plot', str(picture))
    assert done.returncode == 0, done.stderr
    drawn = xml.etree.ElementTree.parse(picture).getroot()
    texts = [text.text for text in drawn.iter('{http://www.w3.org/2000/svg}text')]
    assert {'NAS MG x face', 'UCD', 'copy of the lines touched'} <= set(texts), texts
    dots = [dot for dot in drawn.iter('{http://www.w3.org/2000/svg}circle')]
    assert len(dots) >= 3 * 2 * 2, dots  # three layouts, two directions, UCD and hand

    nothing = run('--apps', '--filter', 'no such layout')
    assert nothing.returncode == 1 and 'no such layout' in nothing.stderr, nothing
