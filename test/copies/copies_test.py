"""Several copies of libucd in one process, by the link lines of docs/guide/embedding.md: the table in docs/reference/abi.md.

Programs and libraries are compiled from caller.c, each with a copy of one of these kinds:

    shared    libucd.so, by pkg-config
    static    libucd.a
    prefixed  libucd.a whose names have a prefix, as -Dsymbol_prefix makes them
    older     a libucd.so of the version 0.3
    newer     a libucd.so of the version 1.1, from which the program needs a function
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, PREFIX, C, CXX, OLDER, NEWER = sys.argv[1:7]
del sys.argv[1:7]
HERE = pathlib.Path(__file__).resolve().parent
KINDS = ('shared', 'static', 'prefixed', 'older', 'newer')
SONAMES = {'shared': 'libucd.so.1', 'newer': 'libucd.so.1', 'older': 'libucd.so.0.3'}
STANDARD_LIBRARIES = {'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
OLDER_INSTALLED = os.environ.get('UCD_TEST_OLDER')


def attempt(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=60, **more)


def run(*command, **more):
    done = attempt(*command, **more)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def exports(library):
    return {line.split()[2].split('@')[0] for line in run('nm', '-D', '--defined-only', library).splitlines()
            if line.split()[1] != 'A'}


class Copies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.root = pathlib.Path(room.name)
        run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', cls.root)
        cls.installed = pathlib.Path(f'{cls.root}{PREFIX}')
        cls.library = next(cls.installed.rglob('libucd.so')).parent
        cls.make_other_versions()
        cls.flags_of = {
            'shared': cls.flags(),
            'static': cls.flags('--static', archives=['ucd']),
            'older': ['-I' + str(cls.installed / 'include'), f'-L{cls.root}/older', '-lucd'],
            'newer': ['-I' + str(cls.installed / 'include'), f'-L{cls.root}/newer', '-lucd'],
        }
        if OLDER_INSTALLED:
            cls.flags_of['older'] = [f'-I{OLDER_INSTALLED}/include', f'-L{cls.root}/older', '-lucd']
        cls.flags_of['prefixed'] = cls.prefixed(cls.flags_of['static'])
        for kind in KINDS:
            cls.compile_library(kind)

    @classmethod
    def make_other_versions(cls):
        older = next(pathlib.Path(OLDER_INSTALLED).rglob('libucd.so.0.3')) if OLDER_INSTALLED else OLDER
        for name, file, made in (('older', 'libucd.so.0.3', older), ('newer', 'libucd.so.1', NEWER)):
            folder = cls.root / name
            folder.mkdir()
            shutil.copy(made, folder / file)
            (folder / 'libucd.so').symlink_to(file)

    @classmethod
    def flags(cls, *more, package='ucd', archives=()):
        """By pkg-config, with libraries replaced by archives as the guide does it."""
        # Folders of the system are asked for, too: with the prefix /usr these are its own.
        environment = os.environ | {'PKG_CONFIG_ALLOW_SYSTEM_CFLAGS': '1', 'PKG_CONFIG_ALLOW_SYSTEM_LIBS': '1', 'PKG_CONFIG_PATH': ':'.join(
            filter(None, [str(cls.library / 'pkgconfig'), os.environ.get('PKG_CONFIG_PATH')]))}
        flags = run('pkg-config', *more, '--cflags', '--libs', package, env=environment)
        for archive in archives:
            flags = re.sub(f'-l{archive}(?= |$)', f'-l:lib{archive}.a', flags, flags=re.M)
        return [cls.as_installed(flag) for flag in flags.split()]

    @classmethod
    def as_installed(cls, flag):
        """With the folder that was installed, if it is one of UCD's: MPI may have the same prefix."""
        moved = flag.replace(PREFIX, str(cls.installed), 1)
        return moved if pathlib.Path(moved[2:]).exists() else flag

    @staticmethod
    def prefix_in(flags):
        return next((flag.split('=')[1] for flag in flags if flag.startswith('-DUCD_PREFIX=')), '')

    @classmethod
    def prefixed(cls, flags):
        """The same flags with archives whose names have a prefix."""
        prefix = cls.prefix_in(flags)
        folder = cls.root / 'prefixed'
        if not folder.exists():
            folder.mkdir()
            archives = [path for path in cls.library.glob('libucd*.a') if 'mpi' not in path.name]
            names = set()
            for archive in archives:
                # The names of groups, too, which are local.
                names |= set(re.findall(r' [^UN] (\w*ucd\w*)$', run('nm', '-a', '--defined-only', archive), re.M))
            (cls.root / 'names').write_text(''.join(f'{name} other_{name}\n' for name in sorted(names)))
            for archive in archives:
                run('objcopy', f'--redefine-syms={cls.root}/names', archive, folder / archive.name)
        flags = [flag for flag in flags if not flag.startswith('-DUCD_PREFIX=')]
        return [f'-DUCD_PREFIX=other_{prefix}', f'-L{folder}', *flags]

    @classmethod
    def compile(cls, made, *arguments):
        run(*C.split(), '-std=gnu11', '-O1', '-o', cls.root / made, *arguments,
            env=os.environ | {'LD_LIBRARY_PATH': cls.path()})

    @classmethod
    def compile_library(cls, kind):
        folder = cls.root / f'library_{kind}'
        folder.mkdir()
        cls.compile(folder / 'liblibrary.so', '-shared', '-fPIC', '-DCALLER=library_caller', '-DSTRIDE=3', HERE / 'caller.c',
                    *cls.flags_of[kind])

    @classmethod
    def path(cls, kinds=()):
        """LD_LIBRARY_PATH for processes with these kinds of copies."""
        folders = ['newer'] if 'newer' in kinds else []
        inherited = filter(None, [os.environ.get('LD_LIBRARY_PATH')])
        return ':'.join([*(f'{cls.root}/{folder}' for folder in folders), str(cls.library), f'{cls.root}/older', *inherited])

    def environment(self, *kinds, **more):
        """For a program with these kinds of copies, of which the last is the library's."""
        folders = [f'{self.root}/library_{kinds[-1]}:'] if kinds else []
        return os.environ | {'LD_LIBRARY_PATH': ''.join(folders) + self.path(kinds), 'UCD_CHECK': 'none'} | more

    def compile_program(self, made, kind, *sources, flags=None, library=None):
        own = ['-DCALLER=program_caller', '-DSTRIDE=2', *map(HERE.joinpath, sources)]
        if kind == 'newer':
            own.append(HERE / 'needs_newer.c')
        others = [f'-L{self.root}/library_{library}', '-llibrary', '-DWITH_LIBRARY'] if library else []
        flags = flags or self.flags_of[kind]
        # The linker looks at libraries in this order.
        self.compile(made, *own, *others, *flags)
        self.compile(f'{made}_later', *own, *flags, *others)
        return [self.root / made, self.root / f'{made}_later']

    def test_a_program_and_a_library(self):
        for kind in KINDS:
            for library in KINDS:
                # Copies of one soname are one: the newer one, which is found first.
                sonames = [SONAMES.get(copy) for copy in (kind, library)]
                same = 'same' if sonames[0] is not None and sonames[0] == sonames[1] else 'different'
                programs = self.compile_program('pair', kind, 'pair.c', 'caller.c', library=library)
                for program in programs:
                    for ends_first, check in (('program', 'handles'), ('library', 'none')):
                        with self.subTest(program=kind, library=library, ends_first=ends_first, order=program.name):
                            if OLDER_INSTALLED and 'older' in (kind, library):
                                check = 'none'  # 0.3 checks no handles
                            environment = self.environment(kind, library, UCD_CHECK=check)
                            self.assertEqual(run(program, same, ends_first, env=environment), 'done\n')

    def test_two_copies_in_one_file(self):
        library = self.root / 'archived.o'
        run(*C.split(), '-c', '-o', library, '-DCALLER=library_caller', '-DSTRIDE=3', HERE / 'caller.c', *self.flags_of['prefixed'])
        one, other = self.library / 'libucd.a', self.root / 'prefixed/libucd.a'
        for order in ((one, other), (other, one)):
            self.compile('both', '-DCALLER=program_caller', '-DSTRIDE=2', HERE / 'pair.c', HERE / 'caller.c', library, *order,
                         *(flag for flag in self.flags_of['static'] if flag != '-l:libucd.a'))
            for ends_first in ('program', 'library'):
                environment = self.environment(UCD_CHECK='handles')
                self.assertEqual(run(self.root / 'both', 'different', ends_first, env=environment), 'done\n')

    def test_a_prefix_in_cpp(self):
        source, program = HERE.parent / 'outside/particles.cpp', self.root / 'particles'
        for kind in ('static', 'prefixed'):
            run(*CXX.split(), '-std=c++20', '-o', program, source, *self.flags_of[kind])
            self.assertIn('24 bytes', run(program, env=self.environment()))
            self.assertIn(f'ucd::{self.prefix_in(self.flags_of[kind])}v1::', run('nm', '-C', program))

    def test_a_program_of_1_1_does_not_start_with_1_0(self):
        program = self.compile_program('of_1_1', 'newer', 'pair.c', 'caller.c', library='shared')[0]
        done = attempt(program, 'same', 'program', env=self.environment('shared'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("version `UCD_1.1' not found", done.stderr)

    def test_static_copies_export_nothing(self):
        for kind in ('static', 'prefixed'):
            for made in (self.root / f'library_{kind}/liblibrary.so',
                         *self.compile_program('exports', kind, 'pair.c', 'caller.c', library='shared')):
                self.assertEqual({name for name in exports(made) if 'ucd' in name}, set(), made)

    @staticmethod
    def keeps_loaded(symbol):
        """Whether the dynamic linker never unloads what has this symbol. A thread_local with a destructor needs the second."""
        return ' UNIQUE ' in symbol or '__cxa_thread_atexit' in symbol

    def test_nothing_keeps_a_library_loaded(self):
        made = [self.root / f'library_{kind}/liblibrary.so' for kind in ('static', 'prefixed')]
        for library in [*self.library.glob('libucd*.so'), *made]:
            if 'preload' in library.name or library.name in ('libucd_cuda.so', 'libucd_hip.so', 'libucd_ze.so'):
                continue
            symbols = run('readelf', '--syms', '--dyn-syms', '-W', library).splitlines()
            self.assertEqual([line for line in symbols if self.keeps_loaded(line)][:5], [], library)
        for archive in self.library.glob('libucd*.a'):
            symbols = run('readelf', '--syms', '-W', archive).splitlines()
            self.assertEqual([line for line in symbols if self.keeps_loaded(line)][:5], [], archive)

    def test_libraries_are_unloaded(self):
        self.compile('unload', HERE / 'unload.c', '-D_POSIX_C_SOURCE=200809L')
        for kind in ('shared', 'static', 'prefixed'):
            with self.subTest(kind=kind):
                library = self.root / f'library_{kind}/liblibrary.so'
                self.assertEqual(run(self.root / 'unload', library, env=self.environment()), 'done\n')

    def test_the_runtime_of_cpp_may_stay_inside(self):
        script = self.root / 'library.map'
        script.write_text('{ global: library_caller; local: *; };\n')
        made = self.root / 'libinside.so'
        own = self.root / 'inside.o'
        run(*C.split(), '-c', '-fPIC', '-fvisibility=hidden', '-o', own, '-DCALLER=library_caller', '-DSTRIDE=3', HERE / 'caller.c',
            *self.flags_of['static'])
        flags = {C: ['-l:libstdc++.a' if flag == '-lstdc++' else flag for flag in self.flags_of['static']],
                 CXX: ['-static-libstdc++', *(flag for flag in self.flags_of['static'] if flag != '-lstdc++')]}
        exports_one = f'-Wl,--version-script={script}'
        for linker, hide in ((C, exports_one), (C, '-Wl,--exclude-libs,ALL'), (CXX, exports_one)):
            run(*linker.split(), '-shared', '-static-libgcc', hide, '-o', made, own, *flags[linker])
            self.assertEqual(exports(made), {'library_caller'})
            needed = set(re.findall(r'NEEDED.*\[(.*)\]', run('readelf', '-d', made)))
            self.assertLessEqual(needed, STANDARD_LIBRARIES)
        self.assertNotIn(' UNIQUE ', run('readelf', '--dyn-syms', '-W', made))
        program = self.root / 'with_inside'
        self.compile(program, '-DCALLER=program_caller', '-DSTRIDE=2', HERE / 'pair.c', HERE / 'caller.c', made,
                     *self.flags_of['shared'])
        self.assertEqual(run(program, 'different', 'library', env=self.environment()), 'done\n')

    def test_the_tool_lists_copies(self):
        tool = self.installed / 'bin/ucd'
        if not tool.exists():
            self.skipTest('the tool is not built')
        static = self.root / 'library_static/liblibrary.so'
        run('strip', static)
        shared = (self.library / 'libucd.so').resolve()
        load = ('import ctypes, sys; loaded = [ctypes.CDLL(name) for name in sys.argv[1:]]; print("loaded", flush=True)\n'
                'sys.stdin.read()')
        with subprocess.Popen([sys.executable, '-c', load, shared, static], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            listed = json.loads(run(tool, 'info', '--json', '--process', process.pid))
            process.stdin.close()
        self.assertEqual({(copy['kind'], copy['file']) for copy in listed['copies']},
                         {('shared', str(shared)), ('static', str(static))})

    def flags_with(self, package, kind, form):
        """For a program with this kind of copy, and the library of this package in a form."""
        archives = [*([package] if form == 'static' else []), *([] if kind == 'shared' else ['ucd'])]
        flags = self.flags(*(['--static'] if archives else []), package=package, archives=archives)
        return self.prefixed(flags) if kind == 'prefixed' else flags

    def test_libucd_ucx(self):
        if not (self.library / 'libucd-ucx.so').exists():
            self.skipTest('libucd-ucx is not built')
        transports = {'UCX_TLS': 'sm,self', 'UCX_LOG_LEVEL': 'error'}
        for kind, form in (('shared', 'shared'), ('shared', 'static'), ('static', 'static'), ('prefixed', 'static')):
            for library in ('shared', 'static'):
                flags = self.flags_with('ucd-ucx', kind, form)
                for program in self.compile_program('ucx', kind, 'with_ucx.c', 'caller.c', flags=flags, library=library):
                    with self.subTest(program=kind, libucd_ucx=form, library=library, order=program.name):
                        environment = self.environment(kind, library, **transports)
                        self.assertEqual(run(program, 'own', env=environment), 'done\n')
                        if library == 'static' and kind != 'shared':
                            self.assertNotIn('libucd', run('ldd', program, env=environment))

    def test_libucd_ucx_of_another_copy(self):
        if not (self.library / 'libucd-ucx.so').exists():
            self.skipTest('libucd-ucx is not built')
        for kind, flags in (('static', self.flags_with('ucd-ucx', 'static', 'shared')),
                            ('older', [*self.flags_of['older'], *self.flags(package='ucd-ucx')])):
            program = self.compile_program('other_ucx', kind, 'with_ucx.c', 'caller.c', flags=flags, library='shared')[0]
            for how, check in (('other', 'none'), ('other', 'handles'), ('library', 'handles')):
                with self.subTest(program=kind, how=how, check=check):
                    environment = self.environment(kind, 'shared', UCD_CHECK=check)
                    self.assertEqual(run(program, how, env=environment), 'done\n')

    def test_libucd_mpi_preload(self):
        names = [path.stem.removeprefix('libucd-mpi-preload-') for path in self.library.glob('libucd-mpi-preload-*.so')]
        for name in set(names) & {'mpich', 'openmpi'}:
            package = {'mpich': 'mpich', 'openmpi': 'ompi-c'}[name]
            for kind in KINDS:
                program = self.compile_program('mpi', kind, 'with_mpi.c', 'caller.c', library='static',
                                               flags=self.flags_of[kind] + self.flags(package=package))[0]
                with self.subTest(mpi=name, program=kind):
                    environment = self.environment(
                        kind, 'static', UCD_MPI_STATS='1',
                        LD_PRELOAD=str(self.library / f'libucd-mpi-preload-{name}.so'), UCD_MPI_ALWAYS='1', FI_PROVIDER='shm',
                        OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                        OMPI_MCA_pml='ob1', OMPI_MCA_btl='self,vader')
                    done = attempt(program, env=environment)
                    self.assertEqual((done.returncode, done.stdout), (0, 'done\n'), done.stderr)
                    self.assertRegex(done.stderr, r'[1-9]\d* taken over')

    def test_the_package_for_python(self):
        package = pathlib.Path(BUILD) / 'python/ucd'
        if not next(package.glob('_core*.so'), None):
            self.skipTest('the package for Python is not built')
        options = json.loads(run('meson', 'introspect', '--buildoptions', BUILD))
        python = next(o['value'] for o in options if o['name'] == 'python_interpreter')
        for kind in KINDS:
            with self.subTest(library=kind):
                environment = self.environment(kind, PYTHONPATH=str(package.parent))
                same = 'same' if SONAMES.get(kind) == SONAMES['shared'] else 'different'
                self.assertEqual(run(python, HERE / 'with_python.py', self.root / f'library_{kind}/liblibrary.so', same,
                                     env=environment), 'done\n')


if __name__ == '__main__':
    unittest.main()
