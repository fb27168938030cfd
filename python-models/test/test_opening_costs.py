"""What opening a checkpoint costs: for each opcode of a pickle and each token of JSON the worst input, and what the guide
promises (docs/guide/security.md). Memory is that of Python's allocator. Work is counted in instructions of Python, of which
a second has about a hundred million."""

import json
import os
import pathlib
import re
import sys
import tracemalloc

import checkpoint_files as files
import numpy as np
import pytest
from checkpoint_files import Call, Dict, Named, Object, Shared

import ucd
import ucd_models
from ucd_models import _inert_pickle, _untrusted
from ucd_models._inert_pickle import _BY_LETTER

SOURCE = pathlib.Path(os.environ.get('UCD_SOURCE', pathlib.Path(__file__).parents[2]))
LONG = '\U0001f600'.encode()  # makes four bytes of each character of a str


def promised():
    """Times the bytes of pickles and of JSON in memory, and instructions for a byte."""
    text = (SOURCE / 'docs/guide/security.md').read_text()
    row = next(line for line in text.splitlines() if line.startswith('| a checkpoint, opened |'))
    words = ('times the bytes of its pickles', 'times those of JSON', 'instructions of Python')
    return [int(re.search(rf'(\d+) {what}', row)[1]) for what in words]


PICKLE, JSON, WORK = promised()


def memory(call):
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()  # kept until the memory is known
        after = tracemalloc.get_traced_memory()[1]
        del result
        return after - before
    finally:
        tracemalloc.stop()


