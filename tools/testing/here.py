"""Builds and tests all that this machine has the dependencies of, and installs nothing: for machines where
tools/install-packages cannot be used, such as one with a GPU and without a network.

    tools/test here                              with g++, then with the newest clang if there is one
    tools/test here --compiler clang++-19        with this compiler alone; may be given several times
    tools/test here --only gpu,conformance       the tests of these suites alone, and what they need
    tools/test here --quick                      fewer random cases, without core, embed, extremes, fuzz, recipes and soak
    tools/test here --minutes 9                  ends after nine minutes. The same command goes on from there

Needs a C++ compiler, Meson, ninja, Catch2, pkg-config or CMake, and Python with jinja2. Packages may lie anywhere that
PATH, PYTHONPATH, PKG_CONFIG_PATH, CPATH and LIBRARY_PATH name. Each compiler has a build folder of its own. Where there is
a GPU of NVIDIA or AMD, tests of the backend that was built for it fail instead of being skipped.

Says at the end for each compiler which tests passed, failed, were skipped or left, and which parts were not built, and why.
The last line counts the tests. Ends with 0 if all passed, 1 if any failed or none ran, and 75 if time ran out before that.
"""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from commands import ROOT, fail, output, parser

SLOW_SUITES = {'core', 'embed', 'extremes', 'fuzz', 'recipes', 'soak'}
WHOLE_BUILD_SUITES = {'structure'}  # where a test installs all that is built
OUT_OF_TIME = 75
PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'
MEANINGS = {'OK': PASSED, 'EXPECTEDFAIL': PASSED, 'SKIP': SKIPPED, 'FAIL': FAILED, 'ERROR': FAILED, 'TIMEOUT': FAILED,
            'UNEXPECTEDPASS': FAILED}


class OutOfTime(Exception):
    pass


class Clock:
    def __init__(self, minutes):
        self.end = time.monotonic() + 60 * minutes if minutes else None

    def left(self):
        """Seconds, or None if they are not bounded."""
        if self.end is None:
            return None
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise OutOfTime
        return seconds


def run(command, clock, **settings):
    """The exit status of a command, which is asked to end when time has run out."""
    seconds = clock.left()
    process = subprocess.Popen([str(word) for word in command], cwd=ROOT, start_new_session=True, **settings)
    try:
        return process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if isinstance(reason, KeyboardInterrupt):
            raise
        raise OutOfTime from None


def find_meson():
    if shutil.which('meson'):
        return ['meson']
    module = [sys.executable, '-m', 'mesonbuild.mesonmain']
    return module if output(*module, '--version') else None


def newest_clang():
    found = {}
    for folder in os.get_exec_path():
        for path in Path(folder).glob('clang++*'):
            if re.fullmatch(r'clang\+\+(-\d+)?', path.name) and os.access(path, os.X_OK):
                version = re.search(r'version (\d+)\.(\d+)', output(str(path), '--version'))
                if version:
                    found.setdefault(tuple(map(int, version.groups())), path.name)
    return found[max(found)] if found else None


def c_compiler(cpp):
    """That of the same compiler: clang-19 for clang++-19."""
    folder, name = os.path.split(cpp)
    return os.path.join(folder, name.replace('clang++', 'clang').replace('g++', 'gcc').replace('c++', 'cc'))


def feature_options():
    """The options of this build that a missing dependency may turn off. Each is asked for, whatever its default is."""
    text = (ROOT / 'meson_options.txt').read_text()
    return re.findall(r"^option\('(\w+)', type: 'feature'", text, re.MULTILINE)


def setup_options():
    # Meson takes lib64 where Debian's or Ubuntu's dpkg-dev is missing, and CMake does not look there.
    options = ['-Dlibdir=lib', '-Dauto_features=auto', '-Dquick_programs=true', '-Db_pch=true']
    options += [f"-D{name}={'enabled' if name == 'tests' else 'auto'}" for name in feature_options()]
    capability = output('nvidia-smi', '--query-gpu=compute_cap', '--format=csv,noheader').split()
    options.append('-Darch_cuda=' + (capability[0].replace('.', '') if capability else '90'))
    amd = re.search(r'^ *Name: *(gfx[0-9a-f]+)$', output('rocminfo'), re.MULTILINE)
    options.append('-Darch_hip=' + (amd.group(1) if amd else 'gfx90a'))
    own_python = ROOT / '.venv/bin/python3'
    options.append(f'-Dpython_interpreter={own_python if own_python.exists() else "python3"}')
    gpus = ['cuda'] * bool(capability) + ['hip'] * bool(amd)
    return options, gpus


