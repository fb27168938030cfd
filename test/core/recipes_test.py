"""Follows the recipes for the host core, to the letter: the files that the README of a core shows are written, and built.

Usage: recipes_test.py MAKE_CORE EXAMPLE LEFT_OUT [--all]

MAKE_CORE is tools/make-core and EXAMPLE a C program that prints what it has packed; LEFT_OUT
calls what a core may be built without. FetchContent's recipe and the compiler alone are tried with the least core, which is
without all that can be left out, and without optimisation, which takes the compiler a third of the time. With --all, as a
release does, all recipes are tried so, each also as it stands, and the compiler alone with each thing left out by itself.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

MAKE_CORE, EXAMPLE, LEFT_OUT = map(os.path.abspath, sys.argv[1:4])
ALL = '--all' in sys.argv
sys.argv[1:] = []

PARTS = ('REDUCTIONS', 'CONVERSIONS', 'AVX512', 'AVX2', 'PLUGINS')


class Variant:
    """What is left out of a core, and whether it is optimised."""

    def __init__(self, left_out, optimised=True):
        self.left_out = left_out
        self.optimised = optimised

    def options(self, option):
        """The options of a build system, of which `option` makes one of a name and whether it is on."""
        parts = [option(part, False) for part in self.left_out]
        return parts if self.optimised else [*parts, option('UNOPTIMISED', True)]

    def flags(self):
        parts = [f'-DUCD_NO_{part}' for part in self.left_out]
        return ['-O2', *parts] if self.optimised else ['-O0', '-DUCD_UNOPTIMISED', *parts]


VARIANTS = [Variant(PARTS, optimised=False)]
EACH_LEFT_OUT = []
if ALL:
    VARIANTS += [Variant(())]
    EACH_LEFT_OUT += [Variant((part,), optimised=False) for part in PARTS]
FOR_RELEASES = unittest.skipUnless(ALL, 'a release follows this recipe')
# What a C library with the C++ runtime inside may need.
LIBRARIES_OF_C = {'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
# For the recipe that makes a library: its only function does what the example's main does.
LIBRARY = '''
int yours_pack(void);
#define main yours_pack
#include "column.c"
'''
USES_THE_LIBRARY = 'int yours_pack(void);\nint main(void) { return yours_pack(); }\n'


class MakeCore(unittest.TestCase):
    """The folder that make-core replaces, and the folders that it leaves as they are. No core is rendered."""

    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.folder = self.room / 'ucd'
        loader = importlib.machinery.SourceFileLoader('make_core', MAKE_CORE)
        self.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader('make_core', loader))
        loader.exec_module(self.tool)

    def core(self, version='1.0.0', commit='0123abc with changes'):
        """The files of a core that tell what it is."""
        return {'VERSION': f'UCD {version}\ncommit {commit}\n', 'ucd_core.am': version, 'include/ucd.h': version,
                'src/ucd_api.cpp': version}

    def write(self, folder, files):
        for name, text in files.items():
            self.tool.write(folder / name, text)

    def make(self, render):
        said = io.StringIO()
        with mock.patch.object(self.tool, 'Core', lambda _: types.SimpleNamespace(write=render)), \
             mock.patch.object(sys, 'argv', [MAKE_CORE, str(self.folder)]), contextlib.redirect_stderr(said):
            try:
                self.tool.main()
            except SystemExit as e:
                self.assertNotEqual(e.code, 0)
        return said.getvalue()

    def make_newer(self):
        return self.make(lambda folder: self.write(folder, self.core('1.1.0') | {'src/ucd_new.cpp': 'new'}))

    def check(self, files):
        found = {str(path.relative_to(self.folder)): path.read_text(encoding='utf-8')
                 for path in self.folder.rglob('*') if path.is_file()}
        self.assertEqual(found, files)
        self.assertEqual(list(self.room.iterdir()), [self.folder])  # nothing is left beside it

    def test_a_core_is_replaced(self):
        newer = self.core('1.1.0') | {'src/ucd_new.cpp': 'new'}
        for before in ({}, self.core() | {'src/ucd_gone.cpp': 'old'}, self.core(commit='unknown')):
            self.write(self.folder, before)
            self.assertEqual(self.make_newer(), '')
            self.check(newer)
            self.assertEqual(self.folder.stat().st_mode & 0o777, (self.folder / 'src').stat().st_mode & 0o777)
        self.folder.rename(self.room / 'renamed')
        self.folder.symlink_to('renamed')
        self.assertEqual(self.make_newer(), '')
        self.assertTrue(self.folder.is_symlink())

    def test_an_empty_folder_is_filled(self):
        # It may be a mount point, or the working folder, which cannot be replaced.
        self.folder.mkdir()
        before = self.folder.stat().st_ino
        self.assertEqual(self.make_newer(), '')
        self.assertEqual(self.folder.stat().st_ino, before)

    def test_what_is_no_core_stays(self):
        core = self.core()
        for files, said in [({'VERSION': '1.0\n', 'src/main.c': 'mine'}, 'was not written by this tool'),
                            (core | {'VERSION': 'UCD 1.0.0\n'}, 'was not written by this tool'),
                            (core | {'VERSION': 'UCD 1.0.0\nmine\n'}, 'was not written by this tool'),
                            *(({n: t for n, t in core.items() if n != missing}, 'was not written by this tool') for missing in core),
                            (core | {'notes.txt': 'mine', '.git/HEAD': 'x'}, 'did not write: .git, notes.txt')]:
            self.write(self.folder, files)
            self.assertIn(said, self.make_newer())
            self.check(files)
            shutil.rmtree(self.folder)
        self.folder.write_text('a file')
        self.assertIn('was not written by this tool', self.make_newer())
        self.assertEqual(self.folder.read_text(), 'a file')

    def test_an_update_that_ends_early_leaves_the_old_core(self):
        def interrupted(folder):
            self.write(folder, self.core('1.1.0'))
            raise KeyboardInterrupt
        core = self.core()
        self.write(self.folder, core)
        with self.assertRaises(KeyboardInterrupt):
            self.make(interrupted)
        self.check(core)
        with self.assertRaises(OSError):
            self.tool.put_in_place(self.room / 'missing', self.folder, self.room / 'aside')
        self.check(core)

    def test_a_repository_without_commits(self):
        (self.room / '.git').mkdir()
        self.assertEqual(self.tool.commit_of(self.room), ('unknown', '0'))


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='ucd-recipes-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.core = cls.folder / 'core'
        subprocess.run([sys.executable, MAKE_CORE, cls.core], check=True)
        readme = (cls.core / 'README.md').read_text(encoding='utf-8')
        # The blocks of each recipe, by the recipe's first words.
        recipes = readme.partition('## Five ways')[2].partition('\n## ')[0]
        cls.blocks = {
            name: re.findall(r'```\w+\n(.*?)```', text, re.S)
            for name, text in re.findall(r"^\*\*([^*]+)\*\*(.*?)(?=^\*\*|\Z)", recipes, re.M | re.S)
        }

    def setUp(self):
        self.project = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.core_in('ucd')
        shutil.copy(EXAMPLE, self.project / 'column.c')

    def core_in(self, name):
        (self.project / name).parent.mkdir(exist_ok=True)
        (self.project / name).symlink_to(self.core, target_is_directory=True)

    def write(self, name, text):
        (self.project / name).write_text(text, encoding='utf-8')

    def run_in_project(self, *command, **variables):
        done = subprocess.run(command, cwd=self.project, env={**os.environ, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, f'{command}\n{done.stdout}')
        self.assertNotRegex(done.stdout, r'(?i)\bwarning: .*ucd', command)
        return done.stdout

    def check_program(self, program):
        self.assertEqual(self.run_in_project(program), '24 bytes: 2 12 22\n')

    def try_cmake(self, recipe):
        for variant in VARIANTS:
            with self.subTest(**vars(variant)):
                self.write('CMakeLists.txt', self.blocks[recipe][0])
                options = variant.options(lambda name, on: f'-DUCD_{name}={"ON" if on else "OFF"}')
                self.run_in_project('cmake', '-S', '.', '-B', 'build', *options)
                self.run_in_project('cmake', '--build', 'build', '--parallel', '2')
                self.check_program('build/column')
                shutil.rmtree(self.project / 'build')

    @FOR_RELEASES
    def test_cmake(self):
        self.try_cmake('CMake')

    def test_fetch_content(self):
        self.try_cmake("CMake's FetchContent")

    @FOR_RELEASES
    def test_automake(self):
        self.assertTrue(shutil.which('automake') and shutil.which('libtoolize'), 'Debian: automake libtool')
        configure_ac, makefile_am = self.blocks['Automake and Libtool']
        self.write('configure.ac', configure_ac)
        self.write('yours.c', LIBRARY)
        self.write('Makefile.am', makefile_am)
        self.write('program.c', USES_THE_LIBRARY)
        self.run_in_project('autoreconf', '--install')
        for variant in VARIANTS:
            with self.subTest(**vars(variant)):
                self.run_in_project('./configure', '--quiet', f'CXXFLAGS={" ".join(variant.flags())}')
                self.run_in_project('make', '--quiet', '-j2')
                library = '.libs/libyours.so'
                self.check_is_a_library_of_c(library)
                self.run_in_project('cc', 'program.c', '-o', 'program', library, '-Wl,-rpath,$ORIGIN/.libs')
                self.check_program('./program')
                self.run_in_project('make', '--quiet', 'clean')

    @FOR_RELEASES
    def test_meson(self):
        self.core_in('subprojects/ucd')
        self.write('meson.build', self.blocks['Meson'][0])
        for variant in VARIANTS:
            with self.subTest(**vars(variant)):
                options = variant.options(lambda name, on: f'-Ducd:{name.lower()}={str(on).lower()}')
                self.run_in_project('meson', 'setup', 'build', *options)
                self.run_in_project('ninja', '-C', 'build', '-j2')
                self.check_program('build/column')
                shutil.rmtree(self.project / 'build')

    def test_compiler_alone(self):
        for variant in VARIANTS + EACH_LEFT_OUT:
            with self.subTest(**vars(variant)):
                line = self.blocks['The compiler alone'][0]
                self.assertIn(' -O2 ', line)
                self.run_in_project('sh', '-c', line.replace('-O2', ' '.join(variant.flags())))
                self.check_program('./column')
                self.check_left_out(variant)

    def check_left_out(self, variant):
        """What a core is built without is refused, and changes nothing; the rest works."""
        self.run_in_project('sh', '-c', f'cc -Iucd/include -o left_out {LEFT_OUT} *.o -lstdc++ -lpthread -ldl')
        sums = '3 3' if 'REDUCTIONS' in variant.left_out else '0 0'  # UCD_ERR__NOT_SUPPORTED, UCD_SUCCESS
        conversions = '3 3' if 'CONVERSIONS' in variant.left_out else '0 0'
        expected = f'{sums} {conversions}: {10 if "3" in sums else 11} {7 if "3" in conversions else 1}\n'
        self.assertEqual(self.run_in_project('./left_out'), expected)

    def check_is_a_library_of_c(self, library):
        listed = self.run_in_project('nm', '-D', '--defined-only', library)
        self.assertEqual([line.split()[-1] for line in listed.splitlines()], ['yours_pack'])
        needed = re.findall(r'NEEDED.*\[(.*)\]', self.run_in_project('readelf', '-d', library))
        self.assertLessEqual(set(needed), LIBRARIES_OF_C)


if __name__ == '__main__':
    unittest.main()
