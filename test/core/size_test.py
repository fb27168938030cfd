"""The host core, with the interface of yaksa, is no larger in a shared library than promised: size_test.py LIBUCD_CORE_A"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import size_limits  # noqa: E402

CORE = sys.argv.pop()


class Size(unittest.TestCase):
    def test_a_library_with_the_core_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / 'libyours.so'
            # Without its relocations packed, which not all C libraries can read, and without the C++ runtime.
            subprocess.run(['c++', '-shared', '-s', '-o', library, '-Wl,--whole-archive', CORE, '-Wl,--no-whole-archive',
                            '-Wl,--exclude-libs,ALL', '-lpthread', '-ldl'], check=True)
            size, limit = os.path.getsize(library), size_limits.limit_of(size_limits.CORE, library)
            print(f'{size} bytes')
            if limit is None:
                self.skipTest('there is no limit for this compiler')
            self.assertLessEqual(size, limit)


if __name__ == '__main__':
    unittest.main()
