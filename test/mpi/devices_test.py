"""libucd-mpi-preload with device memory: threads are devices, whose memory faults when the host touches it.

    devices_test.py LAUNCHER EXCHANGE COLLECTIVES LAUNCHES FAILING COUNTER PLANS PRELOAD UCD_ON_THREADS
"""

import pathlib
import re
import sys
import unittest

from launched import Launcher, taken_over

run = Launcher(sys.argv[1])
EXCHANGE, COLLECTIVES, LAUNCHES, FAILING, COUNTER, PLANS, PRELOAD, UCD_ON_THREADS = (
    str(pathlib.Path(path).resolve()) for path in sys.argv[2:])
del sys.argv[1:]


class Devices(unittest.TestCase):
    """With threads as devices, whose memory faults when the host reads it."""
    LIBRARIES = f'LD_PRELOAD={UCD_ON_THREADS}:{PRELOAD}'

    def test_all_messages_arrive(self):
        text = run('env', self.LIBRARIES, EXCHANGE, '60', UCD_TEST_DEVICE='hostgpu:0', UCD_MPI_STATS='1')
        self.assertIn('all messages arrived', text)
        # By MPI itself: messages from and to host memory.
        self.assertGreater(taken_over(text)['Bsend_init'], 50)

    def test_collective_calls(self):
        for processes in (2, 3):
            text = run('env', self.LIBRARIES, COLLECTIVES, processes=processes, UCD_TEST_DEVICE='hostgpu:0')
            self.assertIn('all results agree', text)

    def test_persistent_requests_hold_plans(self):
        text = run('env', f'LD_PRELOAD={PLANS}:{UCD_ON_THREADS}:{PRELOAD}', EXCHANGE, '0', UCD_TEST_DEVICE='hostgpu:0')
        counts = re.findall(r'plans: (\d+) made, (\d+) starts, (\d+) freed', text)
        made, starts, freed = (sum(map(int, column)) for column in zip(*counts))
        self.assertEqual(freed, made)
        # Four sends of either process are started sixty times. What is received together is unpacked without plans.
        self.assertGreaterEqual(starts, 2 * 4 * 60)
        self.assertGreater(made, 2 * 4)

    def test_nothing_changes_in_host_memory(self):
        text = run('env', self.LIBRARIES, EXCHANGE, '20', UCD_MPI_STATS='1')
        self.assertIn('all messages arrived', text)

    COPIED_BY_MPI = {'Bsend', 'Ibsend', 'Bsend_init', 'Sendrecv_replace', 'Isendrecv_replace'}

    # Such an MPI library is any, if the host can read the memory of these devices.
    READ = {'UCD_TEST_DEVICE': 'hostgpu:0', 'UCD_TEST_DEVICE_IS_READ': '1', 'UCD_MPI_GPU_AWARE': '1', 'UCD_MPI_STATS': '1'}

    def test_one_launch_for_all_that_is_unpacked(self):
        for environment in ({'UCD_TEST_DEVICE': 'hostgpu:0', 'UCD_MPI_STATS': '1'}, self.READ):
            text = run('env', self.LIBRARIES, LAUNCHES, processes=3, **environment)
            self.assertIn('all launches are as expected', text)
            # Three calls, of 100 ints for each of three processes, in the last for two of them, packed and unpacked.
            self.assertEqual(text.count('MPI_Alltoallw: 3 taken over, 6400 bytes; 0 left'), 3, text)
            self.assertEqual(text.count('MPI_Pack: 3 taken over, 1200 bytes; 0 left'), 3, text)
            self.assertEqual(text.count('MPI_Unpack: 3 taken over, 1200 bytes; 0 left'), 3, text)

    def test_what_fails_is_told(self):
        for environment in ({'UCD_TEST_DEVICE': 'hostgpu:0'}, self.READ):
            self.assertIn('all failures are told', run('env', self.LIBRARIES, FAILING, **environment))

    def packed_on_device(self, text):
        return sum(int(count) for count in re.findall(r'(\d+) packed on a device', text))

    def test_an_mpi_that_reads_devices_gets_packed_device_memory(self):
        text = run('env', self.LIBRARIES, EXCHANGE, '20', **self.READ) # no table: on the device
        self.assertIn('all messages arrived', text)
        self.assertGreater(self.packed_on_device(text), 100)
        # What MPI copies within its process goes through the host, though this one's could read the device.
        calls = set(re.findall(r'MPI_(\w+): .* packed on a device', text))
        self.assertGreater(calls, {'Send', 'Ssend', 'Isend', 'Irecv', 'Send_init', 'Recv', 'Sendrecv'})
        self.assertEqual(calls & self.COPIED_BY_MPI, set())
        self.assertGreater(min(taken_over(text)[call] for call in self.COPIED_BY_MPI & set(taken_over(text))), 0)
        text = run('env', self.LIBRARIES, COLLECTIVES, processes=3, UCD_MPI_GPU_WAY='device', **self.READ)
        self.assertIn('all results agree', text)
        self.assertGreater(self.packed_on_device(text), 50)
        copied = []
        for way in ('device', 'host', 'mpi'):
            text = run('env', self.LIBRARIES, EXCHANGE, '0', UCD_MPI_GPU_WAY=way, **self.READ)
            self.assertIn('all messages arrived', text)
            self.assertEqual(self.packed_on_device(text) > 0, way == 'device')
            copied.append([taken_over(text).get(call) for call in self.COPIED_BY_MPI])
        self.assertEqual(copied, [copied[0]] * 3) # whatever the way
        self.assertIn('UCD_MPI_GPU_WAY is best; it must be device, host or mpi',
                      run('env', self.LIBRARIES, EXCHANGE, '0', UCD_MPI_GPU_WAY='best', **self.READ))

    def test_ways_by_table_and_setting(self):
        calls = ('Send', 'Irecv', 'Alltoall', 'Sendrecv_replace', 'Sendrecv', 'Isend', 'Recv')
        left = (0, 1, 0)

        def check(*expected, contiguous=left, **environment):
            """Of each call: how many were taken over, how many left to MPI, how many messages were packed on the device."""
            text = run('env', self.LIBRARIES, LAUNCHES, 'ways', processes=3, **self.READ | {'UCD_MPI_ALWAYS': '0'} | environment)
            lines = re.findall(r'MPI_(\w+): (\d) taken over, \d+ bytes; (\d) left to MPI(?:; (\d) packed)?', text)
            counted = {(call, *(int(count or 0) for count in counts)) for call, *counts in lines}
            self.assertEqual(counted, {(call, *counts) for call, counts in zip(calls, (*expected, contiguous, left, left))}, text)

        # 8 KiB through the host, also for each of several processes; 64 KiB on the device.
        check((2, 0, 1), (2, 0, 1), (1, 0, 0), (1, 0, 0))
        check((2, 0, 2), (2, 0, 2), (1, 0, 2), (1, 0, 0), UCD_MPI_GPU_WAY='device')
        check((2, 0, 0), (2, 0, 0), (1, 0, 0), (1, 0, 0), UCD_MPI_GPU_WAY='host')
        check((2, 0, 0), (2, 0, 0), (1, 0, 0), (1, 0, 0), contiguous=(1, 0, 0), UCD_MPI_GPU_AWARE='0')
        for always in '01':
            check((0, 2, 0), (0, 2, 0), (0, 1, 0), (1, 0, 0), UCD_MPI_GPU_WAY='mpi', UCD_MPI_ALWAYS=always)

    def test_no_message_hides_its_device(self):
        for way in ('device', 'mpi'):
            text = run('env', f'{self.LIBRARIES}:{COUNTER}', EXCHANGE, '150', UCD_MPI_GPU_WAY=way, **self.READ)
            self.assertIn('all messages arrived', text)
            self.assertEqual(re.findall(r': (\d+) messages hide their device', text), ['0', '0'])

    def test_a_device_without_memory_for_packed_messages(self):
        libraries = f'LD_PRELOAD={PLANS}:{UCD_ON_THREADS}:{PRELOAD}'
        for has, taken in (('refuse', False), ('some', True)):
            text = run('env', libraries, EXCHANGE, '0', UCD_MPI_GPU_WAY='device', UCD_TEST_DEVICE_MEMORY=has, **self.READ)
            self.assertIn('all messages arrived', text)
            self.assertEqual(text.count('no memory on hostgpu:0 to pack a message'), 2, text)
            self.assertEqual(self.packed_on_device(text) > 0, taken)
            self.assertNotIn('bytes on a device', text)

    def test_contiguous_data_is_left_to_an_mpi_that_reads_devices(self):
        text = run('env', self.LIBRARIES, EXCHANGE, '0', UCD_TEST_DEVICE='hostgpu:0', UCD_MPI_GPU_AWARE='1', status=1)
        self.assertRegex(text, '(?i)segmentation fault|signal 11')
        text = run('env', self.LIBRARIES, EXCHANGE, '0', UCD_TEST_DEVICE='hostgpu:0', UCD_MPI_GPU_AWARE='maybe')
        self.assertIn('all messages arrived', text)
        self.assertIn('UCD_MPI_GPU_AWARE is maybe; it must be 0 or 1', text)


if __name__ == '__main__':
    unittest.main()
