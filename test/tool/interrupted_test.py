"""What interrupted and failing commands leave: the file as it was, or what their message says."""

import array
import fcntl
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import numpy as np

UCD = os.path.abspath(sys.argv.pop())
STEP = 32 << 20  # what a command moves between two strokes of its bar
DOUBLES = STEP // 8 * 5 // 2  # two steps and a half
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Commands are to get these even if this test is run where they are ignored, as under nohup.
for _number in ENDING:
    signal.signal(_number, signal.SIG_DFL)


class Stalled:
    """A command in the middle of its work. Its bar goes to a pipe that has room for one stroke: the
    one before the work. It waits in the stroke after the first step."""

    ROOM = 110  # a stroke has 70 to 90 bytes

    def __init__(self, *arguments, **more):
        self.reader, writer = os.pipe()
        size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        self.filled = size - self.ROOM
        os.write(writer, b'.' * self.filled)
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([UCD, *map(str, arguments), '--progress', 'always'],
                                        stderr=writer, **more)
        os.close(writer)
        end, seen = time.monotonic() + 100, 0
        while seen < 3:
            assert self.process.poll() is None, self.end()
            assert time.monotonic() < end, 'it does not come to its first step'
            seen = seen + 1 if self.sleeps() and self.in_pipe() > self.filled else 0
            time.sleep(0.02)

    def in_pipe(self):
        count = array.array('i', [0])
        fcntl.ioctl(self.reader, termios.FIONREAD, count)
        return count[0]

    def sleeps(self):
        state = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text(encoding='utf-8')
        return state.rpartition(')')[2].split()[0] == 'S'

    def end(self, *signals):
        """Its exit status and what it said, once the signals were sent and it may go on."""
        for number in signals:
            self.process.send_signal(number)
        with open(self.reader, 'rb') as file:
            said = file.read()[self.filled:]
        said = said.rpartition(b'\x1b[K')[2].decode()
        assert said[:1] in ('', '\n'), said  # no message begins in the bar's line
        return self.process.wait(timeout=100), said[1:]


