"""Exceptions: one class for each status of libucd, with the library's sentence as message."""

from __future__ import annotations


class Error(Exception):
    """A failed call of libucd. str() of it names function, argument, value and rule."""

    status: int = 0
    """The number of the status in ucd.h."""


class InvalidArgument(Error, ValueError):
    """UCD_ERR__INVALID_ARG: an argument breaks a rule."""

    status = 1


class OutOfMemory(Error, MemoryError):
    """UCD_ERR__OUT_OF_MEM: an allocation of host or device memory failed."""

    status = 2


class NotSupported(Error, NotImplementedError):
    """UCD_ERR__NOT_SUPPORTED: legal, but this library, backend or machine cannot do it."""

    status = 3


class NotInitialized(Error, RuntimeError):
    """UCD_ERR__NOT_INITIALIZED: the library was finalised."""

    status = 4


class Overflow(Error, OverflowError):
    """UCD_ERR__OVERFLOW: a size, a bound or a displacement does not fit 64 bits."""

    status = 5


class Corrupt(Error, ValueError):
    """UCD_ERR__CORRUPT: bytes are not what they should be: a flattened type, a cache format, a checkpoint's file."""

    status = 6


class Truncated(Error, ValueError):
    """UCD_ERR__TRUNCATED: the output is too small."""

    status = 7


class DeviceError(Error, RuntimeError):
    """UCD_ERR__DEVICE: a GPU driver or runtime call failed."""

    status = 8


class InternalError(Error, RuntimeError):
    """UCD_ERR__INTERNAL: a defect in UCD."""

    status = 9


_BY_STATUS = {kind.status: kind for kind in Error.__subclasses__()}


def of_status(status: int) -> type[Error]:
    """The class of a status."""
    return _BY_STATUS.get(status, Error)
