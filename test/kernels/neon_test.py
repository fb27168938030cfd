#!/usr/bin/env python3
"""Kernels for AArch64 use vector registers where those for x86-64 do: counts instructions of the compiled library, since
what they take was measured on no such processor.

usage: neon_test.py OBJDUMP LIBRARY        (the static library of src/backend/seq)
"""

import collections
import re
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop()
OBJDUMP = sys.argv.pop()


def functions():
    """The instructions of each function, by its name without parameters; of clones and overloads together."""
    text = subprocess.run([OBJDUMP, '-d', '-C', '--no-show-raw-insn', LIBRARY], capture_output=True, text=True,
                          check=True).stdout
    found = collections.defaultdict(list)
    name = ''
    for line in text.splitlines():
        if match := re.match(r'[0-9a-f]+ <(.*)>:$', line):
            name = re.sub(r'^void |ucd::seq::neon::|\(anonymous namespace\)::', '', match[1]).split('(')[0]
        elif match := re.match(r' *[0-9a-f]+:\t(.*)', line):
            found[name].append(match[1])
    return found


FUNCTIONS = functions()


def count(name, pattern):
    return sum(bool(re.match(pattern, instruction)) for instruction in FUNCTIONS[name])


class Neon(unittest.TestCase):
    def show(self, what, number):
        print(f'{what}: {number}')
        return number

    def test_tiles_are_transposed_in_registers(self):
        # Each doubling of a side interleaves all of its registers: side * log2(side). Where several copies are inlined,
        # there are more.
        for width, lanes, side in ((1, '16b', 16), (2, '8h', 8), (4, '4s', 4), (8, '2d', 2)):
            inlined = [name for name in FUNCTIONS if name == f'transpose_w{width}' or
                       re.match(rf'(void )?(move_tiles|move_whole_lines)<{width}u\b', name)]
            zips = max(count(name, rf'zip[12]\tv\d+\.{lanes},') for name in inlined)
            self.assertGreaterEqual(self.show(f'zip, blocks of {width}', zips), side * (side.bit_length() - 1))

    def test_rows_of_small_steps_are_loaded_apart(self):
        for width, steps in ((1, 'ld[234]'), (2, 'ld[234]'), (4, 'ld[234]'), (8, 'ld2')):
            kinds = {i.split('\t')[0] for i in FUNCTIONS[f'char* pack_small_step<{width}u>'] +
                     FUNCTIONS[f'pack_small_step<{width}u>'] if re.match(steps, i)}
            self.assertEqual(self.show(f'loads that take apart, blocks of {width}', sorted(kinds)),
                             ['ld2'] if width == 8 else ['ld2', 'ld3', 'ld4'])

    def test_halves_are_converted_by_instructions(self):
        for op in ('sum', 'prod', 'max', 'min'):
            name = f'reduce_{op}_float16'
            self.assertGreaterEqual(self.show(f'fcvtl, {name}', count(name, 'fcvtl\t')), 2)
        for op in ('sum', 'prod'):
            self.assertGreaterEqual(count(f'reduce_{op}_float16', 'fcvtn\t'), 1)

    def test_rows_are_combined_in_registers(self):
        for direction in ('pack', 'unpack'):
            for element, compare, lanes in (('float32', 'fcmgt', '4s'), ('float64', 'fcmgt', '2d'),
                                            ('int64', 'cmgt', '2d'), ('uint64', 'cmhi', '2d')):
                name = f'{direction}_s_max_{element}'
                vectors = count(name, rf'{compare}\tv\d+\.{lanes},')
                # Those that are left over, and single elements at other distances.
                scalars = count(name, 'fcmpe\t' if 'f' in compare else 'csel\t')
                self.show(f'{name}: vectors and elements compared', (vectors, scalars))
                self.assertGreaterEqual(vectors, 10)
                self.assertLess(scalars, vectors)
        for element, add in (('float32', r'fadd\tv\d+\.4s,'), ('uint64', r'add\tv\d+\.2d,')):
            self.assertGreaterEqual(self.show(f'additions of vectors, {element}', count(f'pack_s_sum_{element}', add)), 10)

    def test_lists_are_looked_at_in_registers(self):
        for name in ('copy_entries', 'blocks'):
            self.assertGreaterEqual(self.show(f'cmgt, {name}', count(name, r'cmg[te]\tv\d+\.2d,')), 2)

    def test_runs_and_pieces_are_moved_by_pairs_of_registers(self):
        for name in ('pack_s_o64', 'pack_s_p64', 'unpack_s_o64'):
            pairs = count(name, r'ldp\tq\d+, q\d+,')
            self.assertGreaterEqual(self.show(f'pairs loaded, {name}', pairs), 2)


if __name__ == '__main__':
    unittest.main()
