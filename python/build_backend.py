"""meson-python, told which wheels are for all later versions of Python.

The stable ABI is used from Python 3.12 on. An older Python and a free-threaded one get wheels of their
own, which pyproject.toml cannot express.
"""

import sys
import sysconfig

import mesonpy
from mesonpy import (  # noqa: F401 -- the other hooks, as they are
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)


def _settings(given):
    settings = dict(given or {})
    without = sys.version_info < (3, 12) or sysconfig.get_config_var('Py_GIL_DISABLED')
    arguments = settings.get('setup-args', [])
    arguments = [arguments] if isinstance(arguments, str) else list(arguments)
    # Said in both cases: a folder of the build may be that of another Python's wheel.
    settings['setup-args'] = [*arguments, f'-Dpython.allow_limited_api={"false" if without else "true"}']
    return settings


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_wheel(wheel_directory, _settings(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_editable(wheel_directory, _settings(config_settings), metadata_directory)
