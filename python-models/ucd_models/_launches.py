"""Moves that are prepared together and made by one launch."""

from __future__ import annotations

from typing import Any

import ucd


class Moves:
    """Moves of one launch: those that convert and those that do not are one each. saturate: what conversions do with
    numbers that are too large. hints: of those that do not convert, and of those that do."""

    def __init__(self, saturate: bool = False, hints: tuple[ucd.Hints | None, ucd.Hints | None] = (None, None)) -> None:
        self._op = 'convert_sat' if saturate else 'convert'
        self._hints = hints
        self._members: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] = ([], [])
        self._batches: list[ucd.Batch] = []

    def add(self, converts: bool, *member: Any) -> None:
        self._members[converts].append(member)

    def prepare(self) -> None:
        for members, op, hints in zip(self._members, (None, self._op), self._hints):
            if members:
                self._batches.append(ucd.Batch(members, op=op, hints=hints))
        self._members = ([], [])

    def run(self, in_stream: bool, non_blocking: bool = False) -> None:
        """non_blocking: whether what looks like host memory is the stream's, too, as memory of other processes is."""
        for batch in self._batches:
            if in_stream:
                batch.run(non_blocking=non_blocking)
            else:
                batch.start().wait()
