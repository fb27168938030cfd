"""The house rules that the compiler does not see: who includes whom, and what stays out of a room."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob('*') if p.suffix in {'.h', '.hpp', '.cpp', '.c'})


def included(path):
    return INCLUDE.findall(path.read_text())


def names(folder):
    return {p.name for p in sources(folder)}


class Structure(unittest.TestCase):
    def check(self, folder, forbidden, reason):
        files = sources(folder)
        self.assertTrue(files, folder)
        for path in files:
            for name in included(path):
                self.assertNotIn(pathlib.PurePath(name).name, forbidden, f'{path}: {reason}')

    def backends(self):
        rooms = (ROOT / 'src/backend').iterdir()
        return [p.name for p in rooms if p.is_dir() and p.name not in ('contract', 'registry')]

    def test_frontend_includes_no_backend(self):
        for backend in self.backends():
            self.check('src/frontend', names(f'src/backend/{backend}'),
                       'the frontend knows backends by the contract only')

    def test_backends_include_neither_the_frontend_nor_each_other(self):
        for backend in self.backends():
            # Some headers of gpu_common are called as the frontend's are: their own come first.
            self.check(f'src/backend/{backend}',
                       names('src/frontend') - names('src/backend/gpu_common'),
                       'a backend knows the contract only')
            # What GPU vendors share is no vendor's.
            for other in set(self.backends()) - {backend, 'gpu_common'}:
                only_there = names(f'src/backend/{other}') - names(f'src/backend/{backend}')
                only_there -= {'vendor.h'}  # each vendor has its own
                self.check(f'src/backend/{backend}', only_there, 'no backend includes another')

    def test_contract_includes_only_itself_and_the_public_header(self):
        allowed = names('src/backend/contract') | {'ucd.h', 'contract_id.h'}
        for path in sources('src/backend/contract'):
            for name in included(path):
                if '.' in name:
                    self.assertIn(name, allowed, str(path))

    def test_frontend_speaks_of_no_device(self):
        word = re.compile(r'\b(cuda|hip|rocm|level zero|avx\d*|sse\d*)\b', re.I)
        for path in sources('src/frontend'):
            found = word.search(path.read_text())
            self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_what_gpu_vendors_share_names_none_of_them(self):
        word = re.compile(r'cuda|\bhip|nvidia|\bamd\b|rocm', re.I)
        for path in sources('src/backend/gpu_common'):
            for name in included(path):
                self.assertIsNone(word.search(name), f'{path}: {name}')
            found = word.search(path.read_text())
            self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_public_header_needs_nothing_of_ours(self):
        self.assertEqual(set(included(ROOT / 'include/ucd.h')), {'stddef.h', 'stdint.h', 'sys/uio.h'})
        self.assertEqual(set(included(ROOT / 'include/ucd_memory.h')), {'ucd.h'})

    def test_core_depends_on_the_standard_library_only(self):
        known = names('src') | {'ucd.h', 'ucd_memory.h', 'kernels.h', 'contract_id.h', 'registry.def', 'dlfcn.h', 'unistd.h', 'sys/uio.h',
                                 'emmintrin.h', 'immintrin.h'}
        known = {pathlib.PurePath(k).name for k in known}
        of_vendors = {'cuda': {'cuda.h', 'cuda_runtime.h'}, 'ucx': {'ucp.h', 'sodium.h', 'ucd_ucx.h', 'ucd_ucx_rma.h'}}
        for path in sources('src'):
            allowed = known | of_vendors.get(path.parent.name, set())
            for name in included(path):
                if '.' in name:
                    self.assertIn(pathlib.PurePath(name).name, allowed, str(path))

    def test_tool_is_a_client_of_the_public_headers(self):
        ours = {str(p.relative_to(ROOT / 'tool')) for p in sources('tool')} | {'ucd.h', 'ucd.hpp'}
        for path in sources('tool'):
            for name in included(path):
                inside = (ROOT / 'src').rglob(pathlib.PurePath(name).name)
                self.assertTrue(name in ours or not list(inside), f'{path} includes {name}')

    def test_what_is_for_ucx_is_a_client_of_the_public_headers(self):
        allowed = {p.name for p in sources('src/ucx')} | {'ucd.h', 'ucd_memory.h', 'ucd_ucx.h', 'ucd_ucx_rma.h',
                                                            'ucp/api/ucp.h', 'sodium.h', 'sys/uio.h'}
        self.assertIn('pipeline.h', allowed)
        for path in sources('src/ucx'):
            for name in included(path):
                if '.' in name:
                    self.assertIn(name, allowed, str(path))
        self.assertEqual(set(included(ROOT / 'include/ucd_ucx.h')), {'ucd.h', 'ucp/api/ucp.h'})
        self.assertEqual(set(included(ROOT / 'include/ucd_ucx_rma.h')), {'ucd_ucx.h'})

    def test_the_library_does_not_know_of_ucx(self):
        word = re.compile(r'\b(ucx|ucp|ucs)\b', re.I)
        for folder in ('src/frontend', 'src/backend'):
            for path in sources(folder):
                found = word.search(path.read_text())
                self.assertIsNone(found, f'{path}: {found and found.group()}')

    def test_nothing_includes_the_tool(self):
        # But for the language of types, which one part of the benchmark is about.
        for folder in ('src', 'include', 'bench', 'examples'):
            for path in sources(folder):
                for name in included(path):
                    if path.name != 'type_section.cpp' or not name.startswith('language/'):
                        self.assertFalse((ROOT / 'tool' / name).is_file(),
                                         f'{path} includes {name}')

    def test_files_have_one_responsibility(self):
        for folder in ('src', 'codegen', 'test', 'include', 'tool'):
            limit = 800 if folder == 'include' else 500
            for path in sources(folder):
                self.assertLessEqual(len(path.read_text().splitlines()), limit, str(path))


if __name__ == '__main__':
    unittest.main()
