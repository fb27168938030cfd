"""Checkpoints: which bytes are read, and where they go, against NumPy; and files that lie."""

import json
import os
import pickle
import random
import re
import struct
import subprocess
import sys
import time
import zipfile

import checkpoint_files as files
import numpy as np
import pytest
from checkpoint_files import Call, Dict, Named, Object, Persistent, Shared, pickled
from placements_oracle import owned, parts_of, random_distribution

import ucd
import ucd_models
from ucd_models import _checkpoint_plan, _inert_pickle
from ucd_models._checkpoint_files import OpenFile

# UCD_TEST_CASES=10 reads ten times as many checkpoints, and damages ten times as many.
MANY = float(os.environ.get('UCD_TEST_CASES', '1'))
SEED = int(os.environ.get('UCD_TEST_SEED', '46')) if os.environ.get('UCD_TEST_SEED') != 'random' else time.time_ns() % 10**6


def bfloat16_of(array):
    """Rounded to nearest, ties to even, as the bits of bfloat16."""
    bits = array.astype('f4').view('u4').astype('u8')
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype('u2')


def random_array(rng, shape):
    dtype = rng.choice(['float32', 'float32', 'float64', 'float16', 'int8', 'int32', 'int64', 'bool', 'complex64'])
    array = np.asarray(rng.integers(-100, 100, shape))
    return np.asarray(array / 8).astype(dtype) if dtype != 'bool' else np.asarray(array > 0)


def random_shape(rng):
    if rng.random() < 0.05:
        return ()
    return tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, rng.choice([4, 10, 40]), rng.integers(1, 4)))


def random_target(rng, shape, dtype):
    """An array of any strides."""
    if not shape:
        return np.zeros((), dtype)
    axes = rng.permutation(len(shape))
    wide = [int(shape[k]) + int(rng.integers(0, 3)) * int(rng.random() < 0.3) for k in axes]
    array = np.zeros(wide, dtype)[tuple(slice(0, shape[k]) for k in axes)]
    array = array[tuple(slice(None, None, -1 if rng.random() < 0.2 else 1) for _ in axes)]
    return array.transpose(np.argsort(axes))


def check_read(rng, saved, arrays, distributions, rank, converts):
    """Reads what one rank has of all arrays, in a random way."""
    names = [name for name in arrays if rng.random() < 0.9 and rank in distributions[name].ranks]
    convert = None
    if rng.random() < 0.4:
        convert = str(rng.choice(['bfloat16', 'float16', 'float64']))
        names = [name for name in names if converts(name)]
    expected, targets = {}, {}
    for name in names:
        found = parts_of(arrays[name], distributions[name])[list(distributions[name].ranks).index(rank)]
        if convert:
            found = bfloat16_of(found) if convert == 'bfloat16' else found.astype(convert)
        expected[name] = found
        targets[name] = random_target(rng, found.shape, found.dtype)
    gap = int(rng.choice([0, 0, 8, 100, 4096]))
    report = saved.read(
        targets,
        rank=rank,
        placements=distributions,
        convert=convert,
        gap=gap,
        mapped=bool(rng.random() < 0.2),
        budget=int(rng.choice([4096, 5000, 10000, 1 << 20])),
    )
    for name in names:
        assert targets[name].tobytes() == expected[name].tobytes(), name
    assert report.needed == sum(expected[name].size * arrays[name].itemsize for name in names)
    assert report.needed <= report.read <= report.needed + gap * max(report.needed - 1, 0)
    assert gap or report.read == report.needed
    return report


def test_64_shards_to_3_ranks_in_safetensors(tmp_path):
    rng = np.random.default_rng(SEED)
    print(f'seed {SEED}')
    for case in range(int(25 * MANY)):
        arrays, before, after = {}, {}, {}
        for k in range(5):
            shape = random_shape(rng) or (1,)
            arrays[str(k)] = random_array(rng, shape)
            before[str(k)] = random_distribution(rng, shape, 64, 64)
            after[str(k)] = random_distribution(rng, shape, 3, 3)
        paths = []
        by_name = {name: parts_of(array, before[name]) for name, array in arrays.items()}
        for rank in range(64):
            here = {name: by_name[name][list(d.ranks).index(rank)] for name, d in before.items() if rank in d.ranks}
            paths.append(files.safetensors_file(tmp_path / f'{rank}', here))
        saved = ucd_models.checkpoint.open(paths, before)
        for name, array in arrays.items():
            assert (saved[name].shape, saved[name].dtype) == (array.shape, array.dtype.name)
            assert saved[name].source == before[name] and saved[name].nbytes == array.nbytes
        try:
            for rank in range(3):
                check_read(rng, saved, arrays, after, rank, lambda name: arrays[name].dtype == 'float32')
        except Exception as e:
            raise AssertionError(f'seed {SEED}, case {case}: {before} to {after}') from e


def boxes_of(distribution):
    """The slices that each rank has, as far as these are boxes without common elements; one rank for each."""
    found, seen = [], set()
    for place, rank in enumerate(distribution.ranks):
        indices = owned(distribution, place)
        where = tuple(slice(of[0], of[-1] + 1) if of else slice(n, n) for of, n in zip(indices, distribution.shape))
        if any(len(of) != of[-1] + 1 - of[0] for of in indices if of):
            return None
        key = tuple((s.start, s.stop) for s in where)
        if key not in seen:
            found.append((rank, where))
        seen.add(key)
    volume = sum(int(np.prod([s.stop - s.start for s in where])) for _, where in found)
    return found if volume == np.prod(distribution.shape) else None


def random_boxes(rng, shape, count):
    """Boxes that tile a shape, in any way that cuts make: no mesh."""
    boxes = [tuple(slice(0, n) for n in shape)]
    for _ in range(count):
        k = int(rng.integers(len(boxes)))
        axis = int(rng.integers(len(shape)))
        where = boxes[k][axis]
        if where.stop - where.start < 2:
            continue
        cut = int(rng.integers(where.start + 1, where.stop))
        for part in (slice(where.start, cut), slice(cut, where.stop)):
            boxes.append((*boxes[k][:axis], part, *boxes[k][axis + 1 :]))
        del boxes[k]
    return [(int(rng.integers(64)), box) for box in boxes]


