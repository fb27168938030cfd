"""libucd-mpi-preload with programs of two processes.

    preload_test.py NAME VERSION LAUNCHER EXCHANGE COLLECTIVES STRESS LARGE DECISIONS COUNTER DRIVER... PLANS EXTENSION PRELOAD [FORTRAN...]
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from launched import LINE, Launcher, taken_over

NAME, VERSION = sys.argv[1:3]
run = Launcher(sys.argv[3])
EXCHANGE, COLLECTIVES, STRESS, LARGE, DECISIONS, COUNTER, *REST = (
    str(pathlib.Path(path).resolve()) for path in sys.argv[4:])
DRIVERS, (PLANS, EXTENSION, PRELOAD, *FORTRAN) = REST[:4], REST[4:]
del sys.argv[1:]
FORMS = [path for path in FORTRAN if 'mpi_forms' in path]
FORTRAN = [path for path in FORTRAN if path not in FORMS]
MPI_4 = NAME != 'openmpi' # whose versions up to 5 say that they are MPI 3.1
# MPICH 4.0 frees the types of persistent collective calls too early, so the library leaves these calls to it.
KEEPS_TYPES = NAME != 'mpich' or int(VERSION.split('.')[0]) >= 5
# For sh: only one process has the library.
ON_ONE = (f'case ${{{{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}}} in {{rank}}) export LD_PRELOAD={PRELOAD};; esac; '
          'exec {program}')


class Preload(unittest.TestCase):
    def test_all_messages_arrive(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '150', 'isendrecv', UCD_MPI_STATS='1')
        self.assertIn('all messages arrived', text)
        taken = taken_over(text)
        for call in ('Pack', 'Unpack', 'Send', 'Ssend', 'Bsend', 'Rsend', 'Isend', 'Issend', 'Ibsend', 'Irsend',
                     'Send_init', 'Ssend_init', 'Bsend_init', 'Rsend_init', 'Recv', 'Irecv', 'Recv_init', 'Sendrecv', 'Mrecv',
                     'Imrecv'):
            self.assertGreater(taken.get(call, 0), 10 if call != 'Ibsend' else 0, call)
        self.assertGreater(taken['Sendrecv_replace'], 0)
        if MPI_4:
            self.assertGreater(taken['Isendrecv'], 2)
            self.assertGreater(taken['Isendrecv_replace'], 2)

    def test_one_end_only(self):
        # The other process has the MPI library alone.
        for ours in (0, 1):
            text = run('sh', '-c', ON_ONE.format(rank=ours, program=f'{EXCHANGE} 30'), UCD_MPI_STATS='1')
            self.assertIn('all messages arrived', text)
            self.assertEqual({int(rank) for rank, *_ in LINE.findall(text)}, {ours})

    def test_off_and_pack(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '5', UCD_MPI_STATS='1', UCD_MPI='off')
        self.assertIn('all messages arrived', text)
        self.assertEqual(sum(taken_over(text).values()), 0)
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '5', UCD_MPI_STATS='1', UCD_MPI='pack')
        taken = {call for call, count in taken_over(text).items() if count > 0}
        self.assertEqual(taken, {'Pack', 'Unpack'})
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '1', UCD_MPI='all')
        self.assertNotIn('UCD_MPI is', text)
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '1', UCD_MPI='some')
        self.assertIn('UCD_MPI is some; it must be off, pack or all', text)


class Decisions(unittest.TestCase):
    """Without UCD_MPI_ALWAYS: which types are read and taken over."""

    def packed(self, *what, beside='', **environment):
        text = run('env', f'LD_PRELOAD={PRELOAD}{beside}', DECISIONS, *what, processes=1, UCD_MPI_ALWAYS='0', UCD_MPI_STATS='1',
                   **environment)
        counts = {call: (int(taken), int(left)) for _, call, taken, _, left in LINE.findall(text)}
        self.assertEqual(sum(counts['Unpack']), sum(counts['Pack']))
        return counts['Pack']

    def test_types_made_anew_are_left_to_mpi(self):
        self.assertEqual(self.packed('anew'), (0, 100))

    def test_lists_inside_of_types_made_anew_are_left_to_mpi(self):
        self.assertEqual(self.packed('lists'), (0, 3))

    def test_types_used_again_are_taken_over(self):
        taken, left = self.packed('again')
        # After 2 MiB, and 4 MiB with Open MPI, of 128 KiB each.
        self.assertEqual((taken, left), (68, 32) if NAME == 'openmpi' else (84, 16))

    def test_duplicates_of_these_at_once(self):
        once, left = self.packed('again')
        self.assertEqual(self.packed('duplicates'), (once + 50, left))

    def test_types_used_in_turns_are_taken_over(self):
        # Some of the eight may share the place where a thread remembers a type: these are left to MPI.
        taken, left = self.packed('turns')
        self.assertEqual(taken + left, 400)
        self.assertGreater(taken, 0)

    # As far as the program unloads it itself. Without libucd's plugin for CUDA, which keeps the driver that it finds.
    def test_a_driver_that_the_program_unloads_is_unloaded(self):
        without = f'{pathlib.Path(PRELOAD).parents[1]}:{os.environ.get("LD_LIBRARY_PATH", "")}'
        self.assertEqual(sum(self.packed('unloads', DRIVERS[0], LD_LIBRARY_PATH=without, UCD_BACKENDS='seq')), 100)

    def test_buffers_that_may_be_on_devices_are_left_to_an_mpi_that_reads_them(self):
        # A GPU driver is loaded that libucd has no backend for, so device memory looks like memory of the host. The libucd
        # whose devices are threads would have one, and plugins load drivers themselves.
        without = {'LD_LIBRARY_PATH': f'{pathlib.Path(PRELOAD).parents[1]}:{os.environ.get("LD_LIBRARY_PATH", "")}',
                   'UCD_BACKENDS': 'seq'}
        for driver in DRIVERS:
            self.assertEqual(self.packed('again', beside=f':{driver}', **without), (0, 100), driver)
        self.assertEqual(self.packed('again', beside=f':{DRIVERS[0]}', **without, UCD_MPI_GPU_AWARE='0'), self.packed('again'))


class Mixed(unittest.TestCase):
    """Items of elements of two kinds, whose packed form has a struct without gaps as its type."""

    def test_messages_are_taken_over(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', DECISIONS, 'mixed', processes=1, UCD_MPI_STATS='1')
        # Each counts once, whether both of its sides are taken over or, as of the one that sends nothing, one.
        self.assertEqual(taken_over(text)['Sendrecv'], 2)
        self.assertEqual(taken_over(text)['Irecv'], 1)


class Statistics(unittest.TestCase):
    def test_lines(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '0', UCD_MPI_STATS='1')
        lines = [line for line in text.splitlines() if 'libucd-mpi-preload' in line]
        self.assertEqual(len(lines), len(LINE.findall(text)))
        moved = {(call, rank): int(size) for rank, call, _, size, _ in LINE.findall(text)}
        # 200 types of 650 ints and 200 of 651, each sent and received five times.
        for rank in '01':
            self.assertGreater(moved['Sendrecv', rank], 2 * 5 * 200 * 4 * (650 + 651))

    def test_only_if_wanted(self):
        for value in ('0', ''):
            text = run('env', f'LD_PRELOAD={PRELOAD}', EXCHANGE, '2', UCD_MPI_STATS=value)
            self.assertNotIn('libucd-mpi-preload', text)


class Collectives(unittest.TestCase):
    CALLS = ('Bcast', 'Gather', 'Gatherv', 'Scatter', 'Scatterv', 'Allgather', 'Allgatherv', 'Alltoall', 'Alltoallv',
             'Alltoallw', 'Neighbor_allgather', 'Neighbor_allgatherv', 'Neighbor_alltoall', 'Neighbor_alltoallv',
             'Neighbor_alltoallw')

    def test_results_are_those_of_the_plain_library(self):
        text = ''
        for processes in (2, 3, 4):
            text += run('env', f'LD_PRELOAD={PRELOAD}', COLLECTIVES, processes=processes, UCD_MPI_STATS='1')
        self.assertEqual(text.count('all results agree'), 3)
        taken = taken_over(text)
        for call in self.CALLS:
            self.assertGreater(taken.get(call, 0), 0, call)
            self.assertGreater(taken.get(f'I{call.lower()}', 0), 0, call)
            if KEEPS_TYPES:
                self.assertGreater(taken.get(f'{call}_init', 0), 0, call)

    def test_some_processes_only(self):
        text = run('sh', '-c', ON_ONE.format(rank=1, program=f'{COLLECTIVES} 100'), processes=3, UCD_MPI_STATS='1')
        self.assertIn('all results agree', text)
        self.assertGreater(sum(taken_over(text).values()), 100)


class Threads(unittest.TestCase):
    """Threads that call MPI at the same time, with types that they share and types of their own."""

    def test_contents_are_right(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', STRESS, '2', '4', UCD_MPI_STATS='1')
        self.assertIn('all contents are right', text)
        taken = taken_over(text)
        for call in ('Pack', 'Unpack', 'Isend', 'Irecv', 'Send_init', 'Recv_init', 'Recv'):
            self.assertGreater(taken.get(call, 0), 0, call)

    def test_many_threads(self):
        self.assertIn('all contents are right', run('env', f'LD_PRELOAD={PRELOAD}', STRESS, '0.5', '8', '7'))


class WithAnotherTool(unittest.TestCase):
    COUNT = re.compile(r'counter: rank 0: (\w+): (\d+) calls, (\d+) derived')

    def counted(self, program, *preload):
        text = run('env', f'LD_PRELOAD={":".join(preload)}', program, '40', UCD_MPI_STATS='1')
        self.assertRegex(text, 'all messages arrived|all results agree')
        statistics = {call: (int(taken), int(left)) for rank, call, taken, _, left in LINE.findall(text) if rank == '0'}
        return statistics, {call: (int(calls), int(derived)) for call, calls, derived in self.COUNT.findall(text)}

    def test_each_sees_what_the_one_before_calls(self):
        statistics, before = self.counted(EXCHANGE, COUNTER, PRELOAD)
        statistics_after, after = self.counted(EXCHANGE, PRELOAD, COUNTER)
        self.assertEqual(before['Isend'], (sum(statistics['Isend']), before['Isend'][1]))
        self.assertEqual(after['Isend'][0], before['Isend'][0])
        self.assertLess(after['Isend'][1], before['Isend'][1])
        self.assertEqual(before['Pack'][0], sum(statistics['Pack']))
        self.assertEqual(after['Pack'][0], statistics_after['Pack'][1])
        self.assertLess(after['Pack'][0], before['Pack'][0])

    def test_collective_calls(self):
        for preload in ((COUNTER, PRELOAD), (PRELOAD, COUNTER)):
            statistics, counted = self.counted(COLLECTIVES, *preload)
            self.assertEqual(counted['Bcast'][0], sum(statistics['Bcast']))
            self.assertGreater(sum(taken for taken, _ in statistics.values()), 50)


class Plans(unittest.TestCase):
    """Persistent requests hold plans: for what they pack, and for what they unpack."""
    COUNT = re.compile(r'plans: (\d+) made, (\d+) starts, (\d+) freed')

    def counted(self, program, *arguments, **environment):
        text = run('env', f'LD_PRELOAD={PLANS}:{PRELOAD}', program, *arguments, UCD_MPI_STATS='1', **environment)
        self.assertRegex(text, 'all messages arrived|all results agree')
        counts = [[int(number) for number in line] for line in self.COUNT.findall(text)]
        return [sum(column) for column in zip(*counts)] or [0, 0, 0], taken_over(text)

    def test_of_messages(self):
        # Most starts are those of seven requests of either process, started sixty times in turns.
        (made, starts, freed), _ = self.counted(EXCHANGE, '0')
        self.assertEqual(freed, made)
        self.assertGreater(starts, 2 * 300)
        self.assertGreater(starts, 8 * made)

    @unittest.skipUnless(KEEPS_TYPES, 'this MPI library frees the types of persistent collective calls')
    def test_of_collective_calls(self):
        (made, starts, freed), taken = self.counted(COLLECTIVES, '300')
        persistent = sum(count for call, count in taken.items() if call.endswith('_init'))
        self.assertEqual(freed, made)
        # A side each, or two; a request that only sends has nothing to unpack.
        self.assertGreater(made, persistent / 2)
        self.assertLessEqual(made, 2 * persistent)
        self.assertEqual(starts, 4 * made)

    def test_none_can_be_made(self):
        for program in (EXCHANGE, COLLECTIVES):
            counts, taken = self.counted(program, '40', UCD_TEST_PLANS='refuse')
            self.assertEqual(counts, [0, 0, 0])
            self.assertGreater(sum(taken.values()), 100)


class Forms(unittest.TestCase):
    """Each form of each call, once: with MPI_Count, and of Fortran."""
    BOTH_WAYS = {'Sendrecv', 'Sendrecv_replace'}
    CALLS = {'Pack', 'Unpack', 'Recv', 'Irecv', 'Recv_init', 'Mrecv', 'Imrecv'} | BOTH_WAYS | {
        form for mode in ('', 'b', 's', 'r') for form in (f'{mode}send'.capitalize(), f'I{mode}send', f'{mode}send_init'.capitalize())
    } | {form for call in Collectives.CALLS for form in (call, f'I{call.lower()}')}
    PERSISTENT = {f'{call}_init' for call in Collectives.CALLS}

    @unittest.skipUnless(MPI_4, 'this MPI library has no functions with _c')
    def test_with_mpi_count(self):
        def symbols(path, which):
            text = subprocess.run(['nm', '-D', which, path], capture_output=True, text=True, check=True).stdout
            return set(re.findall(r'\bMPI_(\w+)_c$', text, re.M))
        ours = symbols(PRELOAD, '--defined-only')
        self.assertGreaterEqual(ours, self.CALLS)
        self.assertLessEqual(ours, symbols(LARGE, '--undefined-only'))
        text = run('env', f'LD_PRELOAD={PRELOAD}', LARGE, UCD_MPI_STATS='1')
        self.assertIn('all forms are right', text)
        self.assertEqual({call for _, call, *_ in LINE.findall(text)}, ours)
        taken = taken_over(text)
        self.assertEqual({call for call in ours if taken[call] == 0}, set() if KEEPS_TYPES else self.PERSISTENT)

    def test_of_fortran(self):
        for program in FORMS:
            # By themselves, MPICH 4.0 fails in MPI_Isendrecv, and Open MPI 4.1 in one of the calls of Fortran programs.
            text = run('env', f'LD_PRELOAD={PRELOAD}', program, UCD_MPI_STATS='1')
            self.assertIn('all forms are right', text)
            taken = taken_over(text)
            expected = self.CALLS | self.PERSISTENT | ({f'I{call.lower()}' for call in self.BOTH_WAYS} if MPI_4 else set())
            if MPI_4 and 'f08' in program:
                expected = {call for call in expected if 'neighbor_alltoallw' not in call.lower()}
            self.assertEqual(expected - set(taken), set()) # all were called
            self.assertEqual({call for call in expected if taken[call] == 0},
                             set() if KEEPS_TYPES else expected & self.PERSISTENT)


@unittest.skipUnless(FORTRAN, 'there is no gfortran with this MPI library')
class Fortran(unittest.TestCase):
    def test_all_messages_arrive(self):
        for program in FORTRAN:
            text = run(program)
            self.assertIn('all messages arrived', text)
            text = run('env', f'LD_PRELOAD={PRELOAD}', program, UCD_MPI_STATS='1')
            self.assertIn('all messages arrived', text)
            taken = taken_over(text)
            for call in ('Pack', 'Unpack', 'Send', 'Ssend', 'Isend', 'Send_init', 'Recv', 'Irecv', 'Recv_init', 'Allgather',
                         'Iallgather', 'Bcast', 'Sendrecv_replace'):
                self.assertGreater(taken.get(call, 0), 0, call)


class MpiOfTheProgram(unittest.TestCase):
    """The library uses the MPI library that the program loads, and loads none itself."""

    def test_no_other_is_loaded(self):
        needed = subprocess.run(['readelf', '-d', PRELOAD], capture_output=True, text=True, check=True).stdout
        self.assertIn('libucd.so', needed)
        self.assertNotIn('libmpi', needed)

    def test_programs_without(self):
        # Such as children of MPI programs.
        done = subprocess.run(['/bin/true'], env=os.environ | {'LD_PRELOAD': PRELOAD}, capture_output=True, text=True,
                              check=False, timeout=30)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ''))

    def test_of_another_kind(self):
        # The first call says so; it would crash.
        for other in pathlib.Path(PRELOAD).parent.glob('libucd-mpi-preload-*.so'):
            if other.name == pathlib.Path(PRELOAD).name:
                continue
            done = subprocess.run([DECISIONS, 'anew'], env=os.environ | {'LD_PRELOAD': str(other)}, capture_output=True,
                                  text=True, check=False, timeout=30)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f'use libucd-mpi-preload-{NAME}', done.stderr)

    def test_children(self):
        # With MPI outside the system's path, too, where only the program's own path leads to it.
        text = run('env', f'LD_PRELOAD={PRELOAD}', DECISIONS, 'children', processes=1)
        self.assertIn('the child said: ok', text)

    def test_functions_of_later_versions(self):
        # A program that asks for these finds none that the MPI library lacks, or is told so by the ones of this library.
        run('env', f'LD_PRELOAD={PRELOAD}', DECISIONS, 'asks', processes=1)

    def test_interpreters(self):
        text = run('env', f'LD_PRELOAD={PRELOAD}', sys.executable, '-c',
                   f'import ctypes; assert ctypes.CDLL({EXTENSION!r}).use_mpi() == 0', processes=1, UCD_MPI_STATS='1')
        self.assertIn('all elements are right', text)
        self.assertGreater(taken_over(text)['Pack'], 0)


if __name__ == '__main__':
    unittest.main()
