"""What the library and the machine are."""

from __future__ import annotations

from typing import NamedTuple

from ucd import _core


class Backend(NamedTuple):
    """A backend of libucd."""

    name: str
    """'seq' (the CPU), 'cuda', 'hip' or 'ze'."""
    available: bool
    devices: int
    version: str
    """Of the driver or runtime; '' if unknown."""
    reason: str
    """Why it is not available; '' if it is."""


def backends() -> list[Backend]:
    """The backends of libucd, available or not. May initialise GPU drivers."""
    return [Backend(*described) for described in _core.backends()]