def random_layout(rng, array):
    """The same array, with the dimensions of its parts in another order in memory."""
    if array.ndim == 0:
        return array
    order = rng.permutation(array.ndim)
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def test_64_shards_to_3_ranks_in_dcp(tmp_path):
    rng = np.random.default_rng(SEED)
    print(f'seed {SEED}')
    meshes = 0
    for case in range(int(40 * MANY)):
        tensors, arrays, after = {}, {}, {}
        for k in range(6):
            shape = random_shape(rng)
            array = random_layout(rng, random_array(rng, shape))
            dtype = array.dtype.name
            if rng.random() < 0.2:
                array, dtype = np.asarray(rng.integers(0, 65536, shape)).astype('u2'), str(rng.choice(['bfloat16', 'uint16']))
            boxes = boxes_of(random_distribution(rng, shape, 64, 64)) if shape else [(3, ())]
            if boxes is None or shape and array.size and rng.random() < 0.3:
                boxes = random_boxes(rng, shape, 30)
            tensors[f'layer.{k}'] = dtype, array, [boxes[i] for i in rng.permutation(len(boxes))]
            arrays[f'layer.{k}'] = array
            after[f'layer.{k}'] = random_distribution(rng, shape, 3, 3) if shape else ucd_models.Distribution((), 3, ucd_models.Replicate())
        folder = tmp_path / f'{case}'
        files.write_dcp(folder, tensors)
        saved = ucd_models.checkpoint.open(folder)
        assert saved.format == 'dcp' and list(saved) == list(tensors) and saved.objects == {'step'}
        for name, (dtype, array, _) in tensors.items():
            assert (saved[name].shape, saved[name].dtype) == (array.shape, dtype)
            source = saved[name].source
            if source is not None:
                meshes += source.size > 1
                assert [p.shape for p in saved[name].parts] == [source.local_shape(r) for r in source.ranks]
                assert [list(p.offsets) for p in saved[name].parts] == [
                    [of[0] for of in owned(source, place)] for place in range(source.size)
                ]
        try:
            for rank in range(3):
                check_read(rng, saved, arrays, after, rank, lambda name: tensors[name][0] == 'float32')
        except Exception as e:
            raise AssertionError(f'seed {SEED}, case {case}: {after}') from e
    assert meshes


def test_an_index_and_several_files(tmp_path):
    a, b, c = np.arange(12, dtype='f4').reshape(3, 4), np.arange(5, dtype='i8'), np.arange(6, dtype='u2')
    files.safetensors_file(tmp_path / 'model-1.safetensors', {'a': a, 'other': b})
    files.safetensors_file(tmp_path / 'model-2.safetensors', {'b': b, 'c': ('BF16', c)})
    together = ucd_models.checkpoint.open(tmp_path)
    assert sorted(together) == ['a', 'b', 'c', 'other'] and together['c'].dtype == 'bfloat16'
    assert together['a'].placements == (ucd_models.Replicate(),)
    weight_map = {'a': 'model-1.safetensors', 'b': 'model-2.safetensors', 'c': 'model-2.safetensors'}
    index = tmp_path / 'model.safetensors.index.json'
    index.write_text(json.dumps({'metadata': {'total_size': 100}, 'weight_map': weight_map}))
    for path in (tmp_path, str(index)):
        saved = ucd_models.checkpoint.open(path)
        assert list(saved) == ['a', 'b', 'c'] and repr(saved).endswith('safetensors, 3 arrays>')
        found, bits = np.zeros((3, 2), 'f4'), np.zeros(6, 'f4')
        columns = ucd_models.Distribution((3, 4), 2, ucd_models.Shard(1))
        report = saved.read({'a': found}, rank=1, placements={'a': columns}, gap=0)
        assert (found == a[:, 2:]).all()
        assert report == ucd_models.checkpoint.Report(needed=24, read=24, headers=0, calls=3, files=1)
        saved.read({'c': bits}, convert='float32')
        assert (bits == (c.astype('u4') << 16).view('f4')).all()
    alone = ucd_models.checkpoint.open(tmp_path / 'model-1.safetensors')
    assert list(alone) == ['a', 'other']


def test_what_does_not_fit_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    arrays = {'a': np.arange(12, dtype='f4').reshape(3, 4), 'e': ('F8_E8M0', np.zeros(3, 'u1'))}
    path = files.safetensors_file(tmp_path / 'x.safetensors', arrays)
    saved = ucd_models.checkpoint.open(path)
    monkeypatch.setattr(os, 'preadv', None)
    good = np.zeros((3, 4), 'f4')
    with pytest.raises(KeyError, match="no array 'b'"):
        saved.read({'b': good})
    with pytest.raises(ValueError, match=r"targets\['a'\] has shape \(4, 3\)"):
        saved.read({'a': good.T.copy()})
    with pytest.raises(ValueError, match="elements of 8 bytes; the target's dtype, FLOAT, has 4"):
        saved.read({'a': np.zeros((3, 4))})
    with pytest.raises(ValueError, match='say convert='):
        saved.read({'a': np.zeros((3, 4), 'i4')})
    with pytest.raises(ValueError, match='elements of 4 bytes'):
        saved.read({'a': good}, convert='float16')
    with pytest.raises(ValueError, match='the source has shape'):
        saved.read({'a': good}, placements={'a': ucd_models.Distribution((3, 5), 1, ucd_models.Shard(0))})
    with pytest.raises(TypeError, match=r"placements\['a'\] is of class Shard; it must be a Distribution"):
        saved.read({'a': good}, placements={'a': ucd_models.Shard(0)})
    with pytest.raises(ValueError, match='rank 4 is not in the mesh'):
        saved.read({'a': good}, rank=4, placements={'a': ucd_models.Distribution((3, 4), 2, ucd_models.Shard(0))})
    with pytest.raises(TypeError, match=r"targets\['a'\]: the array is of class 'list'"):
        saved.read({'a': good.tolist()})
    with pytest.raises(BufferError, match='read-only'):
        good.flags.writeable = False
        saved.read({'a': good})
    with pytest.raises(NotImplementedError, match='cannot be converted'):
        saved.read({'e': np.zeros(3, 'f4')}, convert='float32')
    for options in ({'budget': 4095}, {'gap': -1}):
        with pytest.raises(ValueError, match='must be >='):
            saved.read({'a': np.zeros((3, 4), 'f4')}, **options)


def test_arguments_of_open(tmp_path):
    whole = np.arange(6, dtype='f4')
    paths = [files.safetensors_file(tmp_path / f'{k}', {'a': whole[3 * k : 3 * k + 3], 'b': whole}) for k in range(2)]
    halves, same = ucd_models.Distribution((6,), 2, ucd_models.Shard(0)), ucd_models.Distribution((6,), 2, ucd_models.Replicate())
    assert ucd_models.checkpoint.open(paths, {'a': halves, 'b': same})['a'].source == halves
    for shards, said in (
        ({'a': halves}, "'b' is in several files"),
        ({'a': same}, 'has shape'),
        ({'a': ucd_models.Distribution((6,), 3, ucd_models.Shard(0))}, 'on rank 2; there are 2 files'),
        ({'c': halves}, "has no 'c'"),
    ):
        with pytest.raises(ValueError, match=said):
            ucd_models.checkpoint.open(paths, shards)
    with pytest.raises(ValueError, match='needs a list'):
        ucd_models.checkpoint.open(tmp_path, {'a': halves})
    with pytest.raises(ValueError, match='is empty'):
        ucd_models.checkpoint.open([])
    with pytest.raises(ValueError, match='neither'):
        ucd_models.checkpoint.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        ucd_models.checkpoint.open(tmp_path / 'missing')
    other = files.safetensors_file(tmp_path / 'other', {'a': whole[3:].astype('i4')})
    with pytest.raises(ucd.Corrupt, match='several dtypes'):
        ucd_models.checkpoint.open([paths[0], other], {'a': halves})


