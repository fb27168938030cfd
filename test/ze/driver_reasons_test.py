"""What the Level Zero backend says of loaders, drivers and devices that will not do, and that host memory needs none.

Usage: driver_reasons_test.py LIBUCD DRIVER    the driver for tests
"""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
from driver_reasons import ask, run  # pylint: disable=wrong-import-position

DRIVER = sys.argv[2]


def main():
    with tempfile.TemporaryDirectory() as folder:
        def says(task='describe', **environment):
            return ask(folder, 'ze', '', task, ZE_ENABLE_ALT_DRIVERS=DRIVER, **environment)[0]

        refused = {
            'zeInit': 'no driver could be initialised',
            'zeDriverGet': 'asking for the drivers failed: the device is lost',
            'zeDeviceGet': 'no device',
            'zeDeviceGetProperties': 'device 0 says nothing: the device is lost',
            'zeDeviceGetModuleProperties': 'device 0 does not say which kernels it takes',
            'zeDeviceGetCommandQueueGroupProperties': 'device 0 has no queue that runs kernels',
            'zeContextCreate': 'no context could be made',
        }
        for function, part in refused.items():
            available, _, reason = says(UCD_ZE_DRIVER_FAIL=function)
            print(f'{function}: {reason}')
            assert not available and part in reason, (function, reason)
            # Packing host memory asks nobody.
            status, message = says('host', UCD_ZE_DRIVER_FAIL=function)
            assert status == 0, (function, message)
            status, message = says('device', UCD_ZE_DRIVER_FAIL=function)
            assert status != 0 and part in message, (function, status, message)
        # Only the version is unknown then, or whether a device has parts.
        for function in ('zeDriverGetApiVersion', 'zeDeviceGetSubDevices'):
            available, devices, reason = says(UCD_ZE_DRIVER_FAIL=function, UCD_ZE_DRIVER_PARTS='2')
            assert available and devices == 1 and reason == '', reason
        available, devices, reason = says(UCD_ZE_DRIVER_DEVICES='0')
        assert not available and 'no device' in reason, reason
        available, devices, reason = says(UCD_ZE_DRIVER_DEVICES='3')
        assert available and devices == 3 and reason == '', reason

        if not os.path.exists('/dev/dri'):
            available, _, reason = ask(folder, 'ze', '', 'describe')[0]
            assert not available and 'no /dev/dri' in reason, reason

        # A file that is no library stands in for a missing loader.
        pathlib.Path(folder, 'libze_loader.so.1').write_text('nothing', encoding='ascii')
        available, _, reason = says()
        print(f'no loader: {reason}')
        assert not available and 'libze_loader.so.1 could not be loaded' in reason, reason
        status, message = says('host')
        assert status == 0, message


if __name__ == '__main__':
    run(main)
