"""Conversion with scales in wider arithmetic: quotients and products in long double, and rounding by a search among all
numbers of a format and the middles between them. Nothing here is as the kernels do it."""

import functools

import numpy as np

BITS = {'float32': 'u4', 'bfloat16': 'u2', 'float16': 'u2', 'float8_e4m3fn': 'u1', 'float8_e5m2': 'u1'}
# Bits of the fraction, bias, the magnitude behind the largest number, that of a quiet NaN.
_FORMATS = {
    'bfloat16': (7, 127, 0x7F80, 0x7FC0),
    'float16': (10, 15, 0x7C00, 0x7E00),
    'float8_e4m3fn': (3, 7, 0x7F, 0x7F),
    'float8_e5m2': (2, 15, 0x7C, 0x7E),
}


@functools.cache
def numbers(name):
    """The finite numbers from 0 on, by their bits."""
    fraction, bias, beyond, _ = _FORMATS[name]
    bits = np.arange(beyond)
    exponents, fractions = bits >> fraction, bits & ((1 << fraction) - 1)
    significands = np.where(exponents == 0, fractions, fractions + (1 << fraction)).astype(np.longdouble)
    return significands * np.longdouble(2) ** (np.maximum(exponents, 1) - bias - fraction)


def values(bits, name):
    if name == 'float32':
        return bits.view('f4').astype(np.longdouble)
    _, _, beyond, _ = _FORMATS[name]
    sign = 1 << (8 * bits.dtype.itemsize - 1)
    magnitudes = bits & (sign - 1)
    others = np.where((magnitudes > beyond) | (name == 'float8_e4m3fn'), np.longdouble('nan'), np.longdouble('inf'))
    found = np.where(magnitudes < beyond, numbers(name)[np.minimum(magnitudes, beyond - 1)], others)
    return np.where(bits & sign, -found, found)


def rounded(exact, negative, name, saturate):
    """The bits of what is nearest."""
    if name == 'float32':  # one rounding of the processor's
        bits = np.abs(exact).astype('f4').view('u4').astype('i8')
        beyond, nan = 0x7F800000, 0x7FC00000
    else:
        _, _, beyond, nan = _FORMATS[name]
        known = numbers(name)
        middles = known + np.append(np.diff(known), known[-1] - known[-2]) / 2
        bits = np.searchsorted(middles, np.abs(exact))
        is_middle = middles[np.minimum(bits, beyond - 1)] == np.abs(exact)
        bits = np.where(is_middle & (bits < beyond) & (bits % 2 == 1), bits + 1, bits)
    bits = np.where(np.isnan(exact), nan, np.minimum(bits, beyond - 1 if saturate else beyond))
    kind = np.dtype(BITS[name])
    return (bits | (negative.astype('i8') << (8 * kind.itemsize - 1))).astype(kind)


def converted(bits, source, target, scale, saturate=False):
    """scale: float32, of the shape of the elements or one."""
    scale = np.broadcast_to(np.asarray(scale, 'f4'), bits.shape)
    with np.errstate(all='ignore'):
        value, factor = values(bits, source), scale.astype(np.longdouble)
        exact = value / factor if BITS[target] == 'u1' else value * factor
        negative = (bits >> (8 * bits.dtype.itemsize - 1)).astype(bool) ^ np.signbit(scale)
        return rounded(exact, negative, target, saturate)
