"""The lists of keys and environment variables in the source are those of the page, of the headers and of `ucd info`."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/reference/keys-and-environment.md'
HEADERS = ('ucd.h', 'ucd_ucx.h', 'ucd_ucx_rma.h', 'ucd_mpi.h')
LIBRARY = ROOT / 'src/frontend/support/keys.cpp'
UCX = ROOT / 'src/ucx/datatype/options.cpp'
TOOL = ROOT / 'tool/commands/info.cpp'


def array(path, name):
    """The text of an array's initialiser."""
    return re.search(rf'\b{name}\[\] *= *\{{(.*?)\}};', path.read_text(), re.S)[1]


def strings(path, name):
    return re.findall(r'"([^"]+)"', array(path, name))


# The variable of a key, or '' if it has none.
LIBRARY_KEYS = dict(re.findall(r'\{"(ucd\.[a-z_.]+)",\s*(?:"(UCD_[A-Z_]+)"|nullptr)', array(LIBRARY, 'keys')))
UCX_KEYS = re.findall(r'\{"(ucd\.[a-z_.]+)"', array(UCX, 'known_keys'))
OTHER_VARIABLES = strings(LIBRARY, 'other_variables')
KNOWN_KEYS = {*LIBRARY_KEYS, *UCX_KEYS}
KNOWN_VARIABLES = {*filter(None, LIBRARY_KEYS.values()), *OTHER_VARIABLES}


def found_in_source(pattern):
    found = set()
    for path in (ROOT / 'src').rglob('*'):
        if path.suffix in ('.cpp', '.h'):
            found |= set(re.findall(pattern, path.read_text()))
    return found


def rows():
    """The first two cells of each row of the page's tables."""
    for line in PAGE.read_text().splitlines():
        if line.startswith('| `'):
            yield [cell.strip(' `') for cell in line.strip('|').split(' | ')[:2]]


class Keys(unittest.TestCase):
    def test_the_lists_were_found(self):
        self.assertGreater(len(LIBRARY_KEYS), 8)
        self.assertGreater(len(UCX_KEYS), 15)
        self.assertGreater(len(OTHER_VARIABLES), 4)

    def test_variables_are_named_after_their_keys(self):
        for key, variable in LIBRARY_KEYS.items():
            self.assertIn(variable, (key.upper().replace('.', '_'), ''))
        self.assertEqual([key for key, variable in LIBRARY_KEYS.items() if not variable], ['ucd.environment'])

    def test_keys_of_libucd_ucx_are_a_family(self):
        families = tuple(strings(LIBRARY, 'key_families'))
        for key in UCX_KEYS:
            self.assertTrue(key.startswith(families), key)

    def test_the_source_uses_no_others(self):
        self.assertLessEqual(found_in_source(r'"(ucd\.[a-z0-9_.]*[a-z0-9])"'), KNOWN_KEYS)
        tests = tuple(strings(LIBRARY, 'test_variables'))
        # Strings such as "UCD_ERR__OVERFLOW" are names of constants.
        used = {name for name in found_in_source(r'"(UCD_[A-Z]+(?:_[A-Z]+)*)"') if not name.startswith(tests)}
        self.assertLessEqual(used - {'UCD_SUCCESS'}, KNOWN_VARIABLES)

    def test_the_page_lists_keys(self):
        listed = [row[0] for row in rows() if row[0].startswith('ucd.')]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(set(listed), KNOWN_KEYS)

    def test_the_page_lists_variables(self):
        self.assertEqual({row[0]: row[1] for row in rows() if row[0] in LIBRARY_KEYS}, LIBRARY_KEYS)
        self.assertEqual(sorted(row[0] for row in rows() if row[0].startswith('UCD_')), sorted(OTHER_VARIABLES))

    def test_headers_name_each(self):
        text = ''.join((ROOT / 'include' / header).read_text() for header in HEADERS)
        for name in KNOWN_KEYS | KNOWN_VARIABLES:
            self.assertTrue(re.search(rf'\b{re.escape(name)}\b', text), name)

    def test_the_tool_shows_those_that_libucd_reads(self):
        of_mpi = {name for name in OTHER_VARIABLES if re.match('UCD_MPI(_|$)', name)}
        self.assertEqual(set(strings(TOOL, 'variables')), KNOWN_VARIABLES - of_mpi)


if __name__ == '__main__':
    unittest.main()