# Damage


def read_all(saved, **options):
    """All of a checkpoint, as bits; not what says that it is huge."""
    targets = {}
    for name, entry in saved.items():
        if entry.nbytes < 1 << 20:
            item = 1 if entry.dtype == 'bool' else int(re.search('[0-9]+', entry.dtype)[0]) // 8
            targets[name] = np.zeros(entry.shape, {16: 'c16'}.get(item, f'u{item}'))
    saved.read(targets, **options)
    return targets


@pytest.fixture
def inside(monkeypatch):
    """Each read is within its file."""
    preadv = os.preadv

    def checked(fd, places, offset):
        assert 0 <= offset and offset + sum(map(len, places)) <= os.fstat(fd).st_size
        return preadv(fd, places, offset)

    monkeypatch.setattr(os, 'preadv', checked)


def refused(sentence, path, error=ucd.Corrupt, **options):
    with pytest.raises(error, match=sentence):
        read_all(ucd_models.checkpoint.open(path), **options)


def test_indices_that_lie(tmp_path, inside):
    files.safetensors_file(tmp_path / 'x.safetensors', {'a': np.zeros(3, 'f4')})
    files.safetensors_file(tmp_path.parent / 'y.safetensors', {'a': np.zeros(3, 'f4')})
    index = tmp_path / 'model.safetensors.index.json'
    for name in ('../y.safetensors', '/etc/passwd', 'a/b', 'a\\b', '..', '.', '', 'x\0', 'n' * 300, '\ud800', 7, None):
        index.write_text(json.dumps({'weight_map': {'a': name}}))
        refused('no name of a file in its own folder', tmp_path)
    for text, said in (
        ('[', 'no JSON'), ('[]', 'no weight_map'), ('{"weight_map": []}', 'no weight_map'), ('[' * 200_000, 'nested too deeply'),
        ('{"weight_map": {"b": "x.safetensors"}}', "has no 'b'"), ('{"weight_map": 1' + '0' * 5000 + '}', 'no JSON'),
        ('{"weight_map": {"a": "x.safetensors", "a": "x.safetensors"}}', 'twice'),
    ):  # fmt: skip
        index.write_text(text)
        refused(said, tmp_path)
    index.write_bytes(b'\xff')
    refused('no JSON', tmp_path)
    index.write_text('{"weight_map": {"a": "z.safetensors"}}')
    refused('z.safetensors', tmp_path, FileNotFoundError)
    os.mkfifo(tmp_path / 'z.safetensors')
    refused('no regular file', tmp_path)
    index.write_text('{"weight_map": {"a": "d"}}')
    (tmp_path / 'd').mkdir()
    refused('no regular file', tmp_path)
    (tmp_path / 'model-2.safetensors.index.json').write_text('{}')
    refused('several indices', tmp_path, ValueError)
    for name in ('model.safetensors.index.json', 'model-2.safetensors.index.json', 'z.safetensors'):
        (tmp_path / name).unlink()
    files.safetensors_file(tmp_path / 'second.safetensors', {'a': np.zeros(3, 'f4')})
    refused('in two files', tmp_path)


