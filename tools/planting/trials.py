"""Which tests reach which defect, and what happens when one is there."""

import dataclasses
import json
import os
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Lock

SUITES = {'unit', 'conformance', 'kernels', 'fuzz', 'vectors', 'ucx', 'yaksa', 'mpi'}
# Tests of time, those that do not use the library, and those that do again what another one does.
LEFT_OUT = {'unit_deep', 'census', 'vectors_python', 'hip5_on_threads', 'hip6_on_threads', 'vendors_on_threads'}
# In the place of so many of their own arguments.
FEWER = {
    'reader_fuzz': ['20000'], 'unflatten_fuzz': ['3000'], 'constructors_fuzz': ['3000'], 'constructors_hostgpu_fuzz': ['1000'],
    'language_fuzz': ['3000'], 'npy_fuzz': ['3000'], 'yaksa_fuzz': ['3000'], 'ucx fuzz model': ['--messages', '3000'],
}
CASES = Path(__file__).resolve().parent / 'cases.py'  # runs the cases of scripts
ROUNDS = [0.03, 0.3, 3.0, float('inf')]  # seconds of a case: the quick ones first
MEMORY = 8 << 30
LIMIT = 300  # seconds of a test without defects
PATIENT = 6  # times the limit of processor time that a test may take in all
NICE = '10'  # others use the machine, too


