"""What files and other ranks say: numbers chosen for their hashes, JSON, and what is no regular file."""

import ast
import json
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys

import checkpoint_files as files
import numpy as np
import pytest
from checkpoint_files import Dict, Named, Object

import ucd
import ucd_models
from ucd_models import _untrusted
from ucd_models._cache_tensor import Dim, Tensor
from ucd_models._checkpoint_dcp import Directory
from ucd_models._checkpoint_entry import arranged
from ucd_models._direct import _decoded, _Offer

SOURCE = pathlib.Path(os.environ.get('UCD_SOURCE', pathlib.Path(__file__).parents[2])) / 'python-models/ucd_models'
# CPython's hash of an integer is its remainder by this.
P = 2**61 - 1


class Unhashable(int):
    __hash__ = None


def test_keys():
    """Different numbers have different keys, and keys have different hashes."""
    given = [(), (0,), (P,), (2 * P,), (-1,), (-2,), (1, 0), (0, 1), ((0,),), ((0, 1), 2), (0, (1, 2)), (2**63 - 1,), (2**80,)]
    given += [(k * P, j * P) for k in range(4) for j in range(4)]
    different = set(map(str, given))
    assert len({_untrusted.key_of(numbers) for numbers in given}) == len(different)
    assert len({hash(_untrusted.key_of(numbers)) for numbers in given}) == len(different) > len(set(map(hash, given)))
    assert _untrusted.key_of(iter([1, 300, -5])) == _untrusted.key_of((1, int('300'), -5))
    assert _untrusted.distinct([Unhashable(3), Unhashable(1), Unhashable(3)]) == [1, 3]


def test_offsets_of_one_hash(tmp_path):
    """CPython would compare each with all before."""
    offsets = [(k * P, j * P, i * P) for k in range(4) for j in range(4) for i in range(4)]
    assert len(set(map(hash, offsets))) == 1
    index, info = Named(files.METADATA, 'MetadataIndex'), Named(files.FILESYSTEM, '_StorageInfo')
    places = [
        (Object(index, {'fqn': 'b', 'offset': files.size(at)}), Object(info, {'relative_path': 'f', 'offset': k, 'length': 1}))
        for k, at in enumerate(offsets)
    ]
    (tmp_path / 'f').write_bytes(bytes(len(places)))
    (tmp_path / '.metadata').write_bytes(files.metadata_of({}, storage_data=Dict(places)))
    stored = Directory(str(tmp_path))._stored['b']
    assert len(stored) == len(set(map(hash, stored))) == len(offsets)


def test_no_number_of_others_is_hashed():
    rows = [((Unhashable(2 * k), Unhashable(0)), (Unhashable(2), Unhashable(3))) for k in (2, 0, 1)]
    order, source = arranged('a', (Unhashable(6), Unhashable(3)), rows)
    assert order == [1, 2, 0] and source.mesh == (3,)
    with pytest.raises(ucd.Corrupt, match='overlap'):
        arranged('a', (Unhashable(6), Unhashable(3)), [rows[0], rows[1], rows[1]])
    # Those of formats of caches, in starts and strides.
    dims = [Dim(axis, Unhashable(1), Unhashable(4)) for axis in ('page', 'token')]
    ucd_models.cache.Format('FLOAT', (Tensor(0, 0, (Unhashable(0),) * 6, tuple(dims)),))
    layouts = [Tensor(0, 0, (0,) * 6, (Dim('page', size, stride),)).layout for size, stride in ((1, 4), (4, 1), (P, 1), (0, 1))]
    assert len(set(map(hash, layouts))) == 4
    shapes = [(1, 2), (1 + P, 2), (1 + 2 * P, 2)]
    assert len(set(map(hash, shapes))) == 1
    assert len({hash(ucd_models.Distribution(shape, 1, ucd_models.Replicate())) for shape in shapes}) == 3


