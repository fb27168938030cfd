"""A copy of the sources with defects planted, and its build."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

from rules import places_of, rewritten

HERE = Path(__file__).resolve().parent
ROUND = 256
# Nothing that no test of these rooms needs; what is left is compiled with little optimisation.
OPTIONS = [
    '-Dtests=enabled', '-Dyaksa=enabled', '-Dmpi=auto', '-Dtool=disabled', '-Doptimization=1', '-Db_pch=true', '-Dwarning_level=0', '-Darch_seq=avx512',
]
WRAPPER = re.compile(r'ucd_planted::\w+(?:<[^()]*>)?\((\d+)')
POSITION = re.compile(r'([^\s:,]+\.(?:h|hpp|cpp)):(\d+):(\d+)')


def run(*command, **settings):
    return subprocess.run(command, text=True, capture_output=True, check=True, **settings).stdout


class Workplace:
    """A copy of the repository, and its build."""

    def __init__(self, root, folder):
        self.root = root
        self.source = folder / 'source'
        self.build = folder / 'build'
        self.originals = {}  # file: its text when it was looked at, without marks
        self.marks = []      # what the sources say changes performance only
        self.places = {}     # file: its places that are wrapped
        self.spans = {}      # file: their offsets in the rewritten text
        self.texts = {}      # file: the rewritten text
        self.refused = folder / 'do-not-compile.json'  # places, by their first defect: known from earlier builds

    def copy(self):
        """Brings the copy up to date. Files with defects are written by `write`."""
        wanted = {n for n in self.names() if n and (self.root / n).is_file()}
        for name in sorted(wanted):
            if name not in self.places:
                text = self.originals.get(name) or (self.root / name).read_bytes()
                if name == 'test/support/catch_session.cpp':
                    text += f'\n#include "{HERE / "listener.h"}"\n'.encode()
                self.put(name, text, executable=os.access(self.root / name, os.X_OK))
        for path in list(self.source.rglob('*')):
            if path.is_file() and str(path.relative_to(self.source)) not in wanted:
                path.unlink()

    def names(self):
        if (self.root / '.git').exists():
            return run('git', 'ls-files', '-co', '--exclude-standard', cwd=self.root).split('\n')
        # An unpacked archive has no repository.
        found = [path.relative_to(self.root) for path in self.root.rglob('*')]
        return [str(path) for path in found if not path.parts[0].startswith('build')]

    def put(self, name, text, executable=False):
        path = self.source / name
        if path.exists() and path.read_bytes() == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod(0o755 if executable else 0o644)

    def find(self, folders):
        """All places of these folders, with their defects numbered."""
        places = []
        for folder in folders:
            for path in sorted((self.root / folder).rglob('*')):
                if path.suffix in {'.h', '.cpp'}:
                    name = str(path.relative_to(self.root))
                    found, self.originals[name], marks = places_of(name, path.read_bytes())
                    places += found
                    self.marks += marks
        # Each file begins at a round number: one that grows leaves most other ones as they are built.
        number, file = 1, ''
        for place in places:
            if place.file != file:
                number, file = -(-number // ROUND) * ROUND, place.file
            place.first = number
            for defect in place.defects:
                defect.number = number
                number += 1
        return places

    def write(self, places):
        """Plants these places, and no other ones; returns those of them that are known not to compile."""
        refused = {tuple(key) for key in json.loads(self.refused.read_text())} if self.refused.exists() else set()
        dropped = [p for p in places if p.defects[0].key() in refused]
        for place in places:
            these = self.places.setdefault(place.file, [])
            if place.defects[0].key() not in refused:
                these.append(place)
        for file, these in self.places.items():
            self.write_file(file, these)
        return dropped

    def refuse(self, places):
        keys = json.loads(self.refused.read_text()) if self.refused.exists() else []
        self.refused.write_text(json.dumps(keys + [p.defects[0].key() for p in places], indent=1))

    def write_file(self, file, places):
        whole, text, spans = rewritten(self.originals[file], places, HERE / 'planted.h')
        self.texts[file], self.spans[file] = text, spans
        self.put(file, whole)

    def configure(self):
        if not (self.build / 'build.ninja').exists():
            # tools/install-packages puts it where git ignores it, so the copy has none.
            own = self.root / '.mpi5'
            mpi = [f'-Dmpi_abi={own}'] if (own / 'include/mpi_abi.h').is_file() else []
            subprocess.run(['meson', 'setup', self.build, self.source, *OPTIONS, *mpi], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def compile(self, targets, jobs, say):
        """Builds the targets; leaves out places that do not compile. Returns those."""
        dropped = []
        while True:
            start = time.monotonic()
            done = subprocess.run(['ninja', '-C', self.build, f'-j{jobs}', '-k', '0', *targets], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            (self.build / 'planted-compile.log').write_text(done.stdout)
            say(f'compiled for {time.monotonic() - start:.0f} s')
            if done.returncode == 0:
                return dropped
            bad = self.blamed(done.stdout)
            if not bad:
                raise SystemExit(f'plant-defects: the copy does not compile; see {self.build / "planted-compile.log"}')
            say(f'{len(bad)} places do not compile, and are left out')
            dropped += bad
            self.refuse(bad)
            for file in {p.file for p in bad}:
                self.places[file] = [p for p in self.places[file] if p not in bad]
                self.write_file(file, self.places[file])

    def blamed(self, log):
        """The places that the compiler's messages are about: those whose number an error shows; failing that, the narrowest
        place at a position that it mentions, those on such a line, those of the lines that follow the error's, or those of
        its file."""
        blocks, block = [], []
        for line in log.split('\n'):
            if line.startswith(('[', 'FAILED:', 'ninja:')) or ': error:' in line:
                blocks.append(block)
                block = []
            block.append(line)
        blocks.append(block)
        bad = []
        for block in blocks:
            if any(': error:' in line for line in block):
                bad += [p for p in self.blamed_by(block) if p not in bad]
        return bad

    def blamed_by(self, block):
        shown = {int(n) for line in block if ': error:' in line for n in WRAPPER.findall(line)}
        if shown:
            return [p for places in self.places.values() for p in places if p.first in shown]
        positions = [(self.name_of(m[1]), int(m[2]), int(m[3])) for line in block for m in POSITION.finditer(line)]
        found = next((p for p in (self.at(*position) for position in positions) if p), None)
        if found:
            return [found]
        on_lines = [p for position in positions for p in self.on_lines(*position[:2], 1)]
        on_lines = on_lines or [p for position in positions for p in self.on_lines(*position[:2], 20)]
        return on_lines or [p for file, _, _ in positions[:1] for p in self.places.get(file, [])]

    def name_of(self, path):
        full = os.path.normpath(self.build / path)
        return os.path.relpath(full, self.source)

    def offset(self, file, line, column):
        lines = self.texts[file].split(b'\n')
        return sum(len(x) + 1 for x in lines[:line - 1]) + column - 1

    def at(self, file, line, column):
        if file not in self.texts:
            return None
        offset = self.offset(file, line, column)
        around = [(end - begin, place) for place, begin, end in self.spans[file] if begin <= offset < end]
        return min(around, key=lambda a: a[0])[1] if around else None

    def on_lines(self, file, line, lines):
        if file not in self.texts:
            return []
        begin, end = self.offset(file, line, 1), self.offset(file, line + lines, 1)
        return [place for place, first, last in self.spans[file] if first < end and last > begin]
