"""Scripts of unittest that tools/planting/cases.py runs case by case."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CASES = pathlib.Path(__file__).resolve().parent.parent / 'tools/planting/cases.py'
SCRIPT = '''
import os, subprocess, sys, unittest

def reach(number):
    # As a program that the case starts.
    subprocess.run([sys.executable, '-c', f"""
import os
with open(os.environ['PLANTED_MAP'], 'r+b') as file:
    file.seek({number})
    file.write(bytes([1]))
"""], check=True)

SAID = sys.argv[1]
del sys.argv[1:]

class Some(unittest.TestCase):
    def test_one(self):
        if 'PLANTED_MAP' in os.environ: reach(3)
    def test_two(self):
        if 'PLANTED_MAP' in os.environ: reach(5)
        self.assertEqual(SAID, 'right')
    @unittest.skip('as an example')
    def test_three(self):
        pass

if __name__ == '__main__':
    raise SystemExit('it ran by itself')
'''


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'some_test.py').write_text(SCRIPT)

    def run_script(self, said, **environment):
        return subprocess.run([sys.executable, CASES, self.folder / 'some_test.py', said], capture_output=True,
                              env=os.environ | {'PYTHONDONTWRITEBYTECODE': '1'} | environment, check=False).returncode

    def test_what_each_case_reaches(self):
        reached, log = self.folder / 'map', self.folder / 'log'
        for said, passed in (('right', True), ('wrong', False)):
            reached.write_bytes(bytes(8))
            log.write_text('')
            self.run_script(said, PLANTED_MAP=str(reached), PLANTED_LOG=str(log))
            entries = {e['case']: e for e in map(json.loads, log.read_text().splitlines())}
            self.assertEqual({name: (e['passed'], e['reached']) for name, e in entries.items()},
                             {'Some.test_one': (True, [3]), 'Some.test_two': (passed, [5]), 'Some.test_three': (True, [])})
            self.assertEqual(reached.read_bytes(), bytes(8))

    def test_some_cases_only(self):
        self.assertEqual(self.run_script('right'), 0)
        self.assertEqual(self.run_script('wrong'), 1)
        self.assertEqual(self.run_script('wrong', PLANTED_CASES='Some.test_one\nSome.test_three'), 0)
        self.assertEqual(self.run_script('wrong', PLANTED_CASES='Some.test_one\nSome.test_two'), 1)


if __name__ == '__main__':
    unittest.main()
