"""What pickled types name: functions whose place stays, whatever becomes of the classes."""

from ucd import _core


def predefined(name: str) -> _core.Type:
    """The predefined type of this name."""
    return _core.predefined[name]


def unflatten(data: bytes) -> _core.Type:
    """The type that was flattened."""
    return _core.Type.unflatten(data)
