"""Builds UCD's host library and its tests for another processor, and runs them in qemu's emulation of that processor's
Linux processes: no such machine is needed. Ends with Meson's count of the tests; fails if any failed.
"""

import os
import pathlib
import shutil
import subprocess
from typing import NamedTuple

from commands import ROOT, configure, fail, output, parser, prefer_distribution, run

TRIPLETS = {'aarch64': 'aarch64-linux-gnu', 's390x': 's390x-linux-gnu', 'ppc64le': 'powerpc64le-linux-gnu'}
PROGRAMS = ('test/conformance', 'test/kernels', 'test/unit')
MORE_PROGRAMS = ('test/threads', 'test/c_api', 'test/refusals', 'test/vectors/vectors', 'test/fuzz/unflatten_fuzz',
                 'test/yaksa/yaksa_test')
TESTS = ('conformance', 'unit', 'kernels')
MORE_TESTS = ('threads', 'c_api', 'refusals', 'vectors', 'vectors_random', 'vectors_python', 'yaksa')
# Version 2 of Catch2, which Debian 12 has, is one header, the same for all processors; version 3 would have to be compiled
# for each.
CATCH2 = pathlib.Path('/usr/include/catch2')


class Extent(NamedTuple):
    cases: str = '0.03'
    levels: str = '2000'
    programs: tuple = PROGRAMS + MORE_PROGRAMS
    tests: tuple = TESTS + MORE_TESTS
    fuzzed: int = 1000


ALL = Extent(cases='1', levels='100000', fuzzed=200000)
SHORT = Extent(cases='0.02', programs=PROGRAMS, tests=TESTS, fuzzed=0)


def write_settings(folder, triplet):
    """What depends on this machine: a compiler cache, and where Catch2 is. The file with that."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ('include', 'pkgconfig'):
        (folder / name).mkdir(parents=True)
    (folder / 'include/catch2').symlink_to(CATCH2)
    version = output('pkg-config', '--modversion', 'catch2')
    (folder / 'pkgconfig/catch2.pc').write_text(
        f'Name: Catch2\nDescription: for any processor\nVersion: {version}Cflags: -I{folder}/include\n')
    cache = "'ccache', " if shutil.which('ccache') else ''
    settings = folder / 'here.ini'
    settings.write_text(f"[binaries]\nc = [{cache}'{triplet}-gcc']\ncpp = [{cache}'{triplet}-g++']\npkgconfig = 'pkg-config'\n\n"
                        f"[properties]\npkg_config_libdir = ['{folder}/pkgconfig']\n")
    return settings


def build(processor, triplet, programs):
    folder = ROOT / f'build-{processor}'
    if not (folder / 'build.ninja').exists():
        settings = write_settings(ROOT / f'build-{processor}-catch2', triplet)
        configure(folder, '--cross-file', f'cross/{processor}.ini', '--cross-file', settings, '-Dauto_features=disabled',
                  '-Dtests=enabled', '-Dyaksa=enabled', '-Dquick_programs=true', '--buildtype=plain', '-Doptimization=1',
                  '-Db_ndebug=true', '-Db_pch=true')
    run('ninja', '-C', folder, *programs)
    return folder


def main():
    given = parser(__doc__)
    given.add_argument('processor', choices=TRIPLETS)
    extents = given.add_mutually_exclusive_group()
    extents.add_argument('--all-cases', dest='extent', action='store_const', const=ALL, default=Extent(),
                         help='all of the random cases; a part without it')
    extents.add_argument('--short', dest='extent', action='store_const', const=SHORT,
                         help='as tools/release does for AArch64: the suites conformance, kernels and unit alone, and fewer cases')
    options = given.parse_args()
    processor, extent, triplet = options.processor, options.extent, TRIPLETS[options.processor]
    run('tools/install-packages', processor)
    prefer_distribution()
    os.environ.setdefault('CCACHE_SLOPPINESS', 'pch_defines,time_macros')
    if not os.access(os.environ.get('HOME', '/nonexistent'), os.W_OK):
        os.environ.setdefault('CCACHE_DIR', str(ROOT / '.ccache'))
    for program in (f'{triplet}-g++', f'qemu-{processor}-static'):
        if shutil.which(program) is None:
            fail(f'no {program}; nothing was tested', 77)
    if not (CATCH2 / 'catch.hpp').exists():
        fail('no Catch2 of version 2, which is one header (Debian 12: catch2); nothing was tested', 77)
    os.environ.update(UCD_TEST_CASES=extent.cases, UCD_TEST_LEVELS=extent.levels)
    folder = build(processor, triplet, extent.programs)
    runs = [[*extent.tests, *(['neon'] if processor == 'aarch64' else [])]]
    if extent.fuzzed:
        runs.append(['unflatten_fuzz', f'--test-args={extent.fuzzed}'])
    command = ['meson', 'test', '-C', folder, '--no-rebuild', '--timeout-multiplier=20', '--print-errorlogs']
    return 1 if any([subprocess.run([*command, *tests], check=False).returncode for tests in runs]) else 0
