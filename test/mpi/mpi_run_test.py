"""ucd-mpi-run: which library it loads for a program, and what it says if there is none.

    mpi_run_test.py NAME LAUNCHER EXCHANGE PLANS PRELOAD RUN [FORTRAN...]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from launched import Launcher, taken_over

NAME = sys.argv[1]
run = Launcher(sys.argv[2])
EXCHANGE, PLANS, PRELOAD, RUN, *FORTRAN = (str(pathlib.Path(path).resolve()) for path in sys.argv[3:])
FORTRAN = [path for path in FORTRAN if 'mpi_forms' not in path]
del sys.argv[1:]


class Run(unittest.TestCase):
    def setUp(self):
        # As it is installed.
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        root = pathlib.Path(room.name)
        text = pathlib.Path(RUN).read_text()
        libraries = re.search(r'dirname [^)]*\)"\)/([^"]*)"', text).group(1)
        (root / 'bin').mkdir()
        self.run_script = root / 'bin/ucd-mpi-run'
        self.run_script.write_text(text)
        self.run_script.chmod(0o755)
        self.library = root / 'bin' / libraries
        self.library.mkdir(parents=True)
        for path in pathlib.Path(PRELOAD).parent.glob('libucd-mpi-preload-*.so'):
            (self.library / path.name).symlink_to(path)

    def refused(self, *arguments):
        done = subprocess.run([self.run_script, *arguments], capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_runs_with_the_library_of_the_program(self):
        text = run(self.run_script, '--', EXCHANGE, '5', UCD_MPI_STATS='1')
        self.assertIn('all messages arrived', text)
        self.assertGreater(taken_over(text).get('Isend', 0), 10)
        for program in FORTRAN:
            self.assertGreater(taken_over(run(self.run_script, program, UCD_MPI_STATS='1')).get('Isend', 0), 10)

    def test_interpreters(self):
        # The module that loads MPI may find it by a name without a number.
        loaded = subprocess.run(['ldd', EXCHANGE], capture_output=True, text=True, check=True).stdout
        path = pathlib.Path(re.search(r'libmpi[a-z_]*\.so\.\d+ => (\S+)', loaded).group(1))
        copy = self.library / 'libmpi.so'
        copy.write_bytes(path.read_bytes())
        package = self.library / 'python/mpi4py'
        package.mkdir(parents=True)
        (package / '__init__.py').write_text('class rc: initialize = True\n')
        (package / 'MPI.py').write_text(f'import ctypes\nctypes.CDLL({str(copy)!r})\n')
        folders = {'PYTHONPATH': str(package.parent),
                   'LD_LIBRARY_PATH': f'{path.parent}:{path.parent}/mpich:{pathlib.Path(PRELOAD).parent.parent}'}
        said = subprocess.run([self.run_script, sys.executable, '-c', 'import os; print(os.environ["LD_PRELOAD"])'],
                              env=os.environ | folders, capture_output=True, text=True, check=False, timeout=60)
        self.assertIn(f'libucd-mpi-preload-{NAME}.so', said.stdout, said.stderr)

    def shown(self, program):
        done = subprocess.run([self.run_script, '--show', program], capture_output=True, text=True, check=False, timeout=30)
        return done.returncode, done.stdout + done.stderr

    def test_shows_what_would_be_loaded(self):
        # With MPI as a library of a library, too.
        for program in (EXCHANGE, *FORTRAN):
            loaded = subprocess.run(['ldd', program], capture_output=True, text=True, check=True).stdout
            name, place = re.search(r'(libmpi(?:ch|_abi)?\.so\.\d+) => (\S+)', loaded).groups()
            status, text = self.shown(program)
            self.assertEqual(status, 0, text)
            answer = re.fullmatch(rf'{re.escape(str(program))}: (\S+) (\S+): (\S+)\n', text)
            self.assertIsNotNone(answer, text)
            found, path, preload = answer.groups()
            self.assertEqual((found, os.path.realpath(path)), (name, os.path.realpath(place)))
            self.assertEqual(preload, str(self.library.resolve() / f'libucd-mpi-preload-{NAME}.so'))

    def test_showing_runs_nothing(self):
        mark = self.library / 'has_run'
        code = self.library / 'code.c'
        code.write_text('#include <fcntl.h>\nunsigned la_version(unsigned version) { return version; }\n'
                        f'__attribute__((constructor)) static void run(void) {{ creat("{mark}", 0600); }}\n')
        library, program = self.library / 'audit.so', self.library / 'program'
        subprocess.run(['cc', '-shared', '-fPIC', code, '-o', library], check=True)
        code.write_text('int main(void) { return 0; }\n')
        subprocess.run(['cc', code, f'-Wl,--audit={library}', '-o', program], check=True)
        status, text = self.shown(program)
        self.assertEqual(status, 2)
        self.assertIn('is not linked with an MPI library', text)
        interpreter = self.library / 'python3'
        interpreter.write_text(f'#!/bin/sh\n: > {mark}\n')
        interpreter.chmod(0o755)
        script = self.library / 'script'
        for line in (interpreter, f'/usr/bin/env -S {interpreter} -u'):
            script.write_text(f'#!{line}\n')
            script.chmod(0o755)
            status, text = self.shown(script)
            self.assertEqual(status, 2)
            self.assertIn('--show runs nothing', text)
        self.assertEqual(self.shown(interpreter)[0], 2)
        self.assertFalse(mark.exists())

    def renamed(self, program):
        """A copy of the program that needs its MPI library by another name, and that name in a folder of its own."""
        loaded = subprocess.run(['ldd', program], capture_output=True, text=True, check=True).stdout
        own = re.search(r'(libmpi[a-z_]*\.so\.\d+) => (\S+)', loaded)
        ucd = re.search(r'libucd\.so\S* => (\S+)/', loaded) # which the copy does not find by its own path
        name = own.group(1).encode()
        copy = self.library / 'renamed'
        copy.write_bytes(pathlib.Path(program).read_bytes().replace(
            b'\0' + name + b'\0', b'\0' + b'libmpi.so.12'.ljust(len(name), b'\0') + b'\0'))
        copy.chmod(0o755)
        folder = self.library / 'other'
        folder.mkdir()
        (folder / 'libmpi.so.12').symlink_to(own.group(2))
        return copy, {'LD_LIBRARY_PATH': f'{folder}:{ucd.group(1)}'}

    @unittest.skipUnless(NAME == 'mpich', 'other MPI libraries have one name')
    def test_mpich_by_its_own_name(self):
        # That of Intel MPI, too; Debian has another.
        program, environment = self.renamed(EXCHANGE)
        text = run(self.run_script, program, '5', UCD_MPI_STATS='1', **environment)
        self.assertIn('all messages arrived', text)
        self.assertGreater(taken_over(text).get('Isend', 0), 10)
        # Open MPI 1 had it, too.
        (self.library / 'other/libmpi.so.12').unlink()
        (self.library / 'other/libmpi.so.12').write_bytes(pathlib.Path(PLANS).read_bytes() + b'ompi_mpi_comm_world')
        with unittest.mock.patch.dict(os.environ, environment):
            self.assertIn('uses Open MPI 1', self.refused(program))

    def test_refuses_with_a_reason(self):
        self.assertIn('/bin/true is not linked with an MPI library', self.refused('/bin/true'))
        self.assertIn('nothing-of-that-name is no program', self.refused('--', 'nothing-of-that-name'))
        self.assertIn('no program is named', self.refused())
        self.assertIn('there is no', self.refused('--mpi', 'other', '/bin/true'))
        (self.library / f'libucd-mpi-preload-{NAME}.so').unlink()
        self.assertIn('for which this installation has no library', self.refused(EXCHANGE))


if __name__ == '__main__':
    unittest.main()