@dataclasses.dataclass
class Case:
    """A test case of a Catch2 program, or a whole test."""
    test: 'Test'
    name: str  # '' for a whole test
    seconds: float
    reached: frozenset


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    folder: str
    targets: list  # what it needs, as ninja names it

    @property
    def is_script(self):
        """Whether cases.py runs it."""
        return str(CASES) in self.command

    def run(self, environment, limit, cases=()):
        """How it ended: 'passed', 'failed', 'crashed' or 'took too long'. The limit is of processor time, which does not depend
        on what else the machine does; one that waits for ever takes several times as long."""
        command = self.command
        if cases and self.is_script:
            environment = {**environment, 'PLANTED_CASES': '\n'.join(c.name for c in cases)}
        elif cases:
            # Some commands choose cases; these are chosen by name.
            command = [command[0], '--abort', ','.join(escaped(c.name) for c in cases)]
        with subprocess.Popen(
                ['nice', '-n', NICE, 'prlimit', f'--as={MEMORY}', f'--cpu={int(limit) + 1}', '--core=0', '--', *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, **self.environment, **environment}) as process:
            try:
                status = process.wait(PATIENT * limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                # What it has started ends with it.
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if status is None:
            return 'took too long'
        if status in {-signal.SIGXCPU, -signal.SIGKILL}:
            return 'took too long'
        return 'passed' if status == 0 else 'crashed' if status < 0 else 'failed'


def escaped(name):
    return ''.join('\\' + c if c in '\\,[]"' else c for c in name.strip())


def tests_of(build, part):
    """The tests that are run: of each program that runs with several settings, the first."""
    listed = json.loads(subprocess.run(['meson', 'introspect', '--tests', build], text=True, capture_output=True, check=True).stdout)
    built = json.loads(subprocess.run(['meson', 'introspect', '--targets', build], text=True, capture_output=True, check=True).stdout)
    files = {t['id']: [os.path.relpath(f, build) for f in t['filename']] for t in built}
    tests, seen = [], set()
    for entry in listed:
        suites = {s.split(':')[-1] for s in entry['suite']}
        name, command = entry['name'], entry['cmd']
        if not suites & SUITES or name in LEFT_OUT or tuple(command) in seen:
            continue
        seen.add(tuple(command))
        if name in FEWER:
            command = command[:1] + FEWER[name] + command[1 + len(FEWER[name]):]
        script = next((n for n, word in enumerate(command) if word.endswith('_test.py')), None)
        if script is not None:
            command = command[:script] + [str(CASES)] + command[script:]
        environment = {'UCD_TEST_CASES': str(part), 'UCD_TEST_LEVELS': '3000', **entry['env']}
        tests.append(Test(name, command, environment, entry['workdir'] or str(build),
                          [f for target in entry['depends'] for f in files[target]]))
    return tests


class Surveys:
    """What was found out about tests whose programs are still the same."""

    def __init__(self, path, build):
        self.path = path
        self.libraries = sorted(f for f in build.glob('src/**/lib*.so*') if f.is_file() and not f.is_symlink())
        self.known = json.loads(path.read_text()) if path.exists() else {}

    def stamp(self, test):
        files = [f for f in [Path(test.command[0]), *self.libraries] if f.exists()]
        # Meson gives the folders of libraries in any order.
        environment = {name: sorted(value.split(':')) for name, value in test.environment.items()}
        return [[f.stat().st_mtime for f in files], test.command, sorted(environment.items())]

    def find(self, test):
        known = self.known.get(test.name)
        # As it is read from JSON.
        return known['cases'] if known and known['stamp'] == json.loads(json.dumps(self.stamp(test))) else None

    def keep(self, test, cases):
        self.known[test.name] = {'stamp': self.stamp(test), 'cases': [[c.name, c.seconds, sorted(c.reached)] for c in cases]}
        self.path.write_text(json.dumps(self.known))


def survey(tests, size, jobs, surveys, say):
    """Runs all tests without defects; returns their cases, with what each reaches. `size`: above all numbers."""
    def look_once(test):
        known = surveys.find(test)
        if known is not None:
            return [Case(test, name, seconds, frozenset(reached)) for name, seconds, reached in known]
        cases, all_passed = look(test)
        if all_passed:
            with lock:
                surveys.keep(test, cases)
        return cases

    def look(test):
        with tempfile.TemporaryDirectory() as folder:
            reached, log = Path(folder, 'map'), Path(folder, 'log')
            reached.write_bytes(bytes(size))
            # Tests may go on as another user.
            os.chmod(folder, 0o777)
            reached.chmod(0o666)
            start = time.monotonic()
            end = test.run({'PLANTED_MAP': str(reached), 'PLANTED_LOG': str(log)}, LIMIT)
            seconds = time.monotonic() - start
            rest = frozenset(i for i, byte in enumerate(reached.read_bytes()) if byte)
            entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if not entries:
            if end != 'passed':
                say(f'left out: {test.name} {end} without any defect')
                return [], False
            return [Case(test, '', seconds, rest)], True
        # What the program's start and end reach, any of its cases would.
        always = rest.union(*(e['reached'] for e in entries if not e['case']))
        for entry in entries:
            if not entry['passed']:
                say(f'left out: {test.name}: {entry["case"]}, which fails without any defect')
        cases = [Case(test, e['case'], e['seconds'], always.union(e['reached'])) for e in entries if e['case'] and e['passed']]
        return cases, all(e['passed'] for e in entries)

    lock = Lock()
    with ThreadPoolExecutor(jobs) as pool:
        return [case for cases in pool.map(look_once, tests) for case in cases]


class Trials:
    def __init__(self, cases, patience):
        self.cases = cases
        self.patience = patience  # seconds of tests, as they take without defects, for each defect

    def try_defect(self, number):
        """(what happened, in which test); what happened is 'not reached' or 'survived' if none noticed."""
        cases = sorted((c for c in self.cases if number in c.reached), key=lambda c: c.seconds)
        if not cases:
            return 'not reached', ''
        spent, low = 0.0, 0.0
        rest = self.later_cases(cases)
        for high, among in [*((high, cases) for high in ROUNDS), (float('inf'), rest)]:
            groups = {}
            for case in among:
                if (among is rest or low <= case.seconds < high) and spent <= self.patience:
                    spent += case.seconds
                    groups.setdefault(id(case.test), []).append(case)
            low = high
            for group in sorted(groups.values(), key=lambda g: sum(c.seconds for c in g)):
                test = group[0].test
                limit = 5 + 5 * sum(c.seconds for c in group)
                end = test.run({'PLANTED_DEFECT': str(number)}, limit, group if group[0].name else ())
                if end != 'passed':
                    return end, f'{test.name}: {group[0].name if len(group) == 1 else f"one of {len(group)}"}'
        return 'survived', f'{len(cases)} cases' + (', not all run' if spent > self.patience else '')

    def later_cases(self, cases):
        """The other cases of the same programs. What the first case of a program reaches once, such as the making of a
        static variable, is reached by any other one that runs without it."""
        programs = {id(c.test) for c in cases if c.name and not c.test.is_script}
        reaching = {id(c) for c in cases}
        return sorted((c for c in self.cases if id(c.test) in programs and id(c) not in reaching), key=lambda c: c.seconds)

    def run(self, numbers, jobs, tell):
        """Until all are tried, or the user interrupts it."""
        with ThreadPoolExecutor(jobs) as pool:
            tried = {pool.submit(self.try_defect, number): number for number in numbers}
            try:
                for future in as_completed(tried):
                    tell(tried[future], *future.result())
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
