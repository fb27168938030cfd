"""Libraries of arrays beside NumPy, each of which places a copy of a NumPy view in its memory.

A library that is not installed, or has no GPU, is there too, and says why it cannot be used.
"""

import ctypes
import os

import numpy as np

import ucd


def bounds(view):
    """The addresses of the first byte of a view and of the one behind its last."""
    first = view.__array_interface__['data'][0]
    if view.size == 0:
        return first, first
    reach = [(n - 1) * stride for n, stride in zip(view.shape, view.strides)]
    low = first + sum(min(r, 0) for r in reach)
    return low, first + sum(max(r, 0) for r in reach) + view.itemsize


class Placed:
    """A copy of a view with the same strides, between guard bytes, in the memory of a library."""

    GUARD = 32  # a multiple of every element's size

    def __init__(self, library, view):
        self.library = library
        low, high = bounds(view)
        self.offset = self.GUARD + view.__array_interface__['data'][0] - low
        host = np.full(2 * self.GUARD + high - low, 0xA5, np.uint8)
        host[self.GUARD : self.GUARD + high - low] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
        self.host = host
        self.mirror = np.ndarray(view.shape, view.dtype, host, self.offset, view.strides)
        self.memory = library.upload(host)
        self.view = library.view(self.memory, self.offset, view)
        library.synchronize()  # numba's arrays do not say what else has used their memory

    def bytes(self):
        """All bytes, with the guards, as they are now."""
        return self.library.download(self.memory).tobytes()


class Library:
    """Without a device: NumPy's own. The interface of the others."""

    name = 'numpy'
    device = False
    negative_strides = True
    dtypes = ('?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16')

    def missing(self):
        """Why it cannot be used, or ''."""
        return ''

    def upload(self, host):
        return host.copy()

    def download(self, memory):
        return memory

    def view(self, memory, offset, like):
        return np.ndarray(like.shape, like.dtype, memory, offset, like.strides)

    def indices(self, numbers):
        return numbers

    def synchronize(self):
        pass

    def __repr__(self):
        return self.name


def _no_gpu():
    """Why there is no GPU of CUDA for ucd, or ''."""
    cuda = next(b for b in ucd.backends() if b.name == 'cuda')
    if cuda.available and cuda.devices:
        return ''
    assert 'cuda' not in os.environ.get('UCD_REQUIRE_BACKEND', '').split(','), cuda.reason
    return f'no CUDA: {cuda.reason}'


class Torch(Library):
    negative_strides = False
    dtypes = ('?', 'i1', 'u1', 'i2', 'i4', 'i8', 'f2', 'f4', 'f8', 'c8', 'c16')

    def __init__(self, place):
        self.name = f'torch on {place}'
        self.place = place
        self.device = place == 'cuda'

    def missing(self):
        try:
            import torch
        except ImportError:
            return 'no PyTorch'
        self.torch = torch
        if not self.device:
            return ''
        return _no_gpu() or ('' if torch.cuda.is_available() else 'PyTorch has no CUDA')

    def upload(self, host):
        return self.torch.from_numpy(host.copy()).to(self.place)

    def download(self, memory):
        return memory.cpu().numpy()

    def view(self, memory, offset, like):
        # Of elements that lie at multiples of their size, as those of plain NumPy arrays do.
        name = {'?': 'bool'}.get(like.dtype.str, like.dtype.name)
        typed = memory[offset % like.itemsize :]
        elements = typed[: typed.numel() // like.itemsize * like.itemsize].view(getattr(self.torch, name))
        strides = [s // like.itemsize for s in like.strides]
        return elements.as_strided(like.shape, strides, offset // like.itemsize)

    def indices(self, numbers):
        return self.torch.from_numpy(numbers.astype(np.int64)).to(self.place)

    def synchronize(self):
        if self.device:
            self.torch.cuda.synchronize()


class CuPy(Library):
    name = 'cupy'
    device = True

    def missing(self):
        reason = _no_gpu()
        if reason:
            return reason
        try:
            import cupy
        except ImportError:
            return 'no CuPy'
        self.cupy = cupy
        return ''

    def upload(self, host):
        return self.cupy.asarray(host)

    def download(self, memory):
        return self.cupy.asnumpy(memory)

    def view(self, memory, offset, like):
        return self.cupy.ndarray(like.shape, like.dtype, memory.data + offset, like.strides)

    def indices(self, numbers):
        return self.cupy.asarray(numbers)

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()


class Numba(CuPy):
    """numba's device arrays, over CuPy's memory."""

    name = 'numba'

    def missing(self):
        reason = super().missing()
        if reason:
            return reason
        try:
            from numba import cuda
        except ImportError:
            return 'no numba'
        self.as_cuda_array = cuda.as_cuda_array
        return ''

    def view(self, memory, offset, like):
        return self.as_cuda_array(super().view(memory, offset, like), sync=False)


LIBRARIES = [Library(), Torch('cpu'), Torch('cuda'), CuPy(), Numba()]
