"""Installs the built tree, and builds and runs small projects against it: by pkg-config alone, and
by CMake's find_package."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, EXAMPLES, OUTSIDE, PREFIX, C, CXX = sys.argv[1:7]
del sys.argv[1:7]
COLUMN = pathlib.Path(EXAMPLES) / 'column.c'
COLUMN_SAYS = '24 bytes: 2 12 22\n'
PARTICLES = pathlib.Path(OUTSIDE) / 'particles.cpp'
PARTICLES_SAYS = '24 bytes: 2 2.5 0; refused: 1\n'


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.root = pathlib.Path(room.name)
        run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', cls.root)
        cls.installed = pathlib.Path(f'{cls.root}{PREFIX}')
        cls.library = next(cls.installed.rglob('libucd.so')).parent
        cls.environment = os.environ | {'LD_LIBRARY_PATH': str(cls.library)}

    def flags(self, *more, package='ucd'):
        pc = next(self.installed.rglob('ucd.pc'))
        # The flags of other packages must stay as they are.
        environment = os.environ | {'PKG_CONFIG_PATH': str(pc.parent)}
        flags = run('pkg-config', *more, '--cflags', '--libs', package, env=environment).split()
        return [flag.replace(PREFIX, str(self.installed)) for flag in flags]

    def test_headers_are_there(self):
        for header in ('ucd.h', 'ucd.hpp', 'ucd_memory.h', 'ucd_types.hpp'):
            self.assertTrue((self.installed / 'include' / header).is_file(), header)

    def test_pkg_config(self):
        for compiler, source, standard, says in ((C, COLUMN, '-std=c11', COLUMN_SAYS),
                                                 (CXX, PARTICLES, '-std=c++20', PARTICLES_SAYS)):
            program = self.root / source.stem
            run(*compiler.split(), standard, '-o', program, source, *self.flags())
            self.assertEqual(run(program, env=self.environment), says)

    def test_pkg_config_static(self):
        if not next(self.installed.rglob('libucd.a'), None):
            self.skipTest('no static library is built')
        program = self.root / 'column_static'
        run(*C.split(), '-std=c11', '-static', '-o', program, COLUMN, *self.flags('--static'))
        self.assertEqual(run(program), COLUMN_SAYS)

    def test_pkg_config_of_ucd_ucx(self):
        if not next(self.installed.rglob('ucd-ucx.pc'), None):
            self.skipTest('libucd-ucx is not built')
        for header in ('ucd_ucx.h', 'ucd_ucx_rma.h'):
            self.assertTrue((self.installed / 'include' / header).is_file())
        source = pathlib.Path(EXAMPLES) / 'ucx' / 'guide.c'
        program = self.root / 'guide'
        run(*C.split(), '-std=c11', '-o', program, source, *self.flags(package='ucd-ucx'))
        self.assertIn('pipelined', run(program, env=self.environment))
        # Each alone, in C and in C++.
        for header in ('ucd_ucx.h', 'ucd_ucx_rma.h'):
            for compiler, suffix, standard in ((C, 'c', '-std=c11'), (CXX, 'cpp', '-std=c++20')):
                empty = self.root / f'empty.{suffix}'
                empty.write_text(f'#include <{header}>\n')
                run(*compiler.split(), standard, '-Wall', '-Werror', '-fsyntax-only', empty,
                    *self.flags(package='ucd-ucx'))

    def test_libucd_is_no_larger_than_promised(self):
        options = json.loads(run('meson', 'introspect', '--buildoptions', BUILD))
        if next(o['value'] for o in options if o['name'] == 'optimization') not in ('2', '3', 's'):
            self.skipTest('it is not optimised')
        stripped = self.root / 'stripped'
        run('strip', '-o', stripped, self.library / 'libucd.so')
        self.assertLessEqual(stripped.stat().st_size, 4 << 20)

    def test_libraries_export_their_interface_only(self):
        for library, prefix in (('libucd.so', 'ucd_'), ('libucd-ucx.so', 'ucd_ucx_')):
            path = self.library / library
            if not path.exists():
                continue
            exported = {line.split()[2].split('@')[0]
                        for line in run('nm', '-D', '--defined-only', path).splitlines()
                        if line.split()[1] == 'T'}
            self.assertTrue(exported)
            for name in exported:
                self.assertTrue(name.startswith(prefix), name)

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package(self):
        # Wherever the tree was moved to.
        moved = self.root / 'moved'
        shutil.copytree(self.installed, moved, symlinks=True)
        work = self.root / 'outside'
        run('cmake', '-S', OUTSIDE, '-B', work, f'-DCMAKE_PREFIX_PATH={moved}',
            f'-DCOLUMN_SOURCE={COLUMN}', f'-DCMAKE_C_COMPILER={C.split()[-1]}',
            f'-DCMAKE_CXX_COMPILER={CXX.split()[-1]}')
        run('cmake', '--build', work)
        self.assertEqual(run(work / 'column'), COLUMN_SAYS)
        self.assertEqual(run(work / 'particles'), PARTICLES_SAYS)
        if next(self.installed.rglob('libucd.a'), None):
            self.assertEqual(run(work / 'column_static'), COLUMN_SAYS)
        linked = run('readelf', '-d', work / 'column')
        self.assertIn('libucd.so.0', linked)

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_refuses_other_versions(self):
        project = self.root / 'wrong'
        project.mkdir()
        (project / 'CMakeLists.txt').write_text('cmake_minimum_required(VERSION 3.16)\n'
                                                'project(wrong C)\n'
                                                'find_package(ucd ${WANTED} REQUIRED)\n')
        for wanted, found in (('0.1', True), ('0.1.0', True), ('0.2', False), ('1.0', False),
                              ('0.0', False), ('', True)):
            done = subprocess.run(['cmake', '-S', project, '-B', project / f'b{wanted}',
                                   f'-DCMAKE_PREFIX_PATH={self.installed}', f'-DWANTED={wanted}'],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode == 0, found, done.stderr)

    # Embedders must be able to load it anywhere.
    def test_the_library_needs_the_standard_libraries_only(self):
        needed = [line.split('[')[1].split(']')[0]
                  for line in run('readelf', '-d', self.library / 'libucd.so').splitlines()
                  if 'NEEDED' in line]
        allowed = {'libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libc.so.6',
                   'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
        self.assertLessEqual(set(needed), allowed)

    def test_the_tool(self):
        program = self.installed / 'bin' / 'ucd'
        if not program.exists():
            self.skipTest('the tool is not built')
        self.assertIn('strided(3, 32)', run(program, 'describe', 'vector(3,1,4,double)',
                                            env=self.environment))
        share = self.installed / 'share'
        for name in ('bash-completion/completions/ucd.bash', 'zsh/site-functions/_ucd',
                     'fish/vendor_completions.d/ucd.fish', 'man/man1/ucd.1', 'man/man7/ucd-type.7'):
            self.assertTrue((share / name).is_file() and (share / name).stat().st_size, name)


if __name__ == '__main__':
    unittest.main()
