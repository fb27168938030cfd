"""Pickles of anyone, read without running anything.

The standard library's pickle calls what a pickle names. This reader calls nothing: classes and functions become their
names, calls become Made, dicts become lists of pairs, so that nothing is hashed or compared. What is named must be in
a list of the caller's. Memory and time are proportional to the number of bytes, since each opcode makes one object at
most, and nothing is walked. The caller takes the result apart by shapes that it expects.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from ucd import Corrupt

Name = tuple[str, str]
"""Module and qualified name."""

# Bounds. A pickle of metadata has a few marks open at a time, and between two marks at most 1000 entries of a list or
# 1000 pairs of a dict, since pickle writes these in portions.
MAX_BYTES = 1 << 28
MAX_OBJECTS = 1 << 26
MAX_MARKS = 64
MAX_STACK = 4096
MAX_TEXT = 1 << 16


class Named(NamedTuple):
    """A class, function or value of a module, by name only."""

    module: str
    name: str


class Made:
    """What a pickle would call or construct. Nothing was called."""

    __slots__ = ('of', 'arguments', 'state')

    def __init__(self, of: Named, arguments: tuple[Any, ...]) -> None:
        self.of = of
        self.arguments = arguments
        self.state: Any = None


class Persistent:
    """What a pickle refers to by an id of its writer: the storages of torch.save."""

    __slots__ = ('id',)

    def __init__(self, id: Any) -> None:
        self.id = id


class Pairs(list[Any]):
    """A dict: keys and values in turn, unhashed. A key may be there twice."""

    __slots__ = ()

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Keys and values."""
        each = iter(self)
        return zip(each, each)


_ORDERED_DICT = Named('collections', 'OrderedDict')


class _Reader:
    """The machine of a pickle: a stack, a memo, and the stacks below open marks."""

    def __init__(self, data: bytes, admitted: Collection[Name]) -> None:
        self.data = data
        self.at = 0
        self.admitted = admitted
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: list[Any] = []

    def take(self, count: int) -> bytes:
        found = self.data[self.at : self.at + count]
        if len(found) < count:
            raise Corrupt('a pickle is cut off')
        self.at += count
        return found

    def pop(self) -> Any:
        if not self.stack:
            raise Corrupt('a pickle takes more from its stack than there is')
        return self.stack.pop()

    def pop_to_mark(self) -> list[Any]:
        if not self.below:
            raise Corrupt('a pickle has no mark where it needs one')
        found, self.stack = self.stack, self.below.pop()
        return found

    def top(self, kind: type) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            raise Corrupt(f'a pickle fills something that is no {kind.__name__.lower()}')
        return self.stack[-1]

    def mark(self) -> None:
        if len(self.below) >= MAX_MARKS:
            raise Corrupt(f'a pickle is nested more than {MAX_MARKS} deep')
        self.below.append(self.stack)
        self.stack = []

    def name(self, module: Any, name: Any) -> Named:
        if type(module) is not str or type(name) is not str or (module, name) not in self.admitted:
            said = f'{module}.{name}'[:200] if type(module) is type(name) is str else 'what is no text'
            raise Corrupt(f'a pickle names {said!r}, which is not admitted')
        return Named(module, name)

    def call(self) -> None:
        arguments, of = self.pop(), self.pop()
        if type(of) is not Named or type(arguments) is not tuple:
            raise Corrupt('a pickle calls something that has no name')
        self.stack.append(Pairs() if of == _ORDERED_DICT and not arguments else Made(of, arguments))

    def build(self) -> None:
        state = self.pop()
        made = self.top(Made)
        if made.state is not None:
            raise Corrupt('a pickle sets the state of an object twice')
        made.state = state

    def extend(self, entries: list[Any]) -> None:
        self.top(list).extend(entries)

    def set_items(self, flat: list[Any]) -> None:
        if len(flat) % 2:
            raise Corrupt('a pickle has a key without a value')
        self.top(Pairs).extend(flat)

    def get(self, number: int) -> None:
        if number >= len(self.memo):
            raise Corrupt('a pickle refers to something that it does not have')
        self.stack.append(self.memo[number])

    def put(self, number: int) -> None:
        # Writers number what they remember in turn. So a list will do, which is no longer than the pickle.
        if not self.stack or number > len(self.memo):
            raise Corrupt('a pickle remembers something that it does not have')
        self.memo[number : number + 1] = self.stack[-1:]

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise Corrupt('a pickle takes more from its stack than there is')
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def tuple_to_mark(self) -> None:
        entries = self.pop_to_mark()
        self.stack.append(tuple(entries))

    def number(self, form: struct.Struct) -> Any:
        return form.unpack(self.take(form.size))[0]

    def text(self, count: int) -> str:
        if count > MAX_TEXT:
            raise Corrupt(f'a pickle has a text of {count} bytes; the bound is {MAX_TEXT}')
        try:
            return self.take(count).decode()
        except UnicodeDecodeError:
            raise Corrupt('a pickle has a text that is no UTF-8') from None

    def line(self) -> str:
        end = self.data.find(b'\n', self.at, self.at + 256)
        if end < 0:
            raise Corrupt('a pickle has a name without an end')
        found = self.text(end - self.at)
        self.at = end + 1
        return found

    def long(self) -> int:
        count = self.take(1)[0]
        if count > 8:
            raise Corrupt('a pickle has an integer of more than 64 bits')
        return int.from_bytes(self.take(count), 'little', signed=True)

    def protocol(self) -> None:
        if self.take(1)[0] not in range(2, 6):
            raise Corrupt('a pickle is of a protocol that is not known here')

    def stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        self.stack.append(self.name(module, name))

    def read(self) -> Any:
        data, operations = self.data, _OPERATIONS
        for _ in range(MAX_OBJECTS):
            if self.at >= len(data):
                raise Corrupt('a pickle has no end')
            opcode = data[self.at]
            self.at += 1
            if opcode == _STOP:
                if len(self.stack) != 1 or self.below:
                    raise Corrupt('a pickle ends in the middle')
                return self.stack[0]
            operation = operations[opcode]
            if operation is None:
                raise Corrupt(f'a pickle has the opcode {opcode:#04x}, which is not admitted')
            operation(self)
            if len(self.stack) > MAX_STACK:
                raise Corrupt(f'a pickle has more than {MAX_STACK} entries between two marks')
        raise Corrupt(f'a pickle has more than {MAX_OBJECTS} opcodes')