def test_what_is_not_read_does_not_keep_the_rest_from_being_read(tmp_path, inside):
    array = np.arange(6, dtype='f4')
    data = files.saved_tensor(array)
    (tmp_path / 'f').write_bytes(data + bytes(4))
    tensors = {'a': ('float32', (6,), [((0,), (6,), 'f', 0, len(data))])}
    others = ('quint8', 'qint32', 'quint4x2', 'complex32', 'uint3')
    for k, dtype in enumerate(others[:4]):
        tensors[dtype] = dtype, (2, 4), [((0, 0), (2, 4), 'f', len(data) + k, 1)]
    tensors['uint3'] = 'uint3', (0, 2), []
    (tmp_path / '.metadata').write_bytes(files.metadata_of(tensors))
    saved = ucd_models.checkpoint.open(tmp_path)
    assert [saved[name].nbytes for name in ('a', *others)] == [24, 8, 32, 4, 32, 0]
    target = np.zeros(6, 'f4')
    saved.read({'a': target})
    assert (target == array).all()
    for dtype in others:
        with pytest.raises(ucd.NotSupported, match=f'{dtype!r}: elements of {dtype} are not read'):
            saved.read({dtype: np.zeros(saved[dtype].shape, 'u1')})
    (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': ('float32', (2**62, 0), [])}))
    with pytest.raises(ucd.Corrupt, match="metadata has a shape of 'a' that is too large"):
        ucd_models.checkpoint.open(tmp_path)


def test_metadata_that_lie(tmp_path, inside):
    array = np.arange(24, dtype='f4').reshape(4, 6)
    halves = [files.saved_tensor(array[:2]), files.saved_tensor(array[2:])]
    (tmp_path / 'f').write_bytes(b''.join(halves))
    n, m = map(len, halves)
    first, second = ((0, 0), (2, 6), 'f', 0, n), ((2, 0), (2, 6), 'f', n, m)

    def said(what, *parts, shape=(4, 6), dtype='float32', error=ucd.Corrupt, **more):
        (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': (dtype, shape, parts)}, **more))
        refused(what, tmp_path, error)

    (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': ('float32', (4, 6), [second, first])}))
    assert (read_all(ucd_models.checkpoint.open(tmp_path))['a'].view('f4') == array).all()
    for name in ('../f', '/f', 'a/f', '..', ''):
        said('no name of a file', ((0, 0), (2, 6), name, 0, n), second)
    said('missing', ((0, 0), (2, 6), 'missing', 0, n), second, error=FileNotFoundError)
    said('overlap or leave gaps', first)
    said('overlap or leave gaps', first, ((1, 0), (2, 6), 'f', n, m))
    said('overlap or leave gaps', ((0, 0), (2, 6), 'f', 0, n), ((0, 6), (2, 0), 'f', n, m))
    said('not within its shape', ((0, 1), (2, 6), 'f', 0, n), second)
    said('not within its shape', ((2**62, 0), (2, 6), 'f', 0, n), second)
    said('number of dimensions', ((0,), (12,), 'f', 0, n), second)
    said('bytes in common', first, ((2, 0), (2, 6), 'f', n - 1, m))
    said('has .* bytes; the checkpoint needs', first, ((2, 0), (2, 6), 'f', n, m + 1))
    said('has .* bytes; the checkpoint needs', first, ((2, 0), (2, 6), 'f', 2**62, m))
    said('does not say which bytes', first, ((2, 0), (2, 6), 'f', -1, m))
    said('does not say which bytes', first, ((2, 0), (2, 6), 'f', 2**62, 2**62))
    said('no zip archive', first, ((2, 0), (2, 6), 'f', n, m - 1))
    said('where the metadata says', ((0, 0), (2, 6), 'f', n, m), ((2, 0), (2, 6), 'f', 0, n), dtype='int32')
    said('where the metadata says', ((0, 0), (1, 6), 'f', 0, n), ((1, 0), (3, 6), 'f', n, m))
    said('not admitted', first, second, dtype='dtype')
    said("'a': elements of quint8 are not read", first, second, dtype='quint8', error=NotImplementedError)
    said('too large', ((0, 0), (2**40, 2**40), 'f', 0, n), shape=(2**40, 2**40))
    said('no torch.Size', first, second, shape=(1,) * 65)
    said('no dict', first, second, storage_data=None)
    said('no MetadataIndex', first, second, storage_data=Dict([(7, 7)]))
    said('no dict', first, second, state_dict_metadata=[])
    said('a name that is no text', first, second, state_dict_metadata=Dict([(7, 7)]))
    said('no TensorStorageMetadata', first, second, state_dict_metadata={'a': 7})
    tensor = Named(files.METADATA, 'TensorStorageMetadata')
    properties = Object(Named(files.METADATA, 'TensorProperties'), (Named('torch', 'float32'), None, False, None, False))
    state = {'properties': properties, 'size': files.size((4, 6)), 'chunks': []}
    for changed, what in (
        ({'properties': 7}, 'no TensorProperties'),
        ({'properties': Object(properties.of, (Named('torch', 'Size'), 0, 0, 0, 0))}, 'no dtype'),
        ({'properties': Object(properties.of, ())}, 'no TensorProperties'),
        ({'size': (4, 6)}, 'no torch.Size'),
        ({'size': Call(Named('torch', 'Size'), ((4, -6),))}, 'no torch.Size'),
        ({'size': Call(Named('torch', 'Size'), ((4, True),))}, 'no torch.Size'),
        ({'chunks': ()}, 'no list'),
        ({'chunks': [7]}, 'no ChunkStorageMetadata'),
    ):
        said(what, first, second, state_dict_metadata={'a': Object(tensor, state | changed)})
    said('twice', first, second, state_dict_metadata=Dict([('a', Object(tensor, state | {'size': files.size((0,))}))] * 2))
    chunk = Object(Named(files.METADATA, 'ChunkStorageMetadata'), {'offsets': files.size((9, 9)), 'sizes': files.size((2, 6))})
    said('does not say where', first, second, state_dict_metadata={'a': Object(tensor, state | {'chunks': [chunk]})})
    index = Object(Named(files.METADATA, 'MetadataIndex'), {'fqn': 'a', 'offset': files.size((0, 0))})
    info = {'relative_path': 'f', 'offset': 0, 'length': n}
    place = Object(Named(files.FILESYSTEM, '_StorageInfo'), info)
    said('twice', first, second, storage_data=Dict([(index, place), (index, place)]))
    many = ('f',)
    for _ in range(16):  # twice as much text with each more: nothing makes that
        many = Shared((many, many))
    named = Object(place.of, info | {'relative_path': many})
    said('file by an object of class tuple', first, second, storage_data=Dict([(index, named)]))
    packed = Object(place.of, info | {'transform_descriptors': ['zstd']})
    said('by an extension', first, second, storage_data=Dict([(index, packed)]), error=NotImplementedError)
    for bad in (b'', b'\x80', pickled(7), pickled(None), pickled(Named('os', 'system')), pickled([]), b'\x80\x04]\x94h\x00a.'):
        (tmp_path / '.metadata').write_bytes(bad)
        refused('pickle|no Metadata', tmp_path)


def test_one_list_of_parts_for_many_names(tmp_path):
    """What is shared in a pickle must not make work that is not in proportion to its bytes."""
    chunk = Object(Named(files.METADATA, 'ChunkStorageMetadata'), {'offsets': files.size((0,)), 'sizes': files.size((0,))})
    chunks = Shared([Shared(chunk)] * 1000)
    properties = Object(Named(files.METADATA, 'TensorProperties'), (Named('torch', 'float32'), None, False, None, False))
    state = Shared({'properties': properties, 'size': files.size((0,)), 'chunks': chunks})
    tensor = Object(Named(files.METADATA, 'TensorStorageMetadata'), state)
    for names, fits in ((1, True), (600, False)):
        tensors = {str(k): ('float32', (0,), [((0,), (0,), 'f', k, 1)]) for k in range(names)}
        entries = {str(k): tensor for k in range(names)}
        (tmp_path / '.metadata').write_bytes(files.metadata_of(tensors, state_dict_metadata=entries))
        (tmp_path / 'f').write_bytes(bytes(names))
        if fits:
            assert len(ucd_models.checkpoint.open(tmp_path)) == names
        else:
            refused('more parts than bytes', tmp_path)


def test_parts_in_any_arrangement():
    from ucd_models._checkpoint_entry import arranged

    def check(shape, boxes, fits):
        if fits:
            order, _ = arranged('a', shape, boxes)
            assert sorted(order) == [k for k, (_, sizes) in enumerate(boxes) if 0 not in sizes]
        else:
            with pytest.raises(ucd.Corrupt, match='overlap'):
                arranged('a', shape, boxes)

    wheel = [((0, 0), (1, 2)), ((0, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 0), (2, 1)), ((1, 1), (1, 1))]
    check((3, 3), wheel, True)  # no plane cuts it
    check((3, 3), [*wheel[:4], ((0, 0), (1, 1))], False)
    rng = np.random.default_rng(SEED)
    for _ in range(300):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
        boxes = [(tuple(s.start for s in b), tuple(s.stop - s.start for s in b)) for _, b in random_boxes(rng, shape, 8)]
        check(shape, boxes, True)
        k, j = rng.integers(len(boxes), size=2)
        offsets = tuple(int(rng.integers(0, n - size + 1)) for n, size in zip(shape, boxes[k][1]))
        moved = [*boxes[:k], (offsets, boxes[k][1]), *boxes[k + 1 :]]
        field = np.zeros(shape, int)
        for at, sizes in moved:
            field[tuple(slice(a, a + n) for a, n in zip(at, sizes))] += 1
        check(shape, moved, (field == 1).all())
    # A wheel of wheels is looked at pair by pair, up to a bound.
    many = [((3 * r + at[0], at[1]), sizes) for r in range(3) for at, sizes in wheel]
    check((9, 3), many, True)
    for n in (40, 3000):
        stairs = [((k, 0), (1, k + 1)) for k in range(n)] + [((0, k + 1), (k + 1, 1)) for k in range(n - 1)]
        if n == 40:
            check((n, n), stairs, True)
        else:
            with pytest.raises(NotImplementedError, match='too costly'):
                arranged('a', (n, n), stairs)
    crossing = [((0, 2 * k), (2, 2)) if k % 2 else ((0, 2 * k), (3, 1)) for k in range(5000)]
    with pytest.raises((ucd.Corrupt, NotImplementedError)):
        arranged('a', (3, 10000), crossing)


def test_archives_that_lie(tmp_path, inside):
    array = np.arange(12, dtype='f4').reshape(3, 4)
    good = files.saved_tensor(array)

    def check(data, what, error=ucd.Corrupt, shape=(3, 4)):
        (tmp_path / 'f').write_bytes(data)
        part = (0,) * len(shape), shape, 'f', 0, len(data)
        (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': ('float32', shape, [part])}))
        refused(what, tmp_path, error)

    hooks = Call(Named('collections', 'OrderedDict'), ())
    storage = Persistent(('storage', Named('torch', 'FloatStorage'), '0', 'cpu', 12))
    rebuild = Named('torch._utils', '_rebuild_tensor_v2')

    def tensor(store=storage, offset=0, shape=(3, 4), strides=(4, 1), of=rebuild, data=array.tobytes(), more=(), key='0'):
        made = Call(of, (store, offset, shape, strides, False, hooks, *more))
        return files.archive({'data.pkl': pickled(made, 2), f'data/{key}': data})

    (tmp_path / 'f').write_bytes(tensor())
    check(good + b'\0', 'no zip archive')
    check(b'PK', 'no zip archive|outside of the archive')
    check(good.replace(b'data/0', b'data/1'), "no entry 'archive/data/0'")
    check(good.replace(b'little', b'bigbig'), 'other byte order', NotImplementedError)
    check(tensor(strides=(5, 1)), 'longer than its storage')
    check(tensor(offset=1), 'longer than its storage')
    check(tensor(offset=2**62), 'longer than its storage')
    check(tensor(strides=(2**62, 1)), 'longer than its storage')
    check(tensor(strides=(0, 0)), 'do not nest', NotImplementedError)
    check(tensor(strides=(1, 1)), 'do not nest', NotImplementedError)
    check(tensor(strides=(4, -1)), 'no shape, strides and offset')
    check(tensor(strides=(4,)), 'no shape, strides and offset')
    check(tensor(shape=[3, 4]), 'no shape, strides and offset')
    check(tensor(data=array.tobytes()[:-1]), 'longer than its storage')
    check(tensor(store=7), 'has no storage')
    check(tensor(store=Persistent(7)), 'has no storage')
    check(tensor(store=Persistent(('storage', Named('torch', 'FloatStorage'), '../0', 'cpu', 12))), 'has no number')
    check(tensor(store=Persistent(('storage', 'FloatStorage', '0', 'cpu', 12))), 'no dtype')
    check(tensor(store=Persistent(('storage', Named('torch.storage', 'UntypedStorage'), '0', 'cpu', 48))), 'no dtype')
    check(tensor(store=Persistent(('storage', Named('torch', 'float32'), '0', 'cpu', 12))), 'no dtype')
    check(tensor(store=Persistent(('storage', Named('torch', 'IntStorage'), '0', 'cpu', 12))), 'where the metadata says')
    check(tensor(shape=(4, 3), strides=(3, 1)), 'where the metadata says')
    check(tensor(of=Named('torch._utils', '_rebuild_sparse_tensor')), 'not admitted')
    check(tensor(of=Named('builtins', 'eval')), 'not admitted')
    check(files.archive({'data.pkl': pickled([1, 2], 2), 'data/0': b''}), 'something else', NotImplementedError)
    check(files.archive({'data/0': b''}), 'no single data.pkl')
    entries = {'data.pkl': pickled(Call(rebuild, (storage, 0, (3, 4), (4, 1), False, hooks)), 2), 'data/0': array.tobytes()}
    check(files.archive(entries, method=zipfile.ZIP_DEFLATED), 'compressed', NotImplementedError)
    check(files.archive(entries | {'x/data.pkl': b''}), 'no single data.pkl')
    check(files.archive(entries | {'data/1': b''}).replace(b'data/1', b'data/0'), 'two entries have one name')
    check(files.archive(entries | {f'{k}': b'' for k in range(100)}), 'does not fit')
    check(files.archive({'data.pkl': bytes(2**20 + 1), 'data/0': b''}), 'the bound is')
    local = good.index(b'archive/data/0') - 30
    central = good.rindex(b'archive/data/0') - 46
    for at, value, what in (
        (central + 42, b'\x01\0\0\0', 'no zip archive'),  # where the local header is
        (central + 42, b'\xff\xff\xff\xff', 'how long it is'),
        (central + 24, b'\xff\0\0\0', 'compressed'),
        (central + 20, b'\xf0\0\0\0\xf0\0\0\0', 'longer than there is room'),
        (central + 8, b'\x01\0', 'compressed'),
        (central + 28, b'\xff\xff', 'cut off'),
        (central + 30, b'\x01\0', 'does not fit|cut off'),
        (local + 26, b'\x0d\0', 'not where the directory says'),
        (local + 28, b'\xff\xff', 'longer than there is room'),
        (local + 8, b'\x08\0', 'not where the directory says'),
        (len(good) - 2, b'\x01\0', 'does not fit'),
        (len(good) - 6, b'\xff\xff\xff\xff', 'does not fit'),
        (len(good) - 10, b'\xff\xff\xff\xff', 'does not fit'),
        (len(good) - 12, b'\xff\xff', 'does not fit'),
        (len(good) - 12, b'\x03\0', 'does not fit'),
    ):
        check(good[:at] + value + good[at + len(value) :], what, (ucd.Corrupt, NotImplementedError))
    # What torch writes has the lengths a second time, of 64 bits.
    end = good[-22:]
    at = len(good) - 22
    count, size, begin = struct.unpack('<H2I', end[10:20])
    wide = struct.pack('<4sQ2H2I4Q', b'PK\x06\x06', 44, 45, 45, 0, 0, count, count, size, begin)
    locator = struct.pack('<4sIQI', b'PK\x06\x07', 0, at, 1)
    (tmp_path / 'f').write_bytes(data := good[:at] + wide + locator + end[:10] + b'\xff' * 10 + end[20:])
    part = (0, 0), (3, 4), 'f', 0, len(data)
    (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': ('float32', (3, 4), [part])}))
    assert (read_all(ucd_models.checkpoint.open(tmp_path))['a'].view('f4') == array).all()
    bad = struct.pack('<4sIQI', b'PK\x06\x07', 0, 2**63, 1)
    check(good[:at] + wide + bad + end, 'outside of the archive')


@pytest.mark.parametrize('mapped', [True, False])
def test_strides_of_dimensions_of_one_index(tmp_path, mapped):
    """Those that a file says are never used, so any will do."""
    for shape, strides in (((1, 8), (2**63 - 1, 1)), ((8, 1), (1, 2**62)), ((8, 1, 4), (4, 2**61, 1)), ((1, 1), (2**62, 0))):
        array = np.arange(1, 1 + np.prod(shape), dtype='f8').reshape(shape)
        (tmp_path / 'f').write_bytes(data := files.saved_tensor(array, strides=strides))
        part = (0,) * len(shape), shape, 'f', 0, len(data)
        (tmp_path / '.metadata').write_bytes(files.metadata_of({'a': ('float64', shape, [part])}))
        target = np.zeros(shape)
        ucd_models.checkpoint.open(tmp_path).read({'a': target}, mapped=mapped)
        assert (target == array).all(), (shape, strides)


def test_gaps_are_read_where_that_saves_time(tmp_path):
    """Short pieces are read with what lies between them, long ones one by one: a call takes the time of 12 KiB."""
    for width, is_read in ((256, True), (8192, False)):
        array = np.arange(16 * width, dtype='f4').reshape(16, width)
        path = files.safetensors_file(tmp_path / str(width), {'a': array})
        half = ucd_models.Distribution(array.shape, 2, ucd_models.Shard(1))
        target = np.zeros((16, width // 2), 'f4')
        saved = ucd_models.checkpoint.open(path)
        report = saved.read({'a': target}, rank=1, placements={'a': half}, mapped=False)
        assert (target == array[:, width // 2 :]).all()
        assert report.read == (array.nbytes - target.nbytes // 16 if is_read else report.needed), report
        assert report.calls == (1 if is_read else 16)


@pytest.mark.parametrize('kept', [1000, 1])
def test_files_are_mapped_where_that_saves_time(tmp_path, monkeypatch, kept):
    """For short pieces, and what is converted, of arrays on the host that are not small: window by window."""
    mapped = []
    monkeypatch.setattr(OpenFile, 'mapped', lambda file, real=OpenFile.mapped: mapped.append(file) or real(file))
    monkeypatch.setattr(_checkpoint_plan, 'WINDOW', 100_000)
    monkeypatch.setattr(_checkpoint_plan, 'MOST_KEPT', kept)
    array = np.random.default_rng(5).random((128, 2048), np.float32)
    saved = ucd_models.checkpoint.open(files.safetensors_file(tmp_path / 'a', {'a': array, 'small': array[:4]}))
    for dim, convert, expected in ((0, None, False), (1, None, True), (0, 'float16', True), (1, 'float64', True)):
        half = ucd_models.Distribution(array.shape, 2, ucd_models.Shard(dim))
        target = np.zeros(half.local_shape(1)[::-1], convert or 'f4').T if dim else np.zeros(half.local_shape(1), convert or 'f4')
        report = saved.read({'a': target}, rank=1, placements={'a': half}, convert=convert)
        assert (target == np.split(array, 2, dim)[1].astype(target.dtype)).all()
        assert len(mapped) == expected and report.read == report.needed == array.nbytes // 2
        assert not expected or report.calls == 1
        mapped.clear()
    small = np.zeros((4, 2048), 'f2')
    saved.read({'small': small}, convert='float16')
    saved.read({'a': np.zeros((128, 2048), 'f2')}, convert='float16', mapped=False)
    assert not mapped


def test_files_that_change(tmp_path, monkeypatch):
    array = np.arange(4000, dtype='f4').reshape(40, 100)
    path = files.safetensors_file(tmp_path / 'x.safetensors', {'a': array})
    data = path.read_bytes()
    saved = ucd_models.checkpoint.open(path)
    path.write_bytes(data[:-1])
    with pytest.raises(ucd.Corrupt, match='has changed since'):
        read_all(saved)
    path.write_bytes(data)
    saved = ucd_models.checkpoint.open(path)
    preadv, calls = os.preadv, []

    def shorter(fd, places, offset):
        calls.append(offset)
        if len(calls) == 3:
            os.truncate(path, len(data) // 2)
        return preadv(fd, places, offset)

    monkeypatch.setattr(os, 'preadv', shorter)
    columns = {'a': ucd_models.Distribution(array.shape, 2, ucd_models.Shard(1))}
    for options in ({}, {'convert': 'float64'}):
        target = np.zeros((40, 50), 'f8' if options else 'f4')
        with pytest.raises(ucd.Corrupt, match='became shorter .* targets are unfinished|changed since'):
            saved.read({'a': target}, placements=columns, gap=0, **options)
    # The system may give less than what was asked for.
    path.write_bytes(data)
    saved = ucd_models.checkpoint.open(path)

    def little(fd, places, offset):
        count = min(7, len(places[0]))
        return preadv(fd, [places[0][:count]], offset)

    monkeypatch.setattr(os, 'preadv', little)
    for gap in (0, 10000):
        target = np.zeros((40, 50), 'f4')
        report = saved.read({'a': target}, rank=1, placements=columns, gap=gap)
        assert (target == array[:, 50:]).all()
        assert report.read == (8000 if gap == 0 else 39 * 400 + 200)
    assert (read_all(saved)['a'].view('f4') == array).all()


def damaged(rng, data):
    bad = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(bad))
        match rng.randrange(5):
            case 0:
                bad[at] = rng.randrange(256)
            case 1:
                bad[at] ^= 1 << rng.randrange(8)
            case 2:
                bad[at : at + rng.choice([1, 2, 4, 8])] = rng.choice([b'\xff' * 8, b'\0' * 4, b'\xff\xff\xff\x7f', b'\x7f'])
            case 3:
                del bad[at : at + rng.randrange(1, 9)]
            case 4:
                bad[at:at] = bad[rng.randrange(len(bad)) :][: rng.randrange(1, 40)]
    return bytes(bad[: rng.randrange(len(bad) + 1)] if rng.random() < 0.05 else bad)


def read_damaged(folder, name, rng):
    """How often a checkpoint was read although a file of it was damaged. Raises nothing but what is documented."""
    whole, read = (folder / name).read_bytes(), 0
    for case in range(int(1000 * MANY)):
        (folder / name).write_bytes(damaged(rng, whole))
        try:
            read_all(ucd_models.checkpoint.open(folder), mapped=rng.random() < 0.3)
            read += 1
        except (ucd.Corrupt, ucd.NotSupported, OSError):
            pass
        except BaseException as e:
            raise AssertionError(f'seed {SEED}, {name}, case {case}') from e
    (folder / name).write_bytes(whole)
    return read


def test_damaged_directories(tmp_path, inside):
    """UCD_TEST_CASES=10 is the long run: ten thousand for each file."""
    seed = SEED
    print(f'seed {seed}')
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    arrays = {'a': random_layout(numbers, np.arange(60, dtype='f4').reshape(5, 12)), 'b': np.arange(7, dtype='i2').view('u2')}
    boxes = [(r, (slice(0, 5), slice(4 * r, 4 * r + 4))) for r in range(3)]
    files.write_dcp(tmp_path, {'a': ('float32', arrays['a'], boxes), 'b': ('bfloat16', arrays['b'], [(1, (slice(0, 7),))])})
    read = sum([read_damaged(tmp_path, name, rng) for name in ('.metadata', '__1_0.distcp')])
    assert (read_all(ucd_models.checkpoint.open(tmp_path))['a'].view('f4') == arrays['a']).all() and 0 < read < 2000 * MANY


def test_damaged_safetensors(tmp_path, inside):
    seed = SEED
    print(f'seed {seed}')
    rng = random.Random(seed)
    a, b = np.arange(60, dtype='f4').reshape(5, 12), np.arange(7, dtype='u1')
    files.safetensors_file(tmp_path / 'a.safetensors', {'a': a})
    files.safetensors_file(tmp_path / 'b.safetensors', {'b': b})
    (tmp_path / 'model.safetensors.index.json').write_text('{"weight_map": {"a": "a.safetensors", "b": "b.safetensors"}}')
    read = sum([read_damaged(tmp_path, name, rng) for name in ('a.safetensors', 'model.safetensors.index.json')])
    assert 0 < read < 2000 * MANY


def test_pickles_of_plain_things():
    """As the standard library's reader has them, for each protocol that is read."""
    value = {
        'a': [1, -1, 255, 256, 65536, -(2**31), 2**40, -(2**63), 2**63 - 1, 1.5, None, True, False],
        'b': ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        'ü' * 200: {'x': {}},
        'many': list(range(3000)),
    }
    value['again'] = value['b']

    def plain(what):
        match what:
            case _inert_pickle.Pairs():
                return {plain(key): plain(entry) for key, entry in what.items()}
            case list():
                return [plain(each) for each in what]
            case tuple():
                return tuple([plain(each) for each in what])
        return what

    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert plain(_inert_pickle.read(pickle.dumps(value, protocol), ())) == value
    for protocol in (2, 4):  # and the writer of these tests
        few = {'b': value['b'], 'z': [2**50, 'b', None]}
        assert pickle.loads(pickled(few, protocol)) == few


class Evil:
    def __reduce__(self):
        return os.system, ('false',)


def test_pickles_of_code():
    for protocol in range(6):
        with pytest.raises(ucd.Corrupt):
            _inert_pickle.read(pickle.dumps([Evil()], protocol), {Named('os', 'path')})
    # Even what is named with permission is not called.
    made = _inert_pickle.read(pickled(Call(Named('os', 'abort'), ())), {Named('os', 'abort')})
    assert made.of == ('os', 'abort') and made.arguments == () and made.state is None
    twice = pickled(Object(Named('a', 'b'), {}))[:-1] + b'}b.'
    for data, said in (
        (b'\x80\x04\x96' + b'\xff' * 8 + b'.', 'opcode 0x96'),  # BYTEARRAY8 gets its memory before its bytes
        (b'\x80\x04\x8d' + b'\xff' * 8 + b'.', 'the bound is'),
        (b'\x80\x04X' + b'\xff' * 4 + b'.', 'the bound is'),
        (b'\x80\x04\x8a\x09' + b'\xff' * 9 + b'.', '64 bits'),
        (b'\x80\x04Nr' + b'\xff' * 4 + b'j' + b'\xff' * 4 + b'0q', 'does not have'),
        (b'\x80\x04' + b'(' * 65, 'nested'),
        (b'\x80\x04' + b'N' * 5000, 'entries between'),
        (b'\x80\x04h\x00.', 'does not have'),
        (b'\x80\x04\x94.', 'does not have'),
        (b'\x80\x06N.', 'protocol'),
        (b'\x80\x04.', 'in the middle'),
        (b'\x80\x04NN.', 'in the middle'),
        (b'\x80\x04(N.', 'in the middle'),
        (b'\x80\x04t.', 'no mark'),
        (b'\x80\x04\x85.', 'than there is'),
        (b'\x80\x04N\x86.', 'than there is'),
        (b'\x80\x04NNR.', 'no name'),
        (b'\x80\x04NNb.', 'no made'),
        (b'\x80\x04NNa.', 'no list'),
        (b'\x80\x04N(NNu.', 'no pairs'),
        (b'\x80\x04}(Nu.', 'without a value'),
        (b'\x80\x04\x8c\x01\xff.', 'no UTF-8'),
        (b'\x80\x04\x8c\x01aN\x93.', 'no text'),
        (b'\x80\x04ca', 'without an end'),
        (twice, 'twice'),
    ):
        with pytest.raises(ucd.Corrupt, match=said):
            _inert_pickle.read(data, {Named('a', 'b')})
    deep = _inert_pickle.read(b'\x80\x04)' + b'\x85' * 10**6 + b'.', ())
    assert type(deep) is tuple
    del deep


def test_damaged_pickles():
    print(f'seed {SEED}')
    rng = random.Random(SEED)
    data = pickle.dumps({'a': [(1, 2), 'text', {'b': 2**40}, 1.5], 'c': (None, True, 'text')}, 4)
    for case in range(int(1000 * MANY)):
        try:
            _inert_pickle.read(damaged(rng, data), ())
        except ucd.Corrupt:
            pass
        except BaseException as e:
            raise AssertionError(f'seed {SEED}, case {case}') from e


# What others write and read


def test_what_safetensors_writes(tmp_path):
    numpy = pytest.importorskip('safetensors.numpy')
    arrays = {'a': np.arange(6, dtype='f8').reshape(2, 3), 'b': np.ones((0, 3), 'f2'), 'c': np.array(True)}
    arrays['d'] = np.ones(3, 'c8')
    numpy.save_file(arrays, tmp_path / 'x.safetensors', {'k': 'v'})
    saved = ucd_models.checkpoint.open(tmp_path)
    targets = {name: np.zeros(array.shape, array.dtype) for name, array in arrays.items()}
    saved.read(targets)
    assert all(targets[name].tobytes() == array.tobytes() for name, array in arrays.items())
    assert {name: saved[name].dtype for name in saved} == {name: array.dtype.name for name, array in arrays.items()}


def torch_tensors(torch):
    """Of each dtype, and of other layouts in memory."""
    names = ('float64', 'float32', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool', 'complex64')
    names += ('uint16', 'uint32', 'uint64', 'float8_e4m3fn', 'float8_e5m2', 'float8_e8m0fnu', 'complex128')
    found = {}
    for name in names:
        dtype = getattr(torch, name, None)
        if dtype is not None:
            bits = torch.arange(24, dtype=torch.uint8).repeat_interleave(dtype.itemsize)
            found[name] = (bits % 2 if name == 'bool' else bits).view(dtype).reshape(2, 3, 4)
    found['transposed'] = torch.arange(6.0).reshape(2, 3).t()
    found['last'] = torch.arange(120.0).reshape(1, 2, 3, 20).contiguous(memory_format=torch.channels_last)
    found['one'], found['none'] = torch.tensor(3.5), torch.ones(0, 3)
    return found


def test_what_torch_writes(tmp_path):
    torch = pytest.importorskip('torch')
    dcp = pytest.importorskip('torch.distributed.checkpoint')
    tensors = torch_tensors(torch)
    state = {'model': tensors, 'step': 7, 'list': [torch.ones(2), {'x': torch.zeros(3)}]}
    dcp.save(state, checkpoint_id=str(tmp_path), no_dist=True)
    saved = ucd_models.checkpoint.open(tmp_path)
    assert saved.objects == {'step'} and {'list.0', 'list.1.x'} < set(saved)
    found = read_all(saved)
    for name, tensor in tensors.items():
        assert saved[f'model.{name}'].dtype == str(tensor.dtype).removeprefix('torch.')
        assert found[f'model.{name}'].tobytes() == tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()
    # To torch's own tensors, converted, and into a part of one.
    wide = torch.zeros(3, 6, dtype=torch.bfloat16)
    saved.read({'model.transposed': wide[:, 1::3]}, convert='bfloat16')
    assert wide[:, 1::3].tolist() == tensors['transposed'].tolist() and wide[:, 2].tolist() == [0, 0, 0]
    with pytest.raises(BufferError, match=r"targets\['model.transposed'\]: .* gradient"):
        saved.read({'model.transposed': wide[:, 1::3].requires_grad_()}, convert='bfloat16')


def test_torch_reads_what_these_tests_write(tmp_path):
    torch = pytest.importorskip('torch')
    dcp = pytest.importorskip('torch.distributed.checkpoint')
    array = np.arange(60, dtype='f4').reshape(5, 12)
    boxes = [(r, (slice(0, 5), slice(4 * r, 4 * r + 4))) for r in range(3)]
    files.write_dcp(tmp_path, {'a': ('float32', array, boxes)})
    state = {'a': torch.zeros(5, 12)}
    dcp.load(state, checkpoint_id=str(tmp_path), no_dist=True)
    assert (state['a'].numpy() == array).all()


WRITER = """
import sys, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor
rank, store, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group('gloo', init_method='file://' + store, rank=rank, world_size=4)
line, grid = DeviceMesh('cpu', range(4)), DeviceMesh('cpu', [[0, 1], [2, 3]])
weight = torch.arange(35 * 6.0).reshape(35, 6)
few = torch.arange(5.0)
state = {'rows': distribute_tensor(weight, line, [Shard(0)]), 'columns': distribute_tensor(weight, line, [Shard(1)]),
         'grid': distribute_tensor(weight, grid, [Shard(0), Shard(1)]), 'same': distribute_tensor(weight, line, [Replicate()]),
         'twice': distribute_tensor(weight, grid, [Shard(0), Shard(0)]), 'few': distribute_tensor(few, line, [Shard(0)])}
dcp.save(state, checkpoint_id=folder)
dist.destroy_process_group()
"""


def test_what_several_ranks_of_torch_write(tmp_path):
    pytest.importorskip('torch.distributed.tensor')
    arguments = [str(tmp_path / 'store'), str(tmp_path / 'saved')]
    ranks = [subprocess.Popen([sys.executable, '-c', WRITER, str(rank), *arguments]) for rank in range(4)]
    assert [rank.wait() for rank in ranks] == [0] * 4
    saved = ucd_models.checkpoint.open(tmp_path / 'saved')
    weight = np.arange(35 * 6, dtype='f4').reshape(35, 6)
    assert saved['rows'].source == ucd_models.Distribution((35, 6), 4, ucd_models.Shard(0))
    assert saved['columns'].source == ucd_models.Distribution((35, 6), 3, ucd_models.Shard(1))  # the fourth has none
    assert saved['grid'].source == ucd_models.Distribution((35, 6), (2, 2), [ucd_models.Shard(0), ucd_models.Shard(1)])
    assert len(saved['same'].parts) == 1 and len(saved['twice'].parts) == 4
    for rank in range(3):
        after = {name: ucd_models.Distribution((35, 6), 3, ucd_models.Cyclic(0, 2)) for name in saved if name != 'few'}
        targets = {name: np.zeros(how.local_shape(rank), 'f4') for name, how in after.items()}
        saved.read(targets, rank=rank, placements=after)
        for target in targets.values():
            assert (target == parts_of(weight, after['rows'])[rank]).all()
    assert (read_all(saved)['few'].view('f4') == np.arange(5)).all()


def test_to_a_device(tmp_path):
    """Through pinned chunks; the budget makes many of them."""
    torch = pytest.importorskip('torch')
    if not torch.cuda.is_available():
        pytest.skip('no GPU')
    array = np.random.default_rng(SEED).standard_normal((300, 200), 'f4')
    saved = ucd_models.checkpoint.open(files.safetensors_file(tmp_path / 'x.safetensors', {'a': array}))
    held = {'a': ucd_models.Distribution(array.shape, 3, ucd_models.Shard(1))}
    for convert, dtype in ((None, torch.float32), ('bfloat16', torch.bfloat16)):
        for mapped in (False, True):
            target = torch.zeros(300, 67, device='cuda', dtype=dtype)
            saved.read({'a': target}, rank=1, placements=held, convert=convert, budget=8192, mapped=mapped)
            assert (target.cpu() == torch.from_numpy(array[:, 67:134].copy()).to(dtype)).all()


def test_a_chunk_is_filled_again_when_it_is_moved(tmp_path, monkeypatch):
    """Moves to a device go on while the other chunk is read to. Here they do nothing until they are waited for."""
    batch = ucd.Batch

    class Late:
        def __init__(self, members, op=None):
            self.batch = batch(members, op=op)

        def start(self):
            return self

        def wait(self):
            return self.batch.start().wait()

    monkeypatch.setattr(ucd, 'Batch', Late)
    array = np.random.default_rng(SEED).standard_normal((300, 200)).astype('f4')
    saved = ucd_models.checkpoint.open(files.safetensors_file(tmp_path / 'x.safetensors', {'a': array}))
    target = np.zeros((300, 200))
    assert saved.read({'a': target}, convert='float64', budget=16384, mapped=False).calls > 20
    assert (target == array).all()


def test_through_chunks_of_torch(tmp_path, monkeypatch):
    """What is done for a device, in memory of the host: nothing is read to its place at once."""
    torch = pytest.importorskip('torch')
    from ucd_models import _checkpoint_target

    monkeypatch.setattr(_checkpoint_target.Target, 'is_on_host', False)
    array = np.random.default_rng(SEED).standard_normal((300, 200)).astype('f4')
    saved = ucd_models.checkpoint.open(files.safetensors_file(tmp_path / 'x.safetensors', {'a': array}))
    for dim, part in ((0, np.s_[100:200]), (1, np.s_[:, 67:134])):
        held = {'a': ucd_models.Distribution(array.shape, 3, ucd_models.Shard(dim))}
        target = torch.zeros(held['a'].local_shape(1))
        report = saved.read({'a': target}, rank=1, placements=held, budget=8192)
        assert (target.numpy() == array[part]).all() and report.calls > 3
