"""Prints the measurements in docs/measurements/data/*.csv as tables in Markdown: all of them, or those of the
chapters (host, gpu, ...) and files (gpu-copies) that are named. With --check, prints nothing, and fails if a
file is not as follows.

A file begins with lines `# key: value`: title, unit, version (of UCD), commit (the one that recorded the
figures), date, machine and command, and perhaps note. A key may come more than once. Then follow a line of column
titles and the rows. The part of the file's name before the first '-' is the table's chapter.
"""

import csv
import re
import sys

from pages import ROOT

FOLDER = ROOT / 'docs/measurements'
CHAPTERS = {
    'host': 'Host memory',
    'gpu': 'GPU memory',
    'apps': 'Applications on GPUs',
    'ucx': 'Transfers over UCX',
    'ring': 'Transfers between GPUs through device memory',
    'rma': 'One-sided operations',
    'given': 'Given up',
}
REQUIRED = ('title', 'unit', 'version', 'commit', 'date', 'machine', 'command')
INTRODUCTION = """\
# Measurements

"hand" is a loop or a kernel written for the one layout. The commit is the one that recorded the figures; what it
measured is this commit or one shortly before it. A figure is comparable with others of its own line only.
"""


class Malformed(Exception):
    """A file that is not as the text above says."""


def read(path):
    """The facts, the titles of the columns and the rows of a file."""
    facts, lines = {}, []
    for line in path.read_text().splitlines():
        if not line.startswith('#'):
            lines.append(line)
            continue
        fact = re.fullmatch(r'# (\w+): (.+)', line)
        if fact is None or fact[1] not in REQUIRED + ('note',) or lines:
            raise Malformed(f'{path.name}: unexpected line {line!r}')
        facts.setdefault(fact[1], []).append(fact[2])
    for key in REQUIRED:
        if key not in facts:
            raise Malformed(f'{path.name}: there is no line "# {key}: …"')
    columns, *rows = csv.reader(lines, strict=True)
    for row in rows:
        if len(row) != len(columns):
            raise Malformed(f'{path.name}: {len(row)} fields in place of {len(columns)}: {row}')
    if path.stem.partition('-')[0] not in CHAPTERS:
        raise Malformed(f'{path.name}: its name begins with no chapter of tools/docs measurements')
    return facts, columns, rows


def is_figure(text):
    return re.match(r'[\d.]', text) is not None or text == ''


def table(columns, rows):
    """As Markdown; columns of figures are aligned to the right."""
    cells = [[cell.replace('|', r'\|') for cell in row] for row in [columns, *rows]]
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(*cells)]
    right = [i > 0 and all(is_figure(row[i]) for row in rows) for i in range(len(columns))]
    lines = ['| ' + ' | '.join(cell.rjust(width) if end else cell.ljust(width)
                               for cell, width, end in zip(row, widths, right)) + ' |' for row in cells]
    lines.insert(1, '|' + '|'.join('-' * (width + 1) + (':' if end else '-')
                                   for width, end in zip(widths, right)) + '|')
    return '\n'.join(lines)


def section(path):
    facts, columns, rows = read(path)
    text = f'### {facts["title"][0]}\n\n'
    text += f'Unit: {facts["unit"][0]}. '
    text += ' '.join(f'Machine: {machine}.' for machine in facts['machine'])
    text += f' UCD {facts["version"][0]}, recorded on {facts["date"][0]} in {", ".join(facts["commit"])}. Data: docs/measurements/data/{path.name}.\n\n'
    commands = [c for c in facts['command'] if c != 'none']
    text += '```sh\n' + '\n'.join(commands) + '\n```\n\n' if commands else 'No command in the repository repeats it.\n\n'
    text += ''.join(note + '\n\n' for note in facts.get('note', []))
    return text + table(columns, rows) + '\n'


def render(wanted):
    """The tables whose chapter or file is in `wanted`; all of them if it is empty."""
    known = set(CHAPTERS)
    parts = {name: [] for name in CHAPTERS}
    for path in sorted((FOLDER / 'data').glob('*.csv')):
        text, chapter = section(path), path.stem.partition('-')[0]
        known.add(path.stem)
        if not wanted or wanted & {chapter, path.stem}:
            parts[chapter].append(text)
    if wanted - known:
        raise Malformed(f'there is no chapter or file {", ".join(sorted(wanted - known))}')
    return '\n'.join([INTRODUCTION] + [text for name, title in CHAPTERS.items() if parts[name]
                                      for text in [f'## {title}\n', *parts[name]]])


def main():
    check = sys.argv[1:] == ['--check']
    if not check and any(argument.startswith('-') for argument in sys.argv[1:]):
        sys.exit(__doc__)
    try:
        page = render(set() if check else {name.removesuffix('.csv') for name in sys.argv[1:]})
    except (Malformed, csv.Error) as error:
        sys.exit(f'docs/measurements/data: {error}')
    if not check:
        print(page)