class Build:
    def __init__(self, compiler, folder, meson, options):
        self.compiler, self.folder, self.meson, self.options = compiler, folder, meson, options
        self.results = {}  # by the test's name: PASSED, FAILED or SKIPPED, with the reason for the last
        self.tests = {}  # of the suites asked for: what Meson knows of each
        self.fault = ''  # why not all tests could run, which is a failure
        self.missing = False  # the compiler
        self.ended = False
        self.record = folder / 'test-here.json'

    def introspect(self, what):
        return json.loads(output(*self.meson, 'introspect', f'--{what}', str(self.folder)))

    def configure(self, clock, setup):
        if (self.folder / 'build.ninja').exists():
            return True
        environment = {**os.environ, 'CXX': self.compiler, 'CC': c_compiler(self.compiler)}
        return run([*self.meson, 'setup', self.folder, *setup], clock, env=environment) == 0

    def choose(self):
        """Finds the tests to be run. Returns what they need of the build."""
        only = set(self.options.only.split(',')) if self.options.only else None
        known = set()
        for test in self.introspect('tests'):
            suites = {suite.split(':')[-1] for suite in test['suite']}
            known |= suites
            if (suites & only) if only else not (self.options.quick and suites & SLOW_SUITES):
                self.tests[test['name']] = {**test, 'suites': suites}
        if only and not only <= known:
            self.fault = f"no test is of the suite {', '.join(sorted(only - known))}; suites: {', '.join(sorted(known))}"
        files = {target['id']: target['filename'] for target in self.introspect('targets')}
        for test in self.tests.values():
            test['files'] = [file for target in test['depends'] for file in files[target]]
        if not only or only & WHOLE_BUILD_SUITES:
            return ['all']
        return sorted({os.path.relpath(file, self.folder) for test in self.tests.values() for file in test['files']})

    def compile(self, clock, programs):
        before = self.newest()
        command = ['ninja', '-C', self.folder, '-k', '0']
        command += ['-j', self.options.jobs] if self.options.jobs else []
        if programs and run([*command, *programs], clock) != 0:
            self.fault = 'not all could be built'
        if self.record.exists() and self.newest() == before:
            self.results = {name: tuple(result) for name, result in json.loads(self.record.read_text()).items()}

    def newest(self):
        """Changes whenever something was built."""
        log = self.folder / '.ninja_log'
        return log.stat().st_mtime_ns if log.exists() else 0

    def run_tests(self, clock, gpus):
        runnable = [name for name, test in self.tests.items()
                    if name not in self.results and all(map(os.path.exists, test['files']))]
        if not runnable:
            return
        environment = dict(os.environ)
        if gpus:
            environment.setdefault('UCD_REQUIRE_BACKEND', ','.join(gpus))
        if self.options.quick:
            environment.setdefault('UCD_TEST_CASES', '0.1')
        log = self.folder / 'meson-logs/test-here.json'
        log.unlink(missing_ok=True)
        command = [*self.meson, 'test', '-C', self.folder, '--no-rebuild', '--logbase', 'test-here']
        command += ['--timeout-multiplier', '3', '--num-processes', self.options.jobs or os.cpu_count()]
        try:
            run([*command, *runnable], clock, env=environment)
        finally:
            self.read(log)

    def read(self, log):
        for line in log.read_text().splitlines() if log.exists() else []:
            try:
                result = json.loads(line)
            except json.JSONDecodeError:  # the last line, where Meson did not come to its end
                continue
            meaning = MEANINGS.get(result['result'])
            if meaning is None:  # it was interrupted
                continue
            said = (result.get('stderr') or '') + (result.get('stdout') or '')
            reason = said.strip() if meaning == FAILED else ''
            if meaning == SKIPPED:
                reason = next((text for text in said.splitlines() if 'skipped' in text), 'it gives no reason')
            # 'ucd:suite / name' or, of a newer Meson, 'suite - ucd:name'.
            name = re.split(' / | - ', result['name'])[-1].split(':')[-1]
            if name not in self.tests:
                raise LookupError(f"Meson's log has a test with the unknown name {result['name']!r}")
            self.results[name] = (meaning, reason)
        self.record.write_text(json.dumps(self.results))

    def go(self, clock, setup, gpus):
        if not shutil.which(self.compiler):
            self.missing = True
            if self.options.compiler:
                self.fault = 'this compiler was asked for'
        elif not self.configure(clock, setup):
            self.fault = f'it could not be configured ({self.folder}/meson-logs/meson-log.txt)'
        else:
            programs = self.choose()
            if not self.fault:
                self.compile(clock, programs)
                self.run_tests(clock, gpus)
        self.ended = True

    def those(self, meaning):
        return [name for name in sorted(self.results) if name in self.tests and self.results[name][0] == meaning]

    def failures(self):
        return len(self.those(FAILED)) + (self.fault != '')

    def left_out(self):
        """What Meson's summary says of the parts that were not built."""
        log = self.folder / 'meson-logs/meson-log.txt'
        text = log.read_text(errors='replace') if log.exists() else ''
        section = re.search(r'^  Left out\n((?:    .*\n)+)', text, re.MULTILINE)
        parts = []
        for line in section.group(1).splitlines() if section else []:
            if line[4] == ' ':  # one more reason
                parts[-1] += ', ' + line.strip()
            else:
                parts.append(re.sub(r' *: ', ': ', line.strip(), count=1))
        return parts

    def report(self):
        version = (output(self.compiler, '--version').splitlines() or [''])[0]
        print(f"\n== {self.compiler}: {'not on this machine' if self.missing else version}")
        by_suite = collections.Counter(min(self.tests[name]['suites']) for name in self.those(PASSED))
        if by_suite:
            print('passed: ' + ', '.join(f'{suite} {count}' for suite, count in sorted(by_suite.items())))
        for name in self.those(FAILED):
            print(f'failed: {name}')
            for line in self.results[name][1].splitlines()[-15:]:
                print(f'    {line[:200]}')
        for name in self.those(SKIPPED):
            print(f'skipped: {name}: {self.results[name][1]}')
        for line in self.left_out():
            print(f'not built: {line}')
        missing = sorted(set(self.tests) - set(self.results))
        if self.fault:
            print(f'failed: {self.fault}')
            if missing:
                print(f"could not run: {', '.join(missing)}")
        elif not self.ended:
            print(f"left to run: {', '.join(missing) or 'all that is not built yet'}")


