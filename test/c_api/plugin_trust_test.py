"""Whose plugins a program loads: those of the folder that the build fixes and of UCD_PLUGIN_PATH, and, if libucd is a shared
library, those beside its file. A program with more rights than who started it has no device backend.

Usage: plugin_trust_test.py FIXED_FOLDER PLUGIN LIBUCD LIBRARY STATIC SHARED INSIDE BUILT_IN NO_FOLDER NO_PLUGINS: the folder;
the plugin of the tests; a libucd, and a library that has libucd in it; and programs with libucd in them, with LIBUCD, with
LIBRARY, with a backend that is no plugin, with a libucd for which the build fixes no folder, and with one that was built
without the loader of plugins.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FIXED, PLUGIN, LIBUCD, LIBRARY, STATIC, SHARED, INSIDE, BUILT_IN, NO_FOLDER, NO_PLUGINS = (
    pathlib.Path(path).absolute() for path in sys.argv[1:11])
del sys.argv[1:]
BACKENDS = ('cuda', 'hip', 'ze')
NOBODY = 65534
NOT_FOUND = 'libucd_{}.so was not found in {}; install it there, or name its folder in UCD_PLUGIN_PATH'
NOT_IN_PATH = 'libucd_{}.so was not found in the folders of UCD_PLUGIN_PATH: {}'
MORE_RIGHTS = 'a program with more rights than the user who started it has no device backends'


class PluginTrust(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.room.chmod(0o755)
        self.remove_fixed()
        self.addCleanup(self.remove_fixed)

    def remove_fixed(self):
        shutil.rmtree(FIXED, ignore_errors=True)

    def folder(self, name, *files, plugins=True):
        """A folder with copies of these files, and with plugins or, in their place, files that cannot be loaded."""
        folder = FIXED if name is FIXED else self.room / name
        folder.mkdir(mode=0o755)
        for file in files:
            shutil.copy(file, folder)
        for backend in BACKENDS:
            place = folder / f'libucd_{backend}.so'
            if plugins:
                shutil.copy(PLUGIN, place)
            else:
                place.write_text('no library', encoding='ascii')
        return folder

    def probe(self, program, *arguments, called=None, cwd='/', user=None, **variables):
        """What the program prints, which this user starts by this name."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(('UCD_', 'LD_LIBRARY_PATH'))} | variables
        done = subprocess.run([called or program, *arguments], executable=program, cwd=cwd, env=environment,
                              user=user, capture_output=True, text=True, timeout=60, check=True)
        return dict(line.split(': ', 1) for line in done.stdout.splitlines())

    def assert_loads(self, *arguments, **settings):
        for backend in BACKENDS:
            program, *more = arguments
            said = self.probe(program, backend, *more, **settings)
            self.assertEqual((said['devices'], said['reason']), ('7', ''), backend)

    def assert_lacks(self, reason, *arguments, **settings):
        """No backend is there, and this is the reason, with the backend's name."""
        for backend in BACKENDS:
            program, *more = arguments
            said = self.probe(program, backend, *more, **settings)
            self.assertEqual((said['devices'], said['reason']), ('0', reason.format(backend)))

    def assert_looks_only_in(self, folder, *arguments, **settings):
        self.assert_lacks(NOT_FOUND.format('{}', folder), *arguments, **settings)

    def test_the_environment_names_folders(self):
        folder = self.folder('plugins')
        for program in STATIC, SHARED, INSIDE:
            self.assert_loads(program, UCD_PLUGIN_PATH=f'/nowhere:{folder}')
        # Only these.
        self.folder(FIXED)
        self.assert_lacks(NOT_IN_PATH.format('{}', '/nowhere, /there'), SHARED, UCD_PLUGIN_PATH='/nowhere:/there')
        for path in '', ':':
            self.assert_lacks('UCD_PLUGIN_PATH is set, and names no folder', SHARED, UCD_PLUGIN_PATH=path)

    def test_the_build_fixes_a_folder(self):
        self.folder(FIXED)
        for program in STATIC, SHARED, INSIDE:
            self.assert_loads(program)

    def test_a_plugin_is_added_later(self):
        # As a package adds it to a libucd that was built on a machine without a GPU.
        self.assert_looks_only_in(FIXED, STATIC)
        self.folder(FIXED)
        self.assert_loads(STATIC)
        folder = self.folder('app', LIBUCD)
        for backend in BACKENDS:
            (folder / f'libucd_{backend}.so').unlink()
        self.remove_fixed()
        self.assert_looks_only_in(f'{folder}, {FIXED}', SHARED, LD_LIBRARY_PATH=str(folder))
        for backend in BACKENDS:
            shutil.copy(PLUGIN, folder / f'libucd_{backend}.so')
        self.assert_loads(SHARED, LD_LIBRARY_PATH=str(folder))

    def test_the_build_may_fix_no_folder(self):
        self.assert_lacks('this libucd was built without a folder for plugins (UCD_PLUGIN_DIR); name one with libucd_{}.so in '
                          'UCD_PLUGIN_PATH', NO_FOLDER)
        self.assert_loads(NO_FOLDER, UCD_PLUGIN_PATH=str(self.folder('plugins')))

    def test_the_loader_may_be_left_out(self):
        folder = self.folder(FIXED)
        for variables in {}, {'UCD_PLUGIN_PATH': str(folder)}:
            self.assert_lacks('this libucd was built without the loader of plugins (UCD_NO_PLUGINS)', NO_PLUGINS, **variables)
        nm = shutil.which('nm')
        if nm is None:
            self.skipTest('there is no nm')
        for program, calls in (STATIC, True), (NO_PLUGINS, False):
            needed = subprocess.run([nm, '-D', '--undefined-only', program], capture_output=True, text=True, check=True)
            self.assertEqual('dlopen' in needed.stdout, calls, program)

    def test_static_code_does_not_look_beside_itself(self):
        folder = self.folder('app', STATIC, INSIDE, LIBRARY)
        with_library = {'LD_LIBRARY_PATH': str(folder)}
        for program in STATIC, INSIDE:
            copy = folder / program.name
            for called in (copy, program.name, './' + program.name):
                self.assert_looks_only_in(FIXED, copy, called=called, cwd=folder, **with_library)
        self.assert_looks_only_in(FIXED, folder / INSIDE.name, cwd=folder, LD_LIBRARY_PATH='.')

    def test_the_current_folder_is_nothing_to_it(self):
        folder = self.folder('downloads')
        for program in STATIC, SHARED, INSIDE:
            beside = '' if program != SHARED else f'{LIBUCD.parent}, '
            for called in (program.name, './' + program.name):
                self.assert_looks_only_in(f'{beside}{FIXED}', program, called=called, cwd=folder)

    def test_shared_code_looks_beside_its_file(self):
        folder = self.folder('app', LIBUCD)
        self.assert_loads(SHARED, LD_LIBRARY_PATH=str(folder))
        self.assert_loads(SHARED, LD_LIBRARY_PATH='app', cwd=self.room)
        # Before it looks where the build says.
        self.folder(FIXED, plugins=False)
        self.assert_loads(SHARED, LD_LIBRARY_PATH=str(folder))
        # Also where another folder has the relative path by then.
        other = self.folder('other', plugins=False)
        self.assert_loads(SHARED, other, LD_LIBRARY_PATH='.', cwd=folder)
        # Where the file is, not a link to it.
        links = self.folder('links', plugins=False)
        (links / LIBUCD.name).symlink_to(folder / LIBUCD.name)
        self.assert_loads(SHARED, LD_LIBRARY_PATH=str(links))

    def test_shared_code_looks_beside_no_file_that_is_not_certain(self):
        library = self.folder('gone', LIBUCD) / LIBUCD.name
        for backend in BACKENDS:
            said = self.probe(SHARED, backend, '/', library, LD_LIBRARY_PATH=str(library.parent))
            self.assertEqual(said['reason'], NOT_FOUND.format(backend, FIXED))
            shutil.copy(LIBUCD, library)
        # What the kernel writes for a line feed.
        self.folder('line\\012feed')
        feed = self.folder('line\nfeed', LIBUCD, plugins=False)
        self.assert_looks_only_in(FIXED, SHARED, LD_LIBRARY_PATH=str(feed))
        # As /tmp is, where anyone may add a file.
        shared = self.folder('shared', LIBUCD)
        shared.chmod(0o1777)
        self.assert_looks_only_in(FIXED, SHARED, LD_LIBRARY_PATH=str(shared))

    def with_more_rights(self, program):
        """A copy of the program that runs as root whoever starts it, in a folder with plugins. Root can read the libraries
        wherever the build is."""
        if os.geteuid() != 0:
            self.skipTest('only root can make a program that runs as somebody else')
        copy = self.folder(f'rights_of_{program.name}', program) / program.name
        copy.chmod(0o4755)
        if self.probe(copy, user=NOBODY)['secure'] == '0':
            self.skipTest('set-user-id has no effect here')
        return copy

    def test_a_program_with_more_rights_has_no_plugin(self):
        folder = self.folder(FIXED)
        for program in STATIC, SHARED, INSIDE:
            copy = self.with_more_rights(program)
            for backend in BACKENDS:
                for settings in ({}, {'UCD_PLUGIN_PATH': str(folder)}, {'called': program.name, 'cwd': copy.parent}):
                    said = self.probe(copy, backend, user=NOBODY, **settings)
                    self.assertEqual((said['devices'], said['reason']), ('0', MORE_RIGHTS), backend)

    def test_a_program_with_more_rights_has_no_backend_that_is_built_in(self):
        self.assertEqual(self.probe(BUILT_IN, 'mock')['reason'], '')
        said = self.probe(self.with_more_rights(BUILT_IN), 'mock', user=NOBODY)
        self.assertEqual((said['devices'], said['reason']), ('0', MORE_RIGHTS))

    def test_a_program_with_more_rights_reads_no_variables(self):
        copy = self.with_more_rights(STATIC)
        for variable in ('UCD_THREADS', 'UCD_LOG_LEVEL', 'UCD_INBUF'):
            self.assertIn(variable, self.probe(STATIC, **{variable: 'no'})['init'])
            self.assertEqual(self.probe(copy, user=NOBODY, **{variable: 'no'})['init'], 'done')


if __name__ == '__main__':
    unittest.main()
