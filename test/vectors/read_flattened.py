#!/usr/bin/env python3
"""Reads flattened types as docs/reference/flatten-format.md defines them, and refuses what it forbids.

Written from that page alone: it shares nothing with the library, so that each checks the other and the page both.

usage: read_flattened.py HEX...           what the bytes mean
       read_flattened.py --seal HEX...    the bytes with total size and checksum put in
"""

import dataclasses
import itertools
import sys

LIMIT = 2**63 - 1
MAGIC = bytes.fromhex('55434454')
PROGRESSION, ONE_LENGTH = 16, 32
# Class: packed bytes that it comes in.
ELEMENTS = {1: {1}, 2: {1}, 3: {2, 4}, 4: {1}, 5: {1, 2, 4, 8}, 6: {1, 2, 4, 8}, 7: {2, 4, 8, 16}, 8: {2}, 9: {16},
            10: {8, 16, 32}, 11: {32}, 12: {8, 12, 20}, 13: {6, 8, 12}, 14: {20}, 15: {8, 16},
            16: {1}, 17: {1}}
OF_VERSION_2 = {16, 17}


class Refused(Exception):
    """The bytes are no flattened type of version 1 or 2. `newer`: they are undamaged, but of a later version."""

    def __init__(self, why, newer=False):
        super().__init__(why)
        self.newer = newer


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        yield byte


CRC_TABLE = list(crc_table())


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def sealed(data):
    """The bytes with total size and checksum put in."""
    data = data[:8] + len(data).to_bytes(8, 'little') + bytes(4) + data[20:]
    return data[:16] + crc32c(data).to_bytes(4, 'little') + data[20:]


def limited(number, what):
    if abs(number) > LIMIT:
        raise Refused(f'{what} is {number}, beyond 2^63 - 1')
    return number