def test_hashes_of_distributions_stay_in_their_process():
    made = ucd_models.Distribution((6, 4), 2, ucd_models.Segment(0, {'a': (4, 2), 'b': 2}))
    hash(made), made.roles
    program = """
import pickle, sys, ucd_models
made = pickle.load(sys.stdin.buffer)
print({made: 1}[ucd_models.Distribution(made.shape, made.mesh, made.placements)])
"""
    done = subprocess.run([sys.executable, '-c', program], input=pickle.dumps(made), capture_output=True, timeout=60)
    assert done.stdout == b'1\n', done.stderr


# Of modules that take files and messages apart: dicts and sets with these keys, by the words for them; and the other
# expressions that hash, with what makes them harmless.
KEYS = {'str', 'bytes', 'bytes | None', 'tuple[str, bytes]', 'File', 'tuple[str, str]'}
HASHING = {
    'set(b\'[{]}\')': 'constant',
    'set(range(256))': 'constant',
    'dict(pairs)': 'names of JSON',
    'dict(metadata)': "the caller's",
    'dict(entries)': 'names',
    'set(given)': 'characters',
    'set(index.values())': 'names of files',
    'set()': 'of dtypes',
    'frozenset()': 'empty',
    'frozenset(directory.objects)': 'names',
}


def hashing(tree):
    """Expressions of a module that hash something, by what they are."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name('dict' | 'defaultdict' | 'set' | 'frozenset' | 'Mapping'), what):
                key = ast.unparse(what.elts[0] if isinstance(what, ast.Tuple) else what)
                if key not in KEYS:
                    yield ast.unparse(node)
            case ast.Call(ast.Name('dict' | 'set' | 'frozenset')) | ast.Call(ast.Attribute(attr='fromkeys' | 'setdefault')):
                if not (node.args and isinstance(node.args[0], ast.List)) and ast.unparse(node) not in HASHING:
                    yield ast.unparse(node)
            case ast.SetComp():
                yield ast.unparse(node)
            case ast.FunctionDef(decorator_list=[_, *_]) if 'cache' in ast.unparse(node.decorator_list[0]):
                kinds = {ast.unparse(argument.annotation) for argument in node.args.args if argument.arg != 'self'}
                if not kinds <= KEYS:
                    yield ast.unparse(node.decorator_list[0]) + ' ' + node.name


@pytest.mark.parametrize('name', sorted([
    *[path.stem for path in SOURCE.glob('_checkpoint_*.py')], 'checkpoint', '_inert_pickle', '_torch_archive', '_safetensors',
    '_untrusted',
]))  # fmt: skip
def test_dicts_and_sets_have_no_keys_that_are_numbers(name):
    tree = ast.parse((SOURCE / f'{name}.py').read_text())
    assert [found for found in hashing(tree)] == []


def test_how_that_is_found():
    text = 'a: dict[int, str]\nb = {n for n in x}\nc = set(x)\n@lru_cache\ndef f(n: int): pass\nd: dict[str, int]\ne = set()'
    assert len(list(hashing(ast.parse(text)))) == 4


@pytest.fixture
def limited():
    """What waits for ever fails."""

    def end(*_):
        raise AssertionError('waits for ever')

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_what_is_no_regular_file(tmp_path, limited):
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'link').symlink_to('pipe')
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / 'socket'))
    for given in (tmp_path / 'pipe', tmp_path / 'link', tmp_path / 'socket', tmp_path, '/dev/zero'):
        for reader in (ucd_models.Safetensors, ucd_models.checkpoint.open):
            with pytest.raises((ucd.Corrupt, OSError, ValueError), match='no regular file|No such device|neither'):
                reader(given)
        if given != '/dev/zero':
            with pytest.raises((ucd.Corrupt, OSError), match='no regular file|No such device|directory'):
                ucd_models.Safetensors.create(given, {})
    for name in ('.metadata', 'model.safetensors.index.json', 'x.safetensors'):
        folder = tmp_path / f'of {name}'
        folder.mkdir()
        (folder / name).symlink_to('../pipe')
        with pytest.raises(ucd.Corrupt, match=f'{name} is no regular file'):
            ucd_models.checkpoint.open(folder)
    # Links to regular files are followed.
    made = files.safetensors_file(tmp_path / 'regular', {'a': np.arange(3, dtype='u1')})
    (tmp_path / 'other').symlink_to(made)
    assert ucd_models.Safetensors(tmp_path / 'other')['a'].tolist() == [0, 1, 2]


def test_json():
    good = {'a': [1, -2, 0.5, True, None, 'x"\\\\[{'], '[' * 100: {'\\"[[': '{' * 100}, 'n': 10**600, 'é😀': '\\'}
    for ascii in (True, False):
        assert _untrusted.json_of(json.dumps(good, ensure_ascii=ascii).encode(), 'it') == good
    deepest = b'[' * 64 + b']' * 64
    assert _untrusted.json_of(deepest, 'it')
    for text, said in (
        (b'[' + deepest + b']', 'it is nested too deeply'),
        (b'{"a":' * 100_000, 'it is nested too deeply'),
        (b'["\\\\",' * 65, 'it is nested too deeply'),
        (b'["\\"]]]]"' * 65, 'it is nested too deeply'),
        (b'', 'it is no JSON'),
        (b'\xff', 'it is no JSON: it is no UTF-8'),
        (b'\xed\xa0\x80', 'it is no JSON: it is no UTF-8'),
        ('[]'.encode('utf-16'), 'it is no JSON'),
        (b'\xef\xbb\xbf[]', 'it is no JSON'),
        (b'[1' + b'0' * 640 + b']', 'has 641 digits'),
        (b'[-1' + b'0' * 10**6 + b']', 'has 1000002 digits'),
        (b'[NaN]', 'NaN is no number'),
        (b'[-Infinity]', '-Infinity is no number'),
        (b'{"a": {"b": 1, "b": 2}}', 'has a name twice'),
        (b'"a', 'it is no JSON'),
        (b'["\\"', 'it is no JSON'),
        (b'\\"[', 'it is no JSON'),
    ):
        with pytest.raises(ValueError, match=said):
            _untrusted.json_of(text, 'it')


def test_json_where_the_limits_of_the_interpreter_are_raised(tmp_path):
    """A program may have set them: then deep text overflows the stack, and long numbers take for ever."""
    program = """
