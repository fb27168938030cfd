"""The page of keys and environment variables names all that the libraries know, and no other."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/reference/keys-and-environment.md'
HEADERS = ('ucd.h', 'ucd_ucx.h', 'ucd_ucx_rma.h', 'ucd_mpi.h')
KEY = re.compile(r'"(ucd\.[a-z0-9_.]*[a-z0-9])"')
# Strings such as "UCD_ERR__OVERFLOW" are names of constants.
VARIABLE = re.compile(r'"(UCD_[A-Z]+(?:_[A-Z]+)*)"')


def found_in_source(pattern):
    found = set()
    for path in (ROOT / 'src').rglob('*'):
        if path.suffix in ('.cpp', '.h'):
            found |= set(pattern.findall(path.read_text()))
    return found


def tables():
    """The cells of the page's tables, a list for each row."""
    for line in PAGE.read_text().splitlines():
        if line.startswith('| `'):
            yield [cell.strip() for cell in line.strip('|').split(' | ')]


class Keys(unittest.TestCase):
    def test_keys(self):
        known = found_in_source(KEY)
        self.assertGreater(len(known), 20)
        listed = [row[0].strip('`') for row in tables() if row[0].startswith('`ucd.')]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(set(listed), known)

    def test_variables(self):
        known = found_in_source(VARIABLE) - {'UCD_SUCCESS'}
        self.assertGreater(len(known), 8)
        listed = {cell.strip('`') for row in tables() for cell in row[:2]
                  if re.fullmatch('`UCD_[A-Z_]+`', cell)}
        self.assertEqual(listed, known)

    def test_headers_name_each(self):
        text = ''.join((ROOT / 'include' / header).read_text() for header in HEADERS)
        for name in found_in_source(KEY) | found_in_source(VARIABLE) - {'UCD_SUCCESS'}:
            self.assertTrue(re.search(rf'\b{re.escape(name)}\b', text), name)


if __name__ == '__main__':
    unittest.main()
