"""ucd describe, info, flatten, unflatten, completion and manual, from without."""

import json
import mmap
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

UCD = sys.argv.pop()
COLUMN = 'vector(8,1,8,double)'


def run(*arguments, status=0, **more):
    done = subprocess.run([UCD, *arguments], capture_output=True, timeout=120, check=False, **more)
    assert done.returncode == status, (arguments, done.returncode, done.stderr.decode())
    return done


def text(*arguments, **more):
    return run(*arguments, **more).stdout.decode()


def as_json(*arguments):
    return json.loads(text('describe', '--json', *arguments))


class Describe(unittest.TestCase):
    def test_says_all_that_is_known(self):
        j = as_json('resized(vector(3,2,4,int),-8,64)')
        self.assertEqual(j['type'], 'resized(vector(3,2,4,int32_t),-8,64)')
        self.assertEqual(j['as_built'], ['resized(-8, 64)', '  vector(3, 2, 4)', '    int'])
        self.assertEqual((j['size'], j['lb'], j['extent']), (24, -8, 64))
        self.assertEqual((j['true_lb'], j['true_extent'], j['alignment']), (0, 40, 4))
        self.assertTrue(j['explicit_bounds'])
        self.assertEqual(j['element'], 'int')
        self.assertEqual(j['layout'], '@0 strided(3, 16) block(8)')
        self.assertEqual(j['segments'], {'count': 3, 'shortest': 8, 'longest': 8})
        self.assertEqual(j['boxes'], {'count': 1, 'first': [j['box']]})
        self.assertEqual(j['box'], {'start': 0, 'block': 8, 'counts': [3], 'strides': [16]})
        self.assertTrue(j['kernels'][0].startswith('seq, one: pack_s_w8'))
        self.assertRegex(j['steps'][0], r'^vector -> @0 strided\(3, 16\) block\(8\) by ')
        self.assertEqual(len(j['steps']), 2)
        flat = run('flatten', 'resized(vector(3,2,4,int),-8,64)', '-o', '-').stdout
        self.assertEqual(j['flattened'], len(flat))
        self.assertGreater(j['memory'], 500)

    def test_memory_grows_with_what_is_kept(self):
        def held(n):
            displs = ','.join(str(i * i) for i in range(n))
            return as_json(f'indexed_block(1,[{displs}],double)')['memory']
        # A list as given, and one in the layout.
        self.assertGreaterEqual(held(3000) - held(1000), 2 * 2000 * 8)

    def test_counts_and_signs(self):
        j = as_json('hvector(3,1,-24,double)', '--count', '2')
        self.assertEqual((j['bytes'], j['touched']), (48, {'low': -48, 'high': 64}))
        self.assertIsNone(as_json('struct([1,1],[0,8],[double,int])')['element'])
        self.assertIsNone(as_json('indexed_block(1,[0,5,7],int)')['box'])

    def test_advice_with_its_reason(self):
        for kind, how in [('contig(0,int)', 'none'), ('contig(100,int)', 'none'),
                          ('vector(16,1024,4096,double)', 'iov'),
                          ('vector(100000,16,64,double)', 'dma'), ('vector(1000,1,9,int)', 'pack'),
                          ('ndarray([9,9,9,9,16],[900000,30000,1000,300,8],double)', 'pack'),
                          ('indexed_block(64,@displs.npy,double)', 'pack')]:
            if '@' in kind:
                kind = kind.replace('@displs.npy', str([i * i * 80 for i in range(2000)]))
            advice = as_json(kind)['advice']
            self.assertEqual(advice['how'], how, kind)
            self.assertGreater(len(advice['reason']), 20)

    def test_bad_types_are_pointed_at(self):
        done = run('describe', 'vector(3,1,4,duble)', status=2)
        self.assertEqual(done.stdout, b'')
        self.assertEqual(done.stderr.decode(),
                         "ucd: type: byte 14: unknown type 'duble'; expected a constructor or a "
                         'predefined type, the oldtype of vector; did you mean double?\n'
                         '  vector(3,1,4,duble)\n'
                         '               ^\n')
        for bad in ('', 'contig(-1,int)', 'contig(9223372036854775807,double)', '@/no/such/file'):
            self.assertTrue(run('describe', bad, status=1 if bad[:1] == '@' else 2).stderr)

    def test_types_from_files_and_standard_input(self):
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room) / 'type'
            path.write_text('# a column\nrow = contig(1,double);\nhvector(8,1,64,row)\n')
            self.assertIn('@0 strided(8, 64) block(8)', text('describe', f'@{path}'))
            run('flatten', COLUMN, '-o', str(path))
            self.assertIn('@0 strided(8, 64) block(8)', text('describe', f'@{path}'))
        self.assertIn('strided(8, 64)', text('describe', '-', input=COLUMN.encode()))
        done = run('describe', '-', input=b'vector(8,\n1,8,dooble)', status=2)
        self.assertTrue(done.stderr.endswith(b'  1,8,dooble)\n      ^\n'), done.stderr)


