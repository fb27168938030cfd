"""What UCD_LOG_LEVEL prints, and that bad values in the environment are refused by ucd_init."""

import os
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()


def run(**variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith('UCD_')} | variables
    return subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=60,
                          check=False)


class Environment(unittest.TestCase):
    def test_nothing_is_printed_unless_asked_for(self):
        done = run()
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(run(UCD_LOG_LEVEL='off').stderr, '')

    def test_plans_are_explained(self):
        done = run(UCD_LOG_LEVEL='plan')
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r'(?m)^ucd: seq, one @\d+ strided\(3, 32\) block\(8\): \w+')

    def test_bad_values_are_refused(self):
        for name, value in [('UCD_LOG_LEVEL', 'loud'), ('UCD_THREADS', '0'), ('UCD_GPU', 'yes'),
                            ('UCD_BACKENDS', 'seq,abacus'), ('UCD_INBUF', 'disk'),
                            ('UCD_ENGINE', 'steam'), ('UCD_MAX_BLOCKS', '-1'),
                            ('UCD_ZE_CONTEXT', 'x')]:
            done = run(**{name: value})
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(f'ucd_init: {name} is "{value}"', done.stderr)

    def test_good_values_are_taken(self):
        done = run(UCD_THREADS='2', UCD_GPU='none', UCD_BACKENDS='seq', UCD_INBUF='host',
                   UCD_ENGINE='auto', UCD_MAX_BLOCKS='4', UCD_ZE_CONTEXT='1')
        self.assertEqual((done.returncode, done.stderr), (0, ''))


if __name__ == '__main__':
    unittest.main()