_STOP = ord('.')
_U2, _U4, _I4, _U8, _F8 = [struct.Struct(form) for form in ('<H', '<I', '<i', '<Q', '>d')]

# By pickle's own letters. Left out is what runs code by other ways, what needs memory that is not in the file, and
# what only old protocols write.
_BY_LETTER: dict[bytes, Callable[[_Reader], Any]] = {
    b'\x80': _Reader.protocol,
    b'\x95': lambda r: r.number(_U8),  # FRAME
    b'(': _Reader.mark,
    b'0': _Reader.pop,
    b'N': lambda r: r.stack.append(None),
    b'\x88': lambda r: r.stack.append(True),
    b'\x89': lambda r: r.stack.append(False),
    b'K': lambda r: r.stack.append(r.take(1)[0]),
    b'M': lambda r: r.stack.append(r.number(_U2)),
    b'J': lambda r: r.stack.append(r.number(_I4)),
    b'\x8a': lambda r: r.stack.append(r.long()),
    b'G': lambda r: r.stack.append(r.number(_F8)),
    b'\x8c': lambda r: r.stack.append(r.text(r.take(1)[0])),
    b'X': lambda r: r.stack.append(r.text(r.number(_U4))),
    b'\x8d': lambda r: r.stack.append(r.text(r.number(_U8))),
    b')': lambda r: r.stack.append(()),
    b']': lambda r: r.stack.append([]),
    b'}': lambda r: r.stack.append(Pairs()),
    b'\x85': lambda r: r.tuple_of(1),
    b'\x86': lambda r: r.tuple_of(2),
    b'\x87': lambda r: r.tuple_of(3),
    b't': _Reader.tuple_to_mark,
    b'a': lambda r: r.extend([r.pop()]),
    b'e': lambda r: r.extend(r.pop_to_mark()),
    b's': lambda r: r.set_items([r.pop(), r.pop()][::-1]),
    b'u': lambda r: r.set_items(r.pop_to_mark()),
    b'\x94': lambda r: r.put(len(r.memo)),
    b'q': lambda r: r.put(r.take(1)[0]),
    b'r': lambda r: r.put(r.number(_U4)),
    b'h': lambda r: r.get(r.take(1)[0]),
    b'j': lambda r: r.get(r.number(_U4)),
    b'c': lambda r: r.stack.append(r.name(r.line(), r.line())),
    b'\x93': _Reader.stack_global,
    b'R': _Reader.call,
    b'\x81': _Reader.call,  # NEWOBJ
    b'b': _Reader.build,
    b'Q': lambda r: r.stack.append(Persistent(r.pop())),
}
_OPERATIONS = [_BY_LETTER.get(bytes([opcode])) for opcode in range(256)]


def read(data: bytes, admitted: Collection[Name]) -> Any:
    """What a pickle says, as None, bool, int, float, str, tuple, list, Pairs, Named, Made and Persistent.

    Raises Corrupt for whatever is not such a pickle, names what is not admitted, or exceeds the bounds.
    """
    if len(data) > MAX_BYTES:
        raise Corrupt(f'a pickle has {len(data)} bytes; the bound is {MAX_BYTES}')
    return _Reader(data, admitted).read()