class Picture(unittest.TestCase):
    def picture(self, *arguments):
        return text('describe', *arguments).split('\n\n')[1].splitlines()

    def test_numbers_are_the_packed_order(self):
        self.assertEqual(self.picture('vector(3,2,4,int)'),
                         [' 0  0 1 · ·', '16  2 3 · ·', '32  4 5',
                          'a cell is 4 bytes, a row 16 bytes; the number is its place in packed '
                          'order; · is a gap'])
        # Backwards, with bounds beyond what is touched.
        self.assertEqual(self.picture('--ascii', 'resized(vector(3,1,-1,int),-12,20)')[0],
                         '-12  . 2 1 0 .')
        # Blocks that overlap keep their first number.
        self.assertEqual(self.picture('vector(3,2,1,char)')[0], '0  0 1 3 5')
        self.assertEqual(self.picture('contig(0,int)'),
                         ['nothing: no byte, and no extent'])
        self.assertEqual(self.picture('--ascii', 'resized(contig(0,int),0,4)')[0], '0  .')

    def test_rows_and_columns_can_be_chosen(self):
        lines = self.picture('indexed([1,2,3],[0,3,6],int)', '--row', '12', '--ascii')
        self.assertEqual(lines[:3], [' 0  0 . .', '12  1 2 .', '24  3 4 5'])
        lines = self.picture('contig(100,int)', '--columns', '10')
        self.assertEqual(len(lines), 11)

    def test_colour_only_if_asked_for(self):
        self.assertNotIn('\x1b', text('describe', COLUMN))
        self.assertIn('\x1b[38;5;', text('describe', COLUMN, '--color', 'always'))

    def test_huge_types_are_summarised(self):
        for kind in ('vector(1099511627776,1,2,double)', 'contig(1152921504606846975,double)',
                     'hvector(1099511627776,1,-4096,double)',
                     'subarray([65536,65536,256],[65536,1,256],[0,9,0],C,double)',
                     'struct([1,1],[0,4611686018427387904],[char,char])'):
            lines = self.picture(kind)
            self.assertLess(len(lines), 40)
            self.assertLess(max(map(len, lines)), 200)
            self.assertIn('the digit is the tenth', lines[-1])
            run('describe', kind, '--svg', '-')

    def test_scaled_pictures_show_where_data_is(self):
        # The lower half of each second plane.
        lines = self.picture('subarray([8,1024,1024],[4,512,1024],[0,512,0],C,double)', '--ascii')
        rows = [line.split()[1] for line in lines[:-1]]
        touched = sum(c != '.' for row in rows for c in row)
        self.assertAlmostEqual(touched / sum(map(len, rows)), 1 / 4, delta=0.02)
        self.assertEqual([c for row in rows for c in row if c != '.'],
                         sorted(c for row in rows for c in row if c != '.'))

    def test_svg_is_a_figure(self):
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room) / 'a.svg'
            run('describe', COLUMN, '--svg', str(path), '--no-picture')
            root = xml.etree.ElementTree.parse(path).getroot()
        space = '{http://www.w3.org/2000/svg}'
        self.assertEqual(root.tag, space + 'svg')
        self.assertEqual(root.find(space + 'title').text, COLUMN)
        labels = [t.text for t in root.iter(space + 'text')]
        for number in range(8):
            self.assertIn(str(number), labels)
        filled = [r for r in root.iter(space + 'rect') if r.get('width') == r.get('height') == '24'
                  and r.get('fill', '').startswith('#')]
        self.assertEqual(len(filled), 8)
        # Names with < and & stay well formed.
        root = xml.etree.ElementTree.fromstring(text('describe', 'int # a<&>b', '--svg', '-'))
        self.assertEqual(root.find(space + 'title').text, 'int # a<&>b')
        self.assertEqual(text('describe', COLUMN, '--svg', '-')[:4], '<svg')


