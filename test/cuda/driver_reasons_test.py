"""What the CUDA backend says of drivers and devices that will not do, and that host memory needs none.

Usage: driver_reasons_test.py LIBUCD STAND_IN TOO_OLD    libraries that take the driver's place
"""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
from driver_reasons import ask, run  # pylint: disable=wrong-import-position

STAND_IN, TOO_OLD = sys.argv[2:4]


def main():
    with tempfile.TemporaryDirectory() as folder:
        driver = os.path.join(folder, 'libcuda.so.1')
        shutil.copy(TOO_OLD, driver)
        (available, _, reason), _ = ask(folder, 'cuda', '', 'describe')
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
            (available, _, reason), _ = ask(folder, 'cuda', behaviour, 'describe')
            print(f'{behaviour}: {reason}')
            assert not available, behaviour
            for part in parts:
                assert part in reason, (behaviour, part, reason)
        # One of two devices will do, and the other one is explained.
        (available, devices, reason), _ = ask(folder, 'cuda', 'two', 'describe')
        assert available and devices == 2 and 'device 0' in reason and 'sm_37' in reason, reason

        for behaviour in ('', 'full', *refused):
            (status, message), calls = ask(folder, 'cuda', behaviour, 'host')
            assert status == 0, (behaviour, message)
            assert set(calls) <= {'cuDriverGetVersion'}, f'packing host memory called {calls}'
        # A device that has nothing left to give.
        for behaviour, part in (('full', 'out of memory'), ('', 'device busy')):
            (status, message), calls = ask(folder, 'cuda', behaviour, 'device')
            assert status != 0 and part in message and 'device 0' in message, (status, message)
            assert 'cuDevicePrimaryCtxRetain' in calls


if __name__ == '__main__':
    run(main)
