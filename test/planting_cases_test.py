"""Scripts of unittest that tools/planting/cases.py runs case by case; samples, and what people judge of them; and what keys, orders and equalities become without one
of their parts, which needs the parser: build-planted/python/bin/python3 has it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLANTING = ROOT / 'tools/planting'
CASES = PLANTING / 'cases.py'
sys.dont_write_bytecode = True
sys.path.insert(0, str(PLANTING))
import samples  # noqa: E402
from report import Readings, Report  # noqa: E402
try:
    from rules import places_of, rewritten
except ImportError:
    places_of = rewritten = None

# Each line that it prints is a 1 as long as all parts are compared.
KEYS = '''
#include <array>
#include <compare>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
struct Settings {
    int direction = 1, op = 2;
    std::array<int, 2> places{};
    static int made;
    friend bool operator==(const Settings &, const Settings &) = default;
};
struct Id {
    long stream;
    const char *of;
    auto operator<=>(const Id &) const = default;
};
auto key(const Settings &s) { return std::tie(s.direction, s.op); }
bool is_alike(const Settings &a, const Settings &b) {
    return ((a.direction ^ b.direction) | (a.op ^ b.op)) == 0;
}
bool is_same(const Settings &a, const Settings &b) { return a.direction == b.direction && (a.op == b.op); }
bool differs(const Settings &a, const Settings &b) { return a.direction != b.direction || a.op != b.op; }
bool both(const Settings &a, const Settings &b) { return is_same(a, b) && a.places == b.places; }
int order(const char *a, const char *b) { return std::strcmp(a, b); }
std::size_t lookups(int device, int kind) {
    const std::pair<int, int> known(0, 0);
    std::map<std::pair<int, int>, int> found;
    found[known] = found[{device, kind}] = 1;
    return found.size();
}
int main() {
    const Settings all, op{1, 3}, direction{0, 2}, place{1, 2, {0, 1}};
    for (const Settings &s : {op, direction})
        std::printf("%d%d%d%d%d", !(s == all), key(s) != key(all), !is_alike(s, all), !is_same(s, all), differs(s, all));
    std::printf("%d%d%d", !(place == all), !both(op, all), !both(place, all));
    const Id one{1, "a"}, other{1, nullptr}, next{2, one.of};
    std::printf("%d%d%d", one != other, one < next, order("a", "b") < 0);
    std::printf("%d%d", lookups(1, 0) == 2, lookups(0, 1) == 2);
}
'''
SCRIPT = '''
import os, subprocess, sys, unittest

from beside import RIGHT

def reach(number):
    # As a program that the case starts.
    subprocess.run([sys.executable, '-c', f"""
import os
with open(os.environ['PLANTED_MAP'], 'r+b') as file:
    file.seek({number})
    file.write(bytes([1]))
