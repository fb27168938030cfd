"""Programs with more rights than who started them load no plugin that the environment names.

Usage: plugin_trust_test.py PROBE PLUGIN
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROBE, GOOD = sys.argv[1:3]
del sys.argv[1:]


class PluginTrust(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.folder = room.name
        os.chmod(self.folder, 0o755)

    def probe(self, plugin, program=PROBE, **variables):
        """What the program prints, with this plugin in the folder that the environment names."""
        file = os.path.join(self.folder, 'libucd_cuda.so')
        shutil.copy(plugin, file)
        os.chmod(file, 0o755)
        environment = {k: v for k, v in os.environ.items() if not k.startswith('UCD_')}
        environment |= {'UCD_PLUGIN_PATH': self.folder, **variables}
        done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60,
                              check=True)
        return dict(line.split(': ', 1) for line in done.stdout.splitlines())

    def test_other_programs_load_it(self):
        said = self.probe(GOOD)
        self.assertEqual((said['devices'], said['reason']), ('7', ''))

    def test_the_environment_names_none_to_a_program_with_more_rights(self):
        if os.geteuid() != 0:
            self.skipTest('only root can make a program that runs as somebody else')
        # Not where the plugin is: there a backend may always lie.
        os.mkdir(os.path.join(self.folder, 'bin'))
        os.chmod(os.path.join(self.folder, 'bin'), 0o755)
        program = os.path.join(self.folder, 'bin', 'probe')
        shutil.copy(PROBE, program)
        os.chmod(program, 0o755)
        # As it is, the copy loads the plugin and reads the hints.
        self.assertEqual(self.probe(GOOD, program)['devices'], '7')
        self.assertIn('UCD_THREADS is "no"', self.probe(GOOD, program, UCD_THREADS='no')['init'])
        self.assertIn('UCD_LOG_LEVEL', self.probe(GOOD, program, UCD_LOG_LEVEL='no')['init'])
        nobody = 65534
        os.chown(program, nobody, nobody)
        os.chmod(program, 0o4755)
        said = self.probe(GOOD, program)
        if said['secure'] == '0':
            self.skipTest('set-user-id has no effect here')
        self.assertEqual(said['devices'], '0')
        self.assertIn('was not found', said['reason'])
        for variable in ('UCD_THREADS', 'UCD_LOG_LEVEL', 'UCD_INBUF'):
            self.assertEqual(self.probe(GOOD, program, **{variable: 'no'})['init'], 'done')


if __name__ == '__main__':
    unittest.main()
