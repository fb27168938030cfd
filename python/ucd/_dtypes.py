"""From what names elements in Python (NumPy's dtypes, formats of the buffer protocol) to types."""

from __future__ import annotations

import functools
import sys
from typing import Any

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
    'longdouble': 'LONG_DOUBLE',
    'complex64': 'C_COMPLEX',
    'complex128': 'C_DOUBLE_COMPLEX',
}


# Those of the package ml_dtypes, whose kind says nothing.
_ML_DTYPES = ('bfloat16', 'float8_e4m3fn', 'float8_e5m2')


@functools.lru_cache(maxsize=1024)
def of_bytes(count: int) -> Type:
    """So many bytes without meaning."""
    return Type.contiguous(count, predefined['BYTE'])


def of(dtype: Any) -> Type:
    """The type of an element: a Type, a name such as 'float32', or what numpy.dtype takes."""
    if isinstance(dtype, Type):
        return dtype
    if isinstance(dtype, str) and dtype in _NAMES:
        return predefined[_NAMES[dtype]]
    try:
        import numpy
    except ImportError:
        raise TypeError(f'{dtype!r} is neither a ucd.Type nor one of {", ".join(_NAMES)}') from None
    return _of_dtype(numpy.dtype(dtype))


@functools.lru_cache(maxsize=1024)
def _of_dtype(dtype: Any) -> Type:
    if dtype.hasobject:
        raise TypeError(f'elements of {dtype} are Python objects, which cannot be moved as bytes')
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = 1
        for n in shape:
            count *= n
        return Type.contiguous(count, _of_dtype(base))
    if dtype.fields is not None:
        fields = [dtype.fields[name] for name in dtype.names]
        return _struct([(field[1], _of_dtype(field[0])) for field in fields], dtype.itemsize)
    if dtype.name in _ML_DTYPES:
        return predefined[_NAMES[dtype.name]]
    return _of_kind(dtype.kind, dtype.itemsize, dtype.byteorder in ('=', '|', _NATIVE))


def _of_kind(kind: str, itemsize: int, native: bool) -> Type:
    name = _KINDS.get(kind, {}).get(itemsize)
    if name is not None and (native or itemsize == 1):
        return predefined[name]
    # Text, untyped bytes, the other byte order: bytes, which can be moved but not reduced.
    return of_bytes(itemsize)


def _struct(fields: list[tuple[int, Type]], itemsize: int) -> Type:
    offsets = [offset for offset, _ in fields]
    made = Type.struct([1] * len(fields), offsets, [type for _, type in fields])
    return Type.resized(made, 0, itemsize)


def of_interface(array: Any, interface: dict[str, Any]) -> Type:
    """The type of the elements of an object with __array_interface__ or __cuda_array_interface__."""
    dtype = getattr(array, 'dtype', None)
    if hasattr(dtype, 'kind') and hasattr(dtype, 'itemsize'):
        return _of_dtype(dtype)
    typestr = interface['typestr']
    if not isinstance(typestr, str) or len(typestr) < 3 or typestr[1] == 'O':
        raise TypeError(f'{typestr!r} is no typestr of elements that can be moved as bytes')
    itemsize = int(typestr[2:].partition('[')[0]) * (4 if typestr[1] == 'U' else 1)
    if typestr[1] == 'V' and len(interface.get('descr') or []) > 1:
        return of([tuple(field) for field in interface['descr']])
    return _of_kind(typestr[1], itemsize, typestr[0] in ('|', _NATIVE))


def of_buffer(array: Any, text: str, itemsize: int) -> Type:
    """The type of the elements of an object with the buffer protocol."""
    dtype = getattr(array, 'dtype', None)
    if type(dtype).__module__.partition('.')[0] == 'numpy':
        return _of_dtype(dtype)  # the format does not say where a struct in a struct ends
    return _of_format(text, itemsize)


@functools.lru_cache(maxsize=1024)
def _of_format(text: str, itemsize: int) -> Type:
    """The type of a format of the buffer protocol (PEP 3118) for elements of itemsize bytes."""
    # Writers differ in whether a struct is padded at its end as C's are; the size tells.
    for padded in (False, True):
        reader = _Format(text, padded)
        members = reader.members()
        end = reader.size + (-reader.size % reader.alignment if reader.order == '@' else 0)
        if itemsize not in (reader.size, end):
            continue
        if not members:  # padding only, which is how NumPy says untyped bytes
            return of_bytes(itemsize)
        if len(members) == 1 and members[0][0] == 0 and members[0][1].extent == itemsize:
            return members[0][1]
        return _struct(members, itemsize)
    # ctypes before Python 3.12 leaves out all padding.
    raise ValueError(f'the buffer format {text!r} describes {reader.size} bytes of elements of {itemsize}')


