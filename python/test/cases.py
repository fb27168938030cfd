"""How many random cases there are, and which: as for the other tests (CONTRIBUTING.md)."""

import ctypes
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    'ucd',
    max_examples=max(1, int(150 * float(os.environ.get('UCD_TEST_CASES', '1')))),
    derandomize=os.environ.get('UCD_TEST_SEED') != 'random',
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile('ucd')


@pytest.fixture
def no_driver():
    """For tests with streams and device memory that do not exist: a driver takes addresses at their word."""
    try:
        ctypes.CDLL('libcuda.so.1')
    except OSError:
        return
    pytest.skip('streams that do not exist would be given to the driver of CUDA')
