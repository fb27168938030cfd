"""Installs the built tree, and builds and runs small projects against it: by pkg-config alone, and
by CMake's find_package."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import size_limits

BUILD, EXAMPLES, OUTSIDE, PREFIX, C, CXX = sys.argv[1:7]
del sys.argv[1:7]
os.environ['CMAKE_GENERATOR'] = 'Ninja'  # which is there, as Meson needs it; make need not be
COLUMN = pathlib.Path(EXAMPLES) / 'column.c'
COLUMN_SAYS = '24 bytes: 2 12 22\n'
GUIDE = pathlib.Path(EXAMPLES) / 'ucx' / 'guide.c'
PROGRAM = re.compile(r'^```c\n(#include <ucd\.h>.*?^int main.*?)^```', re.M | re.S)
COMPILERS = (f'-DCMAKE_C_COMPILER={C.split()[-1]}', f'-DCMAKE_CXX_COMPILER={CXX.split()[-1]}')
LINK = re.compile(r'\]\(([^)#\s]*)[^)\s]*\)')
CODE_BLOCK = re.compile(r'^```.*?^```$', re.M | re.S)
DECLARED = re.compile(r'^UCD_(?:\w+_)?API [^;]*?\b((?:ucd|yaksa)_\w+)\(', re.M)
PARTICLES = pathlib.Path(OUTSIDE) / 'particles.cpp'
USES_YAKSA = pathlib.Path(OUTSIDE).parent / 'yaksa' / 'uses_yaksa.c'
PARTICLES_SAYS = '24 bytes: 2 2.5 0; refused: 1\n'
USES_HINTS = """
#include <ucd_types.hpp>
#include <cstdio>
int main() {
    const ucd::Session session;
    ucd::Info hints;
    hints.set("ucd.gpu", "none");
    const int column[] = {1, 2, 3, 4, 5, 6};
    int packed[3] = {};
    const ucd::Type type = ucd::Type::vector(3, 1, 2, UCD_TYPE__INT);
    std::uintptr_t bytes = 0;
    ucd::check(ucd_pack(column, 1, type.get(), 0, packed, sizeof packed, &bytes, hints.get(), UCD_OP__REPLACE));
    struct Large { double values[4096][4096]; int last; }; // larger than the stack
    if (ucd::struct_of(&Large::last).true_extent().lb != sizeof(Large::values)) return 1;
    std::printf("%d %d %d\\n", packed[0], packed[1], packed[2]);
}
"""

USES_LARGE_VECTOR = """#include <ucd.h>
#include <ucd_mpi.h>
int main(int argc, char **argv) {
    MPI_Datatype vector;
    ucd_type_t type;
    if (MPI_Init(&argc, &argv) || ucd_init(UCD_INFO__NULL)) return 1;
#if MPI_VERSION >= 4
    MPI_Type_vector_c(3, 1, 2, MPI_DOUBLE, &vector);
#else
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &vector);
#endif
    if (ucd_type_from_mpi(vector, UCD_INFO__NULL, &type) || ucd_free(&type)) return 2;
    ucd_finalize();
    MPI_Type_free(&vector);
    return MPI_Finalize();
}
"""


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def with_folders_of(variable, first):
    """A list of folders: this one, then those of the environment, where UCX may be."""
    return ':'.join([str(first), *filter(None, [os.environ.get(variable)])])


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.root = pathlib.Path(room.name)
        run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', cls.root)
        cls.installed = pathlib.Path(f'{cls.root}{PREFIX}')
        cls.library = next(cls.installed.rglob('libucd.so')).parent
        cls.environment = os.environ | {'LD_LIBRARY_PATH': with_folders_of('LD_LIBRARY_PATH', cls.library)}

    def flags(self, *more, package='ucd'):
        pc = next(self.installed.rglob('ucd.pc'))
        # The flags of other packages must stay as they are.
        environment = os.environ | {'PKG_CONFIG_PATH': with_folders_of('PKG_CONFIG_PATH', pc.parent)}
        flags = run('pkg-config', *more, '--cflags', '--libs', package, env=environment).split()
        return [flag.replace(PREFIX, str(self.installed)) for flag in flags]

    def test_headers_are_there(self):
        for header in ('ucd.h', 'ucd.hpp', 'ucd_device.h', 'ucd_device_code.h', 'ucd_memory.h', 'ucd_prefix.h', 'ucd_types.hpp'):
            self.assertTrue((self.installed / 'include' / header).is_file(), header)

    def test_pkg_config(self):
        for compiler, source, standard, says in ((C, COLUMN, '-std=c11', COLUMN_SAYS),
                                                 (CXX, PARTICLES, '-std=c++20', PARTICLES_SAYS)):
            program = self.root / source.stem
            run(*compiler.split(), standard, '-o', program, source, *self.flags())
            self.assertEqual(run(program, env=self.environment), says)

    def test_pkg_config_static(self):
        if not next(self.installed.rglob('libucd.a'), None):
            self.skipTest('no static library is built')
        program = self.root / 'column_static'
        run(*C.split(), '-std=c11', '-static', '-o', program, COLUMN, *self.flags('--static'))
        self.assertEqual(run(program), COLUMN_SAYS)
        # libucd alone, as the guide does it.
        flags = ['-l:libucd.a' if flag == '-lucd' else flag for flag in self.flags('--static')]
        run(*C.split(), '-std=c11', '-o', program, COLUMN, *flags)
        self.assertNotIn('libucd', run('readelf', '-d', program))
        self.assertEqual(run(program), COLUMN_SAYS)
        # Nothing of ucd.hpp has the name of something else in the library. Without optimisation, functions of headers are called.
        source = self.root / 'hints.cpp'
        source.write_text(USES_HINTS)
        run(*CXX.split(), '-std=c++20', '-O0', '-static', '-o', program, source, *self.flags('--static'))
        self.assertEqual(run(program), '1 3 5\n')
        run(*CXX.split(), '-std=c++20', '-O0', '-c', '-o', program.with_suffix('.o'), source, *self.flags())
        names = [set(re.findall(r'\b[TVW] (ucd::.*)', run('nm', '-C', file)))
                 for file in (program.with_suffix('.o'), next(self.installed.rglob('libucd.a')))]
        self.assertTrue(names[0])
        self.assertEqual(names[0] & names[1], set())

    def test_pkg_config_of_ucd_ucx(self):
        if not next(self.installed.rglob('ucd-ucx.pc'), None):
            self.skipTest('libucd-ucx is not built')
        for header in ('ucd_ucx.h', 'ucd_ucx_rma.h'):
            self.assertTrue((self.installed / 'include' / header).is_file())
        program = self.root / 'guide'
        run(*C.split(), '-std=c11', '-o', program, GUIDE, *self.flags(package='ucd-ucx'))
        self.assertIn('pipelined', run(program, env=self.environment))
        # Each alone, in C and in C++.
        for header in ('ucd_ucx.h', 'ucd_ucx_rma.h'):
            for compiler, suffix, standard in ((C, 'c', '-std=c11'), (CXX, 'cpp', '-std=c++20')):
                empty = self.root / f'empty.{suffix}'
                empty.write_text(f'#include <{header}>\n')
                run(*compiler.split(), standard, '-Wall', '-Werror', '-fsyntax-only', empty,
                    *self.flags(package='ucd-ucx'))

    def test_programs_of_the_guide(self):
        says = {'plans': '2\n', 'converting': '24 bytes, the last one 0x406b\n',
                'converting_2': ''.join(f'0x{half:04x}\n' for half in (0, 0x4000, 0x4080, 0x40c0, 0x4100, 0x4120, 0x4140))}
        # Where each call that moves data fails.
        without_memory = self.environment | {'UCD_BACKENDS': 'seq', 'UCD_INBUF': 'cuda:0'}
        for page in ('plans', 'converting'):
            text = (pathlib.Path(EXAMPLES).parent / f'docs/guide/{page}.md').read_text()
            for number, source in enumerate(PROGRAM.findall(text), 1):
                program = self.root / (page if number == 1 else f'{page}_{number}')
                program.with_suffix('.c').write_text(source)
                # What is not set is noticed.
                run(*C.split(), '-std=c11', '-Wall', '-Wextra', '-Werror', '-ftrivial-auto-var-init=pattern', '-o', program,
                    program.with_suffix('.c'), *self.flags())
                self.assertEqual(run(program, env=self.environment), says.pop(program.name))
                failed = subprocess.run([program], env=without_memory, capture_output=True, text=True, check=False)
                self.assertGreater(failed.returncode, 0, failed)
                self.assertIn('names backend cuda, which is not available', failed.stdout)
        self.assertEqual(says, {})

    def test_headers_of_cpp_say_that_they_need_cpp20(self):
        for header in ('ucd.hpp', 'ucd_types.hpp'):
            source = self.root / 'old.cpp'
            source.write_text(f'#include <{header}>\nint main() {{}}\n')
            done = subprocess.run([*CXX.split(), '-std=c++17', '-fsyntax-only', source,
                                   f'-I{self.installed / "include"}'],
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, header)
            self.assertEqual(done.stderr.count(' error: '), 1, done.stderr)
            self.assertIn('C++20', done.stderr)

    def test_lists_of_other_integers_are_refused_with_a_hint(self):
        source = self.root / 'other_integers.cpp'
        source.write_text('#include <ucd.hpp>\n#include <vector>\nint main() {\n'
                          '    const std::vector<int> displs = {0, 2};\n'
                          '    (void)ucd::Type::indexed({1, 1}, displs, UCD_TYPE__INT);\n}\n')
        done = subprocess.run([*CXX.split(), '-std=c++20', '-fsyntax-only', source, f'-I{self.installed / "include"}'],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('are intptr_t, as in std::vector<intptr_t>', done.stderr)

    def test_what_it_was_built_with_is_listed(self):
        folder = self.installed / 'share' / 'doc' / 'ucd'
        listed = json.loads((folder / 'ucd.spdx.json').read_text())
        packages = {p['SPDXID']: p for p in listed['packages']}
        own = [p for p in packages.values() if p['name'] == 'ucd']
        self.assertEqual([p['versionInfo'] for p in own], self.flags('--modversion'))
        needs = {(packages[r['spdxElementId']]['name'], packages[r['relatedSpdxElement']]['name'])
                 for r in listed['relationships'] if r['relationshipType'] == 'DEPENDS_ON'}
        self.assertIn(('libucd', 'libstdc++'), needs)
        # Nothing that is installed with UCX or MPI is missing, and nothing else is listed.
        for library, needed in (('ucd-ucx', 'UCX'), ('ucd-ucx', 'libsodium'),
                                ('ucd-mpi-mpich', 'mpich'), ('ucd-mpi-openmpi', 'openmpi'),
                                ('ucd-mpi-abi', 'abi')):
            there = next(self.installed.rglob(f'{library}.pc'), None) is not None
            self.assertEqual((f'lib{library}', needed) in needs, there, library)
        names = {p['name'] for p in packages.values()}
        for vendor in ('cuda', 'hip', 'ze'):
            there = next(self.installed.rglob(f'libucd_{vendor}.so'), None) is not None
            self.assertEqual(f'libucd_{vendor}' in names, there, vendor)

    def test_documents_are_there(self):
        folder = self.installed / 'share' / 'doc' / 'ucd'
        docs = pathlib.Path(EXAMPLES).parent / 'docs'
        pages = [page.relative_to(docs) for kind in ('guide', 'reference') for page in (docs / kind).rglob('*') if page.is_file()]
        for name in ('LICENSE', 'CHANGELOG.md', 'README.md', *pages):
            self.assertTrue((folder / name).is_file(), name)

    def test_links_of_documents_lead_to_what_is_installed(self):
        folder = self.installed / 'share' / 'doc' / 'ucd'
        count = 0
        for page in folder.rglob('*.md'):
            for target in LINK.findall(CODE_BLOCK.sub('', page.read_text())):
                if target and not re.match('[a-z]+:', target):
                    count += 1
                    path = pathlib.Path(os.path.normpath(page.parent / target))
                    self.assertTrue(path.exists(), f'{page.relative_to(folder)}: {target}')
                    self.assertIn(self.installed, path.parents, f'{page.relative_to(folder)}: {target}')
        self.assertGreater(count, 50)

    def test_headers_cite_documents_that_are_installed(self):
        cited = {path for header in (self.installed / 'include').rglob('*.h*')
                 for path in re.findall(r'share/doc/ucd/[\w/-]+\.\w+', header.read_text())}
        self.assertGreater(len(cited), 3)
        for path in cited:
            self.assertTrue((self.installed / path).is_file(), path)

    def test_the_index_of_the_documents_leads_to_each_page(self):
        folder = self.installed / 'share' / 'doc' / 'ucd'
        listed = {os.path.normpath(target) for target in LINK.findall((folder / 'README.md').read_text())}
        pages = {str(page.relative_to(folder)) for kind in ('guide', 'reference') for page in (folder / kind).glob('*.md')}
        self.assertLessEqual(pages, listed)

    def test_libucd_is_no_larger_than_promised(self):
        options = json.loads(run('meson', 'introspect', '--buildoptions', BUILD))
        if next(o['value'] for o in options if o['name'] == 'optimization') not in ('2', '3', 's'):
            self.skipTest('it is not optimised')
        stripped = self.root / 'stripped'
        run('strip', '-o', stripped, self.library / 'libucd.so')
        limit = size_limits.limit_of(size_limits.LIBUCD, self.library / 'libucd.so')
        if limit is None:
            self.skipTest('there is no limit for this compiler')
        self.assertLessEqual(stripped.stat().st_size, limit)

    def abi_version(self, package='ucd'):
        """By docs/reference/abi.md."""
        major, minor = self.flags('--modversion', package=package)[0].split('.')[:2]
        self.assertEqual(major, '1' if package == 'ucd' else '0')
        return major if package == 'ucd' else f'0.{minor}'

    def test_libraries_export_their_interface_only(self):
        for library, prefix, node, interfaces in (
                ('libucd.so', 'ucd_', 'UCD_', ('ucd.h', 'ucd_device.h', 'ucd_memory.h')),
                ('libucd-ucx.so', 'ucd_ucx_', 'UCD_UCX_', ('ucd_ucx.h', 'ucd_ucx_rma.h')),
                ('libucd-mpi-mpich.so', 'ucd_', 'UCD_MPI_', ('ucd_mpi.h',)),
                ('libucd-mpi-openmpi.so', 'ucd_', 'UCD_MPI_', ('ucd_mpi.h',)),
                ('libucd-mpi-abi.so', 'ucd_', 'UCD_MPI_', ('ucd_mpi.h',)),
                ('libucd-yaksa.so', '(ucd_)?yaksa_', 'UCD_YAKSA_', ('ucd-yaksa/yaksa.h',))):
            path = self.library / library
            if not path.exists():
                continue
            exported = {line.split()[2].replace('@@', '@')
                        for line in run('nm', '-D', '--defined-only', path).splitlines()
                        if line.split()[1] != 'A'}
            version = '1.0' if library == 'libucd.so' else self.abi_version(library[3:-3])
            for name in exported:
                self.assertRegex(name, f'^{prefix}.*@{node}{version}$')
            headers = [self.installed / 'include' / name for name in interfaces]
            declared = {name for path in headers for name in DECLARED.findall(path.read_text())}
            self.assertTrue(declared)
            self.assertEqual({name.split('@')[0] for name in exported}, declared)
            # Such a symbol would keep the library in memory for good.
            self.assertNotIn(' UNIQUE ', run('readelf', '--dyn-syms', '-W', path))

    def test_the_soname_is_that_of_the_abi(self):
        for library in ('libucd', 'libucd-ucx', 'libucd-mpi-mpich', 'libucd-mpi-openmpi', 'libucd-mpi-abi',
                        'libucd-yaksa'):
            path = self.library / f'{library}.so'
            if path.exists():
                abi = self.abi_version(library[3:])
                self.assertIn(f'Library soname: [{library}.so.{abi}]', run('readelf', '-d', path))
                self.assertEqual(self.flags('--variable=abi_version', package=library[3:]), [abi])

    def test_a_program_asks_for_the_interface_of_1_0(self):
        program = self.root / 'asks'
        run(*C.split(), '-std=c11', '-o', program, COLUMN, *self.flags())
        self.assertIn('Shared library: [libucd.so.1]', run('readelf', '-d', program))
        needed = re.findall(r'\bUND (ucd_\w+@\S+)', run('readelf', '-W', '--dyn-syms', program))
        self.assertGreater(len(needed), 3)
        self.assertEqual({name.split('@')[1] for name in needed}, {'UCD_1.0'})
        self.assertEqual(run(program, env=self.environment), COLUMN_SAYS)

    def test_libucd_ucx_finds_libucd_beside_it(self):
        path = self.library / 'libucd-ucx.so'
        if not path.exists():
            self.skipTest('libucd-ucx is not built')
        self.assertIn('runpath: [$ORIGIN]', run('readelf', '-d', path))

    def test_libraries_for_mpi(self):
        names = [path.name.split('.')[0].removeprefix('libucd-mpi-preload-')
                 for path in self.library.glob('libucd-mpi-preload-*.so')]
        if not names:
            self.skipTest('no MPI library was found')
        source = self.root / 'from_mpi.c'
        source.write_text('#include <ucd_mpi.h>\nint main(void) { return ucd_mpi_last_error()[0]; }\n')
        options = json.loads(run('meson', 'introspect', '--buildoptions', BUILD))
        mpi_abi = next(o['value'] for o in options if o['name'] == 'mpi_abi') or pathlib.Path(EXAMPLES).parent / '.mpi5'
        for name in names:
            self.assertIn('$ORIGIN', run('readelf', '-d', self.library / f'libucd-mpi-preload-{name}.so'))
            program = self.root / f'from_mpi_{name}'
            compiler, environment = C.split(), self.environment
            if name == 'abi': # pkg-config does not know such MPI libraries: they have a compiler
                compiler = [pathlib.Path(mpi_abi) / 'bin/mpicc_abi']
                environment = environment | {'LD_LIBRARY_PATH': f'{self.library}:{mpi_abi}/lib'}
            run(*compiler, '-std=c11', '-o', program, source, *self.flags(package=f'ucd-mpi-{name}'))
            run(program, env=environment)
        self.assertTrue((self.installed / 'bin/ucd-mpi-run').stat().st_mode & 0o100)

    def test_a_program_that_contains_mpich(self):
        # Its types may have large counts, and dlsym does not find its functions for these.
        if not next(self.library.glob('libucd-mpi-mpich.a'), None):
            self.skipTest('no static library is built')
        source, program = self.root / 'contains_mpich.c', self.root / 'contains_mpich'
        static = {'-lucd-mpi-mpich': '-l:libucd-mpi-mpich.a', '-lmpich': '-l:libmpich.a'}
        flags = [static.get(flag, flag) for flag in self.flags('--static', package='ucd-mpi-mpich')]
        compiler = [*C.split(), '-std=c11', '-o', program, source]
        source.write_text('#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n')
        if subprocess.run([*compiler, *flags], capture_output=True, check=False).returncode != 0:
            self.skipTest('MPICH has no static library that suffices')
        source.write_text(USES_LARGE_VECTOR)
        run(*compiler, *flags)
        self.assertNotIn('libmpi', run('readelf', '-d', program))
        run(program, env=self.environment)

    def test_a_program_for_yaksa(self):
        if not next(self.installed.rglob('ucd-yaksa.pc'), None):
            self.skipTest('libucd-yaksa is not built')
        self.assertFalse((self.installed / 'include/yaksa.h').exists())
        self.assertIn('runpath: [$ORIGIN]', run('readelf', '-d', self.library / 'libucd-yaksa.so'))
        linkings = [[]]
        if next(self.installed.rglob('libucd-yaksa.a'), None):
            linkings.append(['-static'])
        for linking in linkings:
            program = self.root / 'uses_yaksa'
            flags = self.flags(*(['--static'] if linking else []), package='ucd-yaksa')
            run(*C.split(), '-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', *linking, '-o', program,
                USES_YAKSA, *flags)
            self.assertEqual(run(program, env=self.environment), '0, 16 bytes: 1 5 9 13\n')

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package(self):
        # Wherever the tree was moved to.
        moved = self.root / 'moved'
        shutil.copytree(self.installed, moved, symlinks=True)
        work = self.root / 'outside'
        run('cmake', '-S', OUTSIDE, '-B', work, f'-DCMAKE_PREFIX_PATH={moved}',
            f'-DWANTED_VERSION={self.abi_version()}', f'-DCOLUMN_SOURCE={COLUMN}', f'-DGUIDE_SOURCE={GUIDE}', *COMPILERS)
        run('cmake', '--build', work)
        self.assertEqual(run(work / 'column'), COLUMN_SAYS)
        self.assertEqual(run(work / 'particles'), PARTICLES_SAYS)
        if next(self.installed.rglob('libucd.a'), None):
            self.assertEqual(run(work / 'column_static'), COLUMN_SAYS)
        linked = run('readelf', '-d', work / 'column')
        self.assertIn(f'[libucd.so.{self.abi_version()}]', linked)
        if next(self.installed.rglob('libucd-ucx.so'), None):
            self.assertIn('pipelined', run(work / 'guide'))
        if next(self.installed.rglob('libucd-ucx.a'), None):
            self.assertNotIn('libucd', run('readelf', '-d', work / 'guide_static'))
            self.assertIn('pipelined', run(work / 'guide_static'))

    def project(self, name, languages, *lines):
        folder = self.root / name
        folder.mkdir()
        (folder / 'CMakeLists.txt').write_text('\n'.join(
            ['cmake_minimum_required(VERSION 3.16)', f'project({name} {languages})', *lines]))
        return folder

    def configure(self, project, build, *arguments):
        return subprocess.run(['cmake', '-S', project, '-B', project / build, *COMPILERS,
                               f'-DCMAKE_PREFIX_PATH={self.installed}', *arguments],
                              capture_output=True, text=True, check=False)

    def check_project_of_c(self, name, *arguments):
        project = self.project(name, 'C', 'find_package(ucd REQUIRED)', f'add_executable(column {COLUMN})',
                               'target_link_libraries(column PRIVATE ucd::ucd)')
        done = self.configure(project, 'build', *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        run('cmake', '--build', project / 'build')
        self.assertEqual(run(project / 'build' / 'column'), COLUMN_SAYS)

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_in_a_project_of_c_alone(self):
        self.check_project_of_c('only_c')

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_through_a_link(self):
        # As where /lib is a link to /usr/lib, and /bin comes first in PATH: there is no "include" beside the link.
        merged = self.root / 'merged'
        (merged / 'usr').mkdir(parents=True)
        for entry in self.installed.iterdir():
            (merged / 'usr' / entry.name).symlink_to(entry)
        for name in {self.library.relative_to(self.installed).parts[0], 'bin'}:
            (merged / name).symlink_to(f'usr/{name}')
        self.check_project_of_c('linked', f'-Ducd_DIR={merged / self.library.relative_to(self.installed) / "cmake/ucd"}')

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_with_folders_outside_of_the_prefix(self):
        for name, libdir, includedir in (('libraries', 'absolute/l', 'p/include'), ('headers', 'p/lib', 'absolute/i')):
            room = self.root / name
            run('meson', 'setup', room / 'build', pathlib.Path(EXAMPLES).parent, '-Dauto_features=disabled',
                f'--prefix={room / "p"}', f'--libdir={room / libdir}', f'--includedir={room / includedir}')
            shutil.copytree(room / 'build/cmake', room / libdir / 'cmake/ucd', ignore=lambda _, all: [
                file for file in all if not file.endswith('.cmake')])
            for library in self.library.glob('libucd.*'):
                (room / libdir / library.name).symlink_to(library)
            (room / includedir).parent.mkdir(parents=True, exist_ok=True)
            (room / includedir).symlink_to(self.installed / 'include')
            self.check_project_of_c(f'with_{name}_elsewhere', f'-Ducd_DIR={room / libdir / "cmake/ucd"}')

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_with_components(self):
        there = next(self.installed.rglob('libucd-ucx.so'), None) is not None
        project = self.project('components', 'C', 'find_package(ucd REQUIRED COMPONENTS ${WANTED})',
                               f'add_executable(guide {GUIDE})',
                               'target_link_libraries(guide PRIVATE ucd::ucx)')
        # UCX by its own CMake files, if it has some, and by pkg-config.
        for build, more in (('by_cmake', ()),
                            ('by_pkg_config', ('-DCMAKE_DISABLE_FIND_PACKAGE_ucx=ON',))):
            done = self.configure(project, build, '-DWANTED=ucx', *more)
            self.assertEqual(done.returncode == 0, there, done.stderr)
            if there:
                run('cmake', '--build', project / build)
                self.assertIn('pipelined', run(project / build / 'guide'))
        done = self.configure(project, 'unknown', '-DWANTED=mpi')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('no component mpi', done.stderr)

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_with_components_for_mpi(self):
        source = self.root / 'with_mpi.c'
        source.write_text('#include <ucd_mpi.h>\nint main(void) { return ucd_mpi_last_error()[0]; }\n')
        # CMake finds the MPI by its compiler; that of the ABI is not from Debian.
        for mpi in ('mpich', 'openmpi'):
            there = (self.library / f'libucd-mpi-{mpi}.so').exists()
            project = self.project(f'with_{mpi}', 'C', f'set(MPI_C_COMPILER mpicc.{mpi})' if there else '',
                                   f'find_package(ucd REQUIRED COMPONENTS mpi-{mpi})',
                                   'find_package(MPI REQUIRED COMPONENTS C)', f'add_executable(program {source})',
                                   f'target_link_libraries(program PRIVATE ucd::mpi-{mpi} MPI::MPI_C)')
            done = self.configure(project, 'build')
            self.assertEqual(done.returncode == 0, there, done.stderr)
            if there:
                run('cmake', '--build', project / 'build')
                run(project / 'build/program')
            else:
                self.assertIn(f'without libucd-mpi-{mpi}', done.stderr)

    @unittest.skipUnless(shutil.which('cmake'), 'no cmake')
    def test_find_package_refuses_other_versions(self):
        project = self.project('wrong', 'C', 'find_package(ucd ${WANTED} REQUIRED)')
        abi, version = self.abi_version(), self.flags('--modversion')[0]
        major, minor = version.split('.')[:2]
        later = f'{int(major) + 1}.0'
        for wanted, found in ((abi, True), (version, True), (later, False), (f'{major}.{int(minor) + 1}', False), ('0.3', False),
                              ('0.0', False), ('', True), (f'0.0...{later}', True),
                              (f'{abi}...<{later}', True), (f'{later}...99.0', False),
                              (f'0.0...<{abi}', False)):
            done = self.configure(project, f'build{wanted}', f'-DWANTED={wanted}')
            self.assertEqual(done.returncode == 0, found, f'{wanted}: {done.stderr}')

    # Embedders must be able to load it anywhere.
    def test_the_library_needs_the_standard_libraries_only(self):
        needed = [line.split('[')[1].split(']')[0]
                  for line in run('readelf', '-d', self.library / 'libucd.so').splitlines()
                  if 'NEEDED' in line]
        allowed = {'libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libc.so.6',
                   'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
        self.assertLessEqual(set(needed), allowed)

    def test_the_tool(self):
        program = self.installed / 'bin' / 'ucd'
        if not program.exists():
            self.skipTest('the tool is not built')
        # Wherever the tree is: it finds libucd itself.
        without = {k: v for k, v in os.environ.items() if k != 'LD_LIBRARY_PATH'}
        self.assertIn('strided(3, 32)', run(program, 'describe', 'vector(3,1,4,double)',
                                            env=without))
        share = self.installed / 'share'
        for name in ('bash-completion/completions/ucd.bash', 'zsh/site-functions/_ucd',
                     'fish/vendor_completions.d/ucd.fish', 'man/man1/ucd.1', 'man/man7/ucd-type.7'):
            self.assertTrue((share / name).is_file() and (share / name).stat().st_size, name)


if __name__ == '__main__':
    unittest.main()