def main():
    given = parser(__doc__)
    given.add_argument('--compiler', action='append', help='a C++ compiler (g++, and the newest clang++)')
    given.add_argument('--build-dir', default='build-here', help="the folder; the compiler's name is added (build-here)")
    given.add_argument('--jobs', type=int, help='so many at once (as many as there are processors)')
    given.add_argument('--minutes', type=float, help='the time after which it ends')
    given.add_argument('--only', metavar='SUITE,...', help='suites of Meson')
    given.add_argument('--quick', action='store_true', help='a tenth of the random cases, and no slow suites')
    options = given.parse_args()
    clock = Clock(options.minutes)
    meson = find_meson()
    for name, found in (('Meson', meson), ('ninja', shutil.which('ninja'))):
        if not found:
            fail(f'there is no {name}; nothing was tested')
    os.environ.setdefault('CCACHE_SLOPPINESS', 'pch_defines,time_macros')
    setup, gpus = setup_options()
    compilers = options.compiler or ['g++', newest_clang() or 'clang++']
    builds = []
    for compiler in compilers:
        folder = ROOT / f'{options.build_dir}-{os.path.basename(compiler)}'
        builds.append(Build(compiler, folder, meson, options))
    in_time = True
    for build in builds:
        try:
            build.go(clock, setup, gpus)
        except OutOfTime:
            in_time = False
    for build in builds:
        build.report()
    passed = sum(len(build.those(PASSED)) for build in builds)
    failed = sum(build.failures() for build in builds)
    if in_time:
        for build in builds:
            build.record.unlink(missing_ok=True)  # the next time begins anew
    else:
        print('\nTime ran out. The same command goes on from here.')
    print(f'\n{passed} passed, {failed} failed')
    sys.exit(1 if failed else OUT_OF_TIME if not in_time else 0 if passed else 1)
