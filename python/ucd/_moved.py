"""Names that ucd had before, which are found for one more minor version: in ucd.types, and in the package ucd-models."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from ucd._core import predefined

_MODELS = {
    *('Cyclic', 'Distribution', 'Piece', 'Redistribution', 'RedistributionError', 'Replicate', 'Route', 'Routing'),
    *('Safetensors', 'Segment', 'Shard', 'StridedShard', 'UcxEngine', 'cache', 'checkpoint', 'redistribute', 'routing'),
}


def found(name: str) -> Any:
    """What ucd had by this name, with a DeprecationWarning. Raises AttributeError for other names."""
    if name in predefined:
        _warn(f'ucd.{name}', f'ucd.types.{name}', 3)
        return predefined[name]
    if name not in _MODELS:
        raise AttributeError(f"module 'ucd' has no attribute {name!r}")
    _warn(f'ucd.{name}', f'ucd_models.{name}', 3)
    if name in ('cache', 'checkpoint'):
        return _module(f'ucd_models.{name}')
    return getattr(_module('ucd_models'), name)


def attributes_of(module: str) -> Callable[[str], Any]:
    """The __getattr__ of a module that was moved."""

    def attribute(name: str) -> Any:
        if name.startswith('__') and name != '__all__':
            raise AttributeError(name)
        _warn(module.replace('ucd_models', 'ucd'), module, 3)
        return getattr(_module(module), name)

    return attribute


def _warn(before: str, now: str, level: int) -> None:
    warnings.warn(f'{before} is {now} now', DeprecationWarning, level)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != 'ucd_models':
            raise
        raise ImportError(f'{name} is in a package of its own: pip install ucd-models') from None
