"""The API reference has every public function, under its name and with what its comment says."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
INCLUDE = pathlib.Path(__file__).resolve().parent.parent / 'include'


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.folder = pathlib.Path(room.name)
        subprocess.run([sys.executable, TOOL, 'reference', room.name], check=True)

    def check(self, header, least):
        text = (INCLUDE / header).read_text()
        functions = re.findall(r'^UCD_(?:\w+_)?API [^;]*?\b((?:ucd|yaksa)_\w+)\(', text, re.M | re.S)
        self.assertGreaterEqual(len(functions), least)
        page = (self.folder / pathlib.Path(header).with_suffix('.md').name).read_text()
        sections = dict(re.findall(r'^### (\w+)\n(.*?)(?=^###? |\Z)', page, re.M | re.S))
        for function in functions:
            self.assertIn(function, sections)
            declaration, _, said = sections[function].partition('```\n')
            self.assertIn(function + '(', declaration)
            self.assertGreater(len(said.split()), 2, f'{function}: nothing is said of it')
        # No comment is lost, wherever it stands.
        words = lambda text: re.sub(r'[\s*/`=-]+', ' ', text.replace('```text', ''))
        shown = words(page)
        for comment in re.findall(r'^/\*.*?\*/', text, re.M | re.S):
            for paragraph in comment.split('\n *\n'):
                self.assertIn(words(paragraph).strip(), shown)

    def test_ucd(self):
        self.check('ucd.h', 50)

    def test_ucd_memory(self):
        self.check('ucd_memory.h', 5)

    def test_ucd_device(self):
        self.check('ucd_device.h', 2)

    def test_ucd_ucx(self):
        self.check('ucd_ucx.h', 15)

    def test_ucd_ucx_rma(self):
        self.check('ucd_ucx_rma.h', 10)

    def test_ucd_mpi(self):
        self.check('ucd_mpi.h', 2)

    def test_yaksa(self):
        self.check('ucd-yaksa/yaksa.h', 35)

    def test_cxx(self):
        page = (self.folder / 'ucd.hpp.md').read_text()
        for name in ('Type', 'Info'):
            self.assertRegex(page, rf'(?m)^### {name}$')


if __name__ == '__main__':
    unittest.main()
