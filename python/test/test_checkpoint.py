"""Checkpoints: which bytes are read, and where they go, against NumPy; and files that lie."""

import itertools
import json
import os
import random
import struct
import time
import zipfile

import checkpoint_files as files
import numpy as np
import pytest
from checkpoint_files import Call, Dict, Named, Object, Persistent, pickled
from placements_oracle import owned, parts_of, random_distribution

import ucd
from ucd import _inert_pickle

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
        saved = ucd.checkpoint.open(paths, before)
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
            after[f'layer.{k}'] = random_distribution(rng, shape, 3, 3) if shape else ucd.Distribution((), 3, ucd.Replicate())
        folder = tmp_path / f'{case}'
        files.write_dcp(folder, tensors)
        saved = ucd.checkpoint.open(folder)
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
