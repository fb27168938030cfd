"""Runs halo3d and checks its results against NumPy's, bit for bit.

usage: test_halo3d.py HALO3D HALO3D-WITH-THREADS-FOR-GPUS|none [options of unittest]
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
import processes
import run

PROGRAM, ON_DEVICE = sys.argv[1:3]
del sys.argv[1:3]

TRANSPORTS = ("sm,self,tcp", "tcp,self")
# With this threshold a send is complete when the receiver has taken the piece, and not before: there is
# something to pack at the same time.
PIECES = {"UCX_RNDV_THRESH": "16k"}


def step(now: numpy.ndarray) -> numpy.ndarray:
    """The stencil, with the operations in halo3d's order: so the bits are to be the same."""
    total = numpy.roll(now, 1, 0)
    for shift, axis in [(-1, 0), (1, 1), (-1, 1), (1, 2), (-1, 2)]:
        total = total + numpy.roll(now, shift, axis)
    return now + 0.125 * (total - 6.0 * now)


class Halo3d(unittest.TestCase):
    def spread(self, shape, steps, count, *options, program=PROGRAM, transports=TRANSPORTS[0], **settings):
        """Returns what the processes print."""
        field = run.make_field(shape)
        environment = processes.settings() | {"UCX_TLS": transports} | settings
        with tempfile.TemporaryFile("w+") as printed:
            result = run.spread(program, field, count, ["--steps", str(steps), *options], env=environment, stdout=printed)
            for _ in range(steps):
                field = step(field)
            self.assertEqual(result.tobytes(), field.tobytes())
            printed.seek(0)
            return printed.read()

    def check_overlap(self, printed, count):
        """Every process has packed a piece while another one was on the wire."""
        shares = re.findall(r"process \d+: \d+ pieces sent; \d+ packed, (\d+) % of them", printed)
        self.assertEqual(len(shares), count, printed)
        self.assertNotIn("0", shares, printed)

    def test_pieces_overlap(self):
        for transports in TRANSPORTS:
            for grid in ("2x1x1", "1x1x2"):  # of the latter, the faces are single cells
                printed = self.spread((128, 128, 128), 6, 2, "--grid", grid, "--piece", "65536",
                                      transports=transports, **PIECES)
                self.check_overlap(printed, 2)

    def test_uneven_pieces_within_cells(self):
        for transports in TRANSPORTS:
            printed = self.spread((97, 83, 131), 5, 3, "--piece", "20001", transports=transports, **PIECES)
            self.check_overlap(printed, 3)

    def test_eight_processes(self):
        for transports in TRANSPORTS:
            printed = self.spread((96, 128, 128), 4, 8, "--piece", "20001", transports=transports)
            self.assertIn("8 processes as 1x4x2", printed)

    def test_as_the_library_chooses(self):
        for shape, steps, count in [((90, 70, 110), 4, 4), ((60, 1, 20000), 4, 3), ((40, 50, 60), 3, 1)]:
            self.spread(shape, steps, count)

    def test_blocks_of_one_cell(self):
        for transports in TRANSPORTS:
            self.spread((2, 1, 3), 4, 6, transports=transports)

    @unittest.skipIf(ON_DEVICE == "none", "no threads for GPUs in this build")
    def test_device_memory(self):
        for options in ((), ("--piece", "20001")):
            printed = self.spread((40, 50, 60), 3, 2, "--memory", "hostgpu:0", *options, program=ON_DEVICE)
            self.assertIn("in memory of hostgpu:0", printed)

    def test_what_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="halo3d-test.") as folder:
            field = pathlib.Path(folder) / "field"
            numpy.zeros((8, 8, 8)).tofile(field)
            given = ["--rank", "0", "--processes", "1", "--team", f"{field}.team", "--shape", "8x8x8"]
            for status, message, arguments in [
                (2, "usage:", []),
                (2, "unrecognized option", [*given, "--nonsense", field]),
                (2, "--steps is '0'", [*given, "--steps", "0", field]),
                (2, "--grid is '2x1'", [*given, "--grid", "2x1", field]),
                (1, "cannot open it", [*given, f"{field}.none"]),
                (1, "the shape needs", [*given, "--shape", "8x8x9", field]),
                (1, "--grid has 4 blocks", [*given, "--grid", "2x2x1", field]),
                (1, "cannot be divided", [*given, "--processes", "11", field]),
                (1, "ucd_memory_alloc", [*given, "--memory", "cuda:99", field]),
            ]:
                done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, arguments)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