import sys, ucd_models
sys.setrecursionlimit(10**9)
sys.set_int_max_str_digits(0)
for path in sys.argv[1:]:
    try:
        ucd_models.Safetensors(path)
    except ValueError as e:
        print(str(e)[-20:])
"""
    texts = b'[' * 3_000_000, b'{"a":[' + b'9' * 8_000_000 + b']}'
    for k, text in enumerate(texts):
        (tmp_path / f'{k}').write_bytes(len(text).to_bytes(8, 'little') + text)
    command = [sys.executable, '-c', program, tmp_path / '0', tmp_path / '1']
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ['is nested too deeply', 'r has 8000000 digits'] and done.returncode == 0, done.stderr


def test_what_another_rank_offers():
    """Whatever it says: an offer, or none."""
    for text in (b'[' * 200_000, b'[1' + b'0' * 9999 + b']', b'NaN', b'\xff', b'', b'{"a":1,"a":1}'):
        assert _decoded(text) is None
        assert _Offer(text).array('a', 1) is None
    good = {'arrays': {'a': ['00ff', [4, -8]]}, 'machine': 'm'}
    assert _Offer(json.dumps(good).encode()).array('a', 2) == (b'\0\xff', (4, -8))
    for offered in (
        '["00", [1e400]]', '["00", [-1e400]]', '["00", [1.5]]', '["00", ["4"]]', '["00", [true]]', '["00", [null]]',
        '["00", [4611686018427387904]]', '["00", [[4]]]', '["00", {}]', '["00", 4]', '["0", [4]]', '[0, [4]]', '["é", [4]]',
        '["\\ud800", [4]]', '["00"]', '["00", [4], 5]', '{}', 'null', '7', '"00"', '["00", [4, 4]]',
    ):  # fmt: skip
        assert _Offer(b'{"arrays": {"a": ' + offered.encode() + b'}}').array('a', 1) is None, offered
    for text in (b'7', b'[]', b'{"arrays": 7}', b'{"arrays": {}}', b'{"arrays": []}'):
        assert _Offer(text).array('a', 1) is None
