"""Runs halo3d on a field and checks its result against NumPy's, bit for bit.

usage: test_halo3d.py HALO3D SHAPE STEPS TRACE|NO-TRACE [--expect TEXT]... [options of halo3d]
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import check_trace
import make_field
import numpy


def step(now: numpy.ndarray) -> numpy.ndarray:
    """The stencil, with the operations in halo3d's order: so the bits are to be the same."""
    total = numpy.roll(now, 1, 0)
    for shift, axis in [(-1, 0), (1, 1), (-1, 1), (1, 2), (-1, 2)]:
        total = total + numpy.roll(now, shift, axis)
    return now + 0.125 * (total - 6.0 * now)


def take_expected(options: list[str]) -> list[str]:
    expected = ["identical: "]
    while options[:1] == ["--expect"]:
        expected.append(options[1])
        del options[:2]
    return expected


def main() -> int:
    program, shape_text, steps, trace, *options = sys.argv[1:]
    expected = take_expected(options)
    shape = make_field.parse_shape(shape_text)
    field = make_field.make_field(shape)
    with tempfile.TemporaryDirectory(prefix="halo3d-test.") as folder:
        work = pathlib.Path(folder)
        numpy.save(work / "field.npy", field)
        command = [program, "--iterations", steps, "--timeout", "60", *options]
        if trace == "TRACE":
            command += ["--trace", str(work / "trace.txt")]
        command += [str(work / "field.npy"), str(work / "out.npy")]
        print(*command, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode != 0:
            print(f"halo3d: exit status {done.returncode}")
            return 1
        for text in expected:
            if text not in done.stdout:
                print(f"halo3d did not print '{text}'")
                return 1
        for _ in range(int(steps)):
            field = step(field)
        result = numpy.load(work / "out.npy")
        if result.shape != field.shape or result.tobytes() != field.tobytes():
            print("the result differs from NumPy's")
            return 1
        if trace == "TRACE":
            print(check_trace.check(str(work / "trace.txt")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
