"""Moves by the kernels of this package: elements at any strides and in pages, converted with scales if wanted."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import ucd
from ucd import interop
from ucd_models import _kernels

# The numbers that the kernels have for elements that they convert, and for those that stay as they are, by their bytes.
NUMBERS = {'FLOAT': 0, 'BFLOAT16': 1, 'FLOAT16': 2, 'FLOAT8_E4M3': 3, 'FLOAT8_E5M2': 4}
_COPIED = {1: 8, 2: 9, 4: 10, 8: 11}
SMALL = ('FLOAT8_E4M3', 'FLOAT8_E5M2')

_FOLDER = pathlib.Path(__file__).parent


class Digit(NamedTuple):
    """A dimension of a member."""

    size: int
    source: int
    """Stride in bytes."""
    target: int
    block: int = 1
    """So many indices in a row have one scale."""
    phase: int = 0
    """Where in a block, counted from any, index 0 is."""
    scale: int = 0
    """Bytes from a block's scale to the next one's."""


class Member(NamedTuple):
    """A part of a move. Addresses are those of index 0 everywhere."""

    source: int
    target: int
    digits: Sequence[Digit]
    scales: int = 0
    """Their address, or 0: `scale` is it."""
    scale: float = 1.0
    tokens: tuple[Any, ...] | None = None
    """As TokensText in kernels/moves.h."""


@functools.lru_cache(maxsize=256)
def _numbers(source: ucd.Type, target: ucd.Type) -> tuple[int, int]:
    """The kernels' numbers. Raises NotSupported for elements that the kernels do not convert."""
    for type in (source, target):
        if source != target and type.name not in NUMBERS:
            raise ucd.NotSupported(f'{type.name} is not converted here: {", ".join(NUMBERS)} are')
    if source.size not in _COPIED:
        raise ucd.NotSupported(f'elements of {source.size} bytes are not moved here')
    return (NUMBERS[source.name or ''], NUMBERS[target.name or '']) if source != target else (_COPIED[source.size],) * 2


class KernelMove:
    """A move that is prepared, of arrays that are all in one memory: on a device one launch, or one for each 65535 members.

    like  one of the arrays
    kept  what has the memory that the members have addresses of: arrays, scales and tables. The move reads and writes
          there until it is gone, and so keeps it.
    """

    def __init__(
        self, source: ucd.Type, target: ucd.Type, saturate: bool, members: Sequence[Member], like: Any, kept: Any
    ) -> None:
        self._like = like
        self._kept = kept
        self._moves = _kernels.Moves(*_numbers(source, target), saturate, list(map(tuple, members)))
        backend, _, number = ucd.memory(like).partition(':')
        self.on_device = backend != 'host'
        self._image: Any = None
        if self.on_device:
            self._library = _library(backend)  # raises for memory that is no device's, which has no number
            self._device = int(number)
            if not self._moves.few:
                image = self._moves.image()
                self._image = interop.new_bytes(like, len(image))
                ucd.pack_into(image, self._image)

    def run(self, stream: Any = None) -> None:
        """Moves what the arrays hold: on a device in the stream, or else in the library's current one; on the host at
        once."""
        if self.on_device:
            image = 0 if self._image is None else interop.address(self._image)
            self._moves.launch(self._library, self._device, interop.stream_of(self._like, stream), image)
        elif stream is not None:
            raise ValueError('stream is for arrays in device memory; no array is')
        else:
            self._moves.run()


@functools.cache
def _library(backend: str) -> str:
    found = _FOLDER / f'libucd_models_{backend}.so'
    if not found.exists():
        raise ucd.NotSupported(f'this package was built without kernels for {backend}: there is no {found}')
    return str(found)


def one_memory(arrays: Sequence[Any]) -> Any:
    """The first of the arrays, which are all on the host or on one device. Raises ValueError if they are not."""
    places = {ucd.memory(array) for array in arrays}
    if len(places) > 1:
        raise ValueError(f'the arrays are in {" and ".join(sorted(places))}; they must be in one memory')
    return arrays[0]
