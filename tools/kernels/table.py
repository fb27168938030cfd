"""Rows about kernels as CSV. The first two columns are the device and the kernel's name."""

import argparse
import csv
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of columns whose smallest number is the worst.
SMALLEST = {'lanes', 'wide_loads', 'wide_stores', 'waves_per_simd'}
# What should be in registers.
IN_MEMORY = {'spilled', 'spilled_vector', 'spilled_scalar', 'private_bytes', 'memory_bytes'}


def parser(text):
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = made.add_mutually_exclusive_group()
    forms.add_argument('--all', action='store_true',
                       help='a line for each kernel; without it, they are grouped, with the worst number of each group')
    forms.add_argument('--table', action='store_true',
                       help='also lines before them that tools/docs measurements wants, for docs/measurements/data')
    return made


def group_of(name):
    if match := re.match(r'(?:un)?pack_([sbi]+)_w', name):
        return f'moves by {len(match[1])} levels'
    return re.sub(r'_w\d+$', '', name) if not name.startswith('reduce_') or 'any' in name else 'reductions'


def grouped(columns, rows):
    groups = {}
    for row in rows:
        groups.setdefault((row[0], group_of(row[1])), []).append(row[2:])
    for (device, group), members in sorted(groups.items()):
        worst = [(min if name in SMALLEST else max)(column) for name, column in zip(columns[2:], zip(*members))]
        yield [device, group, len(members), *worst]


def head(title, unit, machine, command, note):
    """What tools/docs measurements wants to know."""
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], check=True, capture_output=True, text=True,
                            cwd=ROOT).stdout.strip()
    version = re.search(r"version: '([\d.]+)'", (ROOT / 'meson.build').read_text())[1]
    facts = {'title': title, 'unit': unit, 'version': version, 'commit': commit, 'date': datetime.date.today().isoformat(),
             'machine': machine, 'command': command, 'note': note}
    return [f'# {key}: {value}' for key, value in facts.items()]


def write(options, columns, rows, facts, also=''):
    """`facts` are the arguments of head(); `also` is said at the end."""
    if options.table:
        print('\n'.join(head(**facts)))
    titles = columns if options.all else [columns[0], 'kernels', 'number', *columns[2:]]
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow([name.replace('_', ' ').replace('simd', 'SIMD') if options.table else name for name in titles])
    out.writerows(sorted(rows) if options.all else grouped(columns, rows))
    spilling = sum(any(number for name, number in zip(columns, row) if name in IN_MEMORY) for row in rows)
    print(f'{len(rows)} kernels, {spilling} of them with spills or private memory{also}', file=sys.stderr)
