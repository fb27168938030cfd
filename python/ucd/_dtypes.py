"""Types of elements, from their names in Python: dtypes of NumPy and torch, formats of the buffer protocol, ctypes' classes.

An Element has the type that moves an array's elements, and the dtype of what the moves make. An element is a number if
its format has as many bytes as the element. Others are bytes, which can be moved but not reduced.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, NamedTuple

from ucd._core import Type, predefined

_NATIVE = '<' if sys.byteorder == 'little' else '>'

# Kinds of NumPy's typestr, by bytes.
_KINDS = {
    'i': {1: 'INT8_T', 2: 'INT16_T', 4: 'INT32_T', 8: 'INT64_T'},
    'u': {1: 'UINT8_T', 2: 'UINT16_T', 4: 'UINT32_T', 8: 'UINT64_T'},
    'f': {2: 'FLOAT16', 4: 'FLOAT', 8: 'DOUBLE', 16: 'LONG_DOUBLE'},
    'c': {8: 'C_COMPLEX', 16: 'C_DOUBLE_COMPLEX', 32: 'C_LONG_DOUBLE_COMPLEX'},
    'b': {1: 'C_BOOL'},
    'm': {8: 'INT64_T'},
    'M': {8: 'INT64_T'},
}

_NAMES = {
    'bool': 'C_BOOL',
    'bfloat16': 'BFLOAT16',
    'float8_e4m3fn': 'FLOAT8_E4M3',
    'float8_e5m2': 'FLOAT8_E5M2',
    **{f'{sign}int{8 * n}': f'{sign.upper()}INT{8 * n}_T' for sign in ('', 'u') for n in (1, 2, 4, 8)},
    'float16': 'FLOAT16',
    'float32': 'FLOAT',
    'float64': 'DOUBLE',
    'float4_e2m1fn_x2': 'BYTE',
    'longdouble': 'LONG_DOUBLE',
    'complex64': 'C_COMPLEX',
    'complex128': 'C_DOUBLE_COMPLEX',
}


# Those of the package ml_dtypes, whose kind says nothing.
_ML_DTYPES = {'BFLOAT16': 'bfloat16', 'FLOAT8_E4M3': 'float8_e4m3fn', 'FLOAT8_E5M2': 'float8_e5m2'}

# What numpy.dtype takes for the elements of a predefined type.
_DTYPES = {name: f'{kind}{size}' for kind in 'iufcb' for size, name in _KINDS[kind].items()} | {'CHAR': 'S1'}


class Element(NamedTuple):
    """How the bytes of an array's elements are read."""

    type: Type
    """What moves one."""
    dtype: Any
    """Of one in memory: what numpy.dtype takes, a Fields, or one of these and a shape; None: as the predefined type
    says."""


class Fields(NamedTuple):
    """The members of a structure, as numpy.dtype takes them in a dict."""

    names: tuple[str, ...]
    formats: tuple[Any, ...]
    offsets: tuple[int, ...]
    itemsize: int


