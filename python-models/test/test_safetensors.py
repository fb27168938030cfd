"""Safetensors files: read, made, damaged, and as shards of a checkpoint."""

import json
import random

import numpy as np
import pytest

import ucd
import ucd_models


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
        found = ucd_models.Safetensors(file_of(tmp_path / 'a', text, halves.tobytes() + numbers.tobytes() + b'\x07'))
        assert list(found) == ['numbers', 'halves', 'none', 'one'] and found.metadata == {'format': 'np'}
        assert (found['numbers'] == numbers).all() and not found['numbers'].flags.writeable
        assert (found['halves'] == halves).all() and found.entries['halves'].dtype == 'BF16'
        assert found['none'].shape == (0, 5) and found['one'] == 7
        assert (ucd.pack(found['numbers'][:, ::-1]).reshape(2, 3) == numbers[:, ::-1]).all()


def test_damaged_files_are_refused(tmp_path):
    def refused(sentence, *arguments, **options):
        with pytest.raises(ValueError, match=sentence):
            ucd_models.Safetensors(file_of(tmp_path / 'bad', *arguments, **options))

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
    refused('dtype', {'a': {**good, 'dtype': 'F5'}}, bytes(4))
    refused('dtype', {'a': {**good, 'dtype': ['U8']}}, bytes(4))
    for shape in (4, '4', [-4], [4.0], [True, 4], [None], [2**63], [1] * 65):
        refused('no shape', {'a': {**good, 'shape': shape}}, bytes(4))
    for offsets in (4, [0], [0, 4, 4], [-4, 0], [0, 2**63], [False, 4]):
        refused('no pair', {'a': {**good, 'data_offsets': offsets}}, bytes(4))
    for offsets in ([0, 3], [4, 0], [1, 4]):
        refused('do not fit', {'a': {**good, 'data_offsets': offsets}}, bytes(4))
    refused('do not fit', {'a': tensor('U8', [2**32, 2**32], 0, 0)})
    for dtype, shape in (('F32', [2**62, 0]), ('U8', [0, 2**62]), ('F4', [2**31, 0, 2**30])):
        refused('/bad: .*too large', {'a': tensor(dtype, shape, 0, 0)})
    refused('are no bytes', {'a': tensor('F4', [3], 0, 1)}, bytes(1))
    refused('are no bytes', {'a': tensor('F6_E2M3', [2], 0, 1)}, bytes(1))
    refused('the file at', {'a': good}, bytes(3))
    refused('the file at', {'a': good}, bytes(5))
    refused('overlap', {'a': good, 'b': tensor('U8', [4], 2, 6)}, bytes(6))
    refused('overlap', {'a': good, 'b': good}, bytes(4))
    refused('overlap', {'a': tensor('U8', [4], 1, 5)}, bytes(5))
    (tmp_path / 'short').write_bytes(b'\0' * 7)
    with pytest.raises(ValueError, match='no safetensors'):
        ucd_models.Safetensors(tmp_path / 'short')
    with pytest.raises(OSError):
        ucd_models.Safetensors(tmp_path / 'missing')


# The format's dtypes: bits of an element, and what the checkpoint calls it.
DTYPES = {
    'BOOL': (8, 'bool'), 'F4': (4, 'float4_e2m1fn'), 'F6_E2M3': (6, 'float6_e2m3fn'), 'F6_E3M2': (6, 'float6_e3m2fn'),
    'U8': (8, 'uint8'), 'I8': (8, 'int8'), 'F8_E5M2': (8, 'float8_e5m2'), 'F8_E4M3': (8, 'float8_e4m3fn'),
    'F8_E8M0': (8, 'float8_e8m0fnu'), 'F8_E4M3FNUZ': (8, 'float8_e4m3fnuz'), 'F8_E5M2FNUZ': (8, 'float8_e5m2fnuz'),
    'I16': (16, 'int16'), 'U16': (16, 'uint16'), 'F16': (16, 'float16'), 'BF16': (16, 'bfloat16'), 'I32': (32, 'int32'),
    'U32': (32, 'uint32'), 'F32': (32, 'float32'), 'C64': (64, 'complex64'), 'F64': (64, 'float64'), 'I64': (64, 'int64'),
    'U64': (64, 'uint64'),
}  # fmt: skip


def file_of_all_dtypes(path):
    """A tensor of 3 x 4 elements of each dtype, of consecutive bytes. They are sorted, as other writers do."""
    header, data = {}, b''
    for dtype, (bits, _) in sorted(DTYPES.items(), key=lambda entry: -entry[1][0]):
        size = 12 * bits // 8
        header[dtype] = tensor(dtype, [3, 4], len(data), len(data) + size)
        data += bytes([k % 2 for k in range(size)]) if dtype == 'BOOL' else bytes(range(size))
    return file_of(path, header, data), header, data


