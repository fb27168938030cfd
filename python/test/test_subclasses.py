"""Classes that programs derive from those of the libraries: told by their ancestry, not by the module's name."""

import sys
import types

import numpy as np
import pytest

import ucd
import ucd_models
from ucd import _arrays


def derived(base, module='elsewhere'):
    """A subclass that another package made, such as the parameters of vLLM."""
    return type(f'Derived{base.__name__}', (base,), {'__module__': module})


@pytest.mark.parametrize(('library', 'name'), [('torch', 'Tensor'), ('cupy', 'ndarray')])
def test_the_library_is_that_of_the_ancestors(library, name, monkeypatch):
    """Without the library: by a stand-in."""
    base = type(name, (), {'__module__': library})
    impostor = type(name, (), {'__module__': library})
    monkeypatch.setitem(sys.modules, library, types.SimpleNamespace(**{name: base}))
    assert _arrays.library_of(base()) == library
    assert _arrays.library_of(derived(derived(base))()) == library
    assert _arrays.library_of(impostor()) == ''
    monkeypatch.setitem(sys.modules, library, types.SimpleNamespace())  # one that is just being imported
    assert _arrays.library_of(base()) == ''


def test_subclasses_of_numpy(tmp_path):
    file = tmp_path / 'array'
    np.arange(6.0).tofile(file)
    mapped = np.memmap(file, 'f8', 'r', shape=(2, 3))
    for view in (mapped, np.arange(6.0).reshape(2, 3).view(derived(np.ndarray)), np.arange(6.0).reshape(2, 3).view(derived(np.ndarray, 'torch'))):
        packed = ucd.pack(view[:, 1])
        assert type(packed) is np.ndarray and packed.tolist() == [1, 4]
        assert ucd.cast(view, 'f4').tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError, match='read-only'):
        ucd.unpack(bytes(48), mapped)
    with pytest.raises(ValueError, match='mask'):
        ucd.pack(np.ma.array([1.0, 2.0], mask=[True, False]).view(derived(np.ma.MaskedArray)))


@pytest.fixture
def torch():
    return pytest.importorskip('torch')


def tensors(torch):
    """A tensor of classes that are not torch's own. The second is made as vLLM's parameters are."""

    class Parameter(torch.nn.Parameter):
        __module__ = 'vllm.model_executor.parameter'

        def __new__(cls, data, **loader):
            return super().__new__(cls, data=data, requires_grad=False)

        def __init__(self, data, loader):
            self.loader = loader

        @classmethod
        def __torch_function__(cls, function, types, arguments=(), named=None):
            return super().__torch_function__(function, types, arguments, named or {})

    def values():
        return torch.arange(6.0).reshape(2, 3)

    return values().as_subclass(derived(torch.Tensor)), Parameter(values(), loader=None)


@pytest.mark.parametrize('number', [0, 1])
def test_subclasses_of_tensors(torch, number):
    tensor = tensors(torch)[number]
    expected = torch.arange(6.0).reshape(2, 3)
    for made, wanted in (
        (ucd.pack(tensor), expected.ravel()),
        (ucd.pack(tensor.T), expected.T.ravel()),
        (ucd.pack(tensor[:, 1]), expected[:, 1]),
        (ucd.gather(tensor, torch.tensor([1])), expected[1:]),
        (ucd.cast(tensor, torch.float16), expected.half()),
        (ucd.cast(tensor, 'bfloat16'), expected.bfloat16()),
    ):
        assert type(made) is torch.Tensor and torch.equal(made, wanted)
    one = ucd_models.Distribution((2, 3), 1, ucd_models.Replicate())
    assert torch.equal(ucd_models.redistribute([tensor], one, one)[0], expected)
    assert type(_arrays.new_bytes(tensor, 4)) is torch.Tensor
    ucd.unpack(torch.ones(6), tensor)
    assert (tensor == 1).all()


def test_subclasses_of_tensors_on_a_device(torch):
    if not torch.cuda.is_available():
        pytest.skip('needs a GPU')
    for tensor in tensors(torch):
        tensor.data = tensor.data.cuda()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            packed = ucd.pack(tensor.T)
            halves = ucd.cast(tensor, torch.float16)
        stream.synchronize()
        assert packed.is_cuda and packed.tolist() == [0, 3, 1, 4, 2, 5]
        assert halves.is_cuda and halves.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert _arrays.new_bytes(tensor, 4).is_cuda


def test_parameters_where_no_gradient_is_recorded(torch):
    """As copy_ does: refused where gradients are recorded, taken under no_grad."""
    leaf, parameter = torch.zeros(6, requires_grad=True), torch.nn.Parameter(torch.zeros(2, 3))
    for tensor in (leaf, parameter):
        for call in (lambda: ucd.unpack(torch.ones(6), tensor), lambda: ucd.pack(tensor)):
            with pytest.raises(BufferError, match='grad'):
                call()
        for number, context in enumerate((torch.no_grad, torch.inference_mode), 2):
            with context():
                ucd.unpack(torch.full((6,), float(number)), tensor)
                assert ucd.pack(tensor).tolist() == [number] * 6
        assert tensor.requires_grad and (tensor == 3).all()
    conjugated = torch.zeros(2, dtype=torch.complex64).conj()
    with torch.no_grad(), pytest.raises(BufferError):
        ucd.pack(conjugated)
