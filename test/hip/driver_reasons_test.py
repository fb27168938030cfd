"""What the HIP backend says of drivers and devices that will not do, and that host memory needs none.

Usage: driver_reasons_test.py LIBUCD STAND_IN PRELOAD PLUGIN

STAND_IN takes the place of HIP's runtime, PRELOAD that of access().
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
from driver_reasons import ask, run  # pylint: disable=wrong-import-position

STAND_IN, PRELOAD, PLUGIN = sys.argv[2:5]


def wanted_runtime():
    """The file that the plugin asks the dynamic linker for."""
    with open(PLUGIN, 'rb') as file:
        return re.search(rb'libamdhip64\.so\.\d+', file.read()).group().decode()


def without_runtime(folder):
    """A folder with the plugin, which there asks for a runtime that nobody has."""
    runtime = wanted_runtime().encode()
    there = os.path.join(folder, 'plugins')
    os.mkdir(there)
    with open(PLUGIN, 'rb') as file, open(os.path.join(there, 'libucd_hip.so'), 'wb') as copy:
        copy.write(file.read().replace(runtime, runtime.replace(b'amdhip64', b'nobodys_')))
    return there


def main():
    with tempfile.TemporaryDirectory() as folder:
        runtime = os.path.join(folder, wanted_runtime())

        def hip(behaviour, task, kfd='there', **environment):
            return ask(folder, 'hip', behaviour, task, LD_PRELOAD=PRELOAD, UCD_STAND_IN_KFD=kfd, **environment)

        (available, _, reason), _ = hip('', 'describe', UCD_PLUGIN_PATH=without_runtime(folder))
        print('no runtime:', reason)
        assert not available and 'could not be loaded' in reason and 'libnobodys_.so' in reason, reason

        # A runtime that lacks what the plugin needs, as an older one would: the plugin is not loaded.
        shutil.copy(PRELOAD, runtime)
        (available, _, reason), _ = hip('', 'describe')
        print('too old:', reason)
        assert not available and 'could not be loaded' in reason and 'hip' in reason, reason

        shutil.copy(STAND_IN, runtime)
        refused = {
            'old': ['could not be initialised', 'driver too old'],
            'no device': ['no device'],
            'silent': ['device 0', 'says nothing'],
            'foreign': ['device 0 (stand-in)', 'gfx600', 'this build is for'],
        }
        for behaviour, parts in refused.items():
            (available, _, reason), _ = hip(behaviour, 'describe')
            print(f'{behaviour}: {reason}')
            assert not available, behaviour
            for part in parts:
                assert part in reason, (behaviour, part, reason)
        for kfd, parts in {'missing': ['no AMD driver', '/dev/kfd'], 'forbidden': ['group render']}.items():
            (available, _, reason), calls = hip('', 'describe', kfd)
            print(f'{kfd}: {reason}')
            assert not available and not calls, (kfd, calls)
            for part in parts:
                assert part in reason, (kfd, part, reason)
        # One of two devices will do, and the other one is explained.
        (available, devices, reason), _ = hip('two', 'describe')
        assert available and devices == 2 and 'device 0' in reason and 'gfx600' in reason, reason

        # Host memory is moved without a call of HIP's.
        for behaviour in ('', 'full', *refused):
            (status, message), calls = hip(behaviour, 'host')
            assert status == 0, (behaviour, message)
            assert not calls, f'packing host memory called {calls}'
        # A device that has nothing left to give, one that is refused, and one that there is no code for.
        for behaviour, part in (('full', 'out of memory'), ('', 'some error'), ('two', 'device 0 (stand-in) has')):
            (status, message), calls = hip(behaviour, 'device')
            assert status != 0 and part in message, (status, message)
            assert ('hipSetDevice' in calls) == (behaviour != 'two'), calls


if __name__ == '__main__':
    run(main)
