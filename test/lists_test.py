"""What lists constructors, predefined types and ops by hand has each one of ucd.h.

The compiler checks the lists in C++ that are made from the header or compared with it. Here are the others.
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'codegen'))

from kernel_space import OPS  # noqa: E402
from public_lists import constructors_of, lists_of  # noqa: E402

HEADER = (ROOT / 'include/ucd.h').read_text()
LISTS = lists_of(HEADER)
CONSTRUCTORS = LISTS['constructors']
PREDEFINED = [p.name for p in LISTS['predefined']]


def text(path):
    return (ROOT / path).read_text()


class Lists(unittest.TestCase):
    def check_each(self, pattern, needed):
        content = ''.join(path.read_text() for path in sorted(ROOT.glob(pattern)))
        missing = [name for name in needed if not re.search(rf'(?<![\w]){re.escape(name)}(?!\w)', content)]
        self.assertEqual(missing, [], f'{pattern} lacks these')

    def test_the_lists_are_those_of_the_header(self):
        self.assertEqual([c.name for c in CONSTRUCTORS], re.findall(r'\bucd_create_(\w+)\(', HEADER))
        self.assertEqual(len(PREDEFINED), len(re.findall(r'^#define UCD_TYPE__', HEADER, re.M)) - 1)
        self.assertEqual([o.name for o in LISTS['ops']][:2], ['REPLACE', 'MAX'])

    def test_parameters_are_understood(self):
        made = constructors_of('''
/* count blocks of e.g. n elements. More. */
UCD_API int ucd_create_h(intptr_t count, const intptr_t *displs, int depth, int order,
                         ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);
/* See ucd_create_h. */
UCD_API int ucd_create_hh(intptr_t count, ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype);
''')
        self.assertEqual([p.kind for p in made[0].parameters], ['length', 'list', 'int', 'order', 'type'])
        self.assertEqual([p.kind for p in made[1].parameters], ['number', 'type'])
        self.assertEqual([c.meaning for c in made], ['count blocks of e.g. n elements.', 'See h.'])
        self.assertEqual([c.node for c in made], ['H', 'HH'])
        with self.assertRaisesRegex(SystemExit, 'no kind is known for the parameter .float f'):
            constructors_of('/* x */\nUCD_API int ucd_create_x(float f, ucd_info_t info, ucd_type_t *newtype);')

    def test_the_page_of_the_language(self):
        page = 'docs/reference/type-language.md'
        rows = {name: arguments for name, arguments in re.findall(r'^\| `(\w+)\((.*?)\)` \|', text(page), re.M)}
        for c in CONSTRUCTORS:
            if not c.by_address:
                self.assertIn(c.name, rows)
                self.assertEqual(re.sub(r'[][]', '', rows[c.name]), ', '.join(p.name for p in c.arguments), c.name)
        self.check_each(page, [f'`{p.lower()}`' for p in PREDEFINED])

    def test_the_guide(self):
        self.check_each('docs/guide/which-function.md', [f'ucd_create_{c.name}' for c in CONSTRUCTORS])

    def test_python(self):
        self.check_each('python/ucd/core/type_constructors.cpp', [f'ucd_create_{c.name}' for c in CONSTRUCTORS])
        self.check_each('python/ucd/_core.pyi', [f'def {c.name.replace("contig", "contiguous")}' for c in CONSTRUCTORS])
        in_python = [re.sub('^2', 'TWO', re.sub('^_', 'C_', name)) for name in PREDEFINED]
        self.assertEqual(re.findall(r'^([A-Z0-9_]+): Type$', text('python/ucd/types.pyi'), re.M), in_python)

    def test_kernels(self):
        # Conversions are kernels of their own.
        self.assertEqual([*OPS, 'convert', 'convert_sat'], [o.word for o in LISTS['ops'][1:]])

    def test_tests(self):
        # by_reference_test.cpp refuses what the constructors that keep an address refuse.
        refusing = [f'ucd_create_{c.name}' for c in CONSTRUCTORS if not c.by_address]
        self.check_each('test/c_api/bad_arguments_*_test.cpp', refusing)
        self.check_each('test/fuzz/program.cpp', [f'recipes::{c.identifier}' for c in CONSTRUCTORS])
        listed = re.findall(r'^    X\((\w+), ', text('test/support/oracle/predefined.hpp'), re.M)
        self.assertEqual(listed, PREDEFINED)
        pins = 'test/c_api/abi_pins.h'
        self.check_each(pins, [f'UCD_TYPE__{name}' for name in PREDEFINED])
        self.check_each(pins, [f'UCD_OP__{o.name}' for o in LISTS['ops']])


if __name__ == '__main__':
    unittest.main()