def installed_numpy() -> Any:
    """NumPy, or None."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


@functools.lru_cache(maxsize=1024)
def of_bytes(count: int) -> Type:
    """So many bytes without meaning."""
    return Type.contiguous(count, predefined['BYTE'])


def bytes_as_element(count: int) -> Element:
    """An element of so many bytes without meaning."""
    return Element(of_bytes(count), f'V{count}')


def _in_memory(element: Element) -> Any:
    name = element.type.name or ''
    return element.dtype or _of_ml_dtypes(name) or _DTYPES.get(name, f'V{element.type.extent}')


def _of_ml_dtypes(name: str) -> Any:
    """The dtype of a predefined type that ml_dtypes has, if that package is imported, as JAX does; else None."""
    package = sys.modules.get('ml_dtypes')
    return getattr(package, _ML_DTYPES[name]) if package and name in _ML_DTYPES else None


def dtype_of(element: Element) -> Any:
    """The numpy.dtype of an element in memory."""
    return _made(_in_memory(element))


def _made(dtype: Any) -> Any:
    import numpy

    if isinstance(dtype, Fields):
        keys: Any = dtype._asdict() | {'formats': [_made(part) for part in dtype.formats]}
        return numpy.dtype(keys)
    if isinstance(dtype, tuple):
        return numpy.dtype((_made(dtype[0]), dtype[1]))
    return numpy.dtype(dtype)


def packed_dtype(type: Type, dtype: Any) -> Any:
    """The numpy.dtype of a packed element, of which an Element has the type and the dtype."""
    return _packed_dtype(type, dtype or _of_ml_dtypes(type.name or ''))


@functools.lru_cache(maxsize=1024)
def _packed_dtype(type: Type, dtype: Any) -> Any:
    packed = _without_padding(dtype_of(Element(type, dtype)))
    assert packed.itemsize == type.size, (type, dtype)
    return packed


def _without_padding(dtype: Any) -> Any:
    import numpy

    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return numpy.dtype((_without_padding(base), shape))
    if dtype.names is None or _overlap([(dtype.fields[name][1], dtype.fields[name][0].itemsize) for name in dtype.names]):
        return dtype
    return numpy.dtype([(name, _without_padding(dtype.fields[name][0])) for name in dtype.names])


def _overlap(parts: list[tuple[int, int]]) -> bool:
    """Whether parts of an element, by first byte and number of bytes, have bytes in common."""
    end = 0
    for first, length in sorted(parts):
        if first < end:
            return True
        end = first + length
    return False


def of(dtype: Any) -> Type:
    """The type of an element: a Type, a name such as 'float32', a dtype of torch, or what numpy.dtype takes."""
    return element_of(dtype).type


def element_of(dtype: Any) -> Element:
    """An element of what `of` takes."""
    if isinstance(dtype, Type):
        return Element(dtype, None)
    is_of_torch = type(dtype).__module__ == 'torch'
    name = str(dtype).removeprefix('torch.') if is_of_torch else dtype
    if isinstance(name, str) and name in _NAMES:
        return Element(predefined[_NAMES[name]], None)
    numpy = None if is_of_torch else installed_numpy()
    try:
        found = numpy and numpy.dtype(dtype)
    except TypeError:
        if not isinstance(dtype, str):
            raise
        found = None
    if found is None:
        raise refusal(dtype)
    return _of_dtype(found)


def refusal(dtype: Any) -> TypeError:
    """Of a dtype that is none of those that have names here. Says the name that may be meant."""
    import difflib

    may_be_meant = isinstance(dtype, str) and 'fnuz' not in dtype  # these have other values
    close = difflib.get_close_matches(dtype, _NAMES, 1, 0.5) if may_be_meant else []
    return TypeError(f'{dtype} is not one of {", ".join(_NAMES)}' + ''.join([f'; say {known!r}' for known in close]))


@functools.lru_cache(maxsize=1024)
def _of_dtype(dtype: Any) -> Element:
    if dtype.hasobject:
        raise TypeError(f'elements of {dtype} are Python objects, which cannot be moved as bytes')
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return _repeated(_of_dtype(base), shape)
    if dtype.fields is not None:
        fields = [(name, dtype.fields[name]) for name in dtype.names]
        made = _structure([(name, field[1], _of_dtype(field[0])) for name, field in fields], dtype.itemsize)
        return made or Element(of_bytes(dtype.itemsize), dtype)
    if dtype.name in _ML_DTYPES.values():
        return Element(predefined[_NAMES[dtype.name]], dtype)
    return Element(_of_kind(dtype.kind, dtype.itemsize, dtype.byteorder in ('=', '|', _NATIVE)), dtype)


def _of_kind(kind: str, itemsize: int, native: bool) -> Type:
    name = _KINDS.get(kind, {}).get(itemsize)
    if name is not None and (native or itemsize == 1):
        return predefined[name]
    # Text, untyped bytes, the other byte order: bytes, which can be moved but not reduced.
    return of_bytes(itemsize)


def _repeated(element: Element, shape: tuple[int, ...]) -> Element:
    if not shape:
        return element
    return Element(Type.contiguous(math.prod(shape), element.type), (_in_memory(element), shape))


_Member = tuple[str, int, Element]


def _structure(members: list[_Member], itemsize: int) -> Element | None:
    """Members by name, displacement and element. None if they overlap, as those of unions do, or are not within
    the element: then its bytes are what can be moved."""
    offsets, types = [offset for _, offset, _ in members], [element.type for _, _, element in members]
    ends = [offset + type.extent for offset, type in zip(offsets, types)]
    if _overlap([(offset, type.extent) for offset, type in zip(offsets, types)]) or max(ends, default=0) > itemsize:
        return None
    names = [name for name, _, _ in members]
    if '' in names or len(set(names)) < len(names):
        names = [f'f{i}' for i in range(len(names))]
    formats = [_in_memory(element) for _, _, element in members]
    type = Type.resized(Type.struct([1] * len(members), offsets, types), 0, itemsize)
    return Element(type, Fields(tuple(names), tuple(formats), tuple(offsets), itemsize))


def _numpy_dtype(array: Any, itemsize: int) -> Any:
    """The dtype of an array that has one of NumPy's, of elements of itemsize bytes; else None."""
    numpy = sys.modules.get('numpy')
    dtype = getattr(array, 'dtype', None)
    return dtype if numpy and isinstance(dtype, numpy.dtype) and dtype.itemsize == itemsize else None


