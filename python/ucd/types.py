"""The predefined types, by the names that they have in ucd.h without UCD_: types.FLOAT, types.INT64_T."""

from ucd._core import predefined

globals().update(predefined)
__all__ = list(predefined)
