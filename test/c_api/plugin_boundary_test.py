"""The boundary between libucd and its plugins: a plugin of another compiler and another C++ library works; one of another
contract, with wrong sizes or missing functions is refused by name; and what a plugin throws becomes a status.

Usage: plugin_boundary_test.py PROBE PLUGIN PLUGIN_SOURCE SOURCE_ROOT
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROBE, PLUGIN, SOURCE, ROOT = sys.argv[1:5]
del sys.argv[1:]
CONTRACT = os.path.join(ROOT, 'src/backend/contract')


def newest(name):
    """The program of this name with the highest version, or None."""
    numbered = [f'{name}-{version}' for version in range(30, 11, -1)]
    return next((found for found in map(shutil.which, [*numbered, name]) if found), None)


@functools.cache
def has_library(compiler, library):
    done = subprocess.run([compiler, f'-stdlib={library}', '-x', 'c++', '-', '-o', os.devnull], text=True,
                          input='#include <string>\nint main() {}\n', capture_output=True, check=False)
    return done.returncode == 0


class PluginBoundary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.plugin = os.path.join(self.folder, 'libucd_cuda.so')

    def probe(self, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith('UCD_')}
        environment |= {'UCD_PLUGIN_PATH': self.folder, **variables}
        done = subprocess.run([PROBE], env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return dict(line.split(': ', 1) for line in done.stdout.splitlines())

    def with_fault(self, fault):
        shutil.copy(PLUGIN, self.plugin)
        return self.probe(FAKE_FAULT=fault)

    def compile(self, *compiler):
        subprocess.run([*compiler, '-std=c++20', '-O1', '-fPIC', '-shared', '-fvisibility=hidden',
                        '-I', os.path.join(ROOT, 'include'), '-I', os.path.join(ROOT, 'src/base'), '-I', CONTRACT, SOURCE, '-o', self.plugin,
                        f'-Wl,--version-script={CONTRACT}/plugin.map'], check=True)

    def check_works(self, said):
        self.assertEqual((said['devices'], said['reason']), ('7', ''))
        # Text of a length that libucd does not expect, and a walk over the layout's lists, in the plugin.
        self.assertEqual(said['plan'], 'a fake' + 1000 * '!')
        self.assertEqual(said['memory'], 'cuda:0')
        for call in ('pack', 'pack_stream', 'batch', 'plan_start_stream'):
            self.assertRegex(said[call], 'a fake$', call) # a message that the plugin has worded
        for call in ('describe', 'plan_create', 'plan_start', 'wait', 'export'):
            self.assertEqual(said[call], 'done', call)

    def test_the_same_compiler(self):
        shutil.copy(PLUGIN, self.plugin)
        self.check_works(self.probe())

    def check_compiler(self, name, *options):
        compiler = newest(name)
        if compiler is None:
            self.skipTest(f'there is no {name}')
        self.compile(compiler, *options)
        self.check_works(self.probe())
        return compiler

    def test_gcc(self):
        self.check_compiler('g++')

    def test_gcc_with_a_c_plus_plus_library_of_its_own(self):
        self.check_compiler('g++', '-static-libstdc++')

    def test_gcc_with_containers_of_another_layout(self):
        self.check_compiler('g++', '-D_GLIBCXX_DEBUG', '-D_GLIBCXX_USE_CXX11_ABI=0')

    def test_clang(self):
        self.check_compiler('clang++')

    def test_clang_with_libcxx(self):
        # Any clang that has a libc++: each distribution has one for one version only.
        names = ['clang++', *(f'clang++-{version}' for version in range(30, 11, -1))]
        compiler = next((c for c in names if shutil.which(c) and has_library(c, 'libc++')), None)
        if compiler is None:
            self.skipTest('there is no clang++ with libc++ (Debian: clang libc++-dev libc++abi-dev)')
        self.compile(compiler, '-stdlib=libc++')
        self.check_works(self.probe())
        for fault in ('plan throws', 'launch has no memory', 'poll throws a number'):
            self.check_thrown(self.probe(FAKE_FAULT=fault), fault)

    def test_only_the_entry_is_exported(self):
        nm = shutil.which('nm')
        if nm is None:
            self.skipTest('there is no nm')
        listed = subprocess.run([nm, '-D', '--defined-only', PLUGIN], capture_output=True, text=True, check=True)
        self.assertEqual([line.split()[-1] for line in listed.stdout.splitlines()], ['ucd_open_plugin'])

    def test_what_does_not_fit_is_refused_by_name(self):
        refusals = {
            'newer contract': r'it has version (\d+) of the plugin contract; libucd has \d+',
            'request of another size': r'PluginRequest has \d+ bytes in it, and \d+ in libucd',
            'another struct': r'KernelPlanFunctions has \d+ bytes in it; libucd has Matrix with \d+',
            'silent refusal': 'it does not say why',
            'answer of another contract': r'its answer has version \d+ of the plugin contract; libucd has \d+',
            'answer of another size': r'Plugin has \d+ bytes in it; libucd has \d+',
            'no create': 'it has no function create',
            'no table': 'it has no PreparedLaunchFunctions',
            'no version': 'it has no version',
            'tiny table': r'BackendFunctions has \d+ bytes in it; libucd has \d+',
            'huge table': r'BackendFunctions has \d+ bytes in it; libucd has \d+',
            'half a function': r'BackendFunctions has \d+ bytes in it; libucd has \d+',
            'short table of plans': r'KernelPlanFunctions has \d+ bytes in it; libucd has \d+',
            'no launch_made': 'its BackendFunctions have no function launch_made',
            'no poll': 'its EventFunctions have no function poll',
        }
        structs = re.findall(r'CrossingStruct\{"(\w+)"', pathlib.Path(CONTRACT, 'plugin.h').read_text(encoding='ascii'))
        self.assertGreater(len(structs), 19)
        refusals |= {f'a larger {name}': rf'{name} has \d+ bytes in it; libucd has {name} with \d+' for name in structs}
        for fault, reason in refusals.items():
            with self.subTest(fault):
                said = self.with_fault(fault)
                self.assertEqual(said['devices'], '0')
                self.assertRegex(said['reason'], r'libucd_cuda\.so does not fit this libucd: ' + reason + '$')

    OF_THE_PLUGIN = 'backend cuda has no plans for device code$' # what it says if it is asked
    MISSING = r'backend cuda cannot do this: its plugin is of UCD 0\.9\.7, and libucd of \d+\.\d+\.\d+$'

    def test_an_older_plugin_does_what_it_can(self):
        for fault in 'older', 'other device plans':
            with self.subTest(fault):
                said = self.with_fault(fault)
                self.check_works(said)
                self.assertRegex(said['device_plan'], self.MISSING)
        # One that has other functions added since tells no device's identity.
        for fault in 'older', 'without identities', 'device_identity throws':
            with self.subTest(fault):
                said = self.with_fault(fault)
                self.check_works(said)
                self.assertRegex(said['get_device'], 'the device of handle is not known$')
        # One without most functions.
        said = self.with_fault('much older')
        self.assertEqual((said['devices'], said['reason'], said['describe']), ('7', '', 'done'))
        for call in 'pack', 'pack_stream', 'device_plan':
            self.assertRegex(said[call], self.MISSING, call)

    def test_a_newer_plugin_works(self):
        for fault in 'newer', 'more structs', 'fewer structs':
            with self.subTest(fault):
                said = self.with_fault(fault)
                self.check_works(said)
                self.assertRegex(said['device_plan'], self.OF_THE_PLUGIN)
                self.assertEqual(said['get_device'], 'done')

    def test_a_library_that_is_no_plugin(self):
        empty = os.path.join(self.folder, 'empty.c')
        pathlib.Path(empty).write_text('int ucd_plugin;\n', encoding='ascii')
        subprocess.run(['cc', '-shared', '-fPIC', empty, '-o', self.plugin], check=True)
        self.assertRegex(self.probe()['reason'], 'has no function ucd_open_plugin: it is no plugin of UCD 0.3 or later$')

    # Which call reports an exception of a function, if it has a status.
    CALLS = {
        'probe': 'reason', 'inspect': 'inspect', 'create': 'reason', 'plan': 'pack', 'find': 'get_memory',
        'launch': 'pack', 'poll': 'wait',
    }
    MESSAGES = {'throws': 'a fake {}', 'has no memory': 'out of memory',
                'throws a number': 'an exception that is no std::exception'}

    def check_thrown(self, said, fault):
        function, how = fault.split(' ', 1)
        self.assertRegex(said[self.CALLS[function]], self.MESSAGES[how].format(function) + '$')

    def test_what_a_plugin_throws_becomes_a_status(self):
        for function in self.CALLS:
            for how in self.MESSAGES:
                fault = f'{function} {how}'
                with self.subTest(fault):
                    self.check_thrown(self.with_fault(fault), fault)

    def test_an_answer_without_a_status_is_no(self):
        said = self.with_fault('reaches throws')
        self.assertNotEqual(said['pack'], 'done')


if __name__ == '__main__':
    unittest.main()