def of_interface(array: Any, interface: dict[str, Any]) -> Element:
    """The elements of an object with __array_interface__ or __cuda_array_interface__."""
    typestr: Any = interface.get('typestr')
    itemsize = _bytes_of_typestr(typestr)
    dtype = _numpy_dtype(array, itemsize)
    if dtype is not None:
        return _of_dtype(dtype)
    descr = interface.get('descr') or []
    if typestr[1] == 'V' and (len(descr) > 1 or descr and descr[0][0]):
        element = _of_descr(descr)
        return element if element is not None and element.type.extent == itemsize else bytes_as_element(itemsize)
    return _of_typestr(typestr)


def of_tensor(array: Any, itemsize: int) -> Element:
    """Elements that DLPack has no predefined type for: bytes, of the dtype that the array may have."""
    dtype = _numpy_dtype(array, itemsize)
    return bytes_as_element(itemsize) if dtype is None else _of_dtype(dtype)


def _bytes_of_typestr(typestr: Any) -> int:
    if not isinstance(typestr, str) or len(typestr) < 3 or typestr[1] in 'Ot':  # objects, bits
        raise TypeError(f'{typestr!r} is no typestr of elements that can be moved as bytes')
    return int(typestr[2:].partition('[')[0]) * (4 if typestr[1] == 'U' else 1)


def _of_typestr(typestr: Any) -> Element:
    itemsize, kind = _bytes_of_typestr(typestr), typestr[1]
    if itemsize in _KINDS.get(kind, {}) or kind in 'SU':
        return Element(_of_kind(kind, itemsize, typestr[0] in ('|', _NATIVE)), typestr)
    return bytes_as_element(itemsize)


def _of_descr(descr: list[Any]) -> Element | None:
    """The elements that an interface's descr lists field by field."""
    members: list[_Member] = []
    offset = 0
    for name, what, *shape in descr:
        field = _of_descr(what) if isinstance(what, list) else _of_typestr(what)
        if field is None:
            return None
        field = _repeated(field, tuple(shape[0]) if shape else ())
        if name:  # the others are padding
            members.append((name[1] if isinstance(name, tuple) else name, offset, field))
        offset += field.type.extent
    return _structure(members, offset)


def of_buffer(array: Any, text: str, itemsize: int) -> Element:
    """The elements of an object with the buffer protocol."""
    dtype = _numpy_dtype(array, itemsize)
    if dtype is not None:
        return _of_dtype(dtype)  # the format does not say where a struct in a struct ends
    exporter = array.obj if isinstance(array, memoryview) else array
    ctypes = sys.modules.get('ctypes')
    if ctypes is not None and isinstance(exporter, ctypes._SimpleCData.__base__):
        made: Any = type(exporter)
        while issubclass(made, ctypes.Array):
            made = made._type_
        if memoryview(exporter).format == text and ctypes.sizeof(made) == itemsize:
            return _of_ctypes(made)
    return _of_format(text, itemsize)


@functools.lru_cache(maxsize=1024)
def _of_ctypes(made: Any) -> Element:
    """The elements of a class of ctypes. Its formats know nothing of unions, bit fields and packed structures, and
    before Python 3.12 nothing of padding."""
    import ctypes

    if issubclass(made, ctypes.Array):
        return _repeated(_of_ctypes(made._type_), (made._length_,))
    if issubclass(made, ctypes._SimpleCData) and made._type_ not in 'OzZ':
        if made._type_ == 'u':
            return Element(of_bytes(ctypes.sizeof(made)), 'U1')
        return _of_format(memoryview(made()).format, ctypes.sizeof(made))
    if not issubclass(made, (ctypes.Structure, ctypes.Union)):
        raise TypeError(f'elements of {made.__name__} are objects or their addresses, which cannot be moved as bytes')
    members: list[_Member] = []
    bits = False
    for part in reversed(made.__mro__):
        for name, field, *width in part.__dict__.get('_fields_', ()):
            bits = bits or bool(width)
            members.append((name, part.__dict__[name].offset, _of_ctypes(field)))
    element = None if bits or issubclass(made, ctypes.Union) else _structure(members, ctypes.sizeof(made))
    return element or bytes_as_element(ctypes.sizeof(made))


@functools.lru_cache(maxsize=1024)
def _of_format(text: str, itemsize: int) -> Element:
    """The elements that a format of the buffer protocol (PEP 3118) describes: bytes, if they are not of itemsize."""
    # Writers differ in whether a struct is padded at its end as C's are; the size tells.
    for padded in (False, True):
        reader = _Format(text, padded)
        members = reader.members()
        end = reader.size + (-reader.size % reader.alignment if reader.order == '@' else 0)
        if itemsize not in (reader.size, end) or not members:  # NumPy's untyped bytes are padding only
            continue
        name, offset, element = members[0]
        if len(members) == 1 and not name and offset == 0 and element.type.extent == itemsize:
            return element
        return _structure(members, itemsize) or bytes_as_element(itemsize)
    return bytes_as_element(itemsize)