class Interrupted(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.path = pathlib.Path(room.name)

    def stall(self, *arguments, **more):
        return Stalled(*arguments, cwd=self.path, **more)

    def run_ucd(self, *arguments, status=0, **more):
        done = subprocess.run([UCD, *map(str, arguments)], capture_output=True, timeout=120,
                              check=False, cwd=self.path, **more)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def names(self):
        return sorted(p.name for p in self.path.iterdir())

    def numbers(self, name, first=1):
        values = np.arange(first, first + DOUBLES, dtype=float)
        if name.endswith('.npy'):
            np.save(self.path / name, values)
        else:
            values.tofile(self.path / name)
        return values

    # Files that are made

    def test_the_old_file_stays_until_the_new_one_is_complete(self):
        self.numbers('in.npy')
        for number in (*ENDING, signal.SIGKILL):
            np.save(self.path / 'out.npy', np.arange(5))
            command = self.stall('pack', 'in.npy', 'out.npy')
            said = '' if number == signal.SIGKILL else f'ucd: ended by {number.name}: out.npy is as it was\n'
            self.assertEqual(command.end(number), (-number, said))
            np.testing.assert_array_equal(np.load(self.path / 'out.npy'), np.arange(5))
            self.assertEqual(self.names(), ['in.npy', 'out.npy'])

    def test_nothing_is_there_before_it_is_complete(self):
        values = self.numbers('in.npy')
        kind = f'contig({DOUBLES},double)'
        for number in (*ENDING, signal.SIGKILL):
            for command in (('pack', 'in.npy', 'new'), ('unpack', 'in.npy', 'new', '-t', kind),
                            ('copy', 'in.npy', 'new', '--out-type', kind)):
                stalled = self.stall(*command)
                self.assertEqual(self.names(), ['in.npy'], command)
                said = '' if number == signal.SIGKILL else f'ucd: ended by {number.name}: new was not made\n'
                self.assertEqual(stalled.end(number), (-number, said), command)
                self.assertEqual(self.names(), ['in.npy'], command)
        self.assertEqual(self.stall('unpack', 'in.npy', 'new', '-t', kind).end()[0], 0)
        np.testing.assert_array_equal(np.fromfile(self.path / 'new'), values)

    def test_ignored_signals_stay_ignored(self):
        values = self.numbers('in.npy')
        stalled = self.stall('pack', 'in.npy', 'out.npy',
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(stalled.end(signal.SIGHUP)[0], 0)
        np.testing.assert_array_equal(np.load(self.path / 'out.npy'), values)

    def test_errors_leave_the_old_file(self):
        self.numbers('in.npy')
        (self.path / 'out.npy').write_bytes(b'old')
        stalled = self.stall('pack', 'in.npy', 'out.npy')
        os.truncate(self.path / 'in.npy', 0)
        status, said = stalled.end()
        self.assertEqual(status, 1)
        self.assertEqual(said, 'ucd: in.npy became shorter, or its disk is full: out.npy is as it was\n')
        # More than a file may have.
        np.save(self.path / 'in.npy', np.zeros(1000))
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        for command in (('pack', 'in.npy', 'out.npy'), ('flatten', 'int', '-o', 'out.npy'),
                        ('describe', 'int', '--svg', 'out.npy'), ('unpack', 'in.npy', 'out', '-t', 'contig(1000,double)'),
                        ('copy', 'in.npy', 'out', '--out-type', 'contig(1000,double)')):
            done = self.run_ucd(*command, status=1, preexec_fn=limit)
            self.assertRegex(done.stderr, b'ucd: out(.npy)?: cannot .*: File too large')
        with open(self.path / 'stream', 'wb') as stream:
            done = subprocess.run([UCD, 'pack', 'in.npy', '-'], cwd=self.path, stdout=stream, stderr=subprocess.PIPE,
                                  check=False, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stderr), (1, b'ucd: standard output: File too large\n'))
        os.unlink(self.path / 'stream')
        self.assertEqual((self.path / 'out.npy').read_bytes(), b'old')
        self.assertEqual(self.names(), ['in.npy', 'out.npy'])

    # Files that are changed

    def changes_in_place(self, command, expected):
        """Interrupted after one step, the command takes one more and no third."""
        values = np.array(expected)
        values[2 * STEP // 8:] = np.fromfile(self.path / 'raw')[2 * STEP // 8:]
        self.assertEqual(self.stall(*command).end(signal.SIGTERM),
                         (-signal.SIGTERM,
                          f'ucd: raw: ended by SIGTERM: bytes 0 to {2 * STEP} of the {DOUBLES * 8} '
                          'packed bytes were written, the rest is as it was\n'))
        np.testing.assert_array_equal(np.fromfile(self.path / 'raw'), values)

    def test_a_message_says_what_was_changed(self):
        values = self.numbers('in.npy')
        kind = f'contig({DOUBLES},double)'
        for command, add in ((('unpack', 'in.npy', 'raw', '-t', kind), False),
                             (('unpack', 'in.npy', 'raw', '-t', kind, '--op', 'sum'), True),
                             (('copy', 'in.npy', 'raw', '--out-type', kind), False),
                             (('pack', 'in.npy', 'raw', '--op', 'sum'), True)):
            with self.subTest(command=command):
                old = self.numbers('raw', 7)
                self.changes_in_place(command, values + old if add else values)

    def test_a_second_signal_does_not_wait(self):
        self.numbers('in.npy')
        self.numbers('raw')
        stalled = self.stall('unpack', 'in.npy', 'raw', '-t', f'contig({DOUBLES},double)')
        status, said = stalled.end(signal.SIGINT, signal.SIGTERM)
        self.assertIn(status, (-signal.SIGINT, -signal.SIGTERM))
        self.assertRegex(said, f'^ucd: ended by SIG(INT|TERM): raw: bytes 0 to {STEP} of the {DOUBLES * 8} packed bytes '
                         'were written, of those after them perhaps some\n$')

    def test_work_without_steps_ends_at_once(self):
        kind = 'struct([1,1],[0,8],[double,int])'
        (self.path / 'a').write_bytes(bytes(12))
        (self.path / 'b').write_bytes(bytes(12))
        stalled = self.stall('copy', 'a', 'b', '--in-type', kind, '--out-type', kind, '--op', 'sum')
        self.assertEqual(stalled.end(signal.SIGINT),
                         (-signal.SIGINT,
                          'ucd: ended by SIGINT: b was changed in part; which part is not known\n'))

    def test_packing_to_a_stream_says_what_ended_it(self):
        self.numbers('in.npy')
        with open(os.devnull, 'wb') as nothing:
            self.assertEqual(self.stall('pack', 'in.npy', '-', stdout=nothing).end(signal.SIGINT),
                             (-signal.SIGINT, 'ucd: ended by SIGINT\n'))

    def test_help_and_manual_warn(self):
        for command in ('unpack', 'copy', 'pack'):
            words = ' '.join(self.run_ucd(command, '--help').stdout.decode().split())
            self.assertIn('an interruption leaves it changed in part', words)
        manual = self.run_ucd('manual').stdout.decode()
        self.assertIn('an interruption leaves them changed in part', manual)

    # Which file it is

    def test_permissions_are_those_of_a_plain_open(self):
        np.save(self.path / 'in.npy', np.zeros(3))
        def mode(name):
            return stat.S_IMODE((self.path / name).stat().st_mode)
        self.run_ucd('pack', 'in.npy', 'new', umask=0o027)
        self.assertEqual(mode('new'), 0o640)
        self.run_ucd('unpack', 'new', 'scattered', '-t', 'contig(3,double)', umask=0o077)
        self.assertEqual(mode('scattered'), 0o600)
        self.run_ucd('flatten', 'int', '-o', 'type', umask=0)
        self.assertEqual(mode('type'), 0o666)
        for command in (('pack', 'in.npy', 'new'), ('flatten', 'int', '-o', 'new'),
                        ('describe', 'int', '--svg', 'new')):
            os.chmod(self.path / 'new', 0o604)
            before = (self.path / 'new').stat()
            if os.geteuid() == 0:
                os.chown(self.path / 'new', 12345, 54321)
                before = (self.path / 'new').stat()
            self.run_ucd(*command, umask=0o077)
            after = (self.path / 'new').stat()
            self.assertEqual(after.st_mode, before.st_mode)
            self.assertEqual((after.st_uid, after.st_gid), (before.st_uid, before.st_gid))
        if os.geteuid() != 0:
            os.chmod(self.path / 'new', 0o444)
            self.assertIn(b'new: cannot create it: Permission denied',
                          self.run_ucd('pack', 'in.npy', 'new', status=1).stderr)

    def test_symbolic_links_are_followed(self):
        np.save(self.path / 'in.npy', np.arange(3.))
        folder = self.path / 'folder'
        folder.mkdir()
        (folder / 'old').write_bytes(b'old')
        (self.path / 'link').symlink_to('folder/chain')
        (folder / 'chain').symlink_to('old')
        (self.path / 'dangling').symlink_to(folder / 'new')
        (self.path / 'circle').symlink_to('circle')
        for link, target in (('link', 'old'), ('dangling', 'new')):
            for _ in range(2):
                self.run_ucd('pack', 'in.npy', link)
                self.assertTrue((self.path / link).is_symlink())
                self.assertFalse((folder / target).is_symlink())
                np.testing.assert_array_equal(np.fromfile(folder / target), np.arange(3.))
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ['chain', 'new', 'old'])
        self.assertIn(b'symbolic links', self.run_ucd('pack', 'in.npy', 'circle', status=1).stderr)

    def test_what_is_no_regular_file_is_written_directly(self):
        values = np.arange(3.)
        np.save(self.path / 'in.npy', values)
        os.mkfifo(self.path / 'fifo.npy')
        for command, expected in ((('pack', 'in.npy', 'fifo.npy'), None),
                                  (('flatten', 'int', '-o', 'fifo.npy'), b'UCDT'),
                                  (('describe', 'int', '--no-picture', '--svg', 'fifo.npy'), b'<svg')):
            with subprocess.Popen(['cat', 'fifo.npy'], cwd=self.path, stdout=subprocess.PIPE) as cat:
                self.run_ucd(*command)
                got = cat.stdout.read()
            expected = expected or (self.path / 'in.npy').read_bytes()
            self.assertEqual(got[:len(expected)], expected)
        self.assertEqual(self.run_ucd('pack', 'in.npy', '/dev/stdout').stdout, values.tobytes())
        self.run_ucd('pack', 'in.npy', '/dev/null')
        # Standard output that is a file stays that file.
        with open(self.path / 'file', 'wb') as file:
            subprocess.run([UCD, 'pack', 'in.npy', '/dev/stdout'], cwd=self.path, stdout=file,
                           check=True)
            self.assertEqual(os.fstat(file.fileno()).st_ino, (self.path / 'file').stat().st_ino)
        self.assertEqual((self.path / 'file').read_bytes(), values.tobytes())
        self.assertEqual(self.names(), ['fifo.npy', 'file', 'in.npy'])

    def test_output_can_be_on_the_disk_when_the_command_ends(self):
        values = np.arange(3.)
        np.save(self.path / 'in.npy', values)
        self.run_ucd('pack', 'in.npy', 'out', '--sync')
        self.run_ucd('unpack', 'in.npy', 'new', '-t', 'contig(3,double)', '--sync')
        self.run_ucd('copy', 'in.npy', 'new', '--out-type', 'contig(3,double)', '--op', 'sum', '--sync')
        self.run_ucd('pack', 'in.npy', 'out', '--op', 'sum', '--sync')
        for name in ('out', 'new'):
            np.testing.assert_array_equal(np.fromfile(self.path / name), 2 * values)


if __name__ == '__main__':
    unittest.main()
