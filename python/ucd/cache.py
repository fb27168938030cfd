"""Where ucd_models.cache was before."""

from ucd import _moved

__getattr__ = _moved.attributes_of('ucd_models.cache')
