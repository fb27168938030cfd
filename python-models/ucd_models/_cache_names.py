"""From the names of dimensions, as users write them, to the dimensions of tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ucd_models._cache_tensor import AXES, Dim

# What the letters of vLLM's names and the words of LMCache's mean. C and CS are keys and values side by side.
_LETTERS = {'L': 'layer', 'B': 'page', 'H': 'head', 'N': 'token', 'C': '(kv dim)'}
_WORDS = {
    'NL': 'layer', 'TWO': 'kv', 'NB': 'page', 'BS': 'token', 'NBBS': '(page token)', 'NH': 'head', 'ONE': 'head', 'HS': 'dim',
    'CS': '(kv dim)',
}  # fmt: skip
_OF_VLLM = ('LBNHC', 'LBHNC', 'LHBNC', 'BLHNC', 'BLNHC', 'BHLNC')
_OF_LMCACHE = (
    'NB_NL_TWO_BS_NH_HS', 'NL_X_TWO_NB_BS_NH_HS', 'NL_X_NB_TWO_BS_NH_HS', 'NL_X_NB_BS_HS', 'TWO_X_NL_X_NBBS_NH_HS',
    'NL_X_NBBS_ONE_HS', 'NL_X_TWO_NB_NH_BS_HS', 'NL_X_NB_TWO_NH_BS_HS', 'NB_NL_TWO_NH_BS_HS', 'TWO_X_NL_X_NB_BS_NH_HS',
    'NL_X_NB_NH_BS_TWO_HS', 'NL_X_NB_BS_NH_TWO_HS', 'NL_X_NB_NH_BS_CS', 'NL_X_NB_BS_NH_CS', 'NB_NL_NH_BS_CS', 'NB_NL_BS_NH_CS',
    'NL_X_TWO_NB_NH_ONE_BS_HS', 'NL_X_TWO_X_NB_BS_NH_HS', 'NL_X_TWO_X_NB_BS_HS',
)  # fmt: skip
VALUES_THEN_SCALES = 'NL_X_NB_BSV_BSS'


def _by_words(name: str) -> tuple[tuple[str, ...], str]:
    *lists, axes = [[_WORDS[word] for word in part.split('_')] for part in name.split('_X_')]
    return tuple(itertools.chain.from_iterable(lists)), ' '.join(axes)


NAMES: dict[str, tuple[tuple[str, ...], str]] = {
    **{name: ((), ' '.join([_LETTERS[letter] for letter in name])) for name in _OF_VLLM},
    **{name: _by_words(name) for name in _OF_LMCACHE},
    VALUES_THEN_SCALES: (('layer', 'dim'), 'page token dim'),
    'sglang:mha': _by_words('TWO_X_NL_X_NBBS_NH_HS'),
    'sglang:mla': _by_words('NL_X_NBBS_ONE_HS'),
    'sglang:layer_first': ((), 'kv layer (page token) head dim'),
    'sglang:page_first': ((), 'kv (page token) layer head dim'),
    'sglang:page_first_direct': ((), 'kv page layer token head dim'),
    'sglang:page_head': ((), 'kv page head token layer dim'),
}
"""What engines call their caches: lists and axes, as Cache.of takes them."""


def named(
    axes: str, lists: Sequence[str] | None, is_list: bool, sizes: dict[str, int]
) -> tuple[str, Sequence[str] | None, dict[str, int]]:
    """Axes, lists and sizes, if axes is one of NAMES, else as they are given. Of a name of one tensor, lists have the layers
    apart."""
    if axes in ('NHD', 'HND'):
        raise ValueError(f'{axes!r} does not say where keys and values lie; say LBNHC or NL_X_TWO_NB_BS_NH_HS, for example')
    if axes not in NAMES:
        return axes, lists, sizes
    if lists is not None:
        raise ValueError(f'{axes!r} says which lists there are')
    depth, found = NAMES[axes]
    if axes in _OF_VLLM and is_list:
        depth, found = ('layer',), ' '.join([word for word in found.split() if word != 'layer'])
    if 'kv' in found.split():
        return found, depth, {**sizes, 'kv': 2}
    return found, depth, {'kv': 2, **sizes} if '(kv dim)' in found else sizes


def depth_of(lists: Sequence[str] | None, is_list: bool) -> tuple[str, ...]:
    depth = (('layer',) if is_list else ()) if lists is None else tuple(lists)
    for axis in depth:
        if axis not in AXES or axis in ('page', 'token'):
            raise ValueError(f'lists go along layer, kv, head or dim, not {axis!r}')
    if len(set(depth)) != len(depth):
        raise ValueError(f'lists name an axis twice: {depth}')
    return depth


def leaves(nested: Any, depth: tuple[str, ...], index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if len(index) == len(depth):
        yield index, nested
        return
    if not isinstance(nested, (list, tuple)):
        missing = f'there is no list along {depth[len(index)]}, but a {type(nested).__name__}'
        raise ValueError(f'lists along {" and ".join(depth)} are needed; {missing}')
    for i, inner in enumerate(nested):
        yield from leaves(inner, depth, (*index, i))


def flattened(nested: Any) -> Iterator[Any]:
    """The arrays in lists of lists, in order."""
    if isinstance(nested, (list, tuple)):
        for inner in nested:
            yield from flattened(inner)
    else:
        yield nested


def names_of(axes: str) -> list[tuple[str, ...]]:
    """For each dimension of an array, the axes that it has."""
    found: list[tuple[str, ...]] = []
    inside: list[str] | None = None
    for word in axes.replace('(', ' ( ').replace(')', ' ) ').split():
        if word == '(' and inside is None:
            inside = []
        elif word == ')' and inside:
            found.append(tuple(inside))
            inside = None
        elif word not in AXES:
            if word == axes:
                raise ValueError(f'{axes!r} is none of cache.NAMES, and none of {", ".join(AXES)}')
            raise ValueError(f'{word!r} in {axes!r} is none of {", ".join(AXES)}')
        elif inside is None:
            found.append((word,))
        else:
            inside.append(word)
    if inside is not None:
        raise ValueError(f'{axes!r} has a parenthesis that is not closed')
    if sum(axis == 'page' for names in found for axis in names) != 1:
        raise ValueError(f'{axes!r} must have page once')
    return found


def dims_of(
    names: list[tuple[str, ...]], shape: Sequence[int], strides: Sequence[int], sizes: dict[str, int]
) -> tuple[Dim, ...]:
    """The dimensions of a tensor, of which `sizes` has those that several axes in one dimension leave open."""
    if len(shape) != len(names):
        raise ValueError(f'a tensor of shape {tuple(shape)} for {len(names)} dimensions')
    dims: list[Dim] = []
    for axes, size, stride in zip(names, shape, strides):
        known = {axis: sizes[axis] for axis in axes[1:] if axis in sizes}
        if len(known) == len(axes) - 2 and axes[0] in sizes:  # the inner one follows from the others
            known = {axis: sizes[axis] for axis in axes if axis in sizes}
            missing = next(axis for axis in axes if axis not in sizes)
            known[missing] = size // max(math.prod(known.values()), 1)
        inner: list[Dim] = []
        for axis in reversed(axes[1:]):
            if axis not in known:
                raise ValueError(f'({" ".join(axes)}) needs {axis}=')
            inner.append(Dim(axis, known[axis], stride))
            stride *= known[axis]
            if known[axis] < 1 or size % known[axis]:
                raise ValueError(f'a dimension of {size} does not have {axis}={known[axis]}')
            size //= known[axis]
        if known.get(axes[0], size) != size:
            raise ValueError(f'a dimension of ({" ".join(axes)}) does not have {axes[0]}={known[axes[0]]}')
        dims += [Dim(axes[0], size, stride), *reversed(inner)]
    return tuple(dims)
