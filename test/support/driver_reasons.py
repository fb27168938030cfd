"""What tests of a GPU backend's reasons have in common: libucd in a process of its own, with a stand-in for the driver.

Such a test is run with LIBUCD as its first argument, and calls run(). In the child, the last arguments say what to ask.
"""

import ctypes
import json
import os
import subprocess
import sys

BYTE = 6  # UCD_TYPE__BYTE
CHILD = '--child'


class Desc(ctypes.Structure):
    _fields_ = [('struct_size', ctypes.c_uint32), ('available', ctypes.c_uint32),
                ('devices', ctypes.c_uint32), ('name', ctypes.c_char * 16),
                ('version', ctypes.c_char * 32), ('reason', ctypes.c_char * 256)]


class Library:
    def __init__(self, libucd):
        self.ucd = ctypes.CDLL(libucd)
        self.ucd.ucd_last_error.restype = ctypes.c_char_p
        assert self.ucd.ucd_init(None) == 0

    def packs(self, **hints):
        """The status of packing every other byte, and the message of a failure."""
        ucd, size = self.ucd, ctypes.c_ssize_t
        info, vector = ctypes.c_void_p(), ctypes.c_void_p()
        assert ucd.ucd_info_create(ctypes.byref(info)) == 0
        for key, value in hints.items():
            assert ucd.ucd_info_set(info, f'ucd.{key}'.encode(), value.encode()) == 0
        assert ucd.ucd_create_vector(size(4), size(1), size(2), ctypes.c_void_p(BYTE), None,
                                     ctypes.byref(vector)) == 0
        source, target = ctypes.create_string_buffer(b'a.b.c.d.'), ctypes.create_string_buffer(4)
        actual = ctypes.c_size_t()
        status = ucd.ucd_pack(source, size(1), vector, size(0), target, size(4),
                              ctypes.byref(actual), info, 0)
        assert status != 0 or target.raw == b'abcd'
        return status, ucd.ucd_last_error().decode() if status else ''

    def describe(self, backend):
        count = ctypes.c_int()
        assert self.ucd.ucd_backend_count(ctypes.byref(count)) == 0
        for i in range(count.value):
            desc = Desc(struct_size=ctypes.sizeof(Desc))
            assert self.ucd.ucd_backend_get(i, ctypes.byref(desc)) == 0
            if desc.name.decode() == backend:
                return desc.available, desc.devices, desc.reason.decode()
        raise AssertionError('there is no backend of that name')


def child(backend, task):
    library = Library(sys.argv[1])
    print(json.dumps(library.packs() if task == 'host' else
                     library.packs(inbuf=f'{backend}:0') if task == 'device' else library.describe(backend)))


def ask(folder, backend, behaviour, task, **environment):
    """What a child has to say, and the driver's functions that it called. `folder` has the stand-in."""
    log = os.path.join(folder, 'log')
    open(log, 'w', encoding='ascii').close()
    run = subprocess.run(
        [sys.executable, *sys.argv, CHILD, backend, task], check=True, capture_output=True, text=True,
        env={**os.environ, 'UCD_STAND_IN': behaviour, 'UCD_STAND_IN_LOG': log,
             'LD_LIBRARY_PATH': folder + ':' + os.environ.get('LD_LIBRARY_PATH', ''), **environment})
    with open(log, encoding='ascii') as file:
        return json.loads(run.stdout), file.read().split()


def run(main):
    if CHILD in sys.argv:
        child(*sys.argv[sys.argv.index(CHILD) + 1:])
    else:
        main()
