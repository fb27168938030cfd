"""What calls that move 64 bytes in host memory cost, in instructions, which do not depend on the machine or on what else it does.

Usage: call_work_test.py VALGRIND PROGRAM [--print]: the program call_work. With --print, prints the instructions of all calls.
"""

import os
import re
import subprocess
import sys
import unittest

VALGRIND, PROGRAM = sys.argv[1:3]
# The most that each call may take: 15 % more than with GCC 12, since compilers differ.
MOST = {
    'pack': 220,
    'pack_two': 612,
    'pack_rest': 530,
    'pack_sum': 700,
    'copy': 945,
    'list': 100 * 172,
    'plan': 360,
    'plan_with': 505,
    'plan_create': 4050,
}


def instructions(name):
    """Of one call, from the difference between few and many. Without plugins, which would be asked where the data is."""
    counts = []
    for times in 100, 600:
        run = subprocess.run(
            [VALGRIND, '--tool=callgrind', '--callgrind-out-file=/dev/null', PROGRAM, name, str(times)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, 'UCD_BACKENDS': 'seq'},
        )
        counts.append(int(re.search(r'Collected : (\d+)', run.stderr).group(1)))
    return (counts[1] - counts[0]) / 500


class CallWork(unittest.TestCase):
    def test_calls_take_no_more_instructions_than_ever(self):
        for name, most in MOST.items():
            with self.subTest(name):
                self.assertLess(instructions(name), most)


if __name__ == '__main__':
    if '--print' in sys.argv:
        for name in MOST:
            print(f'{name:12} {instructions(name):8.0f}')
        sys.exit()
    del sys.argv[1:]
    unittest.main()
