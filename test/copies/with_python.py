"""The package ucd, and a library with its own copy of libucd or the same, in one interpreter.

usage: with_python.py LIBRARY same|different
"""

import ctypes
import sys
import threading

import numpy
import ucd


class Caller(ctypes.Structure):
    """caller_t of caller.h."""

    _fields_ = [
        ('start', ctypes.CFUNCTYPE(None)),
        ('use', ctypes.CFUNCTYPE(None)),
        ('end', ctypes.CFUNCTYPE(None)),
        ('copy', ctypes.CFUNCTYPE(ctypes.c_void_p)),
        ('is_initialised', ctypes.CFUNCTYPE(ctypes.c_int)),
    ]


def use_package():
    field = numpy.arange(60).reshape(6, 10)
    for _ in range(50):
        packed = ucd.pack(field[:, 3])
        assert bytes(packed) == field[:, 3].tobytes()


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.library_caller.restype = ctypes.POINTER(Caller)
    caller = library.library_caller().contents
    use_package()
    assert bool(caller.is_initialised()) == (sys.argv[2] == 'same')
    caller.start()
    threads = [threading.Thread(target=use) for use in (use_package, caller.use) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    caller.end()
    use_package()
    print('done')


main()
