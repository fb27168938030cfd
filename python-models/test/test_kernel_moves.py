"""The kernels of devices and the way to them, by a device that has the host's memory: which element a thread moves, and with
which scale. What the instructions of a device make of it, test_scales.py sees on one."""

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
from ucd_models import _kernel_moves, _kernels
from ucd_models.cache import Cache, Relayout, relayout

KERNELS = pathlib.Path(os.environ.get('UCD_SOURCE', pathlib.Path(__file__).resolve().parents[2]), 'python-models/ucd_models/kernels')


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    compiler = shutil.which('c++')
    if not compiler:
        pytest.skip('no c++')
    made = tmp_path_factory.mktemp('kernels') / 'fake.so'
    fake = pathlib.Path(__file__).with_name('fake_device')
    command = [compiler, '-std=c++20', '-O1', '-ffp-contract=off', '-shared', '-fPIC', f'-I{fake}', '-x', 'c++']
    command += [KERNELS / 'device.cu', '-o', made]
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


@pytest.mark.parametrize('source, target', [('uint16', 'float8_e4m3fn'), ('float32', 'float8_e5m2'), ('uint8', 'bfloat16')])
def test_shares_of_threads(on_a_device, source, target):
    """Rows that threads share evenly and rows that they do not, scales within a thread's share, strides, and more blocks than fit."""
    rng = np.random.default_rng(3)
    named = {'uint16': 'bfloat16', 'uint8': 'float8_e4m3fn'}.get(source, source)
    for shape in ((1, 1), (3, 8), (2, 7), (5, 40), (70, 128), (3, 1000), (2, 4096), (300, 24)):
        for block in (None, (1, 128), (3, 5), (1, 8), (2, 48), (1, 1), (128, 128)):
            counts = tuple([-(-n // b) for n, b in zip(shape, block)]) if block else (1, 1)
            scales = np.exp2(rng.uniform(-4, 4, counts)).astype('f4')
            of_element = np.ix_(*[np.arange(n) // b for n, b in zip(shape, block or shape)])
            whole = rng.integers(0, 1 << 8 * np.dtype(source).itemsize, (shape[0] + 1, 2 * shape[1] + 1), 'u8')
            whole = whole.astype(oracle.BITS[named])
            for x in (whole[1:, : shape[1]].copy(), whole[1:, : shape[1]], whole[1:, ::2][:, : shape[1]], whole[1:, : shape[1]].T.copy().T):
                found = np.zeros(shape, oracle.BITS[target])
                ucd_models.copy(x, found, scales, block=block, src_dtype=named, dst_dtype=target)
                expected = oracle.converted(np.ascontiguousarray(x), named, target, scales[of_element])
                assert (found == expected).all(), (shape, block, x.strides)


def test_an_array_that_begins_within_a_block(on_a_device):
    x, found, scales = np.random.default_rng(4).standard_normal(48).astype('f4'), np.zeros(48, 'u1'), np.array([1, 2, 4, 8], 'f4')
    for phase in (8, 12, 3):
        digit = _kernel_moves.Digit(48, 4, 1, 16, phase, 4)
        member = _kernel_moves.Member(x.ctypes.data, found.ctypes.data, [digit], scales.ctypes.data)
        types = [interop.type_of_dtype(name) for name in ('float32', 'float8_e4m3fn')]
        _kernel_moves.KernelMove(*types, False, [member], x, (x, found, scales)).run()
        each = scales[(np.arange(48) + phase) // 16]
        assert (found == oracle.converted(x.view('u4'), 'float32', 'float8_e4m3fn', each)).all()


def test_more_parts_than_a_grid_has(on_a_device):
    """They are several launches."""
    x = np.random.default_rng(6).standard_normal(2 * 65535 + 3).astype('f4')
    found = np.zeros(len(x), 'u1')
    a, b = x.ctypes.data, found.ctypes.data
    members = [_kernel_moves.Member(a + 4 * k, b + k, [_kernel_moves.Digit(1, 4, 1)], scale=0.5 if k % 2 else 2.0) for k in range(len(x))]
    types = [interop.type_of_dtype(name) for name in ('float32', 'float8_e4m3fn')]
    _kernel_moves.KernelMove(*types, False, members, x, (x, found)).run()
    assert (found == oracle.converted(x.view('u4'), 'float32', 'float8_e4m3fn', np.where(np.arange(len(x)) % 2, 0.5, 2).astype('f4'))).all()


def test_long_blocks_of_scales():
    """Of more elements than kernels count in: the rows stay a dimension of their own."""
    x, found, scales = np.random.default_rng(5).standard_normal((2, 4096)).astype('f4'), np.zeros((2, 4096), 'u1'), np.array([1, 2], 'f4')
    rows = _kernel_moves.Digit(2, 4 * 4096, 4096, 1 << 20, (1 << 20) - 1, 4)
    member = _kernel_moves.Member(x.ctypes.data, found.ctypes.data, [rows, _kernel_moves.Digit(4096, 4, 1)], scales.ctypes.data)
    types = [interop.type_of_dtype(name) for name in ('float32', 'float8_e4m3fn')]
    _kernel_moves.KernelMove(*types, False, [member], x, (x, found, scales)).run()
    assert (found == oracle.converted(x.view('u4'), 'float32', 'float8_e4m3fn', scales[:, None])).all()


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


def paged(page=16, inner=1, start=0, step=1):
    return 0, True, False, page, inner, start, step, 64, 4, 4


def tokens(count=4, source=None, target=None):
    return count, source or paged(), target or paged(), -1, 0, 0


ROW = _kernel_moves.Digit(8, 4, 4)
APART = [_kernel_moves.Digit(2, 3 << 2 * k, 3 << 2 * k) for k in range(2, 11)]  # no two of them are one
LONG = [_kernel_moves.Digit(1 << 14, 1 << 40, 1 << 40), _kernel_moves.Digit(1 << 15, 1 << 20, 1 << 20), _kernel_moves.Digit(4, 12, 12)]
NO_KERNEL = {
    'a dimension has no index': {
        'no element': ([ROW._replace(size=0)], None),
        '2^31 elements': ([ROW._replace(size=1 << 31)], None),
        'blocks of none': ([ROW._replace(block=0)], None),
        'a phase before the block': ([ROW._replace(phase=-1)], None),
        'pages of none': ([ROW], tokens(target=paged(page=0))),
        'inner pages of none': ([ROW], tokens(source=paged(inner=0))),
    },
    'tokens are before the first page': {
        'before the first': ([ROW], tokens(source=paged(start=-1))),
        'no step': ([ROW], tokens(target=paged(step=0))),
    },
    'too many tokens': {
        'none': ([ROW], tokens(count=0)),
        '2^31': ([ROW], tokens(count=1 << 30, target=paged(step=2))),
        '2^31 in the source': ([ROW], tokens(count=1 << 30, source=paged(step=2))),
        'the first one is number 2^32': ([ROW], tokens(source=paged(start=1 << 32))),
        'the step is 2^62': ([ROW], tokens(source=paged(step=1 << 62))),
        'the step of the target is 2^62': ([ROW], tokens(target=paged(step=1 << 62))),
    },
    'too many dimensions': {'nine': (APART, None)},
    'too many elements for one launch': {'2^31': (LONG, None)},
}


@pytest.mark.parametrize(('reason', 'case'), [(reason, case) for reason, cases in NO_KERNEL.items() for case in cases])
def test_members_without_a_kernel_are_refused(reason, case):
    digits, of_tokens = NO_KERNEL[reason][case]
    with pytest.raises(ValueError, match=reason):
        _kernels.Moves(10, 10, False, [_kernel_moves.Member(0, 0, digits, tokens=of_tokens)])


def test_what_is_at_the_limit_has_a_kernel():
    shorter = [LONG[0]._replace(size=1 << 13), *LONG[1:]]
    for digits, of_tokens in (([ROW._replace(size=1 << 30)], None), (APART[1:], None), (shorter, None), ([ROW._replace(size=1)], tokens(count=1 << 30))):
        assert _kernels.Moves(10, 10, False, [_kernel_moves.Member(0, 0, digits, tokens=of_tokens)]).few


def test_elements_instructions_and_libraries_that_there_are_not():
    member = _kernel_moves.Member(0, 0, [ROW])
    with pytest.raises(ValueError, match='no kernel for these elements'):
        _kernels.Moves(0, 10, False, [member])
    moves = _kernels.Moves(10, 10, False, [member])
    with pytest.raises(ValueError, match='sse9'):
        moves.run('sse9')
    for library, reason in (('/nowhere/kernels.so', 'nowhere'), ('libm.so.6', 'ucd_models_launch')):
        for _ in range(2):
            with pytest.raises(RuntimeError, match=reason):
                moves.launch(library, 0, 0, 0)
