"""tools/check-code finds mistakes in each source of a library, however these are compiled."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

MOVE = '''#pragma once
namespace std {
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> typename remove_reference<T>::type &&move(T &&t) {
    return static_cast<typename remove_reference<T>::type &&>(t);
}
} // namespace std
struct Owner {
    Owner();
    Owner(Owner &&) noexcept;
    int *held;
};
int take(Owner owner);
'''
RIGHT = '#include "move.h"\nint right(Owner owner) { return take(std::move(owner)); }\n'
WRONG = '''#include "move.h"
int wrong(Owner owner) {
    const int taken = take(std::move(owner));
    return taken + (owner.held == nullptr ? 0 : 1);
}
'''
# The same name for two things.
OWN_NAME = 'namespace {\nstruct Local { int a; } local;\n} // namespace\nint %s() { return local.a; }\n'


class CheckCode(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        for name in ('tools', 'src', 'build/library.p'):
            (self.root / name).mkdir(parents=True)
        shutil.copy(ROOT / 'tools/check-code', self.root / 'tools')
        shutil.copy(ROOT / '.clang-tidy', self.root)
        self.write('src/move.h', MOVE)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def check(self, sources, compiled=None, how='tidy'):
        """The exit status and what is printed, for sources that are compiled each, or as `compiled`."""
        for name, text in sources.items():
            self.write(f'src/{name}', text)
        build = self.root / 'build'
        commands = [
            {
                'directory': str(build),
                'command': f'c++ -std=c++20 -Wall -O2 -o library.p/{number}.o -c {file}',
                'file': file,
                'output': f'src/library.p/{number}.o',
            }
            for number, file in enumerate(compiled or [f'../src/{name}' for name in sources])
        ]
        (build / 'compile_commands.json').write_text(json.dumps(commands))
        done = subprocess.run([sys.executable, self.root / 'tools/check-code', how], capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        return done.returncode, done.stdout

    def test_nothing_is_found_in_what_is_right(self):
        self.assertEqual(self.check({'a.cpp': RIGHT, 'b.cpp': 'int b() { return 0; }\n'}), (0, 'tidy: 0 findings\n'))

    def test_a_mistake_is_found_in_any_source_of_a_library(self):
        for names in (('a', 'b'), ('b', 'a')):
            status, text = self.check({f'{names[0]}.cpp': RIGHT, f'{names[1]}.cpp': WRONG})
            self.assertEqual(status, 1)
            self.assertIn(f"src/{names[1]}.cpp:4: warning: 'owner' used after it was moved", text)
            self.assertIn('tidy: 1 findings', text)

    def test_sources_that_meson_compiles_at_once_are_checked(self):
        self.write('build/library.p/library-unity0.cpp', f'#include<{self.root}/src/a.cpp>\n#include<{self.root}/src/b.cpp>\n')
        status, text = self.check({'a.cpp': RIGHT, 'b.cpp': WRONG}, ['library.p/library-unity0.cpp'])
        self.assertEqual(status, 1)
        self.assertIn('src/b.cpp:4: warning', text)

    def test_sources_with_a_name_of_their_own_each_are_checked_one_by_one(self):
        status, text = self.check({'a.cpp': OWN_NAME % 'a', 'b.cpp': OWN_NAME % 'b' + WRONG})
        self.assertEqual(status, 1)
        self.assertIn('one by one', text)
        self.assertIn('src/b.cpp:8: warning', text)
        self.assertIn('tidy: 1 findings', text)
        status, text = self.check({'a.cpp': OWN_NAME % 'a', 'b.cpp': OWN_NAME % 'b'})
        self.assertEqual(status, 0)

    def test_what_cannot_be_parsed_is_a_finding(self):
        status, text = self.check({'a.cpp': '#include "nothing.h"\n', 'b.cpp': RIGHT})
        self.assertEqual(status, 1)
        self.assertIn("src/a.cpp:1: error: 'nothing.h' file not found", text)

    def test_warnings_of_clang_are_findings(self):
        status, text = self.check({'a.cpp': 'int a() {\n    int unused;\n    return 0;\n}\n'})
        self.assertEqual(status, 1)
        self.assertIn('src/a.cpp:2: warning: unused variable', text)

    def test_a_source_that_lacks_an_include_is_found_although_another_has_it(self):
        self.write('build/library.p/library-unity0.cpp', f'#include<{self.root}/src/a.cpp>\n#include<{self.root}/src/b.cpp>\n')
        declares, uses = 'struct Told { int a; };\n', 'int b(Told told) { return told.a; }\n'
        status, text = self.check({'a.cpp': declares, 'b.cpp': uses}, ['library.p/library-unity0.cpp'], how='alone')
        self.assertEqual(status, 1)
        self.assertIn("src/b.cpp:1: error: unknown type name 'Told'", text)
        given = ['library.p/library-unity0.cpp']
        self.assertEqual(self.check({'a.cpp': declares, 'b.cpp': declares + uses}, given, how='alone')[0], 0)


if __name__ == '__main__':
    unittest.main()
