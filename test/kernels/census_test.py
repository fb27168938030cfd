#!/usr/bin/env python3
"""Counts the kernels and the generated lines, and checks what holds for the whole kernel space."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CODEGEN = Path(__file__).resolve().parents[2] / "codegen"
sys.path.insert(0, str(CODEGEN))

# pylint: disable=wrong-import-position
import generate
from kernel_space import (
    BACKENDS, ELEMENTS, GPU_BACKENDS, LEAVES, MAX_LEVELS, OPS, WIDTHS, MoveKernel, ReduceKernel,
)
from naming import format_name

# The whole library may have 60,000 generated lines. The kernels of one backend stay well below, so
# that an axis that multiplies them is a decision and not an accident.
LIBRARY_LINES = 60_000
BACKEND_LINES = {"seq": 15_000}

MOVE_KERNELS = {"seq": 1066}


def definitions(text):
    """The names of the functions that a generated file defines."""
    return re.findall(r"^void (\w+)\([^;{]*\) \{$", text, re.MULTILINE)


class Census(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = {name: generate.render(backend) for name, backend in BACKENDS.items()}

    def each(self):
        return [(backend, self.texts[name]) for name, backend in BACKENDS.items()]

    def test_lines(self):
        total = 0
        for backend, texts in self.each():
            lines = {name: text.count("\n") for name, text in texts.items()}
            total += sum(lines.values())
            kernels = backend.kernels()
            print(f"{backend.name}: {len(kernels)} kernels, {sum(lines.values())} lines", lines)
            self.assertLessEqual(sum(lines.values()), BACKEND_LINES[backend.name])
        self.assertLessEqual(total, LIBRARY_LINES)

    def test_space(self):
        for backend, _ in self.each():
            shapes = list(backend.shapes())
            self.assertEqual(len(shapes), sum(3**n for n in range(1, MAX_LEVELS + 1)))
            self.assertEqual(len(list(backend.moves())), MOVE_KERNELS[backend.name])
            for kernel in backend.moves():
                self.assertEqual(LEAVES[kernel.leaf].form == "run", kernel.shape.endswith("i"))

    def test_names(self):
        for backend, _ in self.each():
            kernels = set(backend.kernels())
            # Names have a "_" inside, whatever the backend has of them.
            kernels.update(ReduceKernel(op, element) for op in OPS for element in ELEMENTS)
            self.assertEqual(len(set(map(format_name, kernels))), len(kernels))
        self.assertEqual(format_name(MoveKernel("pack", "sb", "w8")), "pack_sb_w8")
        self.assertEqual(format_name(ReduceKernel("sum", "float32")), "reduce_sum_float32")

    def test_every_kernel_is_defined_once_and_in_a_table(self):
        for backend, texts in self.each():
            defined = [name for text in texts.values() for name in definitions(text)]
            kernels = backend.kernels()
            self.assertCountEqual(defined, map(format_name, kernels))
            table = texts["kernel_tables.cpp"]
            names = "".join(re.findall(r'^    "(.*)"$', texts["kernel_sets.cpp"], re.MULTILINE)).replace(r"\0", "\0")
            listed = re.findall(r"^    \{\{(\d+)\}, .*?(\w+)\},$", table, re.MULTILINE)
            for at, function in listed:
                self.assertEqual(names[int(at):].partition("\0")[0], function)
            self.assertEqual({function for _, function in listed}, set(defined))
            reductions = re.findall(r"Op::(\w+), Element::(\w+), reduce_\w+\}", table)
            rows = re.findall(r"Direction::(\w+), Op::(\w+), Element::(\w+), \w+_s_\w+\}", table)
            conversions = re.findall(r"Element::(\w+), Element::(\w+), convert_\w+\}", table)
            self.assertCountEqual(
                conversions, [(pair.source, pair.target) for pair in backend.conversions()])
            self.assertCountEqual(
                rows, [(row.direction, row.op, row.element) for row in backend.row_reductions()]
            )
            self.assertCountEqual(
                reductions, [(reduction.op, reduction.element) for reduction in backend.reductions()]
            )

    def test_generation_is_deterministic(self):
        for backend, texts in self.each():
            for seed in ("1", "2"):
                with tempfile.TemporaryDirectory() as directory:
                    subprocess.run(
                        [sys.executable, CODEGEN / "generate.py", backend.name, directory],
                        env={"PYTHONHASHSEED": seed},
                        check=True,
                    )
                    written = {path.name: path.read_text("utf-8")
                               for path in Path(directory).iterdir()}
                self.assertEqual(written, texts)

    def test_files_are_readable(self):
        for _, texts in self.each():
            for name, text in texts.items():
                with self.subTest(file=name):
                    banner = re.match(
                        r"// Generated from codegen/templates/(\S+) by\n"
                        r"//     codegen/generate.py \w+ OUTPUT_DIRECTORY\n", text)
                    self.assertIsNotNone(banner)
                    self.assertTrue((CODEGEN / "templates" / banner[1]).is_file())
                    self.assertNotIn(str(CODEGEN), text)
                    for number, line in enumerate(text.splitlines(), 1):
                        self.assertLessEqual(len(line), 100, f"line {number}")
                        self.assertEqual(line, line.rstrip(), f"line {number}")
                    self.assertNotIn("\n\n\n", text)
                    self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"))
                    self.assertNotRegex(text, r"\n\n +\}|\n .*\{\n\n")


class GpuCensus(unittest.TestCase):
    """The kernels of src/backend/gpu_common, compiled once for each vendor."""

    backend = GPU_BACKENDS["gpu"]

    @classmethod
    def setUpClass(cls):
        cls.texts = generate.render(cls.backend)

    def test_number_and_lines(self):
        lines = sum(text.count("\n") for text in self.texts.values())
        kernels = list(self.backend.moves())
        reductions = self.backend.reduce_kernels()
        print(f"gpu: {len(kernels)} kernels, {len(reductions)} reductions, {lines} lines")
        self.assertEqual(len(kernels), 5 * 2 * (3 + 9 + 27))
        self.assertEqual(len(reductions), 90)
        self.assertLessEqual(lines, 3_120)

    def test_every_kernel_is_defined_once_and_stands_where_it_is_looked_for(self):
        for width in WIDTHS:
            names = [format_name(k) for k in self.backend.moves() if k.leaf == f"w{width}"]
            text = self.texts[f"nest_w{width}.cpp"]
            self.assertEqual(re.findall(r"UCD_GPU_KERNEL\((\w+), NestParams\)", text), names)
            self.assertEqual(re.findall(r'\{"(\w+)", UCD_GPU_KERNEL_HANDLE', text), names)
            # As nest_kernel() in src/backend/gpu_common/kernels/nest_kernels.h counts.
            for number, kernel in enumerate(k for k in self.backend.moves()
                                            if k.leaf == f"w{width}"):
                before = (0, 0, 3, 3 + 9)[len(kernel.shape)]
                shape = sum("sbi".index(kind) * 3**i
                            for i, kind in enumerate(reversed(kernel.shape)))
                direction = ("pack", "unpack").index(kernel.direction)
                self.assertEqual(number, direction * 39 + before + shape)

    def test_every_reduction_has_a_kernel_and_stands_where_its_number_says(self):
        kernels = self.backend.reduce_kernels()
        names = [format_name(kernel) for kernel in kernels]
        defined = [name for file, text in self.texts.items() if file.startswith("reduce_")
                   for name in re.findall(r"UCD_GPU_INDEXING_KERNEL\((\w+), ReduceParams\)", text)]
        self.assertCountEqual(defined, [format_name(kernel) for kernel in kernels
                                        if self.backend.has_vectors(kernel)])
        table = self.texts["reduce_any.cpp"]
        batches = [name for file, text in self.texts.items() if file.startswith("reduce_")
                   for name in re.findall(r"UCD_GPU_KERNEL\((\w+)_batch, BatchParams\)", text)]
        self.assertCountEqual(batches, [*defined, "reduce_any"])
        listed = re.findall(r'named\("(\w+)", .*, (\d+)\),', table)
        self.assertEqual(listed, [(name, str(i)) for i, name in enumerate(names)])
        for file, text in self.texts.items():
            cases = re.findall(r"case (\d+): return \{UCD_GPU_KERNEL_HANDLE\((\w+)\), "
                               r"UCD_GPU_KERNEL_HANDLE\((\w+)_batch\)\}", text)
            for number, one, many in cases:
                self.assertEqual([names[int(number)]] * 2, [one, many], file)
            self.assertEqual(len(cases), text.count("_batch, BatchParams") * (len(cases) > 0))
        cases = re.findall(r"case (\d+): return combined_bytes<Op::(\w+), ", table)
        self.assertEqual(sorted(cases, key=lambda case: int(case[0])),
                         [(str(i), kernel.op) for i, kernel in enumerate(kernels)])
        pairs = re.findall(r"\{Op::(\w+), Element::(\w+), (\d+)\}", table)
        self.assertEqual(pairs, [
            (pair.op, pair.element, str(kernels.index(self.backend.reduce_kernel(pair))))
            for pair in self.backend.reductions()
        ])
        long_doubles = {name for name, element in ELEMENTS.items() if element.needs}
        self.assertEqual({pair[1] for pair in pairs},
                         {name for name, e in ELEMENTS.items() if e.ops} - long_doubles)


if __name__ == "__main__":
    unittest.main()
