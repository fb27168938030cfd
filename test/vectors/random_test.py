"""The library and read_flattened.py accept and refuse the same random bytes, and take them for the same types.

usage: random_test.py PROGRAM...     (vectors, which is told the bytes and tells what they mean; behind its emulator, if
                                      it is for another processor)

UCD_TEST_SEED and UCD_TEST_CASES are those of the other random tests.
"""

import os
import random
import subprocess
import sys
import unittest

import read_flattened
import vectors_test
from read_flattened import ELEMENTS, LIMIT, ONE_LENGTH, PROGRESSION

PROGRAM = sys.argv[1:]
del sys.argv[1:]
SEED = os.environ.get('UCD_TEST_SEED', '1')
if SEED == 'random':
    SEED = str(random.SystemRandom().getrandbits(32))
CASES = int(2000 * float(os.environ.get('UCD_TEST_CASES', '1')))


class Writer:
    """Makes nodes of random numbers: most of them legal, some at the edges of what is."""

    def __init__(self, case):
        self.random = random.Random(f'{SEED} {case}')
        self.nodes, self.without_parent = [], set()
        self.far = self.random.random() < 0.4  # numbers as large as can be, too

    def chance(self, probability):
        return self.random.random() < probability

    def number(self):
        if self.far and self.chance(0.2):
            edge = 2**self.random.choice([7, 8, 15, 31, 32, 40, 61, 62, 63]) - self.random.choice([0, 1, 1, 2, 8, 16])
            return max(-LIMIT - 1, min(LIMIT, edge * self.random.choice([1, -1])))
        return self.random.choice([0, 1, 2, 4, 8, 16, 24, -1, -8, -16, self.random.randint(-300, 3000)])

    def count(self):
        return self.random.choice([2, 2, 3, 4, 5]) if self.chance(0.95) else min(abs(self.number()), LIMIT)

    def code(self, numbers, signed=True):
        """A width code that is wide enough."""
        reach = max([n if n >= 0 else -n - 1 for n in numbers], default=0).bit_length() + signed
        narrowest = next(code for code in range(4) if reach <= 8 << code)
        return self.random.choice([narrowest, narrowest, 3]) if numbers else 0

    def child(self):
        number = self.random.choice(sorted(self.without_parent) if self.without_parent and self.chance(0.7)
                                    else range(len(self.nodes)))
        self.without_parent.discard(number)
        return number

    def add(self, node):
        self.without_parent.add(len(self.nodes))
        self.nodes.append(node)

    def add_element(self):
        cls = self.random.choice(sorted(ELEMENTS))
        self.add(bytes([1, cls, self.random.choice(sorted(ELEMENTS[cls])), self.random.randint(0, 4)]))

    def add_list(self, kind, children=None):
        flags, scalars, steps, lengths, depth = 0, [], [], [], b''
        if kind == 2:
            depth = bytes([self.random.choice([1, 1, 2, 3, 4])])
            for _ in range(depth[0]):
                scalars += [self.count(), self.number()]
            children = [self.child()]
        else:
            size = len(children) if children else self.random.choice([2, 2, 3, 4])
            flags = self.random.choice({3: [0], 4: [0, PROGRESSION, ONE_LENGTH], 5: [0, PROGRESSION]}[kind])
            scalars = [size, self.number()] + ([self.number()] if kind == 4 else [])
            if flags != PROGRESSION:
                steps = [self.number() if self.chance(0.3) else self.random.randint(-4, 4) for _ in range(size - 1)]
            if kind == 4:
                lengths = [abs(self.number()) if self.chance(0.2) else self.random.randint(1, 4)
                           for _ in range(1 if flags == ONE_LENGTH else size)]
            children = children or [self.child() for _ in range(size if kind == 5 else 1)]
        codes = (min(self.code(children, signed=False), 2), self.code(scalars), self.code(steps),
                 self.code(lengths, signed=False))
        node = bytes([kind | flags, sum(code << 2 * i for i, code in enumerate(codes))]) + depth
        order = [(scalars, 1, True), (children, 0, False), (steps, 2, True), (lengths, 3, False)]
        for numbers, which, signed in order:
            node += b''.join(number.to_bytes(1 << codes[which], 'little', signed=signed) for number in numbers)
        self.add(node)

    def flattened(self):
        for _ in range(self.random.randint(1, 3)):
            self.add_element()
        for _ in range(self.random.randint(0, 5)):
            self.add_list(self.random.choice([2, 3, 4, 5]))
        if len(self.without_parent) > 1 and self.chance(0.97):
            roots, self.without_parent = sorted(self.without_parent), set()
            self.add_list(5, roots)
        bounds = [self.number() for _ in range(3)]
        code = self.code(bounds)
        data = bytes.fromhex('55434454 0100') + bytes([self.random.randint(0, 1) | code << 1, self.random.randint(0, 15)])
        data += bytes(12) + len(self.nodes).to_bytes(4, 'little')
        data += b''.join(number.to_bytes(1 << code, 'little', signed=True) for number in bounds) + b''.join(self.nodes)
        return read_flattened.sealed(self.changed(data))

    def changed(self, data):
        """The bytes, or one of them changed, or more or fewer of them."""
        at = self.random.randrange(len(data))
        if self.chance(0.3):
            value = self.random.choice([0, 1, 2, 127, 128, 255, data[at] ^ 1 << self.random.randrange(8)])
            return data[:at] + bytes([value]) + data[at + 1:]
        if self.chance(0.03):
            return data[:max(at, 24)] if self.chance(0.5) else data + b'\1'
        return data


def by_the_page(data):
    try:
        return vectors_test.meaning(data)
    except read_flattened.Refused as refused:
        return 'UCD_ERR__NOT_SUPPORTED' if refused.newer else 'UCD_ERR__CORRUPT'


class Random(unittest.TestCase):
    def test_the_library_reads_what_the_page_says(self):
        flattened = [Writer(case).flattened() for case in range(CASES)]
        done = subprocess.run([*PROGRAM, '--read'], input=''.join(data.hex(' ') + '\n' for data in flattened),
                              capture_output=True, text=True, timeout=600, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), CASES)
        accepted = 0
        for data, line in zip(flattened, lines):
            page, library = by_the_page(data), line
            if ': ' in line and not isinstance(page, str):
                accepted += 1
                library = dict(part.split(': ') for part in line.split('; ') if part)
                # Machines lack representations; types of very many runs of elements are not listed.
                vague = '?' in library.get('elements', '?')
                page = {k: v for k, v in page.items() if not vague or k not in ('elements', 'first', 'last', 'map')}
                library = {k: v for k, v in library.items() if k in page}
            self.assertEqual(library, page, f'UCD_TEST_SEED={SEED}: {data.hex(" ")}')
        self.assertGreater(accepted, CASES // 3)
        self.assertLess(accepted, CASES)


if __name__ == '__main__':
    unittest.main()