"""], check=True)

SAID = sys.argv[1]
del sys.argv[1:]

class Some(unittest.TestCase):
    def test_one(self):
        if 'PLANTED_MAP' in os.environ: reach(3)
    def test_two(self):
        if 'PLANTED_MAP' in os.environ: reach(5)
        self.assertEqual(SAID, RIGHT)
    @unittest.skip('as an example')
    def test_three(self):
        pass

if __name__ == '__main__':
    raise SystemExit('it ran by itself')
'''


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'some_test.py').write_text(SCRIPT)
        (self.folder / 'beside.py').write_text("RIGHT = 'right'\n")

    def run_script(self, said, **environment):
        return subprocess.run([sys.executable, CASES, self.folder / 'some_test.py', said], capture_output=True,
                              env=os.environ | {'PYTHONDONTWRITEBYTECODE': '1'} | environment, check=False).returncode

    def test_what_each_case_reaches(self):
        reached, log = self.folder / 'map', self.folder / 'log'
        for said, passed in (('right', True), ('wrong', False)):
            reached.write_bytes(bytes(8))
            log.write_text('')
            self.run_script(said, PLANTED_MAP=str(reached), PLANTED_LOG=str(log))
            entries = {e['case']: e for e in map(json.loads, log.read_text().splitlines())}
            self.assertEqual({name: (e['passed'], e['reached']) for name, e in entries.items()},
                             {'Some.test_one': (True, [3]), 'Some.test_two': (passed, [5]), 'Some.test_three': (True, [])})
            self.assertEqual(reached.read_bytes(), bytes(8))

    def test_some_cases_only(self):
        self.assertEqual(self.run_script('right'), 0)
        self.assertEqual(self.run_script('wrong'), 1)
        self.assertEqual(self.run_script('wrong', PLANTED_CASES='Some.test_one\nSome.test_three'), 0)
        self.assertEqual(self.run_script('wrong', PLANTED_CASES='Some.test_one\nSome.test_two'), 1)


class Defect:
    """As much of one as samples and reports look at."""

    def __init__(self, line, context, after, rule='relation'):
        self.file, self.line, self.rule, self.before, self.after = 'src/room/some.cpp', line, rule, 'a < b', after
        self.place = types.SimpleNamespace(context=context, mark=None)

    def key(self):
        return self.file, self.place.context, self.before, self.after


class Samples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Two of them differ in the line only, and one has nothing in the place of what was there.
        self.defects = [Defect(1, 'if (a < b)', 'a <= b'), Defect(3, 'if (a < b)', 'a <= b'), Defect(5, 'f(a < b);', '')]
        self.sample = dict(enumerate(self.defects, 1))

    def readings(self, *texts):
        paths = [self.folder / f'{i}.txt' for i in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text)
        return Readings(paths, self.sample)

    def report(self, readings, name='outcomes.json'):
        keys = {id(d): key for key, d in samples.numbered(self.defects)}
        return Report({'room': 'src/room'}, [self.folder / name], readings, keys)

    def test_a_sample_is_read_as_it_was_written(self):
        path = self.folder / 'sample.txt'
        chosen = {1: self.defects[1], 2: self.defects[2], 3: self.defects[0]}
        samples.write(path, chosen, self.defects, {'src/room/some.cpp': ['if (a < b)', '', 'if (a < b)', '', 'f(a < b);']})
        self.assertEqual(samples.read(path, self.defects), (chosen, []))
        found, gone = samples.read(path, self.defects[:2])
        self.assertEqual((found, gone), ({1: self.defects[1], 3: self.defects[0]}, [2]))

    def test_a_seed_draws_the_same_whatever_else_there_is(self):
        others = [Defect(n, f'other {n}', 'b') for n in range(20)]
        order = [d for d in samples.drawn(self.defects + others, 7, 23) if d in self.defects]
        self.assertEqual(order, samples.drawn(self.defects, 7, 3))
        self.assertEqual(samples.drawn(self.defects, 7, 2), order[:2])

    def test_keys_are_spread_over_a_sample(self):
        usual, keys = [Defect(n, '', '') for n in range(8)], [Defect(n, '', '', 'key') for n in range(4)]
        rules = [d.rule for d in samples.mixed(usual, keys)]
        self.assertEqual([rules[n:n + 3].count('key') for n in range(0, 12, 3)], [1, 1, 1, 1])

    def test_what_all_readings_say_counts(self):
        readings = self.readings('1 E it is so\n2 E it is so\n3 V\n', '3 V\n1 E it means the same\n2 V\n')
        self.assertEqual([readings.of(d) for d in self.defects], ['equivalent', 'differ', ''])
        report = self.report(readings)
        for defect in self.defects:
            report.add(defect, 'survived', '2 cases')
        self.assertEqual([d.line for d, _, _ in report.missed], [3, 5])
        report.add(self.defects[1], 'failed', 'a case')
        self.assertEqual([d.line for d, _, _ in report.missed], [5])

    def test_readings_that_say_too_little(self):
        for text in ('1 V\n2 V\n', '1 E\n2 V\n3 V\n', '1 V\n2 maybe\n3 V\n', 'one V\n2 V\n3 V\n'):
            with self.subTest(text=text), self.assertRaises(SystemExit):
                self.readings(text)

    def test_a_later_run_knows_what_became_of_them(self):
        first = self.report(self.readings())
        first.add(self.defects[0], 'failed', 'a case')
        first.add(self.defects[1], 'survived', '2 cases')
        first.save()
        second = self.report(self.readings())
        self.assertEqual(second.take_last_time(self.defects), self.defects[:2])
        self.assertEqual([o[1:] for o in second.outcomes], [('failed', 'a case'), ('survived', '2 cases')])
        # A defect that any run has caught is caught.
        other = self.report(self.readings(), 'other.json')
        other.add(self.defects[0], 'survived', '1 cases')
        other.add(self.defects[1], 'crashed', 'a case')
        other.save()
        second.paths.append(self.folder / 'other.json')
        self.assertEqual(second.take_last_time(self.defects), self.defects[:2])
        self.assertEqual([o[1] for o in second.outcomes], ['failed', 'crashed'])


@unittest.skipUnless(places_of, 'tree-sitter is not installed')
class Keys(unittest.TestCase):
    def test_each_part_that_is_left_out_is_missed(self):
        places, text, _ = places_of('keys.cpp', KEYS.encode())
        places = [place for place in places if place.defects[0].rule == 'key']
        number = 1
        for place in places:
            place.first = number
            number += len(place.defects)
        found = [defect for place in places for defect in place.defects]
        self.assertEqual({d.after.split(' ')[-1] for d in found if d.before.startswith('operator')},
                         {'direction', 'op', 'places', 'stream', 'of'})
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, 'keys.cpp'), pathlib.Path(folder, 'keys')
            source.write_bytes(rewritten(text, places, PLANTING / 'planted.h')[0])
            subprocess.run(['g++', '-std=c++20', '-w', source, '-o', program], check=True)
            said = [subprocess.run([program], text=True, capture_output=True, check=True,
                                   env=os.environ | {'PLANTED_DEFECT': str(n)}).stdout for n in range(number)]
        self.assertEqual(set(said[0]), {'1'})
        for defect, missed in zip(found, said[1:]):
            with self.subTest(before=defect.before, after=defect.after):
                self.assertIn('0', missed)
        self.assertEqual(len(found), 18)


if __name__ == '__main__':
    unittest.main()