class Flat(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.path = str(pathlib.Path(room.name) / 'type')

    def test_types_come_back(self):
        for kind in (COLUMN, 'double', 'indexed([1,3],[0,4],int32_t)',
                     'struct([1,2],[0,8],[double,int32_t])', 'contig(0,byte)',
                     'resized(contig(0,byte),0,8)', 't1 = vector(2,1,2,char);\n'
                     'struct([1,1,1],[0,4,9],[t1,double,t1])'):
            run('flatten', kind, '-o', self.path)
            self.assertEqual(text('unflatten', self.path), kind + '\n')
            run('unflatten', '--check', self.path)

    def test_dump_explains_every_byte(self):
        dump = text('flatten', 'struct([1,3],[0,8],[double,indexed([1,2],[5,0],char)])')
        run('flatten', 'struct([1,3],[0,8],[double,indexed([1,2],[5,0],char)])', '-o', self.path)
        self.assertEqual(text('unflatten', '--dump', self.path), dump)
        shown = b''.join(bytes.fromhex(line[8:43]) for line in dump.splitlines())
        self.assertEqual(shown, pathlib.Path(self.path).read_bytes())
        for words in ('magic', 'alignment 8', 'element of class 7, 8 bytes', 'indexed: 2 blocks of node', 'structure: '):
            self.assertIn(words, dump)

    def test_corrupt_files_have_a_status_of_their_own(self):
        run('flatten', COLUMN, '-o', self.path)
        good = pathlib.Path(self.path).read_bytes()
        for bad in (good[:-1], good + b'\0', b'', b'UCDT', good[:30] + b'\xff' + good[31:]):
            pathlib.Path(self.path).write_bytes(bad)
            for arguments in (('--check',), (), ('--dump',)):
                done = run('unflatten', *arguments, self.path, status=3)
                self.assertEqual(done.stdout, b'')
                self.assertTrue(done.stderr.startswith(b'ucd: '))
        self.assertIn(b'flattened', run('describe', f'flattened(@{self.path})', status=2).stderr)
        run('unflatten', '/no/such/file', status=1)
        run('flatten', COLUMN, '-o', '-', '--dump', status=2)
        run('flatten', COLUMN, '-o', '/no/such/folder/file', status=1)


class Info(unittest.TestCase):
    def test_says_what_is_there(self):
        j = json.loads(text('info', '--json'))
        backends = {b['name']: b for b in j['backends']}
        self.assertTrue(backends['seq']['available'])
        self.assertIn('double', backends['seq']['reductions']['SUM'])
        self.assertNotIn('double', backends['seq']['reductions']['BAND'])
        for b in backends.values():
            self.assertTrue(b['available'] or b['reason'])
        self.assertTrue(all(k['kernels'] for k in j['kernels']))
        self.assertRegex(j['version'], r'^\d+\.\d+\.\d+$')
        words = text('info')
        # On which part of all.
        total = int(re.search(r'reductions, on how many of the (\d+) predefined types: MAX on', words)[1])
        self.assertLess(len(backends['seq']['reductions']['MAX']), total)
        self.assertGreater(total, 40)
        for name in backends:
            self.assertIn(f'  {name} ', words)

    def test_copies_of_libucd(self):
        # This tool and its libucd: whichever of the two has the copy.
        listed = json.loads(text('info', '--json', '--process', str(os.getpid())))
        self.assertEqual(listed['copies'], [])
        self.assertIn('copy of libucd', text('info', '--process', str(os.getpid())))
        needs = subprocess.run(['ldd', UCD], capture_output=True, text=True, check=False).stdout
        file = next(iter(re.findall(r'libucd\.so\S* => (\S+)', needs)), UCD)
        kind = 'static' if file == UCD else 'shared'
        copy = json.loads(text('info', '--json', '--file', file))['copies'][0]
        self.assertEqual((copy['kind'], copy['file']), (kind, file))
        self.assertRegex(copy['version'], r'^\d+\.\d+\.\d+$')
        self.assertRegex(text('info', '--file', file), rf'(?m)^\d+\.\d+\.\d+ +{kind} +{re.escape(file)}')
        self.assertIn(b'cannot open it', run('info', '--file', '/nothing', status=1).stderr)
        self.assertIn(b'does not tell', run('info', '--process', str(2 ** 40), status=1).stderr)
        run('info', '--file', file, '--process', '1', status=2)

    def test_notes_may_be_anything(self):
        def elf(note, **changed):
            values = {'phoff': 64, 'phentsize': 56, 'phnum': 1, 'type': 4, 'offset': 120, 'filesz': len(note), 'align': 4} | changed
            kind = bytes([2, 1 if sys.byteorder == 'little' else 2, 1] + [0] * 9)
            header = struct.pack('=4s12sHHIQQQIHHHHHH', b'\x7fELF', kind, 3, 0, 1, 0, values['phoff'], 0, 0, 64,
                                 values['phentsize'], values['phnum'], 0, 0, 0)
            segment = struct.pack('=IIQQQQQQ', values['type'], 4, values['offset'], 0, 0, values['filesz'], 0, values['align'])
            return header + segment + note

        def note(text, name=b'UCD\0', namesz=4, descsz=None, kind=1):
            header = struct.pack('=III', namesz, len(text) if descsz is None else descsz, kind)
            return header + name + text + b'\0' * (-len(text) % 4)

        good = note(b'1.2.3 static my_\0')
        kept = [{'version': '1.2.3', 'kind': 'static', 'prefix': 'my_'}]
        longest = 2 ** 32 - 1
        cases = [(elf(good), kept), (elf(good + good), kept * 2), (elf(note(b'x\0', b'GNU\0') + good), kept),
                 (elf(good, align=0), kept), (elf(good, align=2 ** 63), kept), (elf(good, phnum=65535), None),
                 (elf(note(b'1.2.3\0')), []), (elf(note(b'1.2.3 static my_')), []), (elf(note(b'')), []),
                 (elf(note(b'1 \x1b[2J \0')), []), (elf(note(b'a b c d\0')), []),
                 (elf(note(b'x\0', descsz=longest)), []), (elf(note(b'x\0', namesz=longest)), []),
                 (elf(note(b'x\0', namesz=longest, descsz=longest)), []),
                 (elf(good, filesz=2 ** 63), []), (elf(good, filesz=2 ** 20 + 1), []),
                 (elf(good, offset=2 ** 64 - 1), []),
                 (elf(good, phoff=2 ** 64 - 1), []), (elf(good, phentsize=1), []), (elf(good, type=1), []),
                 (b'\x7fELF', []), (b'', [])]
        cases += [(elf(good)[:length], []) for length in range(1, len(elf(good)), 7)]
        with tempfile.NamedTemporaryFile() as file:
            for content, expected in cases:
                file.seek(0)
                file.truncate()
                file.write(content)
                file.flush()
                copies = json.loads(text('info', '--json', '--file', file.name))['copies']
                for copy in copies:
                    self.assertEqual(copy.pop('file'), file.name)
                if expected is not None:
                    self.assertEqual(copies, expected, content)
            # The same notes many times: no memory is taken for them.
            header, segment = elf(good)[:56] + struct.pack('=H', 65535) + elf(good)[58:64], bytearray(elf(good)[64:120])
            for size, count in ((len(good), 65535), (2 ** 19, 3)):
                struct.pack_into('=Q', segment, 8, 64 + 65535 * 56)
                struct.pack_into('=Q', segment, 32, size)
                unused = bytes(len(segment)) * (65535 - count)
                content = header + bytes(segment) * count + unused + (good if size == len(good) else bytes(size))
                pathlib.Path(file.name).write_bytes(content)
                self.assertIn(b'is not read further', run('info', '--file', file.name, status=1).stderr)
            with open(file.name, 'rb') as mapped, mmap.mmap(mapped.fileno(), 0, access=mmap.ACCESS_READ):
                listed = json.loads(text('info', '--json', '--process', str(os.getpid())))
                self.assertIn(file.name, listed['unread'])

    def test_shows_the_environment(self):
        environment = os.environ | {'UCD_THREADS': '3'}
        self.assertRegex(text('info', env=environment), r'UCD_THREADS +3\n')
        done = run('info', status=1, env=os.environ | {'UCD_THREADS': 'many'})
        self.assertIn(b'UCD_THREADS is "many"', done.stderr)


class Commands(unittest.TestCase):
    def test_bad_arguments_have_a_status_of_their_own(self):
        for bad in ((), ('nothing',), ('describe',), ('describe', 'int', '--sgv', 'x'),
                    ('pack', 'only-one'), ('pack', 'a', 'b', '--op', 'add'),
                    ('pack', 'a', 'b', '-t', 'int', '-s', ':'), ('pack', 'a', 'b', '--count', '3'),
                    ('describe', 'int', '--count', '-1'), ('describe', 'int', '--color', 'red'),
                    ('unflatten', '--check', '--dump', 'x'),
                    ('describe', 'int', '--count', str(2 ** 62))): # which the library refuses
            done = run(*bad, status=2)
            self.assertTrue(done.stderr, bad)
            self.assertEqual(done.stdout, b'', bad)

    def test_what_is_wrong_is_named(self):
        for bad, said in ((('nothing',), b"unknown command 'nothing'\n"),
                          ((), b'subcommand is required'),
                          (('info', 'b', 'a'), b'info takes no more arguments: b a\n'),
                          (('pack',), b'INPUT is required')):
            self.assertIn(said, run(*bad, status=2).stderr)
        for number in ('-1', '9' * 25, '1x'):
            for bad in (('describe', 'int', '--count'), ('pack', 'a', 'b', '--bytes')):
                said = run(*bad, number, status=2).stderr
                self.assertIn(number.encode(), said)
                self.assertLess(len(said), 150)

    def test_what_may_be_meant_is_suggested(self):
        for bad, said in ((('descirbe', 'int'), "unknown command 'descirbe'; did you mean describe?"),
                          (('describe', '--sgv', 'a', 'int'),
                           'unknown option --sgv; did you mean --svg?'),
                          (('--verson',), 'unknown option --verson; did you mean --version?'),
                          (('pack', '--slcie=0'), 'unknown option --slcie; did you mean --slice?'),
                          (('info', '--quite-another'), 'unknown option --quite-another\n'),
                          (('pack', 'a', 'b', '--op', 'mun'), 'did you mean min?'),
                          (('completion', 'fisch'), 'did you mean fish?')):
            self.assertIn(said, run(*bad, status=2).stderr.decode())
        # In the order in which they were given.
        said = run('pack', 'a', '--type', 'int', '--threats', '2', '--bites', '8', status=2).stderr
        self.assertEqual(said.decode(), 'ucd: unknown option --threats; did you mean --threads?\n'
                         'unknown option --bites; did you mean --bytes?\nucd pack --help says more\n')

    def test_help_is_no_failure(self):
        self.assertIn('describe', text('--help'))
        self.assertIn('--slice', text('pack', '--help'))
        for command in self.commands():
            self.assertIn(f'ucd {command}', self.examples(text(command, '--help'))[0])
            self.assertIn(self.examples(text(command, '--help'))[0], self.examples(text('--help')))
        self.assertRegex(text('--version'), r'^ucd \d+\.\d+\.\d+\n$')

    def test_closed_output_is_a_failure_and_no_crash(self):
        for arguments in (['describe', 'int'], ['info'], ['flatten', 'int'], ['manual']):
            done = subprocess.run(['sh', '-c', '"$@" >&-', 'sh', UCD, *arguments],
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b'standard output', done.stderr)
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([UCD, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      timeout=60, check=False)
            self.assertEqual(done.returncode, 1)

    def test_messages_go_into_no_file(self):
        # A program without standard streams gives their numbers to the files that it opens.
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room)
            (path / 'in').write_bytes(bytes(range(64)))
            for closed in ('2>&-', '>&- 2>&-', '<&- >&- 2>&-', '<&-'):
                for more, status in ((('--verbose', '--progress', 'always'), 0), (('--op', 'sum'), 2)):
                    (path / 'out').write_bytes(bytes(64))
                    done = subprocess.run(['sh', '-c', f'"$@" {closed}', 'sh', UCD, 'copy', path / 'in', path / 'out', '--in-type',
                                           'contig(64,byte)', '--out-type', 'contig(64,byte)', *more], timeout=60, check=False,
                                          stderr=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, status, (closed, more))
                    self.assertEqual((path / 'in').read_bytes(), bytes(range(64)))
                    self.assertEqual((path / 'out').read_bytes(), bytes(64) if status else bytes(range(64)))
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([UCD, 'describe', 'duble'], stderr=full, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            done = subprocess.run(['sh', '-c', '"$@" <&-', 'sh', UCD, 'describe', '-'], stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertIn(done.returncode, (1, 2))

    def commands(self):
        return re.findall(r'(?m)^  (\w+) ', text('--help').split('Subcommands:')[1].split('Examples:')[0])

    def examples(self, words):
        return re.findall(r'(?m)^  (ucd .*|eval .*)', words.split('Examples:')[1])

    def options(self):
        for command in self.commands():
            for option in re.findall(r'(?m)^  (?:-\w,)?(--[\w-]+)', text(command, '--help')):
                yield command, option

    def test_completion_and_manual_name_every_option(self):
        options = set(self.options())
        self.assertGreater(len(options), 50)
        manual = text('manual').replace('\\-', '-')
        for shell in ('bash', 'zsh', 'fish'):
            script = text('completion', shell)
            for command, option in options:
                if option == '--help':
                    continue
                self.assertIn(command, script)
                name = f'-l {option[2:]}' if shell == 'fish' else option
                self.assertIn(name, script, shell)
                self.assertIn(option, manual)
            program = shutil.which(shell)
            if program:
                subprocess.run([program, '-n'], input=script, text=True, check=True)

    def test_bash_completes(self):
        self.assertNotIn('-o', text('completion', 'bash').split('complete ')[-1])
        script = text('completion', 'bash') + '''
            try() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); options=
                _ucd
                echo "$(printf '%s\\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd ' ')$options"
            }
            compopt() { options=" ($*)"; }
            try ucd des
            try ucd pack --of
            try ucd pack a b --op min
            try ucd describe vec
            try ucd describe doub
            try ucd pa                 # a command, and a folder
            try ucd pack pa
            try ucd pack -v paper pa
            try ucd pack -c 3 pa
            try ucd pack a b pa
            try ucd pack -c pa
            try ucd pack --type vec
            try ucd pack --dtype doub
            try ucd flatten int -o pa
            try ucd describe @pa
            try ucd describe int pa
            try ucd completion ''
            try ucd manual ucd-
            try ucd info pa
        '''
        with tempfile.TemporaryDirectory() as room:
            (pathlib.Path(room) / 'pack').mkdir()
            (pathlib.Path(room) / 'paper 1').touch()
            done = subprocess.run(['bash', '--norc', '-c', script], capture_output=True, text=True,
                                  check=True, cwd=room)
        files = 'pack paper 1 (-o filenames)'
        self.assertEqual(done.stdout.splitlines(),
                         ['describe', '--offset', 'min minloc', 'vector( (-o nospace)',
                          'double double_int (-o nospace)', 'pack', files, files, files, '', '',
                          'vector( (-o nospace)', 'double double_int', files, '@pack @paper 1', '',
                          'bash fish zsh', 'ucd-type', ''])
        self.assertEqual(done.stderr, '')

    def test_manual_is_a_man_page(self):
        if shutil.which('groff'):
            for page in ('ucd', 'ucd-type'):
                done = subprocess.run(['groff', '-man', '-Tutf8', '-ww'], input=text('manual', page),
                                      text=True, capture_output=True, check=True)
                self.assertEqual(done.stderr, '')
        manual = text('manual')
        for section in ('NAME', 'SYNOPSIS', 'COMMANDS', 'EXIT STATUS', 'EXAMPLES'):
            self.assertIn(f'.SH {section}\n', manual)


if __name__ == '__main__':
    unittest.main()
