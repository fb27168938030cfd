"""What files and other ranks say: JSON, and numbers by which something is looked up."""

from __future__ import annotations

import itertools
import json
import marshal
from collections.abc import Iterable
from typing import Any

# What is read here is nested three deep.
MAX_DEPTH = 64
# Python converts so many in any case, whatever limit a program sets.
_MAX_DIGITS = 640


def key_of(parts: Iterable[Any]) -> bytes:
    """The key of integers, and of tuples of integers, in a dict or set.

    Python's hash of an integer is its remainder by 2^61 - 1. Whoever chooses the numbers could choose many of them, or
    many tuples of them, with one hash, and each look-up would compare all. The hash of bytes is SipHash with a random
    key of the process.
    """
    # Version 2 has one form for equal tuples; later ones depend on reference counts.
    return marshal.dumps(tuple(parts), 2)


def distinct(values: Iterable[Any]) -> list[Any]:
    """The different ones of some values, in order, by comparing neighbours and not by hashes."""
    return [value for value, _ in itertools.groupby(sorted(values))]


def are_naturals(given: Any, kind: type[Any]) -> bool:
    """Whether that is a list, or a tuple, of at most 64 numbers that fit 63 bits: as many as NumPy has dimensions."""
    if type(given) is not kind or len(given) > 64:
        return False
    for n in given:
        if type(n) is not int or not 0 <= n < 2**63:  # bool is a kind of int
            return False
    return True


# What brackets do to the depth: 1, and -1 as a byte.
_STEPS = bytes.maketrans(b'[{]}', b'\x01\x01\xff\xff')
_NO_BRACKETS = bytes(set(range(256)) - set(b'[{]}'))


def _depth(text: bytes) -> int:
    """How deep JSON is nested. The standard library's reader recurses, so deep text may end the process where a program
    has raised the limit of recursion."""
    # Without escaped backslashes and then escaped quotes, quotes divide the text into what is outside and inside of strings.
    outside = b''.join(text.replace(b'\\\\', b'').replace(b'\\"', b'').split(b'"')[::2])
    steps = memoryview(outside.translate(_STEPS, _NO_BRACKETS)).cast('b')
    return max(itertools.accumulate(steps), default=0)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError('an object has a name twice')
    return found


def _integer(digits: str) -> int:
    # The time of int() grows with the square of the number of digits.
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f'an integer has {len(digits)} digits')
    return int(digits)


def _constant(name: str) -> Any:
    raise ValueError(f'{name} is no number')


# The standard library's loads() would make one for each text.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)


def json_of(text: bytes, what: str) -> Any:
    """What JSON of anyone says; what: of whom errors speak. Raises ValueError if it is no JSON, is nested more than MAX_DEPTH
    deep, or has a name twice in an object or an integer of more than 640 digits."""
    if text.count(b'[') + text.count(b'{') > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise ValueError(f'{what} is nested too deeply')
    try:
        return _DECODER.decode(text.decode())
    except UnicodeDecodeError:
        raise ValueError(f'{what} is no JSON: it is no UTF-8') from None
    except ValueError as e:
        raise ValueError(f'{what} is no JSON: {e}') from None
