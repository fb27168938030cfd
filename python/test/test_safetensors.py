"""Safetensors files: read, made, damaged, and as shards of a checkpoint."""

import json
import random

import numpy as np
import pytest

import ucd


def file_of(path, header, data=b'', length=None):
    """A file by the definition of the layout; header is JSON, or bytes as they are."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, 'little') + text + data)
    return path


def tensor(dtype, shape, start, stop):
    return {'dtype': dtype, 'shape': shape, 'data_offsets': [start, stop]}


def test_tensors_lie_in_the_file(tmp_path):
    numbers = np.arange(6, dtype='<f4').reshape(2, 3)
    halves = np.arange(4, dtype='<u2')
    header = {
        'numbers': tensor('F32', [2, 3], 8, 32),
        '__metadata__': {'format': 'np'},
        'halves': tensor('BF16', [4], 0, 8),
        'none': tensor('F64', [0, 5], 32, 32),
        'one': tensor('I8', [], 32, 33),
    }
    # One space more or less puts the data at any alignment.
    for spaces in range(8):
        text = json.dumps(header).encode() + b' ' * spaces
        found = ucd.Safetensors(file_of(tmp_path / 'a', text, halves.tobytes() + numbers.tobytes() + b'\x07'))
        assert list(found) == ['numbers', 'halves', 'none', 'one'] and found.metadata == {'format': 'np'}
        assert (found['numbers'] == numbers).all() and not found['numbers'].flags.writeable
        assert (found['halves'] == halves).all() and found.entries['halves'].dtype == 'BF16'
        assert found['none'].shape == (0, 5) and found['one'] == 7
        assert (ucd.pack(found['numbers'][:, ::-1]).reshape(2, 3) == numbers[:, ::-1]).all()


def test_damaged_files_are_refused(tmp_path):
    def refused(sentence, *arguments, **options):
        with pytest.raises(ValueError, match=sentence):
            ucd.Safetensors(file_of(tmp_path / 'bad', *arguments, **options))

    good = tensor('U8', [4], 0, 4)
    refused('the length of its header', {}, length=3 + len('{}'))
    refused('the length of its header', {}, length=2**64 - 1)
    refused('no JSON', b'')
    refused('no JSON', b'{"a":')
    refused('no UTF-8', b'{"\xff": 1}')
    refused('no JSON object', [])
    refused('nested too deeply', b'[' * 200_000)
    refused('a name twice', b'{"a": 1, "a": 2}')
    refused('__metadata__', {'__metadata__': {'a': 1}})
    refused('__metadata__', {'__metadata__': 'a'})
    refused('lacks', {'a': 7})
    refused('lacks', {'a': {'dtype': 'U8', 'shape': [4]}})
    refused('dtype', {'a': {**good, 'dtype': 'F4'}}, bytes(4))
    refused('dtype', {'a': {**good, 'dtype': ['U8']}}, bytes(4))
    for shape in (4, '4', [-4], [4.0], [True, 4], [None], [2**63], [1] * 65):
        refused('no shape', {'a': {**good, 'shape': shape}}, bytes(4))
    for offsets in (4, [0], [0, 4, 4], [-4, 0], [0, 2**63], [False, 4]):
        refused('no pair', {'a': {**good, 'data_offsets': offsets}}, bytes(4))
    for offsets in ([0, 3], [4, 0], [1, 4]):
        refused('do not fit', {'a': {**good, 'data_offsets': offsets}}, bytes(4))
    refused('do not fit', {'a': tensor('U8', [2**32, 2**32], 0, 0)})
    refused('the file at', {'a': good}, bytes(3))
    refused('the file at', {'a': good}, bytes(5))
    refused('overlap', {'a': good, 'b': tensor('U8', [4], 2, 6)}, bytes(6))
    refused('overlap', {'a': good, 'b': good}, bytes(4))
    refused('overlap', {'a': tensor('U8', [4], 1, 5)}, bytes(5))
    (tmp_path / 'short').write_bytes(b'\0' * 7)
    with pytest.raises(ValueError, match='no safetensors'):
        ucd.Safetensors(tmp_path / 'short')
    with pytest.raises(OSError):
        ucd.Safetensors(tmp_path / 'missing')


def test_any_damage_is_refused_or_harmless(tmp_path):
    """Whatever a file holds: ValueError, or arrays inside of it."""
    path = file_of(tmp_path / 'a', {'x': tensor('F32', [3, 5], 0, 60), 'y': tensor('U8', [7], 60, 67)}, bytes(range(67)))
    whole = path.read_bytes()
    rng = random.Random(5)
    opened = 0
    for _ in range(250):
        bad = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            bad[rng.randrange(len(bad) - 67)] = rng.choice(b'0123456789[]{},:"-Ee \x00\xff')
        path.write_bytes(bad[: rng.choice([len(bad), len(bad), rng.randrange(len(bad))])])
        try:
            found = ucd.Safetensors(path)
        except ValueError:
            continue
        opened += 1
        assert sum(array.nbytes for array in found.values()) <= 67
        for array in found.values():
            ucd.pack(array)
    assert 0 < opened < 250


def test_a_checkpoint_from_8_to_3_ranks(tmp_path):
    weight = np.random.default_rng(1).random((50, 12)).astype('f4')
    bias = np.arange(50, dtype='f2')
    shapes = {'weight': (weight, ucd.Shard(0)), 'bias': (bias, ucd.Shard(0))}

    def layouts(ranks):
        return {name: ucd.Distribution(array.shape, ranks, how) for name, (array, how) in shapes.items()}

    def made(ranks, prefix):
        after = layouts(ranks)
        return [
            ucd.Safetensors.create(
                tmp_path / f'{prefix}{rank}',
                {name: (shapes[name][0].dtype, layout.local_shape(rank)) for name, layout in after.items()},
                {'rank': str(rank)},
            )
            for rank in range(ranks)
        ]

    eight = made(8, 'before')
    for rank, shard in enumerate(eight):
        shard['weight'][:] = weight[rank * 7 : rank * 7 + 7]
        shard['bias'][:] = bias[rank * 7 : rank * 7 + 7]
        shard.flush()
    before = [ucd.Safetensors(tmp_path / f'before{rank}') for rank in range(8)]
    three = made(3, 'after')
    for name in shapes:
        ucd.redistribute([s[name] for s in before], layouts(8)[name], layouts(3)[name], out=[s[name] for s in three])
    after = [ucd.Safetensors(tmp_path / f'after{rank}') for rank in range(3)]
    assert [shard.metadata for shard in after] == [{'rank': str(rank)} for rank in range(3)]
    for name, (array, _) in shapes.items():
        assert np.concatenate([s[name] for s in after]).tobytes() == array.tobytes()
    with pytest.raises(ValueError, match='no dtype'):
        ucd.Safetensors.create(tmp_path / 'c', {'a': ('U3', (2,))})


def test_the_format_s_own_library_agrees(tmp_path):
    numpy = pytest.importorskip('safetensors.numpy')
    arrays = {'a': np.arange(6, dtype='f8').reshape(2, 3), 'b': np.ones((0, 3), 'f2'), 'c': np.array(True)}
    numpy.save_file(arrays, tmp_path / 'theirs', {'k': 'v'})
    found = ucd.Safetensors(tmp_path / 'theirs')
    assert found.metadata == {'k': 'v'}
    ours = ucd.Safetensors.create(tmp_path / 'ours', {n: (a.dtype, a.shape) for n, a in arrays.items()})
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and (found[name] == array).all()
        ours[name][...] = array
    ours.flush()
    read = numpy.load_file(tmp_path / 'ours')
    assert all((read[name] == array).all() and read[name].shape == array.shape for name, array in arrays.items())
