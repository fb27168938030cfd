"""Tries UCD with older and newer versions of what it is built with: [PART...] [--compilers FOLDER]

compilers  builds the host library with each g++-N and clang++-N that is in PATH, or in the folder of --compilers, and runs a few
           tests: abi_program, and with --cases the kernels and a part of the random cases of conformance (needs Catch2)
meson      configures and builds it by each version of Meson below, and runs abi_program
cmake      finds the library, installed, by each version of CMake below
python     generates the sources by each python3.N that is in PATH or in pyenv's folder, and by each version of Jinja2 below:
           they must be the same
libc       says which version of the C and of the C++ library a libucd.so needs

Without a PART, all of them. Packages come from PyPI. A line for each version says `works` or what failed; builds that failed stay
in --work. docs/reference/platforms.md has what was found. Exit status: 1 if something failed that the page names.
"""

import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from commands import ROOT, parser

MESON = ('1.0.0', '1.12.1')
CMAKE = ('3.16.8', '3.18.0', '3.25.2', '4.4.5')
# With the MarkupSafe of the same time.
JINJA2 = {'2.11.3': '1.1.1', '3.0.0': '2.0.0', '3.1.6': '3.0.2'}
OLDEST_PYTHON = 9
NAME = re.compile(r'(?:clang\+\+|g\+\+)-\d+')
HOST_ONLY = ('-Dauto_features=disabled', '-Dquick_programs=true')


class Failed(Exception):
    pass


def run(*command, cwd=ROOT, **variables):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **variables}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if re.search(r'error|ERROR|FAIL', line)] or done.stdout.splitlines()
        raise Failed(f'{pathlib.Path(str(command[0])).name}: {lines[0] if lines else done.returncode}')
    return done.stdout


def report(what, attempt, *arguments):
    """One line. Whether it works."""
    try:
        said = attempt(*arguments)
    except Failed as failure:
        print(f'{what}: fails: {failure}', flush=True)
        return False
    print(f'{what}: works{f", {said}" if said else ""}', flush=True)
    return True


