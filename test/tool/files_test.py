"""ucd pack, unpack and copy on files, against NumPy."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

UCD = os.path.abspath(sys.argv.pop())


class Files(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)
        self.path = pathlib.Path(self.room.name)

    def run_ucd(self, *arguments, status=0, **more):
        done = subprocess.run([UCD, *map(str, arguments)], capture_output=True, timeout=120,
                              check=False, cwd=self.path, **more)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def refuse(self, said, *arguments, status=2):
        done = self.run_ucd(*arguments, status=status)
        self.assertIn(said, done.stderr.decode())
        self.assertTrue(done.stderr.startswith(b'ucd: '), done.stderr)

    def save(self, name, array):
        np.save(self.path / name, array)
        return array

    def load(self, name):
        return np.load(self.path / name)

    def raw(self, name, array):
        (self.path / name).write_bytes(array.tobytes())
        return array

    # Slices

    def test_random_slices_are_numpys(self):
        rng = random.Random(7)
        for case in range(120):
            shape = tuple(rng.randint(0 if rng.random() < .1 else 1, 6)
                          for _ in range(rng.randint(1, 4)))
            dtype = rng.choice(['<f8', '<i4', '|u1', '<c16', '<f2', '>i8', '|b1', '<U3', '<M8[s]', '<f4'])
            values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            array = values.astype(np.int64).astype(dtype) if dtype[1] != 'b' else values % 3 == 0
            if rng.random() < .5:
                array = np.asfortranarray(array)
            entries = []
            for length in shape[:rng.randint(0, len(shape))]:
                kind = rng.random()
                if kind < .25 and length > 0:
                    entries.append(str(rng.randint(-length, length - 1)))
                    continue
                ends = [rng.choice(['', str(rng.randint(-length - 3, length + 3))]) for _ in range(2)]
                step = rng.choice(['', ':', ':1', ':2', ':-1', ':-3', ':7'])
                entries.append(':'.join(ends) + step)
            if rng.random() < .3 or not entries:
                entries.insert(rng.randint(0, len(entries)), '...')
            text = ','.join(entries)
            try:
                expected = eval(f'array[{text}]')  # pylint: disable=eval-used
            except IndexError:
                self.save('in.npy', array)
                self.refuse('index', 'pack', 'in.npy', 'out.npy', f'--slice={text}')
                continue
            with self.subTest(case=case, shape=shape, dtype=dtype, slice=text):
                self.save('in.npy', array)
                self.run_ucd('pack', 'in.npy', 'out.npy', f'--slice={text}')
                found = self.load('out.npy')
                self.assertEqual(found.dtype, array.dtype)
                self.assertEqual(found.shape, np.shape(expected))
                np.testing.assert_array_equal(found, expected)
                # And back, into another array: the rest stays.
                target = self.save('target.npy', np.array(array[::-1] if array.ndim else array,
                                                          order='F' if rng.random() < .5 else 'C'))
                self.run_ucd('unpack', 'out.npy', 'target.npy', f'--slice={text}')
                exec(f'target[{text}] = expected')  # pylint: disable=exec-used
                np.testing.assert_array_equal(self.load('target.npy'), target)

    def test_bad_slices_point_at_the_place(self):
        self.save('a.npy', np.zeros((4, 5)))
        for text, said in [('4', "index 4 is outside dimension 0, which has 4"),
                           ('0,-6', 'index -6 is outside dimension 1'),
                           ('0,0,0', 'there are 3 indices; the array has 2 dimensions'),
                           ('::0', 'the step of the slice is 0'),
                           ('...,...', "'...' stands more than once"),
                           ('1:x', "expected ',' or the end, found 'x'"),
                           (',1', "expected an index, a slice or '...', found ','"),
                           ('99999999999999999999', 'does not fit')]:
            self.refuse(said, 'pack', 'a.npy', 'out.npy', f'--slice={text}')
            self.assertFalse((self.path / 'out.npy').exists())

    def test_slices_of_raw_arrays(self):
        for dtype, name in ((np.float64, 'double'), (np.int16, 'short'), (np.complex64, 'c_complex')):
            array = self.raw('a.bin', np.arange(120).reshape(4, 5, 6).astype(dtype))
            shape = ('--shape', '4,5,6', '--dtype', name)
            self.run_ucd('pack', 'a.bin', 'p.npy', '--slice', '::-2,1:,3', *shape)
            np.testing.assert_array_equal(self.load('p.npy'), array[::-2, 1:, 3])
            # Into a raw array that is not there yet: zeros elsewhere.
            self.run_ucd('unpack', 'p.npy', f'new{name}', '--slice', '::-2,1:,3', *shape)
            expected = np.zeros_like(array)
            expected[::-2, 1:, 3] = array[::-2, 1:, 3]
            np.testing.assert_array_equal(np.fromfile(self.path / f'new{name}', dtype),
                                          expected.ravel())
        # Behind a header of its own; bfloat16, which NumPy does not know.
        self.raw('h.bin', np.arange(20, dtype=np.uint16))
        self.run_ucd('pack', 'h.bin', 'o', '--slice', ':,0', '--shape', '3,4', '--dtype', 'bfloat16',
                     '--origin', 16)
        np.testing.assert_array_equal(np.fromfile(self.path / 'o', np.uint16), [8, 12, 16])
        self.refuse('touches bytes', 'pack', 'h.bin', 'o', '--shape', '5,5', '--dtype', 'short')
        for shape in ('', '4,', 'x', '-1', '4 5', '9999999999,9999999999'):
            self.refuse('', 'pack', 'h.bin', 'o', f'--shape={shape}', '--dtype', 'int')
        self.refuse('did you mean double', 'pack', 'h.bin', 'o', '--shape', '4', '--dtype', 'Double')
        self.save('n.npy', np.zeros(4))
        self.refuse('which has a shape itself', 'pack', 'n.npy', 'o', '--shape', '4', '--dtype',
                    'double')

    # Types

    def test_types_over_raw_files(self):
        data = self.raw('m.bin', np.arange(64, dtype=float))
        self.run_ucd('pack', 'm.bin', 'c.bin', '-t', 'vector(8,1,8,double)', '--origin', 16)
        np.testing.assert_array_equal(np.fromfile(self.path / 'c.bin'), data[2::8])
        self.run_ucd('pack', 'm.bin', 'c.npy', '-t', 'resized(vector(8,1,8,double),0,8)', '-c', 8)
        np.testing.assert_array_equal(self.load('c.npy'), data.reshape(8, 8).T.ravel())
        # Negative displacements reach back from the origin.
        self.run_ucd('pack', 'm.bin', 'r.bin', '-t', 'vector(4,1,-2,double)', '--origin', 80)
        np.testing.assert_array_equal(np.fromfile(self.path / 'r.bin'), data[[10, 8, 6, 4]])
        # Index lists from files, of any width.
        for dtype in ('<i8', '<i4', '<u2', '|i1'):
            self.save('d.npy', np.array([5, 1, 63, 7]).astype(dtype))
            self.save('n.npy', np.array([2, 1, 1, 3]).astype(dtype))
            self.run_ucd('pack', 'm.bin', 'i.npy', '-t', 'indexed(@n.npy,@d.npy,double)')
            np.testing.assert_array_equal(self.load('i.npy'), data[[5, 6, 1, 63, 7, 8, 9]])
        self.save('d2.npy', np.zeros((2, 2), np.int64))
        self.refuse('a list has one dimension; this is 2x2 of <i8', 'pack', 'm.bin', 'x', '-t',
                    'indexed_block(1,@d2.npy,double)')
        self.save('df.npy', np.zeros(2))
        self.refuse('a list is of integers', 'pack', 'm.bin', 'x', '-t',
                    'indexed_block(1,@df.npy,double)')

    def test_structs_with_gaps_round_trip(self):
        record = np.dtype([('x', '<f8'), ('id', '<i4')], align=True)
        data = np.zeros(1000, record)
        data['x'], data['id'] = np.arange(1000) / 3, np.arange(1000)
        self.raw('s.bin', data)
        kind = 'struct([1,1],[0,8],[double,int])'
        self.run_ucd('pack', 's.bin', 'p.bin', '-t', kind, '-c', 1000)
        packed = np.fromfile(self.path / 'p.bin', np.dtype([('x', '<f8'), ('id', '<i4')]))
        np.testing.assert_array_equal(packed['x'], data['x'])
        np.testing.assert_array_equal(packed['id'], data['id'])
        self.run_ucd('unpack', 'p.bin', 'new.bin', '-t', kind, '-c', 1000)
        again = np.fromfile(self.path / 'new.bin', np.uint8)
        self.assertEqual(again.size, 16 * 999 + 12)  # as long as what is touched
        np.testing.assert_array_equal(np.resize(again, 16000).view(record)['id'], data['id'])

    def test_overlapping_blocks_pack(self):
        data = self.raw('a.bin', np.arange(10, dtype=np.int32))
        self.run_ucd('pack', 'a.bin', 'o.bin', '-t', 'vector(8,3,1,int)')
        expected = np.lib.stride_tricks.sliding_window_view(data, 3).ravel()
        np.testing.assert_array_equal(np.fromfile(self.path / 'o.bin', np.int32), expected)

    # Parts

    def test_any_part_of_the_packed_data(self):
        self.raw('a.bin', np.arange(4000, dtype=np.uint8))
        kind = 'vector(333,7,12,byte)'
        self.run_ucd('pack', 'a.bin', 'all', '-t', kind)
        whole = (self.path / 'all').read_bytes()
        for offset, size in [(0, 1), (5, 9), (2330, 100), (2331, 5), (100, 0)]:
            self.run_ucd('pack', 'a.bin', 'part', '-t', kind, '--offset', offset, '--bytes', size)
            self.assertEqual((self.path / 'part').read_bytes(), whole[offset:offset + size])
        self.refuse('--offset is 2332', 'pack', 'a.bin', 'part', '-t', kind, '--offset', 2332)
        # In three parts, in any order, into a file that is not there yet.
        for offset, size in [(1500, 831), (0, 700), (700, 800)]:
            (self.path / 'piece').write_bytes(whole[offset:offset + size])
            self.run_ucd('unpack', 'piece', 'b.bin', '-t', kind, '--offset', offset, '--bytes', size)
        self.run_ucd('pack', 'b.bin', 'again', '-t', kind)
        self.assertEqual((self.path / 'again').read_bytes(), whole)

    def test_standard_output(self):
        data = self.save('a.npy', np.arange(100, dtype=np.int16))
        done = self.run_ucd('pack', 'a.npy', '-', '--slice', '::-3')
        np.testing.assert_array_equal(np.frombuffer(done.stdout, np.int16), data[::-3])

    # Operations

    def test_operations_combine(self):
        ops = {'sum': np.add, 'max': np.maximum, 'min': np.minimum, 'prod': np.multiply,
               'band': np.bitwise_and, 'bxor': np.bitwise_xor}
        rng = np.random.default_rng(3)
        for name, op in ops.items():
            target = self.save('t.npy', rng.integers(-9, 9, (6, 7)))
            packed = self.save('p.npy', rng.integers(-9, 9, (3, 7)))
            self.run_ucd('unpack', 'p.npy', 't.npy', '--slice', '::2', '--op', name)
            target[::2] = op(target[::2], packed)
            np.testing.assert_array_equal(self.load('t.npy'), target)
            self.run_ucd('pack', 't.npy', 'p.npy', '--slice', '::2', '--op', name)
            np.testing.assert_array_equal(self.load('p.npy'), op(packed, target[::2]))
            other = self.save('u.npy', rng.integers(-9, 9, (7, 6)))
            self.run_ucd('copy', 't.npy', 'u.npy', '--out-slice', '::-1', '--in-type',
                         'resized(vector(6,1,7,int64_t),0,8)', '--in-count', 7, '--op', name)
            other[::-1] = op(other[::-1], target.T)
            np.testing.assert_array_equal(self.load('u.npy'), other)
        self.save('f.npy', np.zeros(4))
        self.save('g.npy', np.zeros(4))
        self.refuse('BAND', 'unpack', 'f.npy', 'g.npy', '--op', 'band')
        self.refuse('--op needs an output file', 'pack', 'f.npy', '-', '--op', 'sum')
        self.refuse('it has 32 bytes of data; 16 are to be', 'pack', 'f.npy', 'g.npy', '--slice',
                    ':2', '--op', 'sum')

    def test_mixed_structs_combine(self):
        record = np.dtype([('x', '<f8'), ('id', '<i4')], align=True)
        a, b = np.zeros(50, record), np.zeros(50, record)
        a['x'], a['id'], b['x'], b['id'] = 1.5, 2, np.arange(50), np.arange(50)
        self.raw('a.bin', a)
        self.raw('b.bin', b)
        kind = 'struct([1,1],[0,8],[double,int])'
        self.run_ucd('copy', 'a.bin', 'b.bin', '--in-type', kind, '--in-count', 50, '--out-type',
                     kind, '--out-count', 50, '--op', 'sum')
        found = np.fromfile(self.path / 'b.bin', record)
        np.testing.assert_array_equal(found['x'], 1.5 + np.arange(50))
        np.testing.assert_array_equal(found['id'], 2 + np.arange(50))

    # Copies

    def test_conversions(self):
        numbers = np.linspace(-3, 1e6, 24, dtype='<f4').reshape(4, 6)
        np.save(self.path / 'f.npy', numbers)
        self.run_ucd('copy', 'f.npy', 'h.npy', '--out-shape', '4,6', '--out-dtype', 'float16',
                     '--convert')
        with np.errstate(over='ignore'):
            np.testing.assert_array_equal(np.load(self.path / 'h.npy'), numbers.astype('<f2'))
        self.run_ucd('copy', 'f.npy', 'h.npy', '--in-slice', '::-1', '--saturate')
        np.testing.assert_array_equal(np.load(self.path / 'h.npy'),
                                      np.minimum(numbers[::-1], 65504).astype('<f2'))
        self.run_ucd('copy', 'h.npy', 'f.npy', '--convert')
        self.refuse('the output has elements for', 'copy', 'f.npy', 'h.npy', '--out-slice', ':2',
                    '--convert')
        self.refuse('--op', 'pack', 'f.npy', 'p.bin', '--op', 'convert')

    def test_copies_from_layout_to_layout(self):
        a = self.save('a.npy', np.arange(60.).reshape(3, 4, 5))
        b = self.save('b.npy', np.asfortranarray(np.zeros((4, 5))))
        self.run_ucd('copy', 'a.npy', 'b.npy', '--in-slice', '1')
        b[:] = a[1]
        np.testing.assert_array_equal(self.load('b.npy'), b)
        # To another place of the same file, as long as they do not overlap.
        self.run_ucd('copy', 'a.npy', 'a.npy', '--in-slice', '0', '--out-slice', '2')
        a[2] = a[0]
        np.testing.assert_array_equal(self.load('a.npy'), a)
        for slices in (('0', '0'), (':,:2', ':,2:')):  # which overlap, and which only lie in each other's gaps
            self.refuse('may overlap', 'copy', 'a.npy', 'a.npy', '--in-slice', slices[0], '--out-slice', slices[1])
        self.refuse('the input has 160 bytes and the output 480', 'copy', 'b.npy', 'a.npy')
        # Raw files that are missing are made.
        self.run_ucd('copy', 'a.npy', 'new.bin', '--in-slice', ':,:,0', '--out-type',
                     'contig(12,double)')
        np.testing.assert_array_equal(np.fromfile(self.path / 'new.bin').reshape(3, 4), a[:, :, 0])

    # .npy files that are missing

    def test_arrays_that_are_missing_are_made(self):
        a = self.save('a.npy', np.arange(60.).reshape(3, 4, 5))
        # As what goes in, if nothing says what they are to be.
        self.run_ucd('copy', 'a.npy', 'same.npy', '--in-slice', '::-1,:,2')
        np.testing.assert_array_equal(self.load('same.npy'), a[::-1, :, 2])
        self.run_ucd('unpack', 'a.npy', 'again.npy')
        np.testing.assert_array_equal(self.load('again.npy'), a)
        self.run_ucd('copy', 'a.npy', 'row.npy', '--in-type', 'vector(4,1,5,double)')
        np.testing.assert_array_equal(self.load('row.npy'), a[0, :, 0])
        self.save('f.npy', np.asfortranarray(a))
        self.run_ucd('copy', 'f.npy', 'c.npy')
        np.testing.assert_array_equal(self.load('c.npy'), a)
        # An array by shape and dtype, and a slice of it: zeros elsewhere.
        expected = np.zeros((6, 5))
        expected[::2] = a[0, :3]
        self.save('p.npy', a[0, :3])
        self.run_ucd('unpack', 'p.npy', 'u.npy', '--shape', '6,5', '--dtype', 'double', '-s', '::2')
        np.testing.assert_array_equal(self.load('u.npy'), expected)
        self.run_ucd('copy', 'a.npy', 'd.npy', '--in-slice', '0,:3', '--out-shape', '6,5',
                     '--out-dtype', 'double', '--out-slice', '::2')
        np.testing.assert_array_equal(self.load('d.npy'), expected)
        # By a type: one dimension, as long as the type reaches.
        self.run_ucd('unpack', 'p.npy', 't.npy', '-t', 'vector(15,1,2,double)', '--origin', 8)
        np.testing.assert_array_equal(self.load('t.npy')[1::2], a[0, :3].ravel())
        self.assertEqual(self.load('t.npy').shape, (30,))
        self.raw('s.bin', np.arange(24, dtype=np.uint8))
        self.run_ucd('copy', 's.bin', 's.npy', '--in-type', 'contig(24,byte)', '--out-type',
                     'struct([1,1],[0,8],[double,int])', '--out-count', 2)
        self.assertEqual((self.load('s.npy').dtype, self.load('s.npy').shape), (np.uint8, (28,)))

    def test_arrays_that_cannot_be_made(self):
        self.save('f.npy', np.asfortranarray(np.zeros((3, 4))))
        self.raw('b.bin', np.zeros(2))
        for said, arguments in (
                ('it does not exist: give a type, or the shape', ('unpack', 'f.npy')),
                ('it does not exist: give a type, or the shape', ('unpack', 'b.bin')),
                ('NumPy has no dtype for bfloat16',
                 ('unpack', 'b.bin', '--shape', '8', '--dtype', 'bfloat16'))):
            self.refuse(said, *arguments[:2], 'new.npy', *arguments[2:])
        shape = ('--shape', '2', '--dtype', 'double')
        self.refuse('touches bytes 8 to 24 of its data, which has 16', 'unpack', 'b.bin', 'new.npy',
                    *shape, '--origin', 8)
        self.refuse('its elements are', 'unpack', 'f.npy', 'new.npy', '--shape', '12', '--dtype',
                    'float')
        self.refuse('it has 96 bytes; the type takes 16', 'unpack', 'f.npy', 'new.npy', *shape)
        self.assertFalse((self.path / 'new.npy').exists())

    def test_parts_keep_their_dtype(self):
        a = self.save('a.npy', np.arange(10.))
        self.run_ucd('pack', 'a.npy', 'p.npy', '--offset', 16, '--bytes', 24)
        np.testing.assert_array_equal(self.load('p.npy'), a[2:5])
        strings = self.save('s.npy', np.array(['abc', 'def', 'ghi']))
        self.run_ucd('pack', 's.npy', 'p.npy', '--bytes', 24)
        np.testing.assert_array_equal(self.load('p.npy'), strings[:2])
        (self.path / 'p.npy').unlink()
        for part in (('--bytes', 12), ('--offset', 4), ('--offset', 4, '--bytes', 16)):
            self.refuse('are no whole elements of 8 bytes (<f8); --as-is', 'pack', 'a.npy', 'p.npy',
                        *part)
            self.assertFalse((self.path / 'p.npy').exists())
            self.run_ucd('pack', 'a.npy', 'p.bin', *part)  # raw bytes are bytes
            self.run_ucd('pack', 'a.npy', 'p.npy', '--as-is', *part)
            found = self.load('p.npy')
            self.assertEqual(found.dtype, np.uint8)
            self.assertEqual(found.tobytes(), (self.path / 'p.bin').read_bytes())
            (self.path / 'p.npy').unlink()

    # Larger than a chunk

    def test_long_work_goes_by_chunks_and_shows_a_bar(self):
        rows, columns = 3000, 4096  # 98 MB, three chunks of packed data
        array = np.lib.format.open_memmap(self.path / 'big.npy', mode='w+', dtype='<f8',
                                          shape=(rows, columns))
        array[:] = np.arange(columns) + np.arange(rows)[:, None] * 5000.
        array.flush()
        done = self.run_ucd('pack', 'big.npy', 'out.npy', '--slice', '::-1,4:', '--progress',
                            'always', '--verbose')
        self.assertIn(b'100%', done.stderr)
        self.assertIn(b'packed 93.', done.stderr)
        np.testing.assert_array_equal(np.load(self.path / 'out.npy', mmap_mode='r'), array[::-1, 4:])
        self.run_ucd('copy', 'out.npy', 'big.npy', '--out-slice', ':,:-4', '--op', 'sum',
                     '--threads', 2)
        again = np.load(self.path / 'big.npy', mmap_mode='r')
        np.testing.assert_array_equal(again[0, :-4], np.arange(4096 - 4) + 5000. * 2999
                                      + np.arange(4, 4096))
        # Nothing on standard error unless it is a terminal.
        self.assertEqual(self.run_ucd('pack', 'big.npy', 'out.npy', '--slice', '0').stderr, b'')

    def test_sparse_files_of_a_terabyte(self):
        with open(self.path / 'huge.bin', 'wb') as file:
            file.truncate(1 << 40)
            file.seek((1 << 40) - 8)
            file.write(np.array([42.]).tobytes())
        self.run_ucd('pack', 'huge.bin', 'column', '-t', f'vector(5,1,{(1 << 37) // 4 - 1},double)',
                     '--origin', 24)
        np.testing.assert_array_equal(np.fromfile(self.path / 'column'), [0, 0, 0, 0, 42])

    # Memory stays small whatever the file's size: under a limit that the file exceeds.
    @unittest.skipIf(b'__asan_init' in pathlib.Path(UCD).read_bytes(), 'ASan takes more than the limit')
    def test_more_than_memory(self):
        import resource  # pylint: disable=import-outside-toplevel
        size = 256 << 20
        with open(self.path / 'big.bin', 'wb') as file:
            file.truncate(size)
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, 100 << 20))
        self.run_ucd('copy', 'big.bin', 'out.bin', '--in-type', f'contig({size // 2},byte)',
                     '--out-type', f'vector({size // 2},1,2,byte)', preexec_fn=limit)
        self.assertEqual((self.path / 'out.bin').stat().st_size, size - 1)

    # Files that are not as they should be

    def test_short_and_empty_files(self):
        (self.path / 'empty').write_bytes(b'')
        self.raw('short', np.zeros(3))
        self.refuse('the type touches bytes 0 to 32 of its data, which has 24', 'pack', 'short',
                    'out', '-t', 'contig(4,double)')
        self.refuse('the type touches bytes -8 to 16', 'pack', 'short', 'out', '-t',
                    'contig(3,double)', '--origin', -8)
        self.refuse('which has 0', 'pack', 'empty', 'out', '-t', 'byte')
        self.assertFalse((self.path / 'out').exists())
        self.run_ucd('pack', 'empty', 'out', '-t', 'contig(0,double)')
        self.assertEqual((self.path / 'out').read_bytes(), b'')
        self.run_ucd('pack', 'empty', 'out.npy', '-t', 'contig(0,double)')
        self.assertEqual(self.load('out.npy').size, 0)
        self.run_ucd('unpack', 'empty', 'made', '-t', 'contig(0,double)')
        self.refuse('short: it has 24 bytes; the type takes 16', 'unpack', 'short', 'new', '-t',
                    'contig(2,double)')
        self.refuse('--bytes unpacks a part', 'unpack', 'short', 'new', '-t', 'contig(5,double)')
        self.assertFalse((self.path / 'new').exists())  # nothing is made by what is refused
        self.refuse('--bytes is 99', 'unpack', 'short', 'new', '-t', 'contig(5,double)', '--bytes', 99)
        whole = self.save('a.npy', np.arange(10.))
        (self.path / 'cut.npy').write_bytes((self.path / 'a.npy').read_bytes()[:-1])
        self.refuse('it has 79 bytes of data; its header says 10 of <f8: 80 bytes', 'pack', 'cut.npy',
                    'out.npy', status=1)
        (self.path / 'cut.npy').write_bytes((self.path / 'a.npy').read_bytes()[:50])
        self.refuse('its .npy header is cut off', 'pack', 'cut.npy', 'out.npy', status=1)
        self.assertEqual(whole.size, 10)

    def test_npy_headers_that_are_not_understood(self):
        good = {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}
        for change, said in [({'descr': '<q9'}, "dtype '<q9'"), ({'shape': (-1,)}, 'no list of sizes'),
                             ({'descr': '|O'}, "dtype '|O'"), ({'fortran_order': 3}, 'neither True nor'),
                             ({'more': 1}, "it has the key 'more'"),
                             ({'descr': '<M8x'}, "dtype '<M8x'"), ({'descr': '<M8[]'}, "dtype '<M8[]'"),
                             ({'descr': "<m8[s]'"}, "dtype '<m8[s]'"), ({'descr': '<M8[s'}, "dtype '<M8[s'"),
                             ({'descr': [('a', '<f8')]}, 'elements are structures'),
                             ({'shape': (1 << 40, 1 << 40)}, 'does not fit 64 bits')]:
            text = repr(good | change).encode() + b'\n'
            (self.path / 'x.npy').write_bytes(b'\x93NUMPY\x01\x00' + len(text).to_bytes(2, 'little')
                                              + text + bytes(16))
            self.refuse(said, 'pack', 'x.npy', 'out.npy', status=1)
        # A header that does not fit version 1, which is written.
        text = repr(good | {'descr': '<M8[' + 's' * 70000 + ']'}).encode() + b'\n'
        (self.path / 'x.npy').write_bytes(b'\x93NUMPY\x02\x00' + len(text).to_bytes(4, 'little') + text + bytes(16))
        self.refuse('too long', 'pack', 'x.npy', 'out.npy')
        (self.path / 'x.npy').write_bytes(b'\x93NUMPY\x09\x00' + bytes(100))
        self.refuse('it is of version 9 of .npy', 'pack', 'x.npy', 'out.npy', status=1)
        (self.path / 'x.npy').write_bytes(b'something else altogether')
        self.refuse('it is no .npy file', 'pack', 'x.npy', 'out.npy', status=1)
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.path / 'v.npy', 'wb') as file:
                np.lib.format.write_array(file, np.arange(5), version=version)
            self.run_ucd('pack', 'v.npy', 'out.npy', '--slice', '::2')
            np.testing.assert_array_equal(self.load('out.npy'), [0, 2, 4])

    def test_random_bytes_as_headers_never_crash(self):
        rng = random.Random(11)
        self.save('a.npy', np.zeros((3, 4)))
        good = (self.path / 'a.npy').read_bytes()
        for _ in range(150):
            bad = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                bad[rng.randrange(0, 128)] = rng.choice(b"'(){}:,<f08 \x00\xff" + bytes([rng.randrange(256)]))
            (self.path / 'bad.npy').write_bytes(bad[:rng.choice([len(bad), rng.randrange(len(bad))])])
            done = subprocess.run([UCD, 'pack', 'bad.npy', 'out.npy', '-s', '...'], cwd=self.path,
                                  capture_output=True, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)

    def test_dtype_and_order_must_fit_a_type(self):
        a = self.save('f4.npy', np.arange(8, dtype=np.float32))
        self.refuse('its elements are <f4; the type is made of double; --as-is', 'pack', 'f4.npy', 'o',
                    '-t', 'contig(4,double)')
        self.refuse('made of several types', 'pack', 'f4.npy', 'o', '-t',
                    'struct([1,1],[0,8],[double,int])')
        self.run_ucd('pack', 'f4.npy', 'o', '-t', 'contig(4,double)', '--as-is')
        self.run_ucd('pack', 'f4.npy', 'o', '-t', 'vector(4,1,2,float)')
        np.testing.assert_array_equal(np.fromfile(self.path / 'o', np.float32), a[::2])
        self.run_ucd('pack', 'f4.npy', 'o', '-t', 'contig(3,byte)')  # bytes are bytes
        f = self.save('f.npy', np.asfortranarray(np.arange(12.).reshape(3, 4)))
        self.refuse('it is in Fortran order', 'pack', 'f.npy', 'o', '-t', 'contig(3,double)')
        self.run_ucd('pack', 'f.npy', 'o', '-t', 'contig(3,double)', '--as-is')
        np.testing.assert_array_equal(np.fromfile(self.path / 'o'), f[:, 0])
        self.refuse('the input\'s elements are <f4', 'copy', 'f4.npy', 'f.npy', '--out-slice', '0,:')
        self.refuse('its elements are <f4', 'unpack', 'f4.npy', 'f.npy', '--slice', '0,:')
        self.refuse('give a type, or the shape', 'pack', 'o', 'p', '--slice', ':')

    def test_dtypes_that_ucd_does_not_know_are_compared_too(self):
        dtypes = ('<f8', '>f8', '<M8[s]', '<M8[ms]', '<m8[s]', '|S8', '|V8', '<U2', '>i8')
        for one in dtypes:
            self.save('one.npy', np.arange(8, dtype='<i8').view(one))
            for other in dtypes:
                before = self.save('other.npy', np.zeros(8, '<i8').view(other))
                for command in ('copy', 'unpack'):
                    if one == other:
                        self.run_ucd(command, 'one.npy', 'other.npy')
                        self.assertEqual(self.load('other.npy').tobytes(), np.arange(8, dtype='<i8').tobytes())
                        continue
                    self.refuse('--as-is', command, 'one.npy', 'other.npy')
                    self.assertEqual(self.load('other.npy').tobytes(), before.tobytes())
                if one != other:
                    self.refuse('--as-is', 'pack', 'one.npy', 'other.npy', '--op', 'bxor')
            # Bytes that are asked for match all.
            self.raw('raw.bin', np.arange(8, dtype='<i8'))
            for bytes_of_it in (('--in-type', 'contig(64,byte)'), ('--in-shape', '64', '--in-dtype', 'byte')):
                self.save('other.npy', np.zeros(8, '<i8').view(one))
                self.run_ucd('copy', 'raw.bin', 'other.npy', *bytes_of_it)
                self.assertEqual(self.load('other.npy').tobytes(), self.load('one.npy').tobytes())
            self.run_ucd('unpack', 'one.npy', 'raw.out', '-t', 'contig(64,byte)')
            self.refuse('--as-is', 'copy', 'raw.bin', 'one.npy', '--in-type', 'contig(16,float)')

    def test_files_that_cannot_be_used(self):
        self.save('a.npy', np.arange(10.))
        self.refuse('missing: cannot open it: No such file', 'pack', 'missing', 'o', '-t', 'int', status=1)
        self.refuse('cannot create it: No such file', 'pack', 'a.npy', 'none/o', status=1)
        self.refuse('no regular file', 'pack', '/dev/null', 'o', '-t', 'int', status=1)
        self.refuse('are the same file', 'pack', 'a.npy', 'a.npy')
        os.link(self.path / 'a.npy', self.path / 'link.npy')
        self.refuse('are the same file', 'pack', 'a.npy', 'link.npy')
        self.refuse('are the same file', 'unpack', 'link.npy', 'a.npy')
        self.refuse('the type starts at byte -8', 'unpack', 'a.npy', 'new', '-t',
                    'hindexed_block(10,[-8],double)')
        if os.geteuid() != 0:
            os.chmod(self.path / 'a.npy', 0o444)
            self.save('p.npy', np.arange(10.))
            self.run_ucd('pack', 'a.npy', 'o.npy')
            self.refuse('Permission denied', 'unpack', 'p.npy', 'a.npy', status=1)
        if os.path.exists('/dev/full'):
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([UCD, 'pack', 'a.npy', '-'], stdout=full, cwd=self.path,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b'standard output: No space left', done.stderr)

    def test_the_examples_of_the_help_work(self):
        def examples(*command):
            words = self.run_ucd(*command, '--help').stdout.decode().split('Examples:\n')[1]
            return [line.strip() for line in words.splitlines() if line.strip()]
        field = self.save('field.npy', np.arange(512. * 4 * 8).reshape(512, 4, 8))
        matrix = self.raw('matrix.bin', np.arange(64.).reshape(8, 8))
        weights = np.linspace(-3, 3, 4096, dtype=np.float32)
        self.raw('weights.bin', weights)
        self.save('lengths.npy', np.array([1, 2, 3]))
        self.save('displs.npy', np.array([0, 10, 20]))
        commands = [line.split()[1] for line in examples() if line.startswith('ucd ')]
        self.assertIn('pack', commands)
        every = [example for command in [*commands, 'completion'] for example in examples(command)]
        for example in every:
            done = subprocess.run(['bash', '-c', f'set -eo pipefail; ucd() {{ "$UCD" "$@"; }}; {example}'], cwd=self.path,
                                  capture_output=True, text=True, check=False, env=os.environ | {'UCD': UCD})
            self.assertEqual((done.returncode, done.stderr), (0, ''), example)
        np.testing.assert_array_equal(self.load('face.npy'), field[0:512:2, :, 7])
        np.testing.assert_array_equal(self.load('every-second.npy'), self.load('field.npy')[::2])
        np.testing.assert_array_equal(np.fromfile(self.path / 'columns.bin'), matrix.T.ravel())
        # A bfloat16 is the upper half of a float, rounded to nearest, ties to even.
        bits = weights.view(np.uint32)
        rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
        np.testing.assert_array_equal(np.fromfile(self.path / 'small.bin', np.uint16), rounded.astype(np.uint16))

    def test_readers_may_go(self):
        self.raw('big.bin', np.zeros(1 << 20))
        with subprocess.Popen([UCD, 'pack', 'big.bin', '-', '-t', 'contig(1048576,double)'],
                              cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b'')
            self.assertEqual(process.wait(timeout=60), -13)  # SIGPIPE


if __name__ == '__main__':
    unittest.main()
