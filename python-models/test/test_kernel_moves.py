"""The way to a device's kernels, by a library whose device has the host's memory."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import scales_oracle as oracle
import ucd
import ucd_models
from test_cache_kernels import AXES, Pool, moved
from ucd import interop
from ucd_models import _kernel_moves
from ucd_models.cache import Cache, Relayout, relayout

KERNELS = pathlib.Path(os.environ.get('UCD_SOURCE', pathlib.Path(__file__).resolve().parents[2]), 'python-models/ucd_models/kernels')


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    compiler = shutil.which('c++')
    if not compiler:
        pytest.skip('no c++')
    made = tmp_path_factory.mktemp('kernels') / 'fake.so'
    source = pathlib.Path(__file__).with_name('fake_kernels.cpp')
    command = [compiler, '-std=c++20', '-O1', '-ffp-contract=off', '-shared', '-fPIC', f'-I{KERNELS}', source, '-o', made]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def on_a_device(library, monkeypatch):
    """All arrays but page tables, which are int64, are said to be on device 3."""
    host = ('INT64_T', 'LONG')
    monkeypatch.setattr(ucd, 'memory', lambda array: 'host' if interop.element_of(array).name in host else 'cuda:3')
    monkeypatch.setattr(_kernel_moves, '_library', lambda backend: str(library))
    streams = []
    monkeypatch.setattr(interop, 'stream_of', lambda array, stream=None: streams.append(stream) or 77)
    return streams


def test_conversion(on_a_device):
    x = np.random.default_rng(1).standard_normal((40, 256)).astype('f4')
    scales = np.full((40, 2), 0.5, 'f4')
    found = ucd_models.cast(x, 'float8_e4m3fn', scales, block=(1, 128), stream='given')
    assert (found == oracle.converted(x.view('u4'), 'float32', 'float8_e4m3fn', 0.5)).all()
    assert on_a_device == ['given']


@pytest.mark.parametrize('layers', [1, 6])
def test_pages(on_a_device, layers):
    """Few parts go as parameters, more as a copy in the device's memory; tables of the host are copied in each run."""
    rng = np.random.default_rng(2)
    shapes = [(2, 4, 2, 8)] * layers
    a, b = Pool(rng, AXES, shapes, 'i2', 6), Pool(rng, ('page', 'kv', 'head', 'token', 'dim'), shapes, 'i2', 6)
    tables = np.array([5, 0, 3]), np.array([1, 4, 2])
    again = Relayout([(a.cache(), b.cache(), *tables)], holes=True)
    for change in (lambda: None, lambda: tables[0].__setitem__(1, -1), lambda: tables[1].__setitem__(2, 0)):
        change()
        expected = moved(a, b, tables, (None, None))
        assert again.run() == layers * 2 * 12 * 16 * 2
        assert all((x == y).all() for x, y in zip(b.memory, expected))


def test_a_pool(on_a_device):
    pool = np.arange(48.0, dtype='f4').reshape(6, 2, 4)
    before = pool.copy()
    cache = Cache.of(pool, 'page token dim')
    relayout(cache, cache, np.array([0, 1, -1]), np.array([1, 2, 4]), holes=True)
    assert (pool[1:3] == before[:2]).all() and (pool[[0, 3, 4, 5]] == before[[0, 3, 4, 5]]).all()


def test_what_is_refused(on_a_device, monkeypatch):
    x = np.zeros((4, 8), 'f4')
    monkeypatch.setattr(interop, 'stream_of', lambda array, stream=None: 78)
    with pytest.raises(RuntimeError, match='another device or stream'):
        ucd_models.cast(x, 'float8_e4m3fn', 2.0)
    monkeypatch.undo()
    monkeypatch.setattr(ucd, 'memory', lambda array: 'hip:0')
    _kernel_moves._library.cache_clear()
    monkeypatch.setattr(_kernel_moves, '_FOLDER', pathlib.Path('/nowhere'))
    with pytest.raises(ucd.NotSupported, match='without kernels for hip'):
        ucd_models.cast(x, 'float8_e4m3fn', 2.0)
    monkeypatch.setattr(ucd, 'memory', lambda array: 'host' if array is x else 'cuda:0')
    with pytest.raises(ValueError, match='must be in one memory'):
        ucd_models.cast(x, 'float8_e4m3fn', 2.0)