class Numbers:
    """The bytes, read one number after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, width, what, signed=False):
        if len(self.data) - self.at < width:
            raise Refused(f'the bytes end at {len(self.data)}, within {what}')
        self.at += width
        return int.from_bytes(self.data[self.at - width:self.at], 'little', signed=signed)

    def unsigned(self, width, what):
        return self.number(width, what)

    def signed(self, width, what):
        return self.number(width, what, signed=True)


@dataclasses.dataclass(frozen=True)
class Element:
    cls: int
    size: int
    alignment: int

    low, parts, last = 0, (), None

    @property
    def counts(self):
        return {str(self): 1}

    @property
    def end(self):
        return 8 if (self.cls, self.size) == (13, 6) else self.size

    def __str__(self):
        return f'{self.cls}/{self.size}'


class Node:
    """Children at displacements. What it says of all of them is found without a walk over them."""

    def __init__(self, parts, nodes):
        # Each part is a child and the levels, outermost first, that repeat it from a displacement on.
        self.parts = parts
        lows, ends = [], []
        self.size, self.counts = 0, {}
        for displacement, levels, reference in parts:
            child, copies = nodes[reference], 1
            low = high = displacement
            for count, stride in levels:
                copies *= count
                reach = limited((count - 1) * stride, 'a displacement')
                low, high = low + min(reach, 0), high + max(reach, 0)
            self.size += copies * child.size
            for element, count in child.counts.items():
                self.counts[element] = self.counts.get(element, 0) + copies * count
            lows.append(low + child.low)
            ends.append(high + child.end)
        limited(self.size, 'the packed size of a node')
        self.low, self.end = min(lows), max(ends)
        limited(self.low, 'the first byte of a node')
        limited(self.end, 'the end of a node')
        limited(self.end - self.low, 'the true extent of a node')
        displacement, levels, reference = parts[-1]
        self.last = displacement + sum((count - 1) * stride for count, stride in levels), reference


def repeated(displacement, levels, reference):
    """A part of a node without its outermost level."""
    count, stride = levels[0]
    return ((displacement + i * stride, levels[1:], reference) for i in range(count))


def moved(parts, by):
    return ((displacement + by, levels, reference) for displacement, levels, reference in parts)


def read_element(numbers):
    cls = numbers.unsigned(1, 'a class')
    size = numbers.unsigned(1, 'the packed bytes of an element')
    alignment = numbers.unsigned(1, 'the alignment of an element')
    if size not in ELEMENTS.get(cls, ()):
        raise Refused(f'there is no element of class {cls} with {size} bytes')
    if alignment > 15:
        raise Refused(f'the alignment of an element is 2^{alignment}')
    return Element(cls, size, 2**alignment)


def read_displacements(numbers, count, unit, width):
    """Of a list of steps, or of a progression if there is no width."""
    at = 0
    for i in range(count):
        if i > 0:
            step = 1 if width is None else numbers.signed(width, 'a step')
            at = limited(at + limited(step * unit, 'a step times its unit'), 'a displacement')
        yield at


def read_list(numbers, first, nodes):
    kind, flags = first & 15, first & 0xf0
    if kind not in (2, 3, 4, 5):
        raise Refused(f'there is no kind {kind}')
    if flags & ~{4: PROGRESSION | ONE_LENGTH, 5: PROGRESSION}.get(kind, 0) or flags == PROGRESSION | ONE_LENGTH:
        raise Refused(f'a node of kind {kind} has flags {flags}')
    codes = numbers.unsigned(1, 'the width codes')
    has_steps = kind != 2 and not flags & PROGRESSION
    reference, scalar, step, length = (1 << (codes >> bits & 3) for bits in (0, 2, 4, 6))
    if reference > 4:
        raise Refused('references have 8 bytes')
    if step > 1 and not has_steps or length > 1 and kind != 4:
        raise Refused(f'width codes {codes:#x} for numbers that a node of kind {kind} with flags {flags} has not')

    def read_stride():
        return limited(numbers.signed(scalar, 'a stride'), 'a stride')

    def read_reference():
        child = numbers.unsigned(reference, 'a reference')
        if child >= len(nodes):
            raise Refused(f'node {len(nodes)} refers to node {child}')
        return child

    def at_least(limit, number, what):
        if number < limit:
            raise Refused(f'{what} is {number}, less than {limit}')
        return number

    if kind == 2:
        depth = numbers.unsigned(1, 'the number of levels')
        if not 1 <= depth <= 63:
            raise Refused(f'a nest of {depth} levels')
        levels = [(at_least(2, numbers.signed(scalar, 'a count'), 'a count'), read_stride()) for _ in range(depth)]
        return Node([(0, levels, read_reference())], nodes)

    count = at_least(2, numbers.signed(scalar, 'a number of entries'), 'a number of entries')
    # Each entry but one has a byte of its own at least. So hostile numbers cost no memory.
    if count - 1 > len(numbers.data) - numbers.at:
        raise Refused(f'{count} entries in {len(numbers.data) - numbers.at} bytes')
    unit = numbers.signed(scalar, 'a unit')
    stride = read_stride() if kind == 4 else 0
    children = [read_reference() for _ in range(count if kind == 5 else 1)]
    displacements = list(read_displacements(numbers, count, unit, step if has_steps else None))
    lengths = [1]
    if kind == 4:
        lengths = [at_least(1, numbers.unsigned(length, 'a length'), 'a length')
                   for _ in range(1 if flags & ONE_LENGTH else count)]
    return Node([(displacement, [(length, stride)] if kind == 4 else [], child) for displacement, length, child
                 in zip(displacements, itertools.cycle(lengths), itertools.cycle(children))], nodes)


class Type:
    """A type from its flattened bytes, all of them and no others."""

    def __init__(self, data):
        numbers = Numbers(data)
        if data[:4] != MAGIC:
            raise Refused('the magic is not there')
        if len(data) < 24:
            raise Refused(f'{len(data)} bytes are shorter than a header')
        numbers.at = 4
        version = numbers.unsigned(2, 'the version')
        flags = numbers.unsigned(1, 'the flags')
        alignment = numbers.unsigned(1, 'the alignment')
        total = numbers.unsigned(8, 'the total size')
        if total != len(data):
            raise Refused(f'{len(data)} bytes say that they are {total}')
        checksum = numbers.unsigned(4, 'the checksum')
        if checksum != crc32c(data[:16] + bytes(4) + data[20:]):
            raise Refused('the checksum is wrong')
        if version not in (1, 2):
            raise Refused(f'the version is {version}', newer=version > 2)
        if flags >> 3:
            raise Refused(f'the flags are {flags}')
        if alignment > 15:
            raise Refused(f'the alignment is 2^{alignment}')
        count = numbers.unsigned(4, 'the number of nodes')
        self.explicit_bounds = bool(flags & 1)
        self.alignment = 2**alignment
        width = 1 << (flags >> 1 & 3)
        self.start = limited(numbers.signed(width, 'the start'), 'the start')
        self.lb = limited(numbers.signed(width, 'the lb'), 'the lb')
        self.extent = limited(numbers.signed(width, 'the extent'), 'the extent')
        limited(self.lb + self.extent, 'the ub')
        self.nodes = self.read_nodes(numbers, count)
        for node in self.nodes:
            if version == 1 and isinstance(node, Element) and node.cls in OF_VERSION_2:
                raise Refused(f'no element of class {node.cls} in version 1')
        if numbers.at != len(data):
            raise Refused(f'{len(data) - numbers.at} bytes follow the last node')
        if not self.nodes and self.start != 0:
            raise Refused(f'the start of the empty type is {self.start}')
        self.size = self.true_lb = self.true_extent = 0
        self.counts = {}
        if self.nodes:
            root = self.nodes[-1]
            self.size, self.counts = root.size, root.counts
            self.true_lb, self.true_extent = self.start + root.low, root.end - root.low
            limited(self.true_lb, 'the true lb')
            limited(self.true_lb + self.true_extent, 'the true ub')

    def read_nodes(self, numbers, count):
        nodes, without_parent = [], set()
        self.offsets = []
        for number in range(count):
            self.offsets.append(numbers.at)
            first = numbers.unsigned(1, 'the kind of a node')
            node = read_element(numbers) if first == 1 else read_list(numbers, first, nodes)
            nodes.append(node)
            without_parent -= {part[2] for part in node.parts}
            without_parent.add(number)
        if without_parent and without_parent != {count - 1}:
            raise Refused(f'nothing refers to node {min(without_parent)}')
        return nodes

    def entry(self, displacement, reference):
        """The first element of a node, and where it lies: a node's origin is that of its first child."""
        while not isinstance(self.nodes[reference], Element):
            offset, _, reference = self.nodes[reference].parts[0]
            displacement += offset
        return self.nodes[reference], displacement

    def first(self):
        return self.entry(self.start, len(self.nodes) - 1)

    def last(self):
        displacement, reference = self.start, len(self.nodes) - 1
        while self.nodes[reference].last:
            offset, reference = self.nodes[reference].last
            displacement += offset
        return self.nodes[reference], displacement

    def type_map(self, limit):
        """Elements and displacements in packed order, `limit` of them at most."""
        def walk():
            stack = [iter([(self.start, [], len(self.nodes) - 1)])] if self.nodes else []
            while stack:
                part = next(stack[-1], None)
                if part is None:
                    stack.pop()
                    continue
                displacement, levels, reference = part
                node = self.nodes[reference]
                if levels:
                    stack.append(repeated(displacement, levels, reference))
                elif isinstance(node, Element):
                    yield node, displacement
                else:
                    stack.append(moved(node.parts, displacement))
        return itertools.islice(walk(), limit)


def main(arguments):
    data = bytes.fromhex(''.join(a for a in arguments if a != '--seal'))
    if '--seal' in arguments:
        print(sealed(data).hex(' '))
        return 0
    try:
        found = Type(data)
    except Refused as refused:
        print(f'refused: {refused}', file=sys.stderr)
        return 1
    for key in ('size', 'lb', 'extent', 'true_lb', 'true_extent', 'alignment', 'explicit_bounds'):
        print(f'{key}: {getattr(found, key)}')
    for element, displacement in found.type_map(1000):
        print(f'  {element} at {displacement}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
