"""Where ucd_models.checkpoint was before."""

from ucd import _moved

__getattr__ = _moved.attributes_of('ucd_models.checkpoint')
