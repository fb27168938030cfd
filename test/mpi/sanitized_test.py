"""Programs of two processes with a libucd-mpi-preload that was built with sanitizers, in fewer cases.

    sanitized_test.py LAUNCHER LIBASAN PRELOAD STRESS EXCHANGE COLLECTIVES FAULTS [FORTRAN...]
    sanitized_test.py LAUNCHER LIBTSAN PRELOAD STRESS      with the thread sanitizer
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LAUNCHER, RUNTIME, PRELOAD, STRESS, *PROGRAMS = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
EXCHANGE, COLLECTIVES, FAULTS, *FORTRAN = PROGRAMS or [None] * 3
SUPPRESSIONS = pathlib.Path(__file__).resolve().parent / 'tsan.supp'
del sys.argv[1:]


class Sanitized(unittest.TestCase):
    SETTINGS = {'UCD_MPI_STATS': '1', 'TSAN_OPTIONS': f'suppressions={SUPPRESSIONS}'}

    def run_clean(self, what, program, *arguments, processes=2):
        """What processes print; they end themselves at the first finding."""
        with tempfile.TemporaryDirectory() as temporary:
            done = subprocess.run([LAUNCHER, '-n', str(processes), 'env', f'LD_PRELOAD={RUNTIME}:{PRELOAD}', program,
                                   *arguments], env=os.environ | self.SETTINGS | {'TMPDIR': temporary},
                                  capture_output=True, text=True, check=False, timeout=120)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        self.assertNotIn('runtime error:', text)
        self.assertNotRegex(text, 'AddressSanitizer|ThreadSanitizer')
        self.assertIn(what, text)
        self.assertRegex(text, r'[1-9]\d* taken over')

    @unittest.skipUnless(PROGRAMS, 'only threads')
    def test_messages(self):
        self.run_clean('all messages arrived', EXCHANGE, '25', 'isendrecv')

    @unittest.skipUnless(PROGRAMS, 'only threads')
    def test_collective_calls(self):
        self.run_clean('all results agree', COLLECTIVES, '40', processes=3)

    def test_threads(self):
        self.run_clean('all contents are right', STRESS, '1', '4')

    @unittest.skipUnless(PROGRAMS, 'only threads')
    def test_errors(self):
        groups = ['types', 'requests']
        if not PRELOAD.endswith('-abi.so'): # MPICH 5.0.2 ends by itself with the others
            groups += ['arguments', 'truncation', 'cancelled']
        for group in groups:
            with tempfile.TemporaryDirectory() as folder:
                self.run_clean('', FAULTS, folder, group)

    def test_fortran(self):
        for program in FORTRAN:
            self.run_clean('all forms are right' if 'forms' in program else 'all messages arrived', program)


if __name__ == '__main__':
    unittest.main()
