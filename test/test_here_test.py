"""What tools/test here counts and says, for a project of a few tests: copies of the tools look at their own folder."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / 'tools'
PROJECT = """
project('few', ['c', 'cpp'])
sh = find_program('sh')
here = meson.current_source_dir()
test('good', sh, args: ['-c', 'echo once >> @0@/good'.format(here)], suite: 'fast')
test('absent', sh, args: ['-c', 'echo "skipped: no device" >&2; exit 77'], suite: 'fast')
test('waits', sh, args: ['-c', 'until [ -e @0@/done ]; do sleep 0.1; done'.format(here)], suite: 'slow', timeout: 300)
test('bad', sh, args: ['-c', 'echo nonsense; exit 3'], suite: 'wrong')
test('never', executable('unlinked', 'broken.cpp', build_by_default: false), suite: 'broken')
summary({'a part': ['no headers of it', 'no time'], 'another part': 'no use'}, section: 'Left out')
"""


class TestHere(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(TOOLS, self.folder / 'tools', ignore=shutil.ignore_patterns('__pycache__'))
        (self.folder / 'meson.build').write_text(PROJECT)
        (self.folder / 'meson_options.txt').write_text(
            "option('tests', type: 'feature', value: 'disabled')\n"
            "option('ucx', type: 'feature', value: 'disabled')\n"
            + ''.join(f"option('{name}', type: 'string', value: '')\n" for name in
                      ('quick_programs', 'arch_cuda', 'arch_hip', 'python_interpreter')))
        (self.folder / 'broken.cpp').write_text('int main() { return missing; }\n')

    def run_it(self, *arguments):
        environment = {**os.environ, 'PATH': '/usr/bin:' + os.environ['PATH']}
        result = subprocess.run([sys.executable, self.folder / 'tools/test', 'here', '--compiler', 'g++', *arguments], env=environment,
                                capture_output=True, text=True)
        self.said = result.stdout + result.stderr
        return result.returncode, result.stdout.splitlines()[-1] if result.stdout else ''

    def test_that_passed_and_were_skipped(self):
        self.assertEqual(self.run_it('--only', 'fast'), (0, '1 passed, 0 failed'))
        self.assertIn('passed: fast 1\n', self.said)
        self.assertIn('skipped: absent: skipped: no device\n', self.said)
        self.assertIn('not built: a part: no headers of it, no time\nnot built: another part: no use\n', self.said)
        self.run_it('--only', 'fast')
        self.assertEqual((self.folder / 'good').read_text(), 'once\nonce\n')  # what has ended begins anew

    def test_that_failed(self):
        self.assertEqual(self.run_it('--only', 'wrong,fast'), (1, '1 passed, 1 failed'))
        self.assertIn('failed: bad\n    nonsense\n', self.said)

    def test_that_could_not_be_built(self):
        self.assertEqual(self.run_it('--only', 'broken,fast'), (1, '1 passed, 1 failed'))
        self.assertIn('failed: not all could be built\ncould not run: never\n', self.said)

    def test_of_no_suite(self):
        self.assertEqual(self.run_it('--only', 'fats'), (1, '0 passed, 1 failed'))
        self.assertIn('no test is of the suite fats; suites: broken, fast, slow, wrong\n', self.said)

    def test_compiler_that_is_missing(self):
        self.assertEqual(self.run_it('--compiler', 'clang++-1', '--only', 'fast'), (1, '1 passed, 1 failed'))
        self.assertIn('== clang++-1: not on this machine\n', self.said)

    def test_going_on_when_time_ran_out(self):
        self.run_it('--only', 'none')  # configures
        good = self.folder / 'good'
        while not good.exists():
            code, last = self.run_it('--only', 'fast,slow', '--minutes', '0.1')
            self.assertEqual(code, 75, self.said)
        self.assertEqual(last, '1 passed, 0 failed')
        self.assertIn('left to run: waits\n', self.said)
        (self.folder / 'done').touch()
        self.assertEqual(self.run_it('--only', 'fast,slow'), (0, '2 passed, 0 failed'))
        self.assertEqual(good.read_text(), 'once\n')


if __name__ == '__main__':
    unittest.main()
