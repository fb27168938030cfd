"""Backends that are plugins: found, missing, and no plugins at all; always with a reason, and libucd works.

Usage: plugin_test.py LIBUCD BACKEND
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

LIBUCD, BACKEND = sys.argv[1:3]


class Desc(ctypes.Structure):
    _fields_ = [('struct_size', ctypes.c_uint32), ('available', ctypes.c_uint32),
                ('devices', ctypes.c_uint32), ('name', ctypes.c_char * 16),
                ('version', ctypes.c_char * 32), ('reason', ctypes.c_char * 256)]


class Guarded(ctypes.Structure):
    _fields_ = [('desc', Desc), ('guard', ctypes.c_char * 64)]


GUARD = 63 * b'g'


def describe():
    """What this process's libucd says of the backend. It is loaded as languages do: for itself only."""
    ucd = ctypes.CDLL(LIBUCD, mode=os.RTLD_LOCAL)
    assert ucd.ucd_init(None) == 0
    count = ctypes.c_int()
    assert ucd.ucd_backend_count(ctypes.byref(count)) == 0
    for i in range(count.value):
        guarded = Guarded(Desc(struct_size=ctypes.sizeof(Desc)), GUARD)
        desc = guarded.desc
        assert ucd.ucd_backend_get(i, ctypes.byref(desc)) == 0
        assert guarded.guard == GUARD, 'nothing is written behind the description'
        if desc.name.decode() == BACKEND:
            print(desc.available, desc.devices, desc.reason.decode())
    assert ucd.ucd_finalize() == 0


def ask(**environment):
    run = subprocess.run([sys.executable, __file__, LIBUCD, BACKEND, 'describe'], check=True,
                         capture_output=True, text=True, env={**os.environ, **environment})
    available, devices, reason = (run.stdout.strip() + ' ').split(' ', 2)
    return int(available), int(devices), reason.strip()


def main():
    available, devices, reason = ask()
    print('found:', available, devices, reason)
    assert (devices > 0) if available else reason, 'it is there, or says why not'
    assert 'not found in' not in reason or 'libcuda' in reason, 'the plugin lies beside libucd'

    with tempfile.TemporaryDirectory() as folder:
        available, _, reason = ask(UCD_PLUGIN_PATH=folder)
        assert not available and folder in reason and f'libucd_{BACKEND}.so' in reason, reason
        with open(os.path.join(folder, f'libucd_{BACKEND}.so'), 'w', encoding='ascii') as file:
            file.write('no library')
        available, _, reason = ask(UCD_PLUGIN_PATH=folder)
        assert not available and 'could not be loaded' in reason, reason
        shutil.copy(os.path.realpath(LIBUCD), os.path.join(folder, f'libucd_{BACKEND}.so'))
        available, _, reason = ask(UCD_PLUGIN_PATH=folder)
        assert not available and 'no plugin' in reason, reason
    # A reason that is longer than its field is cut off.
    found_in = f'libucd_{BACKEND}.so was not found in the folders of UCD_PLUGIN_PATH: /'
    for length in (255, 256, 300):
        folder = (length - len(found_in)) * 'x'
        available, _, reason = ask(UCD_PLUGIN_PATH=f'/{folder}')
        assert not available and reason == (found_in + folder)[:255], reason
    available, _, reason = ask(UCD_BACKENDS='seq')
    assert not available and 'left out' in reason, reason


if __name__ == '__main__':
    describe() if len(sys.argv) > 3 else main()
