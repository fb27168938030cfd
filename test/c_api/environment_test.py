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
            # What is called nevertheless repeats it.
            self.assertIn(f'\nucd_create_vector: ucd_init failed: {name} is "{value}"', done.stderr)

    def test_unknown_variables_are_logged(self):
        unknown = {'UCD_THREAD': '2', 'UCD_LOGLEVEL': 'plan', 'UCD_MPI_STAT': '1', 'UCD_': '', 'UCD_gpu': 'none'}
        nearest = ['THREADS', 'LOG_LEVEL', 'MPI_STATS', 'GPU', 'GPU']
        lines = [f'ucd: the environment variable {name} is unknown; the nearest is UCD_{near}'
                 for name, near in zip(unknown, nearest)]
        for level in 'error', 'plan':
            done = run(UCD_LOG_LEVEL=level, **unknown)
            self.assertEqual(done.returncode, 0)
            told = [line for line in done.stderr.splitlines() if 'environment variable' in line]
            self.assertEqual(sorted(told), sorted(lines))
        self.assertEqual(run(**unknown).stderr, '')
        # Also if ucd_init then fails.
        self.assertIn(lines[0], run(UCD_LOG_LEVEL='error', UCD_THREAD='2', UCD_GPU='yes').stderr)

    def test_ignored_variables_are_logged(self):
        ignored = {'UCD_IGNORE_ENVIRONMENT': '1', 'UCD_THREADS': '0', 'UCD_CHECK': 'none'}
        done = run(**ignored)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        done = run(UCD_LOG_LEVEL='error', **ignored)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.splitlines(), [
            f'ucd: the environment variable {name} has no effect, because UCD_IGNORE_ENVIRONMENT is 1'
            for name in ('UCD_THREADS', 'UCD_CHECK')])

    def test_variables_of_other_parts_are_known(self):
        done = run(UCD_LOG_LEVEL='error', UCD_MPI='off', UCD_MPI_STATS='1', UCD_MPI_GPU_AWARE='0', UCD_MPI_GPU_WAY='host',
                   UCD_PLUGIN_PATH='', UCD_REQUIRE_BACKEND='seq', UCD_TEST_SEED='1',
                   UCD_ZE_DRIVER_DEVICES='2', UCD_STAND_IN='x', UCD_SOURCE='x', UCDX_THREADS='1', XUCD_Y='1')
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_good_values_are_taken(self):
        done = run(UCD_THREADS='2', UCD_GPU='none', UCD_BACKENDS='seq', UCD_INBUF='host',
                   UCD_ENGINE='auto', UCD_MAX_BLOCKS='4', UCD_ZE_CONTEXT='1')
        self.assertEqual((done.returncode, done.stderr), (0, ''))


if __name__ == '__main__':
    unittest.main()
