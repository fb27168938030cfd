#!/usr/bin/env python3
"""Lets heat spread through a 3-D field that is divided among processes of this machine, and compares the
result with that of one process. Builds halo3d if need be. Options that are not listed here are halo3d's:
--grid, --steps, --piece, --memory (halo3d --help)."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import processes

try:
    import numpy
except ImportError:
    sys.exit("run.py needs NumPy (Debian: python3-numpy)")

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Where (as a part of the box), how wide (likewise), how hot.
SPOTS = [
    ((0.25, 0.50, 0.50), 0.08, 100.0),
    ((0.75, 0.20, 0.80), 0.05, 250.0),
    ((0.00, 0.95, 0.05), 0.10, 60.0),  # lies across the boundary
    ((0.50, 0.70, 0.30), 0.03, 400.0),
]


def profile(cells: int, centre: float, width: float) -> numpy.ndarray:
    """One spot along one axis, by the distance around the periodic box."""
    distance = numpy.abs((numpy.arange(cells) + 0.5) / cells - centre)
    distance = numpy.minimum(distance, 1 - distance)
    return numpy.exp(-((distance / width) ** 2))


def make_field(shape: tuple[int, ...]) -> numpy.ndarray:
    """Some hot spots in a cold periodic box, the same every time."""
    # A little noise makes every cell different, so that a cell in the wrong place shows.
    field = numpy.random.default_rng(20240229).random(shape) * 0.01
    for centre, width, heat in SPOTS:
        x, y, z = (profile(shape[axis], centre[axis], width) for axis in range(3))
        for i, factor in enumerate(x):  # slab by slab: no second array of that size
            field[i] += heat * factor * numpy.outer(y, z)
    return field


def spread(program: str, field: numpy.ndarray, count: int, options: list[str], **popen) -> numpy.ndarray:
    """What count processes make of a field."""
    with tempfile.TemporaryDirectory(prefix="halo3d.") as folder:
        file = pathlib.Path(folder) / "field"
        field.tofile(file)
        ends = processes.wait(processes.start(program, file, field.shape, count, options, **popen))
        if any(ends):
            raise RuntimeError(f"the processes of halo3d ended with {ends}")
        return numpy.fromfile(file).reshape(field.shape)


def build(folder: pathlib.Path | None) -> str:
    """Returns a program that is up to date."""
    if folder is None:
        usual = ROOT / "build"
        folder = usual if (usual / "examples/halo3d/halo3d").exists() else ROOT / "build-halo3d"
    commands = [["meson", "compile", "-C", str(folder), "halo3d"]]
    if not (folder / "build.ninja").exists():
        parts = ["-Dtool=disabled", "-Ducx=enabled", "-Dexamples=enabled"]
        commands.insert(0, ["meson", "setup", str(folder), str(ROOT), *parts])
    for command in commands:
        print(*command, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}run.py: cannot build halo3d; tools/install-packages installs what it needs")
    return str(folder / "examples/halo3d/halo3d")


def shape_of(text: str) -> tuple[int, ...]:
    sizes = tuple(int(size) for size in text.split("x"))
    if len(sizes) != 3 or min(sizes) < 1:
        raise argparse.ArgumentTypeError("must be three numbers of at least 1, such as 256x256x256")
    return sizes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, help="the build directory (build, or build-halo3d)")
    parser.add_argument("--processes", type=int, default=2, help="how many (2)")
    parser.add_argument("--shape", type=shape_of, default=(256, 256, 256), help="cells of a field that is made")
    parser.add_argument("--field", help="a .npy file that is taken instead")
    parser.add_argument("--output", help="a .npy file for the result")
    arguments, options = parser.parse_known_args()
    program = build(arguments.build)
    field = numpy.load(arguments.field) if arguments.field else make_field(arguments.shape)
    field = numpy.ascontiguousarray(field, dtype=numpy.float64)
    try:
        result = spread(program, field, arguments.processes, options)
        print("the same with one process, to compare ...", flush=True)
        alone = ["--grid", "1x1x1"] if "--grid" in options else []
        expected = spread(program, field, 1, options + alone, stdout=subprocess.DEVNULL)
    except RuntimeError as failure:
        sys.exit(f"run.py: {failure}")
    if result.tobytes() != expected.tobytes():
        cell = numpy.argwhere(result.view(numpy.uint64) != expected.view(numpy.uint64))[0]
        sys.exit(f"run.py: the results differ, first at cell {cell}")
    print(f"identical: {result.size} cells, bit for bit")
    if arguments.output:
        numpy.save(arguments.output, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
