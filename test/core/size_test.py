"""The host core, with the interface of yaksa, is no larger in a shared library than promised: size_test.py LIBUCD_CORE_A"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CORE = sys.argv.pop()
MAX_BYTES = 4.8 * 2**20


class Size(unittest.TestCase):
    def test_a_library_with_the_core_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / 'libyours.so'
            # Without its relocations packed, which not all C libraries can read, and without the C++ runtime.
            subprocess.run(['c++', '-shared', '-s', '-o', library, '-Wl,--whole-archive', CORE, '-Wl,--no-whole-archive',
                            '-Wl,--exclude-libs,ALL', '-lpthread', '-ldl'], check=True)
            size = os.path.getsize(library)
            print(f'{size} bytes')
            self.assertLessEqual(size, MAX_BYTES)


if __name__ == '__main__':
    unittest.main()
