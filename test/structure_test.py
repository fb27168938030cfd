"""The house rules that the compiler does not see: who includes whom, and what stays out of a room."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)

BASE = 'src/base'
CONTRACT = 'src/backend/contract'
REGISTRY = 'src/backend/registry'
GPU = 'src/backend/gpu_common'
GENERATED = {'kernels.h', 'instructions.h', 'kernel_tables.h'}
SYSTEM = {
    'dlfcn.h', 'fcntl.h', 'link.h', 'pthread.h', 'sys/mman.h', 'unistd.h', 'sys/stat.h', 'sys/syscall.h', 'sys/types.h', 'sys/uio.h',
    'sys/auxv.h', 'cpuid.h', 'emmintrin.h', 'immintrin.h',
}

# Rooms within a part of the library, lowest first. A file includes its own room and lower ones only.
ROOMS = {
    'src/frontend': ['support', 'types', 'layout', 'flatten', 'prepared', 'transfer', 'api'],
    'src/backend/gpu_common': ['params', 'plan', 'kernels', 'runtime', 'launch'],
    'src/ucx': ['common', 'datatype', 'types', 'memory', 'direct', 'engine', 'pipeline', 'rma', 'api'],
    'src/mpi': ['abi', 'types', 'preload'],
}

# What tests share; files beside the rooms are for all.
TEST_ROOMS = ['oracle', 'random', 'fake_device', 'host_vendor', 'device_code', 'hip_on_threads', 'ze_driver', 'buffers', 'moves']


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob('*') if p.suffix in {'.h', '.hpp', '.cpp', '.c'})


def included(path):
    return [name for _, name in INCLUDE.findall(path.read_text())]


def headers(folder):
    """The paths of a folder's headers, as files beside and outside it write them."""
    return {str(p.relative_to(ROOT / folder)) for p in sources(folder)} | {p.name for p in (ROOT / folder).glob('*.h')}


