"""Runs the commands in docs/guide/tool.md and writes what they print, and the pictures that they make, in
place of what is there. With --check, changes nothing and fails if anything would change.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import ROOT, update

try:
    import numpy  # pylint: disable=unused-import
except ImportError:
    sys.exit(f'{sys.executable} has no NumPy, which the transcripts use (Debian: python3-numpy)')

PAGE = ROOT / 'docs/guide/tool.md'
PICTURES = ROOT / 'docs/guide/pictures'
BLOCK = re.compile(r'(?ms)^```console\n(.*?)^```$')


def transcript(block, room, program):
    """The block's commands, each with what it prints now."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith('UCD_')}
    environment |= {'UCD_BACKENDS': 'seq', 'LC_ALL': 'C.UTF-8'}
    lines = []
    for line in re.sub(r'\\\n', '\\\\\x00', block).splitlines():
        if not line.startswith('$ '):
            continue
        command = line[2:].replace('\\\x00', ' ')
        lines.append(line.replace('\\\x00', '\\\n'))
        done = subprocess.run(['bash', '-c', f'ucd() {{ "$UCD" "$@"; }}; python3() {{ "$PYTHON" "$@"; }}; '
                               + command], cwd=room, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60,
                              env=environment | {'UCD': program, 'PYTHON': sys.executable})
        lines += done.stdout.splitlines()
    return '\n'.join(lines) + '\n'


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--check']
    program = os.path.abspath(arguments[0] if arguments else ROOT / 'build/tool/ucd')
    if not os.access(program, os.X_OK):
        sys.exit(f'there is no {program}: build it, or name another program')
    with tempfile.TemporaryDirectory() as room:
        new = BLOCK.sub(lambda m: f'```console\n{transcript(m.group(1), room, program)}```', PAGE.read_text())
        pictures = {p.name: p.read_text() for p in pathlib.Path(room).glob('*.svg')}
    update(PAGE, new, 'transcripts')
    for name in pictures.keys() | {path.name for path in PICTURES.glob('*.svg')}:
        update(PICTURES / name, pictures.get(name), 'transcripts')