# NumPy's kind of each letter, and the native bytes of one; of complex numbers those of a half.
_KIND_OF = {
    **{letter: kind for kind, letters in {'b': '?', 'i': 'bhilqn', 'u': 'BHILQN', 'f': 'efdg'}.items() for letter in letters},
    **dict.fromkeys(('Zf', 'Zd', 'Zg'), 'c'),
}
_BYTES = {letter: size for size, letters in {1: '?bB', 2: 'hHe', 4: 'iIf', 8: 'lLqQnNd', 16: 'g'}.items() for letter in letters}


class _Format:
    """A reader of PEP 3118's formats: what members there are, and at which bytes."""

    def __init__(self, text: str, padded: bool) -> None:
        self.text = text
        self.padded = padded
        self.at = 0
        self.order = '@'

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def refuse(self) -> Exception:
        if self.peek() == 'O':
            return TypeError('elements that are Python objects cannot be moved as bytes')
        return ValueError(f'the buffer format {self.text!r} is not supported at position {self.at}')

    def number(self) -> int | None:
        first = self.at
        while self.peek().isdecimal():
            self.at += 1
        return int(self.text[first : self.at]) if self.at > first else None

    def members(self, inner: bool = False) -> list[_Member]:
        """Members up to the end, or the closing brace: name, displacement and element of each."""
        found: list[_Member] = []
        offset = 0
        self.alignment = 1
        widest = 1
        while self.at < len(self.text) and not (inner and self.peek() == '}'):
            if self.peek() in '@=<>!^':
                self.order = self.peek()
                self.at += 1
                continue
            if self.peek() in ' \t\n':
                self.at += 1
                continue
            shape, repeat = self.repeat()
            if self.peek() and self.peek() in '@=<>!^':  # (2)<h of ctypes
                self.order = self.peek()
                self.at += 1
            padding = self.peek() == 'x'
            element, alignment = self.item(repeat)
            element = _repeated(element, shape)
            if self.order == '@':
                offset += -offset % alignment
                widest = max(widest, alignment)
            name = self.name()
            if name or not padding:  # a named x is bytes
                found.append((name, offset, element))
            offset += element.type.extent
        if inner and self.padded and self.order == '@':
            offset += -offset % widest
        self.size, self.alignment = offset, widest
        return found

    def name(self) -> str:
        if self.peek() != ':':
            return ''
        end = self.text.find(':', self.at + 1)
        if end < 0:
            raise self.refuse()
        name = self.text[self.at + 1 : end]
        self.at = end + 1
        return name

    def repeat(self) -> tuple[tuple[int, ...], int | None]:
        """A shape in parentheses, and a count of its own: (3)4s."""
        if self.peek() != '(':
            return (), self.number()
        self.at += 1
        shape: list[int] = []
        while True:
            number = self.number()
            if number is None:
                raise self.refuse()
            shape.append(number)
            self.at += 1
            if self.text[self.at - 1] == ')':
                return tuple(shape), self.number()
            if self.text[self.at - 1] != ',':
                raise self.refuse()

    def item(self, repeat: int | None) -> tuple[Element, int]:
        """One member, and its alignment."""
        several = () if repeat is None else (repeat,)
        if self.peek() == 'T' and self.text[self.at + 1 : self.at + 2] == '{':
            self.at += 2
            members = self.members(inner=True)
            size, alignment = self.size, self.alignment
            if self.peek() != '}':
                raise self.refuse()
            self.at += 1
            return _repeated(_structure(members, size) or bytes_as_element(size), several), alignment
        letter = self.peek()
        if letter == 'Z':
            letter += self.text[self.at + 1 : self.at + 2]
        self.at += len(letter)
        count = 1 if repeat is None else repeat
        if letter in ('x', 'p'):
            return bytes_as_element(count), 1
        if letter == 'P':  # addresses are no numbers
            return _repeated(bytes_as_element(8), several), 8
        if letter == 's':
            return Element(of_bytes(count), f'S{count}'), 1
        if letter == 'c':
            return _repeated(Element(predefined['CHAR'], None), several), 1
        if letter == 'u':
            return bytes_as_element(2 * count), 2
        if letter == 'w':
            return Element(of_bytes(4 * count), f'U{count}'), 4
        if letter not in _KIND_OF:
            self.at -= len(letter)
            raise self.refuse()
        kind = _KIND_OF[letter]
        alignment = 4 if letter in 'lL' and self.order not in '@^' else _BYTES[letter[-1]]
        size = 2 * alignment if kind == 'c' else alignment
        order = {'>': '>', '!': '>', '<': '<'}.get(self.order, _NATIVE)
        element = Element(_of_kind(kind, size, order == _NATIVE), f'{order}{kind}{size}')
        return _repeated(element, several), alignment