def fields_of_structs(text):
    """Name and data members of each struct or class, those of structs in it left out."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', text, flags=re.S)
    found = []
    for m in re.finditer(r'\b(?:struct|class)\s+(\w+)[^;{()]*\{', text):
        body, depth = '', 1
        for c in text[m.end():]:
            depth += (c == '{') - (c == '}')
            if depth == 0:
                break
            # What is in braces ends a member as a semicolon does: an initial value, or a function.
            body += c if depth == 1 and c != '}' else ';'
        members = [line.strip() for line in body.split(';') if not re.search(r'\(|^\s*(struct|class|enum|union)\b', line)]
        names = (name for line in members for name in re.findall(r'[\s*&](\w+)\s*(?:=[^,]*)?(?:,|$)', line))
        found.append((m.group(1), {name.rstrip('_') for name in names}))
    return found


def part_of(path, part):
    return (ROOT / part) in path.parents


class Structure(unittest.TestCase):
    def backends(self):
        rooms = (ROOT / 'src/backend').iterdir()
        return [p.name for p in rooms if p.is_dir() and p.name not in ('contract', 'registry', 'device_code')]

    def check_includes(self, folder, allowed, reason):
        files = sources(folder)
        self.assertTrue(files, folder)
        for path in files:
            for name in included(path):
                if '.' in name and not (path.parent / name).is_file():
                    self.assertTrue(name in allowed, f'{path} includes {name}: {reason}')

    def test_frontend_includes_itself_the_contract_and_the_registry(self):
        allowed = headers('src/frontend') | headers(BASE) | headers(CONTRACT) | headers(REGISTRY) | SYSTEM
        allowed |= {'ucd.h', 'ucd_device.h', 'ucd_memory.h', 'public_lists.h'}
        self.check_includes('src/frontend', allowed, 'the frontend knows backends by the contract only')

    def test_backends_include_neither_the_frontend_nor_each_other(self):
        of_vendors = {
            'cuda': {'cuda.h', 'cuda_runtime.h'},
            'hip': {'hip/hip_runtime.h', 'hip/hip_runtime_api.h', 'hsa/hsa.h', 'cuda.h', 'cuda_fp16.h', 'cuda_runtime.h'},
            'ze': {'level_zero/loader/ze_loader.h', 'level_zero/ze_api.h'},
        }
        for backend in self.backends():
            allowed = headers(f'src/backend/{backend}') | headers(CONTRACT) | GENERATED | {'ucd.h'} | SYSTEM
            if backend == 'gpu_common':
                allowed |= {'ucd_device.h'}
            if backend in of_vendors or backend == 'gpu_common':
                # What GPU vendors share is no vendor's: it is written over their mapping.
                allowed |= headers(GPU) | {'vendor.h', 'tuning.h'} | of_vendors.get(backend, set())
            self.check_includes(f'src/backend/{backend}', allowed, 'a backend knows the contract only')

    def test_contract_includes_only_itself_and_the_public_header(self):
        self.check_includes(CONTRACT, headers(BASE) | headers(CONTRACT) | {'ucd.h'} | SYSTEM,
                            'the contract is the lowest but for what all share')

    def test_what_all_libraries_share_is_headers_over_the_public_one(self):
        self.check_includes(BASE, {'ucd.h'}, 'what all libraries share needs nothing of any of them')
        self.assertEqual({path.suffix for path in sources(BASE)}, {'.h'})

    def test_registry_includes_the_contract_only(self):
        allowed = headers(CONTRACT) | headers(REGISTRY) | {'ucd.h'} | SYSTEM
        self.check_includes(REGISTRY, allowed, 'the registry knows backends by the contract only')

    def test_rooms_include_downwards_only(self):
        for part, rooms in ROOMS.items():
            folder = ROOT / part
            self.assertEqual({p.name for p in folder.iterdir() if p.is_dir()}, set(rooms), part)
            for path in sources(part):
                level = rooms.index(path.relative_to(folder).parts[0])
                for name in included(path):
                    if (folder / name).is_file():
                        room = pathlib.PurePath(name).parts[0]
                        self.assertLessEqual(rooms.index(room), level, f'{path} includes {name}, which is above it')
                        continue
                    # No path from the part's root: then it must not be one of its files.
                    self.assertFalse((path.parent / name).is_file(), f'{path}: {name} without its path')

    def test_rooms_of_what_tests_share_include_downwards_only(self):
        folder = ROOT / 'test/support'
        self.assertEqual({p.name for p in folder.iterdir() if p.is_dir()}, set(TEST_ROOMS))
        for room in TEST_ROOMS:
            for path in sources(f'test/support/{room}'):
                for name in included(path):
                    other = name.split('/')[1] if name.count('/') > 1 and name.startswith('support/') else room
                    self.assertLessEqual(TEST_ROOMS.index(other), TEST_ROOMS.index(room),
                                         f'{path} includes {name}, which is above it')

    def test_each_file_of_tests_is_in_the_build(self):
        """A file that no meson.build names is never run, and nothing else would say so."""
        named = {'test/outside/particles.cpp'}  # a program that install_test.py builds
        # copies_test.py compiles programs itself.
        builds = [*(ROOT / 'test').rglob('meson.build'), *(ROOT / 'examples').rglob('meson.build'), ROOT / 'test/copies/copies_test.py']
        for build in builds:
            folder, text = build.parent.relative_to(ROOT), build.read_text()
            named |= {os.path.normpath(folder / name) for name in re.findall(r"'([\w./-]+\.(?:c|cpp|py))'", text)}
            if folder.name == 'fuzz':
                named |= {f'{folder}/{target}_fuzz.cpp' for target in re.findall(r"^ +'(\w+)': \{", text, re.M)}
        written = [p for p in (ROOT / 'test').rglob('*') if p.suffix in {'.c', '.cpp'} or p.name.endswith('_test.py')]
        self.assertEqual([], sorted({str(p.relative_to(ROOT)) for p in written} - named))

    def test_files_of_test_cases_have_namespaces_of_their_own(self):
        """Several are compiled as one: their names must not meet. C functions are declared outside."""
        for path in sources('test'):
            text = path.read_text()
            if not re.search(r'^(TEMPLATE_TEST_CASE|TEST_CASE(_METHOD)?|DEVICE_TEST)\(', text, re.M) or 'extern "C"' in text or 'int main(' in text:
                continue
            with self.subTest(file=str(path.relative_to(ROOT))):
                begin = text.find(f'\nnamespace {path.stem} {{\n')
                self.assertNotEqual(begin, -1)
                self.assertTrue(text.endswith(f'}} // namespace {path.stem}\n'))
                before = re.sub(r'^namespace \w+ \{$.*?^\}', '', text[:begin], flags=re.M | re.S)
                self.assertNotRegex(before, r'(?m)^(namespace|using|TEST_CASE(_METHOD)?|DEVICE_TEST|constexpr|static)\b')

    def test_frontend_speaks_of_no_device(self):
        word = re.compile(r'\b(cuda|hip|rocm|level zero|avx\d*|sse\d*)\b', re.I)
        for path in sources('src/frontend'):
            found = word.search(path.read_text())
            self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_what_gpu_vendors_share_names_none_of_them(self):
        word = re.compile(r'cuda|\bhip|nvidia|\bamd\b|\brocm', re.I)
        for path in sources(GPU):
            for name in included(path):
                self.assertIsNone(word.search(name), f'{path}: {name}')
            found = word.search(path.read_text())
            self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_params_and_plans_of_gpus_are_of_no_vendor(self):
        for room in ('params', 'plan'):
            for path in sources(f'{GPU}/{room}'):
                for name in included(path):
                    self.assertNotIn(name, ('vendor.h', 'tuning.h'), str(path))
                self.assertNotIn('UCD_GPU', re.sub(r'UCD_GPU_(CONSTANT|SIZE)', '', path.read_text()), str(path))

    def test_sides_and_range_of_a_move_are_in_one_struct(self):
        # Whoever needs them gets the Move, or one of its sides. What kernels are given cannot refer to these.
        of_a_move = {'typed', 'packed', 'plan', 'direction', 'address', 'count', 'offset', 'length', 'bytes'}
        found = set()
        for folder in (CONTRACT, 'src/frontend', 'src/backend/seq', GPU):
            for path in sources(folder):
                for name, fields in fields_of_structs(path.read_text()):
                    if len(fields & of_a_move) > 2 and not part_of(path, f'{GPU}/params'):
                        found.add(f'{path.relative_to(ROOT)}: {name}')
        self.assertEqual(found, {f'{CONTRACT}/move.h: Side'})

    def test_fields_of_structs_are_found(self):
        text = '''struct A : B { // c
            struct D { int typed; };
            char *typed = nullptr, *packed = f{1}; const Plan &plan_;
            void f(int count) const { int offset; }
            explicit A(int i) : typed(i) {}
        };'''
        self.assertEqual(fields_of_structs(text), [('A', {'typed', 'packed', 'plan'}), ('D', {'typed'})])

    def test_params_of_gpus_are_opencl_c(self):
        clang = shutil.which('clang')
        if clang is None:
            self.skipTest('no clang')
        headers_of_room = sources(f'{GPU}/params')
        text = ''.join(f'#include "params/{path.name}"\n' for path in headers_of_room)
        command = [clang, '-x', 'cl', '-cl-std=CL1.2', '-target', 'spir64', '-Wall', '-Wextra', '-Werror']
        done = subprocess.run([*command, '-fsyntax-only', '-I', ROOT / GPU, '-'], input=text, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_public_header_needs_nothing_of_ours(self):
        self.assertEqual(set(included(ROOT / 'include/ucd.h')), {'stddef.h', 'stdint.h', 'sys/uio.h', 'ucd_prefix.h'})
        self.assertEqual(set(included(ROOT / 'include/ucd_prefix.h')), set())
        self.assertEqual(set(included(ROOT / 'include/ucd_device.h')), {'ucd.h', 'ucd_device_code.h'})
        self.assertEqual(set(included(ROOT / 'include/ucd_memory.h')), {'ucd.h'})

    def test_python_is_a_client_of_the_public_header(self):
        folder = 'python/ucd/core'
        allowed = {f'core/{name}' for name in headers(folder)} | {'ucd.h', 'ucd_memory.h', 'nanobind/nanobind.h', 'nanobind/stl/string.h'}
        # Types as text and pictures are the tool's; one file knows.
        text = {'failure.hpp', 'language/build.hpp', 'language/parse.hpp', 'language/print.hpp', 'picture/svg.hpp'}
        # So are the lists of names.
        lists = {'predefined.h': 'language/constructors.hpp', 'hints.cpp': 'language/operations.hpp'}
        driver = {'dlfcn.h'}  # which looks up the GPU's
        allowed |= text | driver | set(lists.values())
        self.check_includes(folder, allowed, 'the extension knows ucd.h and ucd_memory.h only')
        for path in sources(folder):
            self.assertLessEqual(set(included(path)) & set(lists.values()), {lists.get(path.name)}, str(path))
            self.assertTrue(path.name == 'text.cpp' or not text & set(included(path)), str(path))
        of_nanobind = {'nanobind/nanobind.h', 'nanobind/stl/optional.h', 'nanobind/stl/string.h'}
        self.check_includes('python/ucd/ucx', {'ucd_ucx.h'} | of_nanobind, "UCX's extension knows ucd_ucx.h only")
        of_models = {f'routes/{name}' for name in headers('python-models/ucd_models/routes')} | {'nanobind/nanobind.h'}
        self.check_includes('python-models/ucd_models/routes', of_models, 'the extension of models knows nothing of ours')

    def test_tool_is_a_client_of_the_public_headers(self):
        # Its own headers, libraries' and C++'s; of ours, the public ones and what all share.
        ours = {str(p.relative_to(ROOT / 'src')) for p in (ROOT / 'src').rglob('*.h')}
        for part in list(ROOMS) + [CONTRACT, REGISTRY, 'src/backend/seq', 'src/backend/cuda', 'src/backend/hip',
                                   'src/backend/ze']:
            ours |= headers(part)
        for path in sources('tool'):
            for name in included(path):
                inside = (ROOT / 'tool' / name).is_file() or (path.parent / name).is_file()
                self.assertTrue(inside or name not in ours, f'{path} includes {name}')

    def test_what_is_for_ucx_is_a_client_of_the_public_headers(self):
        allowed = headers('src/ucx') | headers(BASE)
        allowed |= {'ucd.h', 'ucd_memory.h', 'ucd_ucx.h', 'ucd_ucx_rma.h', 'ucp/api/ucp.h', 'sodium.h', 'sys/uio.h'}
        # Local sockets and other processes' memory.
        allowed |= {'fcntl.h', 'linux/magic.h', 'sys/auxv.h', 'sys/mman.h', 'sys/stat.h', 'sys/vfs.h'}
        allowed |= {'poll.h', 'sys/epoll.h', 'sys/resource.h', 'sys/socket.h', 'sys/syscall.h', 'sys/types.h', 'sys/un.h',
                    'unistd.h'}
        self.check_includes('src/ucx', allowed, 'libucd-ucx is a client of ucd.h and UCP')
        self.assertEqual(set(included(ROOT / 'include/ucd_ucx.h')), {'ucd.h', 'ucp/api/ucp.h'})
        self.assertEqual(set(included(ROOT / 'include/ucd_ucx_rma.h')), {'ucd_ucx.h'})

    def test_no_process_is_named_to_access_its_memory(self):
        # After execve, its name is that of another program.
        for path in sources('src'):
            self.assertNotIn('process_vm_', path.read_text(), path)

    def test_what_is_for_mpi_is_a_client_of_the_public_headers(self):
        # heap_and_stack needs nothing of libucd; both ask it before they ask a driver.
        allowed = headers('src/mpi') | headers(BASE) | SYSTEM | {'support/heap_and_stack.h'}
        allowed |= {'calls.h', 'ucd.h', 'ucd_memory.h', 'ucd_mpi.h', 'mpi.h', 'mpi_abi.h'}
        allowed |= {f'preload/tables/{path.name}' for path in (ROOT / 'src/mpi/preload/tables').glob('*.inc')}
        self.check_includes('src/mpi', allowed, 'libucd-mpi is a client of ucd.h and MPI')
        self.assertEqual(set(included(ROOT / 'include/ucd_mpi.h')), {'ucd.h', 'mpi.h'})

    def test_the_interface_of_yaksa_is_a_client_of_the_public_headers(self):
        allowed = headers('src/yaksa') | headers(BASE) | {'ucd.h', 'ucd-yaksa/yaksa.h'} | SYSTEM
        self.check_includes('src/yaksa', allowed, 'libucd-yaksa is a client of ucd.h')
        # Programs for yaksa know nothing of ucd.h.
        self.assertEqual(set(included(ROOT / 'include/ucd-yaksa/yaksa.h')),
                         {'stdint.h', 'stdio.h', 'sys/types.h', 'sys/uio.h', 'ucd_prefix.h'})

    def test_the_library_does_not_know_of_ucx(self):
        word = re.compile(r'\b(ucx|ucp|ucs)\b', re.I)
        for folder in ('src/frontend', 'src/backend'):
            for path in sources(folder):
                # But for the prefix of the keys that libucd-ucx checks itself.
                text = re.sub(r'\bkey_families\[\] = .*', '', path.read_text())
                found = word.search(text)
                self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_nothing_includes_the_tool(self):
        # But for the language of types, which one part of the benchmark is about.
        for folder in ('src', 'include', 'bench', 'examples'):
            for path in sources(folder):
                for name in included(path):
                    if name.startswith('../'):  # beside the file
                        continue
                    if path.name != 'type_section.cpp' or not name.startswith('language/'):
                        self.assertFalse((ROOT / 'tool' / name).is_file(), f'{path} includes {name}')

    def test_a_plain_build_is_small_and_everything_is_asked_for_at_once(self):
        options = (ROOT / 'meson_options.txt').read_text()
        features = dict(re.findall(r"^option\('(\w+)', type: 'feature', value: '(\w+)'", options, re.M))
        asked_for = dict(re.findall(r"^(\w+) = '(\w+)'$", (ROOT / 'everything.ini').read_text(), re.M))
        self.assertEqual({name for name, value in features.items() if value == 'auto'}, {'tool', 'ucx'})
        self.assertEqual(asked_for, {name: 'auto' for name, value in features.items() if value == 'disabled'})

    def test_files_have_one_responsibility(self):
        for folder in ('src', 'codegen', 'test', 'include', 'tool'):
            limit = 1160 if folder == 'include' else 500
            for path in sources(folder):
                self.assertLessEqual(len(path.read_text().splitlines()), limit, str(path))


if __name__ == '__main__':
    unittest.main()
