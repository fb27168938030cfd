"""Exceptions of moves between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class RedistributionError(RuntimeError):
    """An engine lost messages of a redistribution, or a peer. The targets are unfinished."""

    def __init__(self, message: str, peers: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.peers = peers
        """The ranks that the messages were for or from. Empty where the engine does not tell them apart."""


class Naming:
    """Says of an error of an engine what it means, and which peers it is about."""

    def __init__(self, what: str, peers: Sequence[int]) -> None:
        self._what, self._peers = what, tuple(peers)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, Exception):
            raise RedistributionError(f'{self._what}: {error}', self._peers) from error
