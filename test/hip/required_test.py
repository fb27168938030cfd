"""A program that needs a backend is skipped without it, and fails if UCD_REQUIRE_BACKEND names it.

Usage: required_test.py PROGRAM    which needs the backend hip
"""

import os
import subprocess
import sys


def status(**environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith('UCD_')}
    run = subprocess.run([sys.argv[1], '--list-test-names-only', 'none of this name'], check=False,
                         env={**clean, 'UCD_TEST_NEEDS_BACKEND': 'hip', **environment})
    return run.returncode


without = status()
if without == 77:
    assert status(UCD_REQUIRE_BACKEND='cuda') == 77
    assert status(UCD_REQUIRE_BACKEND='hip') == 2
    assert status(UCD_REQUIRE_BACKEND='cuda,hip') == 2
else:
    assert status(UCD_REQUIRE_BACKEND='hip') == without