# Letter: kind of NumPy's, bytes of '@', bytes of '=', '<' and '>'.
_LETTERS = {
    '?': ('b', 1, 1),
    'b': ('i', 1, 1),
    'B': ('u', 1, 1),
    'h': ('i', 2, 2),
    'H': ('u', 2, 2),
    'i': ('i', 4, 4),
    'I': ('u', 4, 4),
    'l': ('i', 8, 4),
    'L': ('u', 8, 4),
    'q': ('i', 8, 8),
    'Q': ('u', 8, 8),
    'n': ('i', 8, 8),
    'N': ('u', 8, 8),
    'P': ('u', 8, 8),
    'e': ('f', 2, 2),
    'f': ('f', 4, 4),
    'd': ('f', 8, 8),
    'g': ('f', 16, 16),
    'Zf': ('c', 8, 8),
    'Zd': ('c', 16, 16),
    'Zg': ('c', 32, 32),
}


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

    def members(self, inner: bool = False) -> list[tuple[int, Type]]:
        """Members up to the end, or the closing brace: where each begins, and its type."""
        found: list[tuple[int, Type]] = []
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
            repeat = self.repeat()
            if self.peek() and self.peek() in '@=<>!^':  # (2)<h of ctypes
                self.order = self.peek()
                self.at += 1
            type, size, alignment = self.item(repeat)
            if self.order == '@':
                offset += -offset % alignment
                widest = max(widest, alignment)
            named = self.peek() == ':'
            if named:
                end = self.text.find(':', self.at + 1)
                if end < 0:
                    raise self.refuse()
                self.at = end + 1
            if type is not None:
                found.append((offset, type))
            elif named:  # untyped bytes, not padding
                found.append((offset, of_bytes(size)))
            offset += size
        if inner and self.padded and self.order == '@':
            offset += -offset % widest
        self.size, self.alignment = offset, widest
        return found

    def repeat(self) -> int:
        """A count, or the product of a shape in parentheses."""
        if self.peek() != '(':
            number = self.number()
            return 1 if number is None else number
        self.at += 1
        product = 1
        while True:
            number = self.number()
            if number is None:
                raise self.refuse()
            product *= number
            self.at += 1
            if self.text[self.at - 1] == ')':
                break
            if self.text[self.at - 1] != ',':
                raise self.refuse()
        number = self.number()  # (3)4s: a count of its own
        return product if number is None else product * number

    def item(self, repeat: int) -> tuple[Type | None, int, int]:
        """One member: its type (None for padding), bytes, alignment."""
        if self.peek() == 'T' and self.text[self.at + 1 : self.at + 2] == '{':
            self.at += 2
            members = self.members(inner=True)
            size, alignment = self.size, self.alignment
            if self.peek() != '}':
                raise self.refuse()
            self.at += 1
            return self.repeated(_struct(members, size), repeat), repeat * size, alignment
        letter = self.peek()
        if letter == 'Z':
            letter += self.text[self.at + 1 : self.at + 2]
        self.at += len(letter)
        if letter == 'x':
            return None, repeat, 1
        if letter in ('c', 's', 'p'):
            return of_bytes(repeat), repeat, 1
        if letter in ('u', 'w'):
            size = 2 if letter == 'u' else 4
            return of_bytes(repeat * size), repeat * size, size
        if letter not in _LETTERS:
            self.at -= len(letter)
            raise self.refuse()
        kind, native, standard = _LETTERS[letter]
        size = native if self.order in '@^' else standard
        big = self.order in '>!'
        type = _of_kind(kind, size, big == (_NATIVE == '>') or self.order in '@=^')
        alignment = size // 2 if kind == 'c' else size
        return self.repeated(type, repeat), repeat * size, alignment

    @staticmethod
    def repeated(type: Type, repeat: int) -> Type:
        return type if repeat == 1 else Type.contiguous(repeat, type)