class Trials:
    def __init__(self, work, options):
        self.work = work
        self.options = options

    def tools(self, python, *packages):
        """The folder of programs of an environment with these packages."""
        folder = self.work / ('-'.join(packages).replace('==', '-') + f'-by-{pathlib.Path(python).name}')
        if not folder.exists():
            run(python, '-m', 'venv', folder)
            run(folder / 'bin/python', '-m', 'pip', 'install', '--quiet', *packages)
        return folder / 'bin'

    def build(self, name, meson='/usr/bin/meson', settings=(), **variables):
        """Builds libucd, and runs the program of 1.0 with it."""
        build = self.work / f'build-{name}'
        if not (build / 'build.ninja').exists():
            run(meson, 'setup', build, ROOT, *HOST_ONLY, *settings, **variables)
        tests = ('test/kernels', 'test/conformance') if '-Dtests=enabled' in settings else ()
        library = re.search(r'^src/libucd\.so\.\d+\.\d+\.\d+(?=:)', run('ninja', '-C', build, '-t', 'targets', 'all'), re.MULTILINE)[0]
        run('ninja', '-C', build, f'-j{self.options.jobs}', library, *tests)
        run(sys.executable, ROOT / 'test/abi_program_test.py', ROOT / 'abi' / library.split('.')[2], build / library, 'cc')
        return build / library

    # -- The parts ------------------------------------------------------------------------------------------------------

    def compilers(self):
        folders = [*map(pathlib.Path, self.options.compilers), *map(pathlib.Path, os.get_exec_path())]
        found = {}
        for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())):
            if NAME.fullmatch(path.name):
                found.setdefault(path.name, path)
        return [report(f'compiler {name}', self.compiler, name, path) for name, path in sorted(found.items())
                if not self.options.only or name in self.options.only]

    def compiler(self, name, path):
        in_c = path.with_name(path.name.replace('++', '', 1) if 'clang' in name else path.name.replace('g++', 'gcc'))
        settings = ('-Dtests=enabled', '-Db_pch=true') if self.options.cases else ('-Darch_seq=',) if self.options.quick else ()
        library = self.build(name, settings=settings, CXX=f'ccache {path}', CC=f'ccache {in_c}')
        if self.options.cases:
            build = library.parent.parent
            run(build / 'test/kernels', UCD_TEST_CASES='0.1')
            run(build / 'test/conformance', UCD_TEST_CASES='0.1')
        return f'{"with kernels, conformance and" if self.options.cases else "with"} abi_program'

    def meson(self):
        return [report(f'Meson {version}', self.by_meson, version) for version in MESON]

    def by_meson(self, version):
        meson = self.tools('/usr/bin/python3', f'meson=={version}', 'jinja2') / 'meson'
        self.build(f'meson-{version}', meson=meson, settings=('-Darch_seq=',))
        run(sys.executable, ROOT / 'test/embed/meson_parent_test.py', ROOT, 'ccache cc', 'ccache c++',
            PATH=f'{meson.parent}:{os.environ["PATH"]}')
        return 'also with UCD as a subproject'

    def cmake(self):
        self.build('installed', settings=('-Darch_seq=',))
        build = self.work / 'build-installed'
        run('ninja', '-C', build, f'-j{self.options.jobs}')
        return [report(f'CMake {version}', self.by_cmake, version, build) for version in CMAKE]

    def by_cmake(self, version, build):
        cmake = self.tools(sys.executable, f'cmake=={version}')
        run(sys.executable, ROOT / 'test/install_test.py', build, ROOT / 'examples', ROOT / 'test/outside', '/usr/local', 'cc', 'c++',
            'Install.test_find_package', 'Install.test_find_package_in_a_project_of_c_alone',
            PATH=f'{cmake}:{os.environ["PATH"]}')

    def python(self):
        wanted = self.generated(sys.executable)
        pyenv = pathlib.Path(os.environ.get('PYENV_ROOT', '~/.pyenv')).expanduser()
        folders = [*map(pathlib.Path, os.get_exec_path()), *sorted(pyenv.glob('versions/*/bin'))]
        found = {}
        for path in (path for folder in folders if folder.is_dir() for path in folder.glob('python3.*')):
            minor = re.fullmatch(r'python3\.(\d+)', path.name)
            if minor and 'shims' not in path.parts:
                found.setdefault(int(minor[1]), path)
        results = [report(f'Python 3.{minor}', self.same, wanted, path, 'jinja2') for minor, path in sorted(found.items())
                   if minor >= OLDEST_PYTHON]
        python = found.get(9, sys.executable)  # which the oldest version of Jinja2 still runs with
        return results + [
            report(f'Jinja2 {version}', self.same, wanted, python, f'jinja2=={version}', f'markupsafe=={markupsafe}')
            for version, markupsafe in JINJA2.items()]

    def same(self, wanted, python, *packages):
        made = self.generated(self.tools(python, *packages) / 'python')
        names = sorted(path.name for path in wanted.iterdir())
        if names != sorted(path.name for path in made.iterdir()):
            raise Failed('other files are generated')
        differ = filecmp.cmpfiles(wanted, made, names, shallow=False)
        if differ[1] or differ[2]:
            raise Failed(f'{differ[1] + differ[2]} are not the same')

    def generated(self, python):
        """The folder with all sources that this Python makes."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        run(python, ROOT / 'codegen/generate.py', 'seq', folder)
        run(python, ROOT / 'codegen/generate.py', 'gpu', folder)
        run(python, ROOT / 'codegen/public_lists.py', ROOT / 'include/ucd.h', ROOT / 'codegen/templates/public_lists.h.j2',
            folder / 'public_lists.h')
        return folder

    def libc(self):
        return [report('C library', lambda: self.needed(self.options.library or self.build('libc', settings=('-Darch_seq=',))))]

    def needed(self, library):
        said = run('objdump', '-p', library)
        newest = {}
        for name, version in re.findall(r' (GLIBC|GLIBCXX|CXXABI|GCC)_(\d[\d.]*)$', said, re.MULTILINE):
            newest[name] = max(newest.get(name, (0,)), tuple(map(int, version.split('.'))))
        needs = [f'{name}_{".".join(map(str, version))}' for name, version in sorted(newest.items())]
        if 'GLIBC_ABI_DT_RELR' in said:
            needs.append('packed relocations (glibc 2.36)')
        return f'{library.name} needs {", ".join(needs)}'


def main():
    parts = ('compilers', 'meson', 'cmake', 'python', 'libc')
    given = parser(__doc__)
    given.add_argument('parts', nargs='*', metavar='PART', help=', '.join(parts))
    given.add_argument('--compilers', action='append', default=[], metavar='FOLDER', help='where other compilers are')
    given.add_argument('--only', action='append', default=[], metavar='COMPILER', help='g++-11: no others')
    given.add_argument('--cases', action='store_true', help='runs tests with random cases')
    given.add_argument('--quick', action='store_true', help="kernels for the compiler's default instruction set only")
    given.add_argument('--library', type=pathlib.Path, help='libc: of this libucd.so, without building one')
    given.add_argument('--jobs', type=int, default=os.cpu_count())
    given.add_argument('--work', type=pathlib.Path, help='a folder that stays')
    options = given.parse_args()
    if unknown := set(options.parts) - set(parts):
        given.error(f'no part {", ".join(unknown)}')
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix='ucd-versions-', dir='/var/tmp'))
    work.mkdir(exist_ok=True)
    trials = Trials(work.resolve(), options)
    results = [result for part in options.parts or parts for result in getattr(trials, part)()]
    if options.work is None and all(results):
        shutil.rmtree(work)
    return 0 if results and all(results) else 1
