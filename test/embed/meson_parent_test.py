"""Builds a project that has UCD as a Meson subproject, and looks at what became of UCD there."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES, C, CXX = sys.argv[1:4]
del sys.argv[1:4]
PARENT = pathlib.Path(__file__).parent / 'meson_parent'
GUIDE = pathlib.Path(SOURCES) / 'docs/guide/embedding.md'
# The compiler's default instruction set is enough to see how UCD is compiled, and few large files are compiled faster.
LEAST = ('-Ducd:arch_seq=', '-Ducd:quick_programs=true')
# What a parent may want for itself.
OTHER_PARENTS = (
    ('-Dbuildtype=release', '-Dwerror=true', '-Dwarning_level=everything'),
    ('-Dbuildtype=plain', '-Db_lto=true', '-Dunity=on', '-Dcpp_std=c++17'),
    ('-Db_sanitize=address', '-Db_ndebug=false', '-Ddefault_library=shared'),
    ('-Doptimization=0', '-Db_coverage=true', '-Ddefault_library=both', '-Dauto_features=enabled', '-Ducd:tool=disabled',
     '-Ducd:ucx=disabled'),
)
SPEED = re.compile(r'-O\w+$')


def run(*command, compiler=CXX, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, env={**os.environ, 'CC': C, 'CXX': compiler}, **more)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\n{done.stdout}')
    return done.stdout


def last(words, pattern):
    return [word for word in words if re.match(pattern, word)][-1:]


class MesonParent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.parent = pathlib.Path(room.name) / 'parent'
        shutil.copytree(PARENT, cls.parent)
        (cls.parent / 'subprojects').mkdir()
        (cls.parent / 'subprojects/ucd').symlink_to(SOURCES)
        # Optimising takes most of the time. What Meson says to the compiler stays, and is looked at.
        unoptimised = pathlib.Path(room.name) / 'unoptimised'
        unoptimised.write_text('#!/bin/sh\nexec "$@" -O0\n')
        unoptimised.chmod(0o755)
        cls.build = cls.configured('build', compiler=f'{unoptimised} {CXX}')
        # What the parent asks for. The rest of UCD is compiled by the same commands, which are looked at.
        run('ninja', '-C', cls.build, 'libembedder.so', 'uses_embedder')
        cls.library = cls.build / 'libembedder.so'

    @classmethod
    def configured(cls, name, *options, compiler=CXX):
        folder = cls.parent / name
        run('meson', 'setup', folder, cls.parent, '-Dforce_fallback_for=ucd', *LEAST, *options, compiler=compiler)
        return folder

    def commands(self, build):
        """How the files of UCD are compiled: by their names."""
        listed = json.loads((build / 'compile_commands.json').read_text())
        commands = {entry['output']: entry['command'].split() for entry in listed if 'subprojects/ucd' in entry['output']}
        self.assertGreater(len(commands), 10)
        return commands

    def test_it_is_the_snippet_of_the_guide(self):
        snippet = next(line for line in (PARENT / 'meson.build').read_text().splitlines() if line.startswith('ucd_dep'))
        self.assertIn(snippet, GUIDE.read_text())

    def test_each_file_is_optimised(self):
        for number, options in enumerate(((), *OTHER_PARENTS)):
            build = self.configured(f'build_{number}', *options) if options else self.build
            instrumented = any(option in options for option in ('-Db_sanitize=address', '-Db_coverage=true'))
            for name, words in self.commands(build).items():
                with self.subTest(options=options, file=name):
                    kernels = 'ucd_seq' in name
                    wanted = '-Os' if '_cold.a' in name else '-O1' if kernels and instrumented else '-O3'
                    self.assertEqual(last(words, '-O'), [wanted])
                    self.assertEqual(last(words, '-[DU]NDEBUG'), ['-DNDEBUG'])
                    self.assertEqual(last(words, '-[DU]_GLIBCXX_ASSERTIONS'), ['-U_GLIBCXX_ASSERTIONS'])
                    self.assertEqual(last(words, '-f(no-)?lto'), ['-fno-lto'])
                    self.assertEqual(last(words, '-W(no-)?error$'), ['-Wno-error'])
                    self.assertEqual(last(words, '-std='), ['-std=c++20'])
                    self.assertNotIn('ucd_seq-unity', name)

    def test_there_are_no_assertions(self):
        self.assertNotIn('assert', run('nm', '-D', self.library))

    def test_the_parent_exports_its_own_functions_only(self):
        exported = {line.split()[-1] for line in run('nm', '-D', '--defined-only', self.library).splitlines()}
        self.assertEqual(exported, {'embedder_column'})

    def test_nothing_of_ucd_is_installed(self):
        root = self.parent / 'root'
        run('meson', 'install', '-C', self.build, '--no-rebuild', '--destdir', root)
        self.assertEqual({path.name for path in root.rglob('*') if path.is_file()}, {'libembedder.so', 'uses_embedder'})
        asked = self.configured('installs', '-Ducd:install_in_parent=true')
        plan = json.loads(run('meson', 'introspect', '--install-plan', asked))
        destinations = {entry['destination'] for kind in plan.values() for entry in kind.values()}
        self.assertIn('{includedir}/ucd.h', destinations)
        self.assertIn('{libdir_static}/libucd.a', destinations)

    def test_it_packs(self):
        self.assertEqual(run(self.build / 'uses_embedder'), '0: 1 5 9\n')

    def warnings(self, *arguments):
        folders = ('src/frontend', 'include', 'src/base', 'src/backend/contract')
        source = pathlib.Path(SOURCES) / 'src/frontend/api/api_move.cpp'
        return run(*CXX.split(), '-std=c++20', '-fsyntax-only', *arguments, source, f'-I{self.build}/subprojects/ucd/src/frontend',
                   *(f'-I{SOURCES}/{folder}' for folder in folders))

    def test_the_compiler_warns_of_code_that_is_not_optimised(self):
        self.assertIn('UCD_UNOPTIMISED', self.warnings('-O0'))
        self.assertEqual(self.warnings('-O1'), '')
        self.assertEqual(self.warnings('-O0', '-DUCD_UNOPTIMISED'), '')


if __name__ == '__main__':
    unittest.main()