def test_all_dtypes_open(tmp_path):
    """What cannot be read is refused when it is read. All else of the folder can be."""
    path, header, data = file_of_all_dtypes(tmp_path / 'x.safetensors')
    found, saved = ucd_models.Safetensors(path), ucd_models.checkpoint.open(tmp_path)
    assert set(found) == set(saved) == set(DTYPES) and len(DTYPES) == 22
    copies = ucd_models.Safetensors.create(tmp_path / 'copies', {dtype: (dtype, (3, 4)) for dtype in header})
    for dtype, (bits, name) in DTYPES.items():
        begin, end = header[dtype]['data_offsets']
        assert found.entries[dtype].shape == (3, 4) and found[dtype].tobytes() == data[begin:end]
        assert found[dtype].shape == ((3, 4) if bits % 8 == 0 else (12 * bits // 8,))
        copies[dtype][:] = found[dtype]
        entry = saved[dtype]
        assert (entry.shape, entry.dtype, entry.nbytes) == ((3, 4), name, end - begin)
        target = np.zeros((3, 4), {1: 'u1', 2: 'u2', 4: 'u4', 8: 'u8'}.get(bits // 8, 'u1'))
        if bits % 8 == 0:
            saved.read({dtype: target})
            assert target.tobytes() == data[begin:end]
        else:
            with pytest.raises(ucd.NotSupported, match=f'{dtype!r}: elements of {name} are not read'):
                saved.read({dtype: target})
    copies.flush()
    # ml_dtypes, if it is there, teaches NumPy the others' names.
    others = ('bfloat16', 'float4_', 'float6_', 'float8_')
    of_numpy = {dtype: name for dtype, (_, name) in DTYPES.items() if not name.startswith(others)}
    made = ucd_models.Safetensors.create(tmp_path / 'made', {dtype: (name, (2,)) for dtype, name in of_numpy.items()})
    assert len(of_numpy) == 13 and all(made.entries[dtype].dtype == dtype for dtype in of_numpy)
    with pytest.raises(ValueError, match='no dtype for >f8'):
        ucd_models.Safetensors.create(tmp_path / 'made', {'a': ('>f8', (2,))})
    # A file that is there stays if the new one would not be read.
    was = (tmp_path / 'made').read_bytes()
    for tensors, metadata in (({'a': ('F32', (2,))}, {'step': 3}), ({'a': ('F32', (-2,))}, None), ({'__metadata__': ('F32', (2,))}, None)):
        with pytest.raises(ValueError, match='made: it'):
            ucd_models.Safetensors.create(tmp_path / 'made', tensors, metadata)
        assert (tmp_path / 'made').read_bytes() == was
    assert (tmp_path / 'copies').read_bytes()[-len(data) :] == data
    for dtype in ('F8_E8M0', 'F8_E4M3FNUZ', 'F8_E5M2FNUZ'):
        with pytest.raises(ucd.NotSupported, match='cannot be converted'):
            saved.read({dtype: np.zeros((3, 4), 'f4')}, convert='float32')


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
            found = ucd_models.Safetensors(path)
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
    shapes = {'weight': (weight, ucd_models.Shard(0)), 'bias': (bias, ucd_models.Shard(0))}

    def layouts(ranks):
        return {name: ucd_models.Distribution(array.shape, ranks, how) for name, (array, how) in shapes.items()}

    def made(ranks, prefix):
        after = layouts(ranks)
        return [
            ucd_models.Safetensors.create(
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
    before = [ucd_models.Safetensors(tmp_path / f'before{rank}') for rank in range(8)]
    three = made(3, 'after')
    for name in shapes:
        ucd_models.redistribute([s[name] for s in before], layouts(8)[name], layouts(3)[name], out=[s[name] for s in three])
    after = [ucd_models.Safetensors(tmp_path / f'after{rank}') for rank in range(3)]
    assert [shard.metadata for shard in after] == [{'rank': str(rank)} for rank in range(3)]
    for name, (array, _) in shapes.items():
        assert np.concatenate([s[name] for s in after]).tobytes() == array.tobytes()
    with pytest.raises(ValueError, match='no dtype'):
        ucd_models.Safetensors.create(tmp_path / 'c', {'a': ('U3', (2,))})


def test_the_format_s_own_library_agrees(tmp_path):
    numpy = pytest.importorskip('safetensors.numpy')
    path, header, data = file_of_all_dtypes(tmp_path / 'all')
    for name, said in numpy.deserialize(path.read_bytes()):
        assert said['dtype'] == header[name]['dtype'] and said['shape'] == [3, 4]
        assert bytes(said['data']) == ucd_models.Safetensors(path)[name].tobytes()
    arrays = {'a': np.arange(6, dtype='f8').reshape(2, 3), 'b': np.ones((0, 3), 'f2'), 'c': np.array(True)}
    numpy.save_file(arrays, tmp_path / 'theirs', {'k': 'v'})
    found = ucd_models.Safetensors(tmp_path / 'theirs')
    assert found.metadata == {'k': 'v'}
    ours = ucd_models.Safetensors.create(tmp_path / 'ours', {n: (a.dtype, a.shape) for n, a in arrays.items()})
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and (found[name] == array).all()
        ours[name][...] = array
    ours.flush()
    read = numpy.load_file(tmp_path / 'ours')
    assert all((read[name] == array).all() and read[name].shape == array.shape for name, array in arrays.items())
