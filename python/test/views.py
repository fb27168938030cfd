"""Random arrays and views of them, for hypothesis."""

import numpy as np
from hypothesis import strategies as st

DTYPES = [
    '?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'g', 'c8', 'c16', 'G',
    'S3', 'U2', 'V5', 'M8[s]', 'm8[ns]', '>i4', '>f8', '>c8',
]  # fmt: skip
PACKED_STRUCTS = [
    np.dtype([('a', 'u1'), ('b', '<f8'), ('c', '>i4')]),
    np.dtype([('a', 'i2', (2, 3)), ('b', [('x', 'f4'), ('y', 'u1')])]),
    np.dtype([('text', 'S3'), ('z', 'c16'), ('w', 'U1', (2,))]),
]
PADDED_STRUCTS = [
    np.dtype([('a', 'u1'), ('b', 'f8'), ('c', 'i2')], align=True),
    np.dtype({'names': ['b', 'a'], 'formats': ['f4', 'i2'], 'offsets': [9, 2], 'itemsize': 20}),
    np.dtype([('s', np.dtype([('a', 'u1'), ('b', 'i4')], align=True), (2,)), ('t', 'i1')], align=True),
]


def filled(shape, dtype, seed=0):
    """An array with random bytes; booleans are 0 or 1."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    data = np.random.default_rng(seed).integers(0, 2 if dtype.kind == 'b' else 256, count * dtype.itemsize, np.uint8)
    return np.frombuffer(bytearray(data.tobytes()), dtype=dtype, count=count).reshape(shape)


@st.composite
def slices_of(draw, n):
    step = draw(st.sampled_from([1, 1, 2, 3, -1, -2, -3]))
    first, last = sorted((draw(st.integers(0, n)), draw(st.integers(0, n))))
    return slice(first, last, step) if step > 0 else slice(last - 1 if last else None, first - 1 if first else None, step)


@st.composite
def views(draw, dtypes=tuple(DTYPES + PACKED_STRUCTS), max_dims=4, writable=False):
    """A view of an array: sliced, transposed, of any sign of strides, broadcast, 0-d, empty."""
    dtype = np.dtype(draw(st.sampled_from(list(dtypes))))
    shape = tuple(draw(st.lists(st.integers(0, 6), max_size=max_dims)))
    base = filled(shape, dtype, draw(st.integers(0, 99)))
    view = base[tuple(draw(slices_of(n)) for n in shape)] if shape else base
    view = view.transpose(draw(st.permutations(range(view.ndim))))
    if view.ndim and view.shape[0] and draw(st.booleans()):
        view = view[draw(st.integers(0, view.shape[0] - 1)), ...]  # stays a view if 0-d
    if not writable and draw(st.integers(0, 5)) == 0:
        view = np.broadcast_to(view, (draw(st.integers(1, 3)), *view.shape))
    return view


def packed_bytes(view):
    """What packing gives, by NumPy alone: each field of each element in turn."""
    if view.dtype.names is None:
        return np.ascontiguousarray(view).tobytes()
    return b''.join(_fields(element, view.dtype) for element in np.ascontiguousarray(view).ravel())


def _fields(element, dtype):
    if dtype.names is None:
        return np.asarray(element).tobytes()
    found = b''
    for name in dtype.names:
        part = np.asarray(element[name])
        base = dtype.fields[name][0].base
        found += b''.join(_fields(part[i], base) for i in np.ndindex(part.shape))
    return found
