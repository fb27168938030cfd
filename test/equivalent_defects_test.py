"""The list of equivalent defects (test/equivalent-defects.txt) is about the sources as they are.

tools/plant-defects parses the sources and finds each entry that stands for no defect. Here, without a parser, the file
and the line of each entry must exist, and the line must have in it what is changed.
"""

import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools/planting'))
from report import Equivalents, Report, on_one_line  # noqa: E402

LINES_OF_A_STATEMENT = 12


def is_in(text, context, before):
    """Whether a text has the line, and there, or in the lines after it, what is changed."""
    lines = [on_one_line(line) for line in text.splitlines()]
    starts = [i for i, line in enumerate(lines) if line == context]
    return any(before.replace(' ', '') in ''.join(lines[i:i + LINES_OF_A_STATEMENT]).replace(' ', '') for i in starts)


class EquivalentDefects(unittest.TestCase):
    def test_entries_are_about_lines_that_exist(self):
        entries = Equivalents(ROOT / 'test/equivalent-defects.txt').reasons
        self.assertTrue(entries)
        for file, context, before, after in entries:
            with self.subTest(file=file, line=context):
                path = ROOT / file
                self.assertTrue(path.is_file(), f'{file} does not exist')
                self.assertTrue(is_in(path.read_text(), context, before), f'{file} has no such line with {before}')

    def test_an_entry_that_stands_for_nothing_is_found(self):
        text = 'int a = b < c   && // why\n    d;\n'
        self.assertTrue(is_in(text, 'int a = b < c && // why', 'b < c'))
        self.assertTrue(is_in(text, 'int a = b < c && // why', 'd'))
        self.assertFalse(is_in(text, 'int a = b < c && // why', 'b > c'))
        self.assertFalse(is_in(text, 'int a = b < c &&', 'b < c'))

    def test_the_tool_finds_entries_without_a_defect(self):
        def place(file, context, mark=None):
            defect = types.SimpleNamespace(key=lambda: (file, context, '<', '<='))
            return types.SimpleNamespace(mark=mark, defects=[defect])

        def entry(file, line):
            return f'{file}: <  ->  <=\nin: {line}\nbecause: it is so\n'

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'list.txt')
            path.write_text('\n'.join([
                entry('src/a/x.cpp', 'a < b;'), entry('src/a/x.cpp', 'gone < b;'), entry('src/a/gone.cpp', 'a < b;'),
                entry('src/a/x.cpp', 'marked < b;'), entry('src/b/y.cpp', 'not < looked_at;')]))
            report = Report({}, path, pathlib.Path(folder, 'outcomes.json'))
            places = [place('src/a/x.cpp', 'a  <  b;'), place('src/a/x.cpp', 'marked < b;', mark='performance only')]
            stale = {key[:2] for key in report.stale(places, ['src/a'])}
        self.assertEqual(stale, {('src/a/x.cpp', 'gone < b;'), ('src/a/gone.cpp', 'a < b;'), ('src/a/x.cpp', 'marked < b;')})


if __name__ == '__main__':
    unittest.main()
