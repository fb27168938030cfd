"""tools/docs check finds citations of what does not exist, and lets the others pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
# In pieces, so that the names are in no source, this file included.
NO = 'no_such'

GOOD = '''# A page

`ucd_pack` and `ucd_create_*` in `include/ucd.h`, [that header](HERE), [above](#a-page), `layout_walk.h`,
`ucd.threads`, `ucd.ucx.*`, `UCD_LOG_LEVEL`, `-Dcuda=disabled`, `ucd-bench --layouts`, `pack_sb_w8`, `Layout`.

```sh
meson setup build -Dtests=false -Db_sanitize=address && ninja -C build   # --no-comment-is-an-option
UCX_TLS=tcp build/bench/ucd-ucx-bench --seconds 0.1
build/test/conformance 'name of the test'
tools/inspect-kernels ze --devices pvc --table build
```

```console
$ ucd describe 'vector(2,1,2,double)'
whatever --it-prints
```
'''

# What is wrong, and what is said of it.
WRONG = {
    f'`ucd_{NO}`': f'ucd_{NO} is in no source',
    f'`UCD_{NO}_*`': f'UCD_{NO}_* is in no source',
    f'```c\nucd_{NO}();\n```': f'ucd_{NO} is in no source',
    f'`ucd.{NO}`': f'the key ucd.{NO} is in no source',
    f'`ucd.{NO}.*`': f'the key ucd.{NO}.* is in no source',
    f'`src/{NO}.cpp`': f'there is no file src/{NO}.cpp',
    f'`{NO}.h`': f'there is no file {NO}.h',
    f'[a link]({NO}.md)': f'the link {NO}.md leads nowhere',
    '[a link](#elsewhere)': 'this page has no heading #elsewhere',
    f'`-D{NO}=true`': f'meson_options.txt has no option {NO}',
    '`ucd-bench --elsewhere`': 'ucd-bench has no option --elsewhere',
    # An option of another program.
    '```sh\nbuild/bench/ucd-ucx-bench --layouts\n```': 'ucd-ucx-bench has no option --layouts',
    '`halo3d --elsewhere`': 'halo3d has no option --elsewhere',
    '`ucd-bench` has `--elsewhere`': 'no program of this page has the option --elsewhere',
    '```console\n$ ucd elsewhere x\n```': 'ucd has no command elsewhere',
    f'```sh\nbuild/test/{NO}\n```': f'Meson builds no {NO}',
    f'```sh\ntools/{NO}\n```': f'there is no tools/{NO}',
    '```sh\ntools/inspect-kernels elsewhere\n```': 'tools/inspect-kernels has no command elsewhere',
    # An option of another subcommand.
    '`tools/inspect-kernels hip --devices`': 'tools/inspect-kernels hip has no option --devices',
    f'`{NO}_function()`': f'{NO}_function() is in no source',
}


class CheckDocs(unittest.TestCase):
    def check(self, text, name='page.md'):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / name
            header = pathlib.Path(TOOL).resolve().parent.parent / 'include/ucd.h'
            (pathlib.Path(folder) / 'link.h').symlink_to(header)
            page.write_text(text.replace('HERE', 'link.h'))
            done = subprocess.run([sys.executable, TOOL, 'check', page], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_what_exists_passes(self):
        self.assertEqual(self.check(GOOD), (0, ''))

    def test_each_sentence_of_a_promise_names_its_test(self):
        good = '# A\n\nOne. <!-- test: conformance; test/docs_check_test.py "GOOD = " --> Two, `a. B`. <!-- test: mpi faults of mpich -->\n'
        exempt = '## B\n<!-- no promise: why -->\n\nThree. Four.\n'
        bad = {'Three.': 'a sentence names no test',
               'Three. Four. <!-- test: unit -->': 'a sentence names no test',
               'Three. Four:': 'a sentence names no test',
               '| a | b |\n|---|---|\n| Three. | c |': 'a sentence names no test',
               f'Three. <!-- test: {NO} -->': f'there is no test {NO}',
               f'Three. <!-- test: unit "{NO}_case" -->': f'no test unit has "{NO}_case"'}
        self.assertEqual(self.check(f'{good}\nThese:\n\n{exempt}', 'SECURITY.md'), (0, ''))
        code, output = self.check('\n\n'.join([good, *bad, exempt]), 'guarantees.md')
        self.assertEqual((code, [line.partition(': ')[2] for line in output.splitlines()]), (1, [*bad.values()]), output)

    def test_what_does_not_exist_is_found(self):
        for wrong, said in WRONG.items():
            with self.subTest(wrong):
                code, output = self.check(f'{GOOD}\n{wrong}\n')
                self.assertEqual(code, 1)
                self.assertEqual(output.count('\n'), 1, output)
                self.assertIn(f'{GOOD.count(chr(10)) + 2}:' if '```' not in wrong else ':', output)
                self.assertTrue(output.endswith(f': {said}\n'), output)


if __name__ == '__main__':
    unittest.main()
