"""Programs that are wrong, and errors that right programs get, are the same with libucd-mpi-preload and without.

    faults_test.py LAUNCHER FAULTS PRELOAD [UCD]

With UCD_TEST_DEVICE=cuda:0, the program has its buffers on that device when it runs with the library, and still in host
memory without: the same has to happen. UCD_TEST_PROCESSES says by how many processes it runs, two by default. UCD is a libucd that is loaded in place of the program's.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LAUNCHER, FAULTS, PRELOAD = sys.argv[1:4]
LIBRARIES = ':'.join([*sys.argv[4:], PRELOAD])
del sys.argv[1:]
PROCESSES = os.environ.get('UCD_TEST_PROCESSES', '2')
TAKEN = re.compile(r'rank \d: MPI_(?!Pack)\w+: (\d+) taken over')


class Run:
    """One run of the program: what each said, how it ended, and what the library did."""

    def __init__(self, *arguments, settings):
        # Launchers of Open MPI at the same time need folders of their own for temporary files.
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
            done = subprocess.run([LAUNCHER, '-n', PROCESSES, 'env', *settings, FAULTS, folder, *arguments],
                                  env=os.environ | {'TMPDIR': temporary}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=100)
            self.said = [path.read_text() for path in sorted(pathlib.Path(folder).iterdir())]
        self.status = done.returncode
        self.text = done.stdout + done.stderr
        self.taken = sum(map(int, TAKEN.findall(self.text)))


def both_ways(*arguments, statistics='1'):
    """Plain and with the library, at once: most of the time launchers wait."""
    with concurrent.futures.ThreadPoolExecutor() as threads:
        plain = threads.submit(Run, *arguments, settings=['-u', 'UCD_TEST_DEVICE'])
        with_ucd = threads.submit(Run, *arguments, settings=[f'LD_PRELOAD={LIBRARIES}', f'UCD_MPI_STATS={statistics}'])
        return plain.result(), with_ucd.result()


class Errors(unittest.TestCase):
    """Codes of errors, how often error handlers are called, and what happens then."""
    maxDiff = None

    def compare(self, group, taken, modes=(['handler'],)):
        for mode in modes:
            plain, with_ucd = both_ways(group, *mode)
            self.assertEqual(plain.status, 0, plain.text)
            self.assertEqual(with_ucd.status, 0, with_ucd.text)
            for said in plain.said:
                self.assertIn(f'all of {group}\n', said)
            self.assertEqual(with_ucd.said, plain.said)
            self.assertGreater(with_ucd.taken, taken)

    def test_wrong_arguments(self):
        self.compare('arguments', 0, ([], ['handler']))

    def test_truncated_messages(self):
        self.compare('truncation', 50)

    def test_cancelled_receives(self):
        self.compare('cancelled', 20)

    def test_types_freed_while_requests_use_them(self):
        self.compare('types', 10)

    def test_requests_freed_while_active(self):
        self.compare('requests', 20)


class Leaks(unittest.TestCase):
    LOST = re.compile(r'(-?\d+) bytes are lost')

    def lost(self, run):
        self.assertEqual(run.status, 0, run.text)
        for said in run.said:
            self.assertIn('\n0 blocks of device memory are lost\n', said)
        return [int(self.LOST.search(said).group(1)) for said in run.said]

    def test_no_memory_is_lost(self):
        plain, with_ucd = map(self.lost, both_ways('leaks'))
        # MPICH loses some by itself, and not always as much. Devices that are threads keep a list of all kernels.
        self.assertLess(max(with_ucd), max(plain) + (1500 if 'UCD_TEST_DEVICE' in os.environ else 300))


class Endings(unittest.TestCase):
    """How processes end before their time."""

    def compare(self, ending, last_words):
        # For its statistics the library keeps types to the end, and so their attributes.
        plain, with_ucd = both_ways(ending, statistics='0')
        self.assertNotEqual(plain.status, 0, plain.text)
        self.assertEqual(with_ucd.status, plain.status, with_ucd.text)
        # The others wait, and the launcher ends them.
        self.assertEqual(with_ucd.said, plain.said)
        self.assertIn(last_words, plain.said[1])
        self.assertNotIn('nothing has ended', ''.join(plain.said))

    def test_never_completed(self):
        plain, with_ucd = both_ways('never-completed')
        self.assertEqual(plain.status, 0, plain.text)
        self.assertEqual(with_ucd.status, 0, with_ucd.text)
        self.assertEqual(with_ucd.said, plain.said)
        self.assertEqual(plain.said, ['before MPI_Finalize\nafter MPI_Finalize\n'] * int(PROCESSES))
        self.assertGreater(with_ucd.taken, 50)


def add_ending(name, last_words):
    setattr(Endings, 'test_' + name.replace('-', '_'), lambda self: self.compare(name, last_words))


for each, words in {'fatal': '', 'handler-aborts': 'the handler aborts', 'handler-exits': 'the handler exits',
                    'attribute-aborts': 'the callback aborts', 'attribute-exits': 'the callback exits',
                    'self-aborts': 'the callback of MPI_COMM_SELF aborts', 'killed-receive': 'killed',
                    'killed-wait': 'killed', 'killed-collective': 'killed', 'killed-freed': 'killed'}.items():
    add_ending(each, words)

if __name__ == '__main__':
    unittest.main()
