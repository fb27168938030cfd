"""Requests in asyncio."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ucd import _core
from ucd._errors import Error

# How often the event loop comes round before a wait gives it time for other work.
_EAGER_ROUNDS = 50
_PAUSE = 50e-6


def wait_async(request: _core.Request) -> Generator[Any, None, int]:
    """Request.__await__: lets other tasks run until the work is complete."""
    import asyncio  # here, since it takes longer to import than all of ucd

    rounds = 0
    while not request.done():
        rounds += 1
        yield from asyncio.sleep(0 if rounds < _EAGER_ROUNDS else _PAUSE).__await__()
    return request.wait()


def waitall(requests: Iterable[_core.Request]) -> list[int]:
    """Waits for all requests, and returns the bytes that each moved. If any failed, all are waited
    for, and the first failure is raised."""
    moved: list[int] = []
    failure: Exception | None = None
    for request in requests:
        try:
            moved.append(request.wait())
        except Error as error:
            failure = failure or error
    if failure:
        raise failure
    return moved
