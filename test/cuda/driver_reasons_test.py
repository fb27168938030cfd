"""What the CUDA backend says of drivers and devices that will not do, and that host memory needs none.

Usage: driver_reasons_test.py LIBUCD STAND_IN TOO_OLD    libraries that take the driver's place
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

LIBUCD, STAND_IN, TOO_OLD = sys.argv[1:4]
BYTE = 6  # UCD_TYPE__BYTE


class Desc(ctypes.Structure):
    _fields_ = [('struct_size', ctypes.c_uint32), ('available', ctypes.c_uint32),
                ('devices', ctypes.c_uint32), ('name', ctypes.c_char * 16),
                ('version', ctypes.c_char * 32), ('reason', ctypes.c_char * 256)]


class Library:
    def __init__(self):
        self.ucd = ctypes.CDLL(LIBUCD)
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

    def cuda(self):
        count = ctypes.c_int()
        assert self.ucd.ucd_backend_count(ctypes.byref(count)) == 0
        for i in range(count.value):
            desc = Desc(struct_size=ctypes.sizeof(Desc))
            assert self.ucd.ucd_backend_get(i, ctypes.byref(desc)) == 0
            if desc.name == b'cuda':
                return desc.available, desc.devices, desc.reason.decode()
        raise AssertionError('there is no backend of that name')


def child(task):
    library = Library()
    print(json.dumps(library.packs() if task == 'host' else
                     library.packs(inbuf='cuda:0') if task == 'device' else library.cuda()))


def ask(folder, behaviour, task):
    """What a child has to say, and the driver's functions that it called."""
    log = os.path.join(folder, 'log')
    open(log, 'w', encoding='ascii').close()
    run = subprocess.run(
        [sys.executable, __file__, LIBUCD, STAND_IN, TOO_OLD, task], check=True,
        capture_output=True, text=True,
        env={**os.environ, 'UCD_STAND_IN': behaviour, 'UCD_STAND_IN_LOG': log,
             'LD_LIBRARY_PATH': folder + ':' + os.environ.get('LD_LIBRARY_PATH', '')})
    with open(log, encoding='ascii') as file:
        return json.loads(run.stdout), file.read().split()


def main():
    with tempfile.TemporaryDirectory() as folder:
        driver = os.path.join(folder, 'libcuda.so.1')
        shutil.copy(TOO_OLD, driver)
        (available, _, reason), _ = ask(folder, '', 'describe')
        assert not available and 'too old' in reason and 'cuPointerGetAttributes' in reason, reason

        shutil.copy(STAND_IN, driver)
        refused = {
            'old': ['driver is for CUDA', 'needs'],
            'broken': ['could not be initialised', 'driver mismatch'],
            'no device': ['no device'],
            'old device': ['device 0 (stand-in)', 'sm_37', 'begins with'],
            'prohibited': ['compute mode prohibited'],
            'exclusive': ['compute mode exclusive', 'device busy'],
        }
        for behaviour, parts in refused.items():
            (available, _, reason), _ = ask(folder, behaviour, 'describe')
            print(f'{behaviour}: {reason}')
            assert not available, behaviour
            for part in parts:
                assert part in reason, (behaviour, part, reason)
        # One of two devices will do, and the other one is explained.
        (available, devices, reason), _ = ask(folder, 'two', 'describe')
        assert available and devices == 2 and 'device 0' in reason and 'sm_37' in reason, reason

        for behaviour in ('', 'full', *refused):
            (status, message), calls = ask(folder, behaviour, 'host')
            assert status == 0, (behaviour, message)
            assert set(calls) <= {'cuDriverGetVersion'}, f'packing host memory called {calls}'
        # LaunchContext for a device that has nothing left to give.
        for behaviour, part in (('full', 'out of memory'), ('', 'device busy')):
            (status, message), calls = ask(folder, behaviour, 'device')
            assert status != 0 and part in message and 'device 0' in message, (status, message)
            assert 'cuDevicePrimaryCtxRetain' in calls


if __name__ == '__main__':
    child(sys.argv[4]) if len(sys.argv) > 4 else main()
