"""The vectors of flattened types, read by a reader that shares nothing with the library.

usage: vectors_test.py FILE...            test
       vectors_test.py --state FILE...    write into the files what the bytes of their vectors mean
"""

import pathlib
import sys
import unittest

import read_flattened

MAX_LISTED = 4096  # elements that `map` is made of
FILES = []


def parse(path):
    """The file's blocks, each with its comments and its keys and values."""
    for block in pathlib.Path(path).read_text().strip().split('\n\n'):
        comments, vector = [], {}
        for line in block.split('\n'):
            if line.startswith('#'):
                comments.append(line)
            elif line.startswith(' '):
                vector[key] += line
            else:
                key, _, vector[key] = line.partition(': ')
        yield comments, vector


def vectors():
    return [vector for path in FILES for _, vector in parse(path) if vector]


def fnv1a(text):
    found = 0xcbf29ce484222325
    for byte in text.encode():
        found = (found ^ byte) * 0x100000001b3 % 2**64
    return f'{found:x}'


def entry(found):
    element, displacement = found
    return f'{element} at {displacement}'


def meaning(data):
    """What the bytes mean, in the words of the files."""
    found = read_flattened.Type(data)
    stated = {key: str(getattr(found, key))
              for key in ('size', 'lb', 'extent', 'true_lb', 'true_extent', 'alignment')}
    stated['explicit_bounds'] = 'yes' if found.explicit_bounds else 'no'
    if found.counts:
        stated['elements'] = ' '.join(f'{name}*{count}' for name, count in sorted(found.counts.items()))
        stated['first'], stated['last'] = entry(found.first()), entry(found.last())
        if sum(found.counts.values()) <= MAX_LISTED:
            stated['map'] = fnv1a(''.join(entry(e) + '\n' for e in found.type_map(MAX_LISTED)))
    return stated


def lines_of(data):
    """The bytes in hexadecimal: header, bounds, and each node, in lines of at most 32."""
    starts = [0, 24, *read_flattened.Type(data).offsets]
    for start, end in zip(starts, [*starts[1:], len(data)]):
        for at in range(start, end, 32):
            yield data[at:min(at + 32, end)].hex(' ')


def state(path):
    blocks = []
    for comments, vector in parse(path):
        if vector and 'refused' not in vector:
            data = bytes.fromhex(vector['bytes'])
            kept = {key: value for key, value in vector.items() if key in ('name', 'bytes', 'rewritten')}
            vector = kept | {'bytes': '\n  '.join(lines_of(data))} | meaning(data)
        blocks.append('\n'.join(comments + [f'{key}: {value}' for key, value in vector.items()]))
    pathlib.Path(path).write_text('\n\n'.join(blocks) + '\n')


class Vectors(unittest.TestCase):
    def test_each_name_is_there_once(self):
        names = [vector['name'] for vector in vectors()]
        self.assertGreater(len(names), 0)
        self.assertEqual(len(names), len(set(names)))

    def test_types_mean_what_is_stated(self):
        for vector in vectors():
            with self.subTest(vector['name']):
                if 'refused' not in vector:
                    stated = {k: v for k, v in vector.items() if k not in ('name', 'bytes', 'rewritten')}
                    self.assertEqual(meaning(bytes.fromhex(vector['bytes'])), stated)

    def test_what_is_no_type_is_refused_for_the_reason_stated(self):
        for vector in vectors():
            with self.subTest(vector['name']):
                if 'refused' in vector:
                    with self.assertRaises(read_flattened.Refused) as raised:
                        read_flattened.Type(bytes.fromhex(vector['bytes']))
                    self.assertIn(vector['because'], str(raised.exception))
                    self.assertEqual(vector['refused'], 'NOT_SUPPORTED' if raised.exception.newer else 'CORRUPT')

    def test_damage_is_refused(self):
        for vector in vectors():
            if 'refused' in vector:
                continue
            data = bytes.fromhex(vector['bytes'])
            changed = [data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1:] for i in range(len(data))]
            for damaged in [*changed, *(data[:i] for i in range(len(data))), data + b'\0']:
                with self.assertRaises(read_flattened.Refused, msg=vector['name']) as raised:
                    read_flattened.Type(damaged)
                self.assertFalse(raised.exception.newer)


if __name__ == '__main__':
    arguments = sys.argv[1:]
    if '--state' in arguments:
        for file in arguments[1:]:
            state(file)
    else:
        FILES += arguments
        unittest.main(argv=sys.argv[:1])
