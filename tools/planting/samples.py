"""Which defects are tried: drawn by a seed, and kept in a file that people read and that another machine takes.

Each defect of the file is a paragraph:

    17 src/ucx/example.cpp:120 relation 0
        a < b  ->  a <= b
        in: if (a < b) return b;
        |    119  // lines around it, which nothing reads

The last number of the first line tells defects apart that are the same in the same line of the same file.
"""

import hashlib
import re
from collections import Counter

FIRST = re.compile(r'(\d+) (\S+):(\d+) (\w+) (\d+)')
AROUND = 5  # lines of the source before and after a defect


def numbered(defects):
    """The defects, each with its key and how many before it have the same."""
    seen = Counter()
    for defect in defects:
        key = defect.key()
        yield (*key, seen[key]), defect
        seen[key] += 1


def drawn(defects, seed, count):
    """Which of the defects are planted. A change of a source does not change which of the other sources' are chosen."""
    ranked = [(hashlib.sha256(repr((seed, key[:-1], key[-1])).encode()).digest(), defect) for key, defect in numbered(defects)]
    ranked.sort(key=lambda r: r[0])
    return [defect for _, defect in ranked[:count]]


def mixed(usual, keys):
    """Both samples as one, in which the keys are spread evenly: whatever part of it is tried has their share."""
    weighed = [((i + 0.5) / len(part), part is keys, defect) for part in (usual, keys) for i, defect in enumerate(part)]
    return [defect for _, _, defect in sorted(weighed, key=lambda w: w[:2])]


def write(path, chosen, defects, sources):
    """`chosen`: by number. `sources`: of each file, its lines."""
    twin = {id(defect): key[-1] for key, defect in numbered(defects)}
    with open(path, 'w') as file:
        for number, defect in chosen.items():
            print(f'{number} {defect.file}:{defect.line} {defect.rule} {twin[id(defect)]}', file=file)
            print(f'    {defect.before}  ->  {defect.after}\n    in: {defect.place.context}', file=file)
            lines = sources[defect.file]
            for n in range(max(1, defect.line - AROUND), min(len(lines), defect.line + AROUND) + 1):
                print(f'    | {n:>5}  {lines[n - 1]}'.rstrip(), file=file)
            print(file=file)


def read(path, defects):
    """The defects that the file names, by their numbers there; and the numbers of those that the sources no longer have."""
    known = dict(numbered(defects))
    found, gone = {}, []
    for paragraph in path.read_text().split('\n\n'):
        lines = paragraph.strip('\n').split('\n')
        first = FIRST.fullmatch(lines[0])
        if not first:
            continue
        before, _, after = lines[1].strip().partition('  ->')
        key = (first[2], lines[2].removeprefix('    in: '), before, after.strip(), int(first[5]))
        if key in known:
            found[int(first[1])] = known[key]
        else:
            gone.append(int(first[1]))
    return found, gone
