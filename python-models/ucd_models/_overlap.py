"""Whether arrays of a move have bytes in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ucd import interop

What = TypeVar('What')


def bounds(address: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """The first byte of an array that has elements, and that behind the last one."""
    low, high = address, address + itemsize
    for n, stride in zip(shape, strides):
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    return low, high


class Place(NamedTuple):
    """Where the elements of an array lie."""

    what: str
    """The array, for messages."""
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def bounds(self) -> tuple[int, int]:
        return bounds(self.address, self.shape, self.strides, self.itemsize)

    def folds(self) -> bool:
        """Whether elements of two indices have a byte in common, as in a view with a stride of 0."""
        dims = [(n, stride) for n, stride in zip(self.shape, self.strides) if n > 1]
        for k, (n, stride) in enumerate(dims):
            terms = [(1, n - 1, stride), *[(1 - m, m - 1, other) for m, other in dims[k + 1 :]]]
            if interop.reaches(terms, 1 - self.itemsize, self.itemsize - 1):
                return 0 not in self.shape
        return False

    def meets(self, other: Place) -> bool:
        """Whether they have a byte in common: views of one array need not, though one lies between parts of the other."""
        apart = other.address - self.address
        terms = [(0, n - 1, stride) for n, stride in zip(self.shape, self.strides)]
        terms += [(1 - n, 0, stride) for n, stride in zip(other.shape, other.strides)]
        return interop.reaches(terms, apart + 1 - self.itemsize, apart + other.itemsize - 1) is not False


def meeting(ranges: Iterable[tuple[int, int, What]]) -> Iterator[tuple[What, What]]:
    """What pairs of ranges stand for that have a byte in common, from a first byte to behind a last one."""
    open_ranges: list[tuple[int, What]] = []
    for low, high, what in sorted(ranges, key=lambda entry: entry[0]):
        open_ranges = [entry for entry in open_ranges if entry[0] > low]
        for _, other in open_ranges:
            yield other, what
        open_ranges.append((high, what))


def require_apart(written: Iterable[Place], read: Iterable[Place], in_their_place: Mapping[str, Place] | None = None) -> None:
    """Raises ValueError if one of the arrays that are written has a byte in common with another one of all.

    in_their_place: the places of arrays that are meant instead of those of the same name."""
    written, read = [[(in_their_place or {}).get(place.what, place) for place in some] for some in (written, read)]
    for place in written:
        if place.folds():
            raise ValueError(f'{place.what} is written, and has several indices for one place')
    places = [(place, is_written) for is_written, some in ((True, written), (False, read)) for place in some if 0 not in place.shape]
    for (a, a_is_written), (b, b_is_written) in meeting([(*place.bounds, (place, is_w)) for place, is_w in places]):
        if (a_is_written or b_is_written) and a.meets(b):
            first, second = (b, a) if b_is_written else (a, b)
            raise ValueError(f'{first.what} is written, and has bytes in common with {second.what}')