def work(call):
    """Instructions of Python that the package executes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if event == 'call':
            if f'{os.sep}ucd_models{os.sep}' not in frame.f_code.co_filename:
                return None
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
        elif event == 'opcode':
            count += 1
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # from 3.12 on, opcodes are traced only if some frame asked before
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def check(call, given, factor, sizes=None):
    """Of a long input the memory, of a short one the work, both for each byte."""
    long, short = sizes or map(len, given)
    used, steps = memory(lambda: call(given[0])) / long, work(lambda: call(given[1])) / short
    print(f'{used:.1f} times, {steps:.1f} instructions')
    assert used <= factor and steps <= WORK
    return used


# Texts 'a' and 'b', the class a.b and OrderedDict are the first of what is remembered.
PROLOGUE = b'\x80\x04\x8c\x01a\x940\x8c\x01b\x940h\0h\x01\x93\x940\x8c\x0bcollections\x8c\x0bOrderedDict\x93\x940'
ADMITTED = {Named('a', 'b'), Named('collections', 'OrderedDict')}
# Of each opcode, what has the most memory for its bytes, and what has the most work.
WORST = {
    '\x80': [b'\x80\x04'], '\x95': [b'\x95' + bytes(8)], '(': [b'(t'], '0': [b'N0', b']0'], 'N': [b'N'], '\x88': [b'\x88'],
    '\x89': [b'\x89'], 'K': [b'K\xff'], 'M': [b'M\xff\xff'], 'J': [b'J\xff\xff\xff\x7f'],
    '\x8a': [b'\x8a\0', b'\x8a\x02\xff\x7f', b'\x8a\x08' + b'\x7f' * 8], 'G': [b'G' + bytes(8)],
    '\x8c': [b'\x8c\0', b'\x8c\x02\xc4\x80', b'\x8c\x04' + LONG, b'\x8c\x0f' + LONG + b'a' * 11],
    'X': [b'X' + bytes(4), b'X\x02\0\0\0\xc4\x80'], '\x8d': [b'\x8d\x04' + bytes(7) + LONG], ')': [b')'], ']': [b']'], '}': [b'}'],
    '\x85': [b'N\x85'], '\x86': [b'NN\x86'], '\x87': [b'NNN\x87'], 't': [b'(t', b'(Nt'], 'a': [b']Na', b']]a'],
    'e': [b'](e', b'](Ne', b'](NNNNNe'], 's': [b'}NNs'], 'u': [b'}(u', b'}(NNu'], '\x94': [b'N\x94', b']\x94'], 'q': [b']q\0'],
    'r': [b']r' + bytes(4)], 'h': [b'h\0'], 'j': [b'j' + bytes(4)], 'c': [b'ca\nb\n'], '\x93': [b'h\0h\x01\x93'],
    'R': [b'h\x02)R', b'h\x03)R'], '\x81': [b'h\x02)\x81'], 'b': [b'h\x02)\x81Nb'], 'Q': [b'NQ'],
}  # fmt: skip


def test_each_opcode_is_measured():
    assert {letter.encode('latin') for letter in WORST} == set(_BY_LETTER)
    assert work(lambda: _inert_pickle.read(b'\x80\x04N.', ())) > 50


def test_the_worst_pickles():
    """Many results side by side, as many as the stack may hold and then in one list, or each in the one before."""
    worst = 0
    for letter, bodies in WORST.items():
        for body in bodies:
            side_by_side = b'(' + body * 200 + b'e'
            texts = [PROLOGUE + b']' + side_by_side * count + b'.' for count in (8000 // len(side_by_side) + 1, 1)]
            print(body, end=': ')
            worst = max(worst, check(lambda data: _inert_pickle.read(data, ADMITTED), texts, PICKLE))
        if letter in '\x85Q\x94':
            texts = [PROLOGUE + b']N' + letter.encode('latin') * count + b'a.' for count in (8000, 200)]
            print(letter, end=': ')
            worst = max(worst, check(lambda data: _inert_pickle.read(data, ADMITTED), texts, PICKLE))
    assert worst > 0.7 * PICKLE, f'{worst} times: say less in the guide'


def repeated(body, count, start='[', end=']'):
    """JSON with so many entries; %d is their number."""
    return (start + ','.join(body.replace('%d', str(k)) for k in range(count)) + end).encode()


TOKENS = {
    'list': '[]', 'object': '{}', 'text': '""', 'short text': '"%d"', 'wide text': '"é"', 'widest text': '"\U0001f600"',
    'escaped text': '"\\n\\n"', 'surrogates': '"\\ud83d\\ude00"', 'digit': '1', 'number': '1%d', 'long number': '1' * 300,
    'fraction': '0.5', 'power': '1e9', 'true': 'true', 'null': 'null', 'list of one': '[1]', 'object of one': '{"":1}',
    'objects in each other': '{"":' * 60 + '[]' + '}' * 60, 'lists in each other': '[' * 60 + ']' * 60,
    'both in each other': '{"":[' * 30 + ']}' * 30,
    'object of two': '{"":1,"a":1}', 'names in objects': '{"%d":[]}', 'objects in lists': '[{}]',
}  # fmt: skip


def test_the_worst_json():
    texts = {name: lambda count, body=body: repeated(body, 9 + count * 3 // len(body)) for name, body in TOKENS.items()}
    for name in ('list', 'object', 'digit', 'object of one'):
        body = TOKENS[name]
        texts[f'names of {name}'] = lambda count, body=body: repeated(f'"%d":{body}', count, '{', '}')
        texts[f'wide names of {name}'] = lambda count, body=body: repeated(f'"\U0001f600%d":{body}', count, '{', '}')
    texts['spaces'] = lambda count: b'[' + b' ' * count + b']'
    texts['wide spaces'] = lambda count: b'["' + LONG + b'"' + b' ' * count + b']'
    deep = TOKENS['lists in each other']
    texts['wide lists in each other'] = lambda count: repeated(deep, count // 50, '["\U0001f600",')
    worst = 0
    for name, made in texts.items():
        print(name, end=': ')
        worst = max(worst, check(lambda data: _untrusted.json_of(data, 'it'), [made(2000), made(100)], JSON))
    assert worst > 0.7 * JSON, f'{worst} times: say less in the guide'


def opened(path):
    """A checkpoint, or why it is none."""
    try:
        return ucd_models.checkpoint.open(path)
    except (ucd.Corrupt, ucd.NotSupported) as e:
        return e


def test_many_tensors_of_safetensors(tmp_path):
    for name, shape in (('short', []), ('long', [1] * 64), ('empty', [0])):
        sizes, paths = [], [tmp_path / f'{name}{k}' for k in range(2)]
        size = 0 if shape == [0] else 1
        for path, count in zip(paths, (1000, 50)):
            tensors = {str(k): {'dtype': 'U8', 'shape': shape, 'data_offsets': [k * size, (k + 1) * size]} for k in range(count)}
            text = json.dumps(tensors, separators=(',', ':')).encode()
            path.write_bytes(len(text).to_bytes(8, 'little') + text + bytes(count * size))
            sizes.append(len(text))
        assert len(opened(paths[1])) == 50
        check(opened, paths, JSON, sizes)


def test_many_names_of_an_index(tmp_path):
    files.safetensors_file(tmp_path / 'x', {'a': np.zeros(1, 'u1')})
    texts = [repeated('"%d":"x"', count, '{"weight_map":{', '}}') for count in (1000, 50)]
    paths = [tmp_path / f'{k}.json' for k in range(2)]
    for path, text in zip(paths, texts):
        path.write_bytes(text)
    assert 'which the index says' in str(opened(paths[0]))
    check(opened, paths, JSON, [len(text) for text in texts])


CHUNK, INDEX, PROPERTIES, TENSOR = [
    Named(files.METADATA, name)
    for name in ('ChunkStorageMetadata', 'MetadataIndex', 'TensorProperties', 'TensorStorageMetadata')
]
INFO = Named(files.FILESYSTEM, '_StorageInfo')


def metadata(ndim, names, shape, boxes):
    """Names that share all that can be shared. shape and boxes are of the last dimensions; the others have one index."""
    known = {}

    def size(numbers, outer):
        numbers = (outer,) * (ndim - len(numbers)) + numbers
        return known.setdefault(numbers, Shared(Call(Named('torch', 'Size'), (numbers,))))

    def chunk(*box):
        state = {'offsets': size(box[0], 0), 'sizes': size(box[1], 1)}
        return known.setdefault(box, Shared(Object(CHUNK, state)))

    properties = Object(PROPERTIES, (Named('torch', 'uint8'), None, False, None, False))
    chunks = Shared([chunk(*box) for box in boxes])
    tensor = Shared(Object(TENSOR, {'properties': properties, 'size': size(shape, 1), 'chunks': chunks}))
    places = []
    for name in range(names):
        for starts in dict.fromkeys(starts for starts, _ in boxes):
            info = Object(INFO, {'relative_path': 'f', 'offset': len(places), 'length': 1})
            places.append((Object(INDEX, {'fqn': str(name), 'offset': size(starts, 0)}), info))
    return files.metadata_of({}, state_dict_metadata={str(k): tensor for k in range(names)}, storage_data=Dict(places))


def row(n):
    return (n,), [((k,), (1,)) for k in range(n)]


def stairs(n):
    """No plane divides them."""
    return (n, n), [((k, 0), (1, k + 1)) for k in range(n)] + [((0, k + 1), (k + 1, 1)) for k in range(n - 1)]


@pytest.mark.parametrize('ndim', [2, 16, 64])
def test_many_parts_in_metadata(tmp_path, ndim):
    for name, given in (
        ('names', [(300, *row(1)), (50, *row(1))]),
        ('a mesh', [(1, *row(300)), (1, *row(50))]),
        ('names with a mesh', [(15, *row(20)), (3, *row(20))]),
        ('parts that overlap', [(1, (2 * n,), row(n)[1] * 2) for n in (150, 30)]),
        ('empty parts', [(1, (0,), [((0,), (0,))] * n) for n in (1000, 100)]),
        ('no mesh', [(1, *stairs(40)), (1, *stairs(20))]),
        ('many that are no mesh', [(40, *stairs(5)), (7, *stairs(5))]),
    ):
        sizes, folders = [], [tmp_path / f'{name}{k}' for k in range(2)]
        for folder, arguments in zip(folders, given):
            folder.mkdir()
            (folder / '.metadata').write_bytes(metadata(ndim, *arguments))
            (folder / 'f').write_bytes(bytes(1000))
            sizes.append((folder / '.metadata').stat().st_size)
        print(ndim, name, repr(opened(folders[1]))[:80], end=': ')
        check(opened, folders, PICKLE, sizes)
