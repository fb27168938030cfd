"""Device memory of other processes of this machine."""

from __future__ import annotations

import contextlib
from typing import Any

from ucd import _core
from ucd._errors import Error


def exported(array: Any) -> bytes | None:
    """A handle of the memory from the first element of an array in device memory to its last. None if the driver does
    not share this memory by a handle: pools, memory that is mapped in pieces, managed memory."""
    return _core.ipc_export(array)


class PeerMemory:
    """The bytes of an exported array, which a device of this process accesses like its own memory, until the object is
    collected. Its owner must not free the memory before. Raises ucd.Error if the driver does not open it."""

    def __init__(self, handle: bytes, device: str) -> None:
        """device: as _core.memory names it."""
        self._address: int | None = None
        address, nbytes = _core.ipc_open(handle, device)
        self._address = address
        # Not that of CUDA: the work belongs into the stream of this process's own arrays.
        self.__array_interface__ = {'version': 3, 'shape': (nbytes,), 'typestr': '|u1', 'data': (address, False)}

    def __del__(self) -> None:
        if self._address is not None:
            with contextlib.suppress(Error):  # at the end of the program, libucd has closed it
                _core.ipc_close(self._address)
