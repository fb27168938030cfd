"""Compiles a program with the headers that are recorded for this ABI version, and runs it with the library as it is now."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RECORDED, LIBRARY, C = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
del sys.argv[1:4]
SOURCES = sorted((RECORDED / 'program').glob('*.c'))
HEADERS = [RECORDED / 'include' / name for name in ('ucd.h', 'ucd_memory.h')]
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
FUNCTION = re.compile(r'^UCD_API [^;]*?\b(ucd_\w+)\(', re.MULTILINE)
STRUCT = re.compile(r'typedef struct \{(.*?)\} (\w+);', re.DOTALL)
MEMBER = re.compile(r'(\w+)(?:\[\w+\])?[,;]')
CONSTANT = re.compile(r'\bUCD_(?!API\b|HIDDEN\b|PREFIX\b|MEMORY_H|H_)\w+')


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **more)


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.program = pathlib.Path(room.name) / 'program'
        linked = [LIBRARY] if LIBRARY.suffix != '.a' else [LIBRARY, '-lstdc++', '-lm', '-ldl', '-lpthread']
        made = run(*C.split(), '-std=c11', '-D_DEFAULT_SOURCE', '-Wall', '-Wextra', '-Werror', f'-I{RECORDED / "include"}',
                   '-o', cls.program, *SOURCES, *linked, env={**os.environ, 'CCACHE_DISABLE': '1'})
        if made.returncode:
            raise AssertionError(made.stdout)
        cls.text = '\n'.join(source.read_text() for source in SOURCES)
        cls.headers = COMMENT.sub('', '\n'.join(header.read_text() for header in HEADERS))

    def test_it_runs_with_the_library_of_now(self):
        done = run(self.program, env={**os.environ, 'LD_LIBRARY_PATH': str(LIBRARY.parent)})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r'^\d{3,} checks, 0 failed\n$')

    def test_it_uses_each_function(self):
        functions = set(FUNCTION.findall(self.headers))
        self.assertGreater(len(functions), 60)
        self.assertEqual(functions - set(re.findall(r'\b(ucd_\w+)\(', self.text)), set())

    def test_it_uses_each_member_of_each_struct(self):
        structs = {name: MEMBER.findall(body) for body, name in STRUCT.findall(self.headers)}
        self.assertGreater(len(structs), 6)
        for name, members in structs.items():
            self.assertIn(name, self.text)
            for member in members:
                self.assertRegex(self.text, rf'\.{member}\b', name)

    def test_it_uses_each_constant(self):
        # Predefined types are named in a table, without the part that all have in common.
        used = set(CONSTANT.findall(self.text)) | {
            f'UCD_TYPE__{name}' for name in re.findall(r'\b(?:TYPE|PAIR)\((\w+)', self.text)}
        constants = set(CONSTANT.findall(self.headers))
        self.assertGreater(len(constants), 100)
        self.assertEqual(constants - used, set())


if __name__ == '__main__':
    unittest.main()
