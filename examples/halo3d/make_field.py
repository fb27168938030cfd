#!/usr/bin/env python3
"""Makes a field for halo3d: some hot spots in a cold periodic box, the same every time."""

import argparse
import sys

import numpy

# Where (as a part of the box), how wide (likewise), how hot.
SPOTS = [
    ((0.25, 0.50, 0.50), 0.08, 100.0),
    ((0.75, 0.20, 0.80), 0.05, 250.0),
    ((0.00, 0.95, 0.05), 0.10, 60.0),  # lies across the boundary
    ((0.50, 0.70, 0.30), 0.03, 400.0),
]


def parse_shape(text: str) -> tuple[int, int, int]:
    sizes = [int(size) for size in text.split("x")]
    if len(sizes) != 3 or min(sizes) < 1:
        raise argparse.ArgumentTypeError("must be three numbers of at least 1, such as 256x256x256")
    return sizes[0], sizes[1], sizes[2]


def profile(cells: int, centre: float, width: float) -> numpy.ndarray:
    """One spot along one axis, by the distance around the periodic box."""
    distance = numpy.abs((numpy.arange(cells) + 0.5) / cells - centre)
    distance = numpy.minimum(distance, 1 - distance)
    return numpy.exp(-((distance / width) ** 2))


def make_field(shape: tuple[int, int, int]) -> numpy.ndarray:
    # A little noise makes every cell different, so that a cell in the wrong place shows.
    field = numpy.random.default_rng(20240229).random(shape) * 0.01
    for centre, width, heat in SPOTS:
        x, y, z = (profile(shape[axis], centre[axis], width) for axis in range(3))
        for i, factor in enumerate(x):  # slab by slab: no second array of that size
            field[i] += heat * factor * numpy.outer(y, z)
    return field


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=parse_shape, default=(256, 256, 256), metavar="XxYxZ")
    parser.add_argument("file", help="the .npy file to make")
    arguments = parser.parse_args()
    numpy.save(arguments.file, make_field(arguments.shape).astype(numpy.float64, copy=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
