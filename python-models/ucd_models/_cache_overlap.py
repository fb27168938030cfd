"""Pages that are read and written: where the source and the target of a move of pages are one memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ucd import interop
from ucd_models._cache_tensor import Tensor
from ucd_models._overlap import meeting


class Place(NamedTuple):
    """A tensor of a cache in memory."""

    address: int
    """Of its first element."""
    tensor: Tensor
    width: int
    """Bytes of an element."""
    part: int
    """The part of the move that it is of."""

    @property
    def end(self) -> int:
        return self.address + self.width + sum([(dim.size - 1) * dim.stride for dim in self.tensor.dims])

    def inside(self) -> list[tuple[int, int]]:
        """Sizes and strides of a page."""
        return [(dim.size, dim.stride) for dim in self.tensor.dims if dim.axis != 'page']


class Clash(NamedTuple):
    """Page p + apart of the source's list and page p of the target's have bytes in common, whatever p is."""

    source: int
    """The part of the move."""
    target: int
    apart: int


# A page has bytes in common with so many others at most, else the whole is refused.
_MOST = 8


def clashes(sources: Sequence[Place], targets: Sequence[Place]) -> set[Clash]:
    """Which pages have bytes in common. Raises ValueError where no list of pages can tell: where both sides are one
    memory, but its pages are not the same."""
    found: set[Clash] = set()
    places = [(p.address, p.end, (p, is_target)) for is_target, some in ((False, sources), (True, targets)) for p in some]
    for (a, a_is_target), (b, b_is_target) in meeting(places):
        if a_is_target != b_is_target:
            source, target = (b, a) if a_is_target else (a, b)
            found |= {Clash(source.part, target.part, apart) for apart in _shared(source, target)}
    return found


def _shared(source: Place, target: Place) -> list[int]:
    """How far apart pages of the two are that have bytes in common."""
    stride = source.tensor.page_stride
    terms = [(0, n - 1, step) for n, step in source.inside()] + [(1 - n, 0, step) for n, step in target.inside()]
    apart = target.address - source.address
    first, last = apart + 1 - source.width, apart + target.width - 1
    most = source.tensor.size('page') - 1, target.tensor.size('page') - 1
    if stride == target.tensor.page_stride or 0 in most:
        stride = stride or target.tensor.page_stride

        def meet(low: int, high: int) -> bool:
            return interop.reaches([*terms, (low, high, stride)], first, last) is not False

        found = []
        for distance in _true_of(meet, -most[1], most[0]):
            found.append(distance)
            if len(found) > _MOST:
                break
        else:
            return found
    elif interop.reaches([*terms, (0, most[0], stride), (-most[1], 0, target.tensor.page_stride)], first, last) is False:
        return []
    raise ValueError('source and target are one memory, in which pages of the one are not pages of the other')


def _true_of(is_met: Callable[[int, int], bool], low: int, high: int) -> Iterator[int]:
    """The numbers of a range for which something is met: halves in which it is nowhere are left out."""
    if not is_met(low, high):
        return
    if low == high:
        yield low
        return
    middle = (low + high) // 2
    yield from _true_of(is_met, low, middle)
    yield from _true_of(is_met, middle + 1, high)


def are_apart(clash: Clash, source_pages: Any, target_pages: Any, in_place: bool) -> bool:
    """Whether no page is read that is written. in_place: a page that is moved onto itself stays as it is."""
    source, target = [pages.tolist() if hasattr(pages, 'tolist') else list(pages) for pages in (source_pages, target_pages)]
    read = {page for page in source if page >= 0}
    return not any([
        page >= 0 and page + clash.apart in read and not (in_place and clash.apart == 0 and source[k] == page)
        for k, page in enumerate(target)
    ])
