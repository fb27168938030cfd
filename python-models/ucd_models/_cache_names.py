"""From the names of dimensions, as users write them, to the dimensions of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ucd_models._cache_tensor import AXES, Dim


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
        raise ValueError(f'lists along {" and ".join(depth)} are needed; there is no list along {depth[len(index)]}')
    for i, inner in enumerate(nested):
        yield from leaves(inner, depth, (*index, i))


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
        inner: list[Dim] = []
        for axis in reversed(axes[1:]):
            if axis not in sizes:
                raise ValueError(f'({" ".join(axes)}) needs {axis}=')
            inner.append(Dim(axis, sizes[axis], stride))
            stride *= sizes[axis]
            if sizes[axis] < 1 or size % sizes[axis]:
                raise ValueError(f'a dimension of {size} does not have {axis}={sizes[axis]}')
            size //= sizes[axis]
        dims += [Dim(axes[0], size, stride), *reversed(inner)]
    return tuple(dims)
