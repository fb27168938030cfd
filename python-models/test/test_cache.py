"""Caches: formats, moves between them, their bytes and content ids, and descriptor lists.

The oracle is NumPy's indexing of an engine's arrays, element by element."""

import collections
import ctypes
import hashlib
import itertools
import math
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import libraries
import ucd
from ucd_models import cache
from ucd_models.cache import Cache, Format

LAYERS, KVS, HEADS, DIMS = 2, 2, 4, 6
SIZES = {'layer': LAYERS, 'kv': KVS, 'head': HEADS, 'dim': DIMS}
DTYPES = ['f4', 'i2', 'u1', 'f8']


class Engine:
    """Arrays of an engine, and where it has which element."""

    def __init__(self, axes, lists=(), page=4, pages=6, split=1, parts=None, padding=(), dtype='f4', guard=32):
        self.axes, self.lists, self.page, self.pages, self.split = axes, lists, page, pages, split
        self.parts = parts or {}  # lengths along an axis of lists that arrays have, too
        self.dtype = np.dtype(dtype)
        # The axes of each dimension. Of an axis that is named twice, the first dimension is the outer one.
        self.words = [word.strip('()').split() for word in re.findall(r'\([^)]*\)|\w+', axes)]
        self.named = collections.Counter(word for words in self.words for word in words)
        self.buffers = []
        self.arrays = {}
        ranges = [range(len(self.parts.get(axis, ())) or SIZES[axis]) for axis in lists]
        for number, index in enumerate(itertools.product(*ranges)):
            shape = [self._length(i, index) for i in range(len(self.words))]
            pads = [padding[(number + i) % len(padding)] if padding else 0 for i in range(len(shape))]
            whole = [n + pad for n, pad in zip(shape, pads)]
            size = math.prod(whole) * self.dtype.itemsize
            memory = np.random.default_rng(number).integers(0, 100, size + 2 * guard, np.uint8)
            self.buffers.append(memory)
            array = memory[guard : guard + size].view(self.dtype).reshape(whole)
            self.arrays[index] = array[tuple(slice(n) for n in shape)]

    def _size(self, axis, index):
        if axis in self.parts and axis in self.lists:
            return self.parts[axis][index[self.lists.index(axis)]]
        return {'page': self.pages, 'token': self.page, **SIZES}[axis]

    def _length(self, number, index):
        length = 1
        for word in self.words[number]:
            if self.named[word] == 1:
                length *= self._size(word, index)
            else:
                is_inner = any(word in words for words in self.words[:number])
                length *= self.split if is_inner else self._size(word, index) // self.split
        return length

    def nested(self, index=()):
        if len(index) == len(self.lists):
            return self.arrays[index]
        axis = self.lists[len(index)]
        return [self.nested((*index, i)) for i in range(len(self.parts.get(axis, ())) or SIZES[axis])]

    def cache(self, **more):
        return Cache.of(self.nested(), self.axes, lists=self.lists, token=self.page, **more)

    def locate(self, **at):
        """The array of an element, and its index there."""
        at = dict(at)
        index = []
        for axis in self.lists:
            if axis in self.parts:
                i = 0
                while at[axis] >= self.parts[axis][i]:
                    at[axis] -= self.parts[axis][i]
                    i += 1
                index.append(i)
            else:
                index.append(at[axis])
        place, seen = [], set()
        for words in self.words:
            number = 0
            for word in words:
                if self.named[word] == 1:
                    number = number * self._size(word, tuple(index)) + at[word]
                elif word not in seen:
                    number = number * (self._size(word, tuple(index)) // self.split) + at[word] // self.split
                else:
                    number = number * self.split + at[word] % self.split
                seen.add(word)
            place.append(number)
        return self.arrays[tuple(index)], tuple(place)

    def address(self, **at):
        array, place = self.locate(**at)
        return array.ctypes.data + sum(i * stride for i, stride in zip(place, array.strides))

    def before(self):
        return [memory.copy() for memory in self.buffers]

    def restore(self, saved):
        for memory, was in zip(self.buffers, saved):
            memory[:] = was


def moved(source, target, source_pages, target_pages, convert=lambda x: x):
    """What relayout does, element by element."""
    for position in range(len(source_pages) * source.page):
        a = {'page': int(source_pages[position // source.page]), 'token': position % source.page}
        b = {'page': int(target_pages[position // target.page]), 'token': position % target.page}
        for layer, kv, head, dim in itertools.product(*map(range, (LAYERS, KVS, HEADS, DIMS))):
            at = {'layer': layer, 'kv': kv, 'head': head, 'dim': dim}
            array, place = source.locate(**at, **a)
            into, there = target.locate(**at, **b)
            into[there] = convert(array[place])


@st.composite
def engines(draw, dtype=None):
    apart = [(), ('layer',), ('kv', 'layer'), ('layer', 'kv'), ('layer', 'dim'), ('head',), ('head', 'layer')]
    lists = draw(st.sampled_from(apart))
    parts = {}
    if 'dim' in lists:
        parts['dim'] = draw(st.sampled_from([(4, 2), (2, 2, 2)]))
    if 'head' in lists:
        parts['head'] = draw(st.sampled_from([(2, 2), (1, 3)]))
    words = [axis for axis in cache.AXES if axis not in lists or axis in parts]
    if draw(st.booleans()):
        words.remove('token')
        words[words.index('page')] = '(page token)'
    split = 1
    if 'dim' not in parts and draw(st.booleans()):
        words.append('dim')
        split = draw(st.sampled_from([1, 2]))
    return Engine(
        ' '.join(draw(st.permutations(words))),
        lists,
        page=draw(st.sampled_from([1, 2, 3, 4, 8])),
        pages=draw(st.integers(8, 10)),
        split=split,
        parts=parts,
        padding=draw(st.lists(st.integers(0, 2), max_size=3)),
        dtype=dtype or draw(st.sampled_from(DTYPES)),
    )


def tables(draw, source, target, most=8):
    """Pages of both sides with as many tokens."""
    tokens = math.lcm(source.page, target.page)
    times = draw(st.integers(1, max(1, most * min(source.page, target.page) // tokens)))
    if times * tokens // source.page > source.pages or times * tokens // target.page > target.pages:
        times = 1
    made = []
    for engine in (source, target):
        count = times * tokens // engine.page
        pages = draw(st.permutations(range(engine.pages)))[:count]
        made.append(np.array(pages, draw(st.sampled_from(['i4', 'u4', 'i8', 'u8']))))
    return made


@given(st.data())
def test_any_format_to_any_other(data):
    source = data.draw(engines())
    target = data.draw(engines(dtype=source.dtype))
    pages = tables(data.draw, source, target)
    saved = target.before()
    moved(source, target, *pages)
    expected = target.before()
    target.restore(saved)
    original = source.before()
    size = cache.relayout(source.cache(), target.cache(), *pages)
    assert size == len(pages[0]) * source.page * LAYERS * KVS * HEADS * DIMS * source.dtype.itemsize
    # Guard bytes, padding and other pages included.
    assert all((a == b).all() for a, b in zip(target.before(), expected))
    assert all((a == b).all() for a, b in zip(source.before(), original))


@given(st.data())
def test_converted(data):
    source, target = data.draw(engines(dtype='f4')), data.draw(engines(dtype='f2'))
    for memory in source.buffers:
        memory[: memory.size // 4 * 4].view('f4')[:] = np.linspace(-9.1, 9.3, memory.size // 4)
    pages = tables(data.draw, source, target)
    saved = target.before()
    moved(source, target, *pages, np.float16)
    expected = target.before()
    target.restore(saved)
    cache.relayout(source.cache(), target.cache(), *pages, convert=True)
    assert all((a == b).all() for a, b in zip(target.before(), expected))
    target.restore(saved)
    with pytest.raises(ValueError, match='FLOAT, the target FLOAT16; convert=True'):
        cache.relayout(source.cache(), target.cache(), *pages)
    assert all((a == b).all() for a, b in zip(target.before(), saved))


@given(st.data())
def test_descriptors(data):
    source = data.draw(engines())
    target = data.draw(engines(dtype=source.dtype))
    pages = tables(data.draw, source, target)
    # One side: its bytes, in rows that nothing joins to the next.
    found = cache.descriptors(source.cache(), pages[0])
    expected = set()
    width = source.dtype.itemsize
    indices = itertools.product(*map(range, (LAYERS, KVS, HEADS, DIMS, source.page)))
    for (layer, kv, head, dim, token), page in itertools.product(indices, pages[0]):
        first = source.address(layer=layer, kv=kv, head=head, dim=dim, token=token, page=int(page))
        expected.update(range(first, first + width))
    listed = [byte for first, length in found.rows.tolist() for byte in range(first, first + length)]
    assert len(listed) == len(expected) == found.nbytes and set(listed) == expected
    assert all(a + n != b for (a, n), (b, _) in zip(found.rows.tolist(), found.rows[1:].tolist()))
    # Both: moving the rows is moving the pages.
    saved = target.before()
    moved(source, target, *pages)
    wanted = target.before()
    target.restore(saved)
    reads, writes = cache.descriptor_pair(source.cache(), target.cache(), *pages)
    assert len(reads) == len(writes) and (reads.rows[:, 1] == writes.rows[:, 1]).all()
    for (a, n), (b, _) in zip(reads.rows.tolist(), writes.rows.tolist()):
        ctypes.memmove(b, a, n)
    assert all((a == b).all() for a, b in zip(target.before(), wanted))
    joined = zip(reads.rows.tolist(), reads.rows[1:].tolist(), writes.rows.tolist(), writes.rows[1:].tolist())
    assert not any(a + n == b and c + n == d for (a, n), (b, _), (c, _), (d, _) in joined)


def test_few_descriptors():
    engine = Engine('kv page token head dim', ('layer',), page=4, pages=8)
    # Neighbouring pages are one range of each of two layers' keys and values.
    assert len(cache.descriptors(engine.cache(), [2, 3, 4, 6])) == 8
    assert len(cache.descriptors(engine.cache(), range(8))) == LAYERS
    block = 4 * HEADS * DIMS * 4
    other = Engine('kv page token head dim', ('layer',), page=8, pages=8)
    reads, writes = cache.descriptor_pair(engine.cache(), other.cache(), [2, 3, 4, 6], [5, 1])
    assert len(reads) == 12 and reads.nbytes == writes.nbytes == LAYERS * KVS * 4 * block
    none, nothing = cache.descriptor_pair(engine.cache(), other.cache(), [], [])
    assert len(none) == len(nothing) == 0 and len(cache.descriptors(engine.cache(), [])) == 0


def test_forms_of_transfer_libraries():
    engine = Engine('page token head dim', ('kv', 'layer'))
    found = cache.descriptors(engine.cache(), [1, 3])
    page = engine.page * HEADS * DIMS * 4
    first = engine.address(layer=0, kv=0, page=1, token=0, head=0, dim=0)
    assert found.rows[0].tolist() == [first, page] and len(found) == 2 * LAYERS * KVS
    nixl = found.nixl(3)
    assert nixl.shape == (8, 3) and nixl.dtype == np.uint64 and nixl[0].tolist() == [first, page, 3]
    addresses, lengths = found.mooncake()
    assert addresses == found.rows[:, 0].tolist() and lengths == [page] * 8 and type(addresses[0]) is int
    ucx = found.ucx()
    assert ucx.flags.c_contiguous and ucx.tobytes() == struct.pack('16Q', *itertools.chain(*found.rows.tolist()))
    # Of another process: by addresses.
    there = Format.from_bytes(engine.cache().format.to_bytes()).at([1000, 20000, 300000, 4000000])
    assert cache.descriptors(there, [2]).rows.tolist() == [[a + 2 * page, page] for a in (1000, 20000, 300000, 4000000)]
    with pytest.raises(ValueError, match='3 addresses for 4 tensors'):
        engine.cache().format.at([1, 2, 3])
    with pytest.raises(ValueError, match='64 bits'):
        engine.cache().format.at([1, 2, 3, 1 << 64])
    with pytest.raises(IndexError, match='page 6; the cache has 6'):
        cache.descriptors(there, [6])
    huge = Format.of_shapes('u1', 'page token head dim', (1 << 20, 16, 8, 2), (1 << 12, 256, 8, 2))
    with pytest.raises(ValueError, match='at most'):
        len(cache.descriptors(huge.at([0]), range(1 << 18)))
    assert cache.descriptors(huge.at([0]), range(1 << 18)).nixl(strided=True).shape == (256, 5)


def test_heads_of_several_ranks():
    """Tensor parallelism of 4 to 2: of each source's heads, a part of a target's."""
    whole = Engine('kv page token head dim', ('layer',), page=2, pages=9)
    targets = [Engine('page kv head token dim', ('layer',), page=4, pages=5) for _ in range(2)]
    tokens = {0: [1, 4, 0, 8], 1: [7, 2, 3, 5]}
    relayouts = []
    for rank, target in enumerate(targets):
        # Each target has half of the heads: here, of the arrays' heads, the first two.
        into = target.cache().select(head=slice(0, 2))
        parts = []
        for half in range(2):
            source = whole.cache().select(head=2 * rank + half)
            parts.append((source, into.select(head=half), np.array(tokens[rank]), np.array([3, 1])))
        relayouts.append(cache.Relayout(parts))
    for relayout in relayouts:
        relayout.run()
    for rank, target in enumerate(targets):
        for position, head in itertools.product(range(8), range(2)):
            for layer, kv, dim in itertools.product(range(LAYERS), range(KVS), range(DIMS)):
                a, at = whole.locate(
                    layer=layer, kv=kv, dim=dim, head=2 * rank + head,
                    page=tokens[rank][position // 2], token=position % 2,
                )  # fmt: skip
                page, token = [3, 1][position // 4], position % 4
                b, there = target.locate(layer=layer, kv=kv, dim=dim, head=head, page=page, token=token)
                assert a[at] == b[there]


def test_tables_are_read_when_data_moves():
    source, target = Engine('page token head dim', ('layer', 'kv')), Engine('head dim page token', ('kv', 'layer'))
    here, there = np.array([1, 2, 3]), np.array([4, 0, 2], 'i4')
    relayout = cache.Relayout([(source.cache(), target.cache(), here, there)])
    for pages in ([5, 0, 1], [2, 2, 2]):
        here[:] = pages
        there[:] = there[::-1].copy()
        saved = target.before()
        moved(source, target, here, there)
        expected = target.before()
        target.restore(saved)
        assert relayout.run() == relayout.start().wait()
        assert all((a == b).all() for a, b in zip(target.before(), expected))
    here[1] = 6
    with pytest.raises(IndexError, match='source_pages has page 6; the cache has 6'):
        relayout.run()
    here[1] = 5
    there[1] = -1  # is left out
    saved = target.before()
    moved(source, target, here[::2], there[::2])
    expected = target.before()
    target.restore(saved)
    assert relayout.run() == relayout.start().wait()
    assert all((a == b).all() for a, b in zip(target.before(), expected))


def test_what_relayout_refuses():
    a = Engine('page token head dim', ('layer', 'kv'), page=4)
    b = Engine('page token head dim', ('layer', 'kv'), page=3)
    with pytest.raises(ValueError, match='2 pages of 4 tokens for 2 pages of 3'):
        cache.relayout(a.cache(), b.cache(), [0, 1], [0, 1])
    with pytest.raises(ValueError, match='the source has 2 of layer, the target 1'):
        cache.relayout(a.cache(), a.cache().select(layer=0), [0], [1])
    with pytest.raises(ValueError, match='the source has 4 of head, the target 3'):
        cache.relayout(a.cache(), a.cache().select(head=slice(1, 4)), [0], [1])
    for call, sentence in (
        (lambda: cache.Relayout((a.cache(), b.cache(), [0], [1])), 'parts is a list of tuples'),
        (lambda: cache.Relayout([(a.cache(), b.cache(), [0])]), 'parts is a list of tuples'),
        (lambda: cache.relayout([np.zeros(3)], b.cache(), [0], [1]), 'the source is of class list; it must be a Cache'),
        (lambda: cache.relayout(a.cache(), np.zeros(3), [0], [1]), 'the target is of class ndarray; it must be a Cache'),
    ):
        with pytest.raises(TypeError, match=sentence):
            call()
    with pytest.raises(ValueError, match='dimensions'):
        cache.relayout(a.cache(), a.cache(), np.zeros((2, 2), int), [1] * 4)
    with pytest.raises((ValueError, TypeError)):
        cache.relayout(a.cache(), a.cache(), np.zeros(4)[::2], [1, 2])
    with pytest.raises(ValueError, match='1 arrays for 4 tensors'):
        Cache(a.cache().format, [np.zeros(3)])
    with pytest.raises(ValueError, match='touches'):  # memory that is too short
        cache.relayout(Cache(a.cache().format, [np.zeros(3)] * 4), b.cache(), [0, 1, 2], [0, 1, 2, 3])
    assert cache.relayout(a.cache(), b.cache(), [], []) == 0
    for array in b.arrays.values():
        array.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        cache.relayout(a.cache(), b.cache(), [0, 1, 2], [0, 1, 2, 3])


def test_formats_of_engines():
    """Shapes of engines that there are; sizes and pages come out."""
    def sizes(format):
        return tuple(format.sizes.values())

    flash = Format.of_shapes('bfloat16', 'kv page token head dim', [(2, 100, 16, 8, 128)] * 32)
    assert sizes(flash) == (32, 2, 100, 16, 8, 128) and flash.page_bytes == 32 * 2 * 16 * 8 * 128 * 2
    shapes = [[(1600, 8, 128)] * 32] * 2
    slots = Format.of_shapes('bfloat16', '(page token) head dim', shapes, lists=('kv', 'layer'), token=16)
    assert sizes(slots) == sizes(flash) and slots.tensors[32].start('kv') == 1
    latent = Format.of_shapes('bfloat16', 'page token dim', [(100, 64, 576)] * 3)
    shapes = [[(100, 64, 512), (100, 64, 64)]] * 3
    apart = Format.of_shapes('bfloat16', 'page token dim', shapes, lists=('layer', 'dim'))
    assert sizes(latent) == sizes(apart) == (3, 1, 100, 64, 1, 576)
    assert [t.start('dim') for t in apart.tensors] == [0, 512] * 3
    split = Format.of_shapes('float16', 'page head dim token dim', [(100, 8, 16, 16, 8)])
    assert sizes(split) == (1, 1, 100, 16, 8, 128)
    one = Format.of_shapes('u1', 'page layer kv head token dim', (9, 3, 2, 4, 16, 128))
    assert sizes(one) == (3, 2, 9, 16, 4, 128) and one.tensors[0].order() == 'page layer kv head token dim'
    assert 'order page layer' in repr(one) and one.id[:12] in repr(one)


def test_what_formats_refuse():
    def refused(sentence, *arguments, **more):
        with pytest.raises(ValueError, match=sentence):
            Format.of_shapes('float32', *arguments, **more)

    refused('none of layer', 'page blocks', (3, 4))
    refused('must have page once', 'token head', (3, 4))
    refused('must have page once', 'page page', (3, 4))
    refused('not closed', '(page token', (3, 4), token=2)
    refused('needs token=', '(page token)', (12,))
    refused('does not have token=5', '(page token)', (12,), token=5)
    refused('2 dimensions', 'page token', (3, 4, 5))
    refused('none of', 'page token', (3, 4), tokens=4)
    refused('there are no tensors', 'page token', [], lists=('layer',))
    refused('there is no list along layer', 'page token', [3, 4], lists=('kv', 'layer'))
    refused('not .page', 'page token', [(3, 4)], lists=('page',))
    refused('name an axis twice', 'page token', [[(3, 4)]], lists=('kv', 'kv'))
    refused('there must be one', 'page token', (0, 4))
    refused('overlap', 'page token', (3, 4), (8, 4))
    refused('stride of 0', 'page token', (3, 4), (16, 0))
    refused('negative|stride of', 'page token', (3, 4), (-16, 4))
    refused('different lengths', 'page token', [[(3, 4), (3, 5)]], lists=('layer', 'kv'))
    refused('too far|too large', 'page token', (1 << 47, 4))
    refused('a gap at head|different parts', 'page token head', [[[(3, 4, 1)], [(3, 4, 2)]]], lists=('layer', 'kv', 'head'))
    with pytest.raises(ValueError, match='different elements'):
        Format.of([np.zeros((2, 3), 'f4'), np.zeros((2, 3), 'f2')], 'page token')
    with pytest.raises(ValueError, match='elements are'):
        Format.of(np.zeros((2, 3), 'c8'), 'page token')
    with pytest.raises(ValueError):
        Format.of(np.zeros((2, 3), 'f4')[::-1], 'page token')
    format = Format.of_shapes('float32', 'page head dim token dim', (3, 8, 4, 16, 4))
    for axes, sentence in (
        ({'page': 1}, 'not of'), ({'token': 1}, 'not of'), ({'head': slice(0, 8, 2)}, 'no part'),
        ({'head': 8}, 'no part'),
        ({'head': slice(3, 3)}, 'no part'), ({'dim': slice(0, 6)}, 'within 4'),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            format.select(**axes)


def test_parts_of_formats():
    array = np.arange(2 * 3 * 4 * 5 * 8, dtype='f4').reshape(2, 3, 4, 5, 8)  # kv page token head dim
    whole = Cache.of(array, 'kv page token head dim')
    part = whole.select(kv=1, head=slice(1, 4)).select(head=slice(1, 3), dim=slice(2, 6))
    assert part.format.sizes == {'layer': 1, 'kv': 1, 'page': 3, 'token': 4, 'head': 2, 'dim': 4}
    out = np.zeros((3, 4, 2, 4), 'f4')
    cache.relayout(part, Cache.of(out, 'page token head dim'), [2, 0, 1], [0, 1, 2])
    assert (out == array[1][[2, 0, 1]][:, :, 2:4, 2:6]).all()
    assert part.placed.addresses == (array.ctypes.data,) and whole.select(head=-1).format == whole.select(head=4).format
    split = Cache.of(np.arange(3 * 2 * 4 * 4 * 4, dtype='f4').reshape(3, 2, 4, 4, 4), 'page head dim token dim')
    out = np.zeros((3, 4, 2, 2), 'f4')
    cache.relayout(split.select(dim=slice(9, 11)), Cache.of(out, 'page token head dim'), [0, 1, 2], [0, 1, 2])
    assert (out == split.arrays[0][:, :, 2, :, 1:3].transpose(0, 2, 1, 3)).all()


NHD = Format.of_shapes('bfloat16', 'kv page token head dim', [(2, 100, 16, 8, 128)] * 2, name='paged')
HND = Format.of_shapes('bfloat16', 'kv page head token dim', [(2, 100, 8, 16, 128)] * 2, name='paged')


def test_content_ids():
    # Recorded: ids are the same in all processes, on all machines, in all later versions.
    assert NHD.id == '3f6b0d4d7d705c56ade3db04bb1479d141bdde08a5368bb8eacdb84593ef624d'
    assert NHD.page_id == '9dc0b2fdc91a10d45ccd71a9729b816fb6bdd76ef10639f69acb463baf366525'
    assert HND.id != NHD.id and HND.page_id != NHD.page_id
    longer = Format.of_shapes('bfloat16', 'kv page token head dim', [(2, 300, 16, 8, 128)] * 2)
    assert longer.id != NHD.id and longer.page_id == NHD.page_id
    # How the engine writes the same layout down does not matter.
    flat = Format.of_shapes('bfloat16', 'kv (page token) (head dim)', [(2, 1600, 1024)] * 2, token=16, dim=128)
    assert flat.id == NHD.id and NHD.difference(flat, pages=True) is None
    parts = Format.of_shapes('bfloat16', 'kv page token head dim dim', [(2, 100, 16, 8, 16, 8)] * 2)
    assert parts.id == NHD.id
    assert Format.of_shapes('float16', 'kv page token head dim', [(2, 100, 16, 8, 128)] * 2).id != NHD.id


def test_the_first_axis_that_differs():
    def found(format, **more):
        difference = NHD.difference(format, **more)
        assert (difference is None) == ((NHD.id if more else NHD.page_id) == (format.id if more else format.page_id))
        return difference and difference.axis

    def made(axes='kv page token head dim', shape=(2, 100, 16, 8, 128), element='bfloat16', layers=2, strides=None):
        return Format.of_shapes(element, axes, [shape] * layers, strides)

    assert found(made()) is None and found(made(), pages=True) is None
    assert found(made(element='float16')) == 'element'
    assert found(made(layers=3)) == 'layer'
    assert found(made('page token head dim', (100, 16, 8, 128))) == 'kv'
    assert found(made('page kv token head dim', (100, 2, 16, 8, 128))) == 'kv'
    assert found(made(shape=(2, 90, 16, 8, 128))) is None
    assert found(made(shape=(2, 90, 16, 8, 128)), pages=True) == 'page'
    assert found(made(shape=(2, 100, 32, 8, 128))) == 'token'
    assert found(HND) == 'token'
    assert found(made(shape=(2, 100, 16, 4, 128))) == 'head'
    assert found(made(shape=(2, 100, 16, 8, 64))) == 'dim'
    padded = made(strides=(100 * 40000, 40000, 2048, 256, 2))
    assert found(padded) == 'page'
    one = Format.of_shapes('bfloat16', 'layer kv page token head dim', (2, 2, 100, 16, 8, 128))
    assert found(one) == 'tensors'
    assert str(NHD.difference(HND)) == (
        'token: 16 at a stride of 2048 bytes (order kv page token head dim) here, '
        '16 at a stride of 256 bytes (order kv page head token dim) there'
    )
    NHD.require_same(made())
    with pytest.raises(ValueError, match="both sides say 'paged' and mean different layouts: token"):
        NHD.require_same(HND)
    with pytest.raises(ValueError, match="'paged' and '' differ: dim"):
        NHD.require_same(made(shape=(2, 100, 16, 8, 64)))


@given(st.data())
def test_bytes(data):
    format = data.draw(engines()).cache(name=data.draw(st.text(max_size=20))).format
    written = format.to_bytes()
    read = Format.from_bytes(bytearray(written))
    assert read.id == format.id and read.page_id == format.page_id and read.name == format.name
    assert read.to_bytes() == written and format.difference(read, pages=True) is None and read.sizes == format.sizes
    # Damaged anywhere, cut off, longer.
    at = data.draw(st.integers(0, len(written) - 1))
    damaged = bytearray(written)
    damaged[at] ^= data.draw(st.integers(1, 255))
    for bad in (damaged, written[:at], written + b'\0'):
        with pytest.raises((ucd.Corrupt, ucd.NotSupported)):
            Format.from_bytes(bad)


def hostile(tensors, element=b'FLOAT', count=None, version=1, name=b'', body_version=1):
    """Bytes by the definition of the format, with a right digest. tensors: (address, offset, starts, dims)."""
    body = struct.pack('<H', body_version) + element + b'\0'
    for address, offset, starts, dims in tensors:
        body += struct.pack('<HHQ6Q', address, len(dims), offset, *starts)
        body += b''.join(struct.pack('<BQQ', *dim) for dim in dims)
    count = len(tensors) if count is None else count
    head = struct.pack('<8sHHHH', b'UCDcache', version, len(name), len(element), count)
    return head + name + body + hashlib.sha256(head + name + body).digest()


def test_bytes_of_anyone():
    none = (0,) * 6
    page, token = (2, 10, 64), (3, 4, 16)
    assert Format.from_bytes(hostile([(0, 0, none, [page, token])])).sizes['page'] == 10
    most = (1 << 64) - 1
    for bad in (
        b'', b'UCDcache', bytes(16), bytes(100),
        hostile([]), hostile([], count=4096), hostile([], count=65535),
        hostile([(0, 0, none, [page, token])], element=b'NAME'),
        hostile([(0, 0, none, [page, token])], element=b'\xff'),
        hostile([(0, 0, none, [page, token])], element=b'FLOAT_INT'),
        hostile([(0, 0, none, [page, token])], name=b'\xff'), hostile([(0, 0, none, [page, token])], name=b'n' * 256),
        hostile([(0, 0, none, [page, token])], body_version=2),
        hostile([(0, 0, none, [token, page])]),  # not in order
        hostile([(0, 0, none, [(2, 1, 0), token])]), hostile([(0, 0, none, [page, (3, 1, 16)])]),  # not left out
        hostile([(0, 0, none, [page, (3, 2, 16), (3, 2, 8)])]),  # not joined
        hostile([(0, 0, none, [page, page])]), hostile([(0, 0, none, [(9, 2, 8), page])]),
        hostile([(0, 0, none, [(2, most, 64)])]), hostile([(0, 0, none, [(2, 10, most)])]),
        hostile([(0, most, none, [page])]), hostile([(0, 0, (most,) * 6, [page])]), hostile([(65535, 0, none, [page])]),
        hostile([(0, 0, none, [page, (3, 5, 0)])]), hostile([(0, 0, none, [page, (3, 5, 16)])]),  # overlaps
        hostile([(0, 0, none, [page]), (1, 0, none, [page])]), hostile([(0, 0, (1, 0, 0, 0, 0, 0), [page])]),
        hostile([(0, 0, (0, 0, 1, 0, 0, 0), [page])]),
        hostile([(0, 0, none, [page]), (1, 0, (1, 1, 0, 0, 0, 0), [page])]),
        hostile([(0, 0, none, [page, *[(4, 2, 1 << (10 + i)) for i in range(17)]])]),
    ):  # fmt: skip
        with pytest.raises(ucd.Corrupt):
            Format.from_bytes(bad)
    with pytest.raises(ucd.NotSupported, match='version 2'):
        Format.from_bytes(hostile([(0, 0, none, [page, token])], version=2))
    with pytest.raises(TypeError):
        Format.from_bytes('text')
    # Large numbers that are legal cost nothing before they meet a cache of one's own.
    huge = Format.from_bytes(hostile([(0, 0, none, [(0, 1 << 40, 64), (2, 16, 4)])]))
    own = Engine('page token head dim', ('layer', 'kv'))
    with pytest.raises(ValueError, match='of layer'):
        cache.descriptor_pair(huge.at([0]), own.cache(), [0], [0])
    with pytest.raises(ValueError, match='at most'):
        cache.descriptors(huge.at([0]), [0])


def test_on_a_device():
    """NHD of 16 to HND of 64 tokens a page, in a stream and in a graph whose tables change."""
    missing = libraries.Torch('cuda').missing()
    if missing:
        pytest.skip(missing)
    import torch

    rng = np.random.default_rng(5)
    host = [rng.integers(-99, 99, (2, 20, 16, 4, 32)).astype('f4') for _ in range(3)]
    source = [torch.from_numpy(h).cuda() for h in host]
    for dtype, convert in ((torch.float32, False), (torch.bfloat16, True)):
        target = torch.zeros((7, 3, 2, 4, 64, 32), dtype=dtype, device='cuda')
        into = Cache.of(target, 'page layer kv head token dim')
        here = torch.zeros(8, dtype=torch.int32, device='cuda')
        there = torch.zeros(2, dtype=torch.int64, device='cuda')
        relayout = cache.Relayout(
            [(Cache.of(source, 'kv page token head dim'), into, here, there)], convert=convert
        )
        here.copy_(torch.arange(8))
        there.copy_(torch.arange(2))
        relayout.run()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            relayout.run()
        for _ in range(3):
            pages, places = rng.permutation(20)[:8], rng.permutation(7)[:2]
            here.copy_(torch.from_numpy(pages))
            there.copy_(torch.from_numpy(places))
            target.zero_()
            graph.replay()
            taken = np.stack([h[:, pages] for h in host]).reshape(3, 2, 2, 64, 4, 32)
            expected = np.zeros((7, 3, 2, 4, 64, 32), 'f4')
            expected[places] = taken.transpose(2, 0, 1, 4, 3, 5)
            assert (target.float().cpu().numpy() == expected).all()
