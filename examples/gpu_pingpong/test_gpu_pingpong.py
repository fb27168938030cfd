"""Runs gpu_pingpong with threads for GPUs, and what it refuses."""

import os
import subprocess
import sys
import unittest

WITH_THREADS, REAL = sys.argv[1:3]
del sys.argv[1:3]


def run(*options, program=WITH_THREADS, **environment):
    backend = () if program == REAL else ('--backend', 'hostgpu')
    return subprocess.run([program, *backend, *options], capture_output=True, text=True, timeout=100,
                          check=False, env=os.environ | {'UCX_LOG_LEVEL': 'error'} | environment)


class GpuPingpong(unittest.TestCase):
    def table(self, *options, **environment):
        done = run('--repeat', '3', *options, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()[2:]]
        self.assertTrue(lines)
        for line in lines:
            self.assertGreater(float(line[6]), 0, line)
        return lines

    def test_all_layouts_by_both_paths(self):
        for transports in ('sm,self', 'tcp,self'):
            lines = self.table('--bytes', '300k,70k', '--fragment', '32k', UCX_TLS=transports)
            self.assertEqual(len(lines), 6 * 2 * 2)
            for line in lines:
                self.assertEqual(line[1], line[2], line)  # the path that was asked for
                self.assertEqual(len(line), 11)
            self.assertEqual({line[0] for line in lines},
                             {'vector', 'indexed', 'contiguous-to-vector', 'transpose', 'faces', 'struct'})

    def test_direct(self):
        lines = self.table('--layout', 'vector,indexed', '--path', 'direct,auto', '--bytes', '300k', '--block', '4k',
                           '--stride', '16k')
        self.assertEqual([line[1] for line in lines], ['auto', 'direct'] * 2)
        self.assertEqual({line[2] for line in lines if line[1] == 'direct'}, {'direct'})

    # With Level Zero's loader and the driver for tests, if the build has them: device memory is shared as file
    # descriptors.
    @unittest.skipUnless('ZE_ENABLE_ALT_DRIVERS' in os.environ, 'no driver for tests')
    def test_level_zero(self):
        done = run('--backend', 'ze', '--repeat', '1', '--layout', 'vector,transpose', '--bytes', '300k',
                   '--fragment', '32k', '--only-pipeline', program=REAL, UCX_TLS='sm,self',
                   UCD_LOG_LEVEL='error')
        for reason in ('not available', 'insufficient permissions'):  # none to look into another process
            if reason in done.stderr:
                self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()[2:]]
        self.assertEqual([line[:3] for line in lines],
                         [[layout, path, path] for layout in ('vector', 'transpose') for path in ('ring', 'host')])

    def test_several_fragments_and_depths(self):
        lines = self.table('--layout', 'transpose', '--path', 'ring', '--bytes', '1m', '--fragment',
                           '64k,1m', '--depth', '1,8', '--only-pipeline')
        self.assertEqual([(line[4], line[5]) for line in lines],
                         [('65536', '1'), ('65536', '8'), ('1048576', '1'), ('1048576', '8')])

    def test_blocks_that_are_far_apart(self):
        lines = self.table('--layout', 'vector', '--bytes', '300k', '--block', '16', '--stride', '136', '--path', 'ring')
        self.assertEqual([line[1:3] for line in lines], [['ring', 'ring']])

    def test_devices_that_do_not_reach_each_other(self):
        lines = self.table('--devices', '0,1', '--layout', 'vector', '--bytes', '300k')
        self.assertEqual([line[1:3] for line in lines], [['ring', 'host'], ['host', 'host']])

    def test_wrong_usage(self):
        for options in (['--path', 'by-mail'], ['--bytes', '12x'], ['--devices', '1'],
                        ['--layout', 'vector,'], ['--depth', '0'], ['--block', '12'], ['--huh'],
                        ['--memory', 'mine'], ['--piece', '1m'], ['--block', '16', '--stride', '8'],
                        ['what']):
            done = run(*options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn('gpu_pingpong', done.stderr)
        self.assertEqual(run('--help').returncode, 0)

    def test_failures_are_told(self):
        done = run('--devices', '0,7', '--bytes', '100k')
        self.assertEqual(done.returncode, 1)
        self.assertIn('device 7', done.stderr)
        self.assertEqual(run('--memory', 'vmm', '--bytes', '100k', '--layout', 'vector').returncode, 1)

    @unittest.skipIf(os.path.exists('/dev/nvidiactl'), 'there is a GPU')
    def test_without_a_gpu(self):
        done = run('--bytes', '100k', program=REAL)
        self.assertEqual(done.returncode, 1)
        self.assertIn('not available', done.stderr)


if __name__ == '__main__':
    unittest.main()
