#!/usr/bin/env python3
"""Generates the kernels of a backend from templates/ into a directory.

    generate.py BACKEND OUTPUT_DIRECTORY
    generate.py BACKEND --list              the names of the files that it would write
"""

import argparse
import itertools
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True  # write no __pycache__ beside the sources

from kernel_space import BACKENDS, CONVERTED, ELEMENTS, GPU_BACKENDS, KINDS, LEAVES, WIDTHS, GpuBackend
from naming import format_name
from output import environment, write_if_changed

# LDBL_MANT_DIG of each kind of long double that an element may need.
_MANTISSA = {"x87": 64, "binary128": 113}


def _needs(reduction):
    return ELEMENTS[reduction.element].needs


def _groupby_needs(reductions):
    """(needs, reductions) for each kind of long double; those that need none come first."""
    ordered = sorted(reductions, key=_needs)
    return [(needs, list(group)) for needs, group in itertools.groupby(ordered, key=_needs)]


def _leaf_type(kernel):
    """The kernel's class in src/backend/seq/leaves.h."""
    leaf = LEAVES[kernel.leaf]
    # Transposes have no direction: their source is what the leaf takes for the layout's side.
    direction = f"Direction::{getattr(kernel, 'direction', 'pack')}"
    if leaf.form == "exact":
        return f"Exact<{direction}, {leaf.size}>"
    if leaf.form == "ends":
        return f"Ends<{direction}, {leaf.ends[0]}, {leaf.ends[1]}>"
    if leaf.form == "pieces":
        return f"Pieces<{direction}, {leaf.size}>"
    if leaf.form == "any":
        return f"Any<{direction}>"
    return f"Run<{direction}, {leaf.size}>"


def _device_type(element):
    """The element's type in src/backend/gpu_common/kernels/combine.h."""
    if element.form == "complex":
        return f"Complex<{element.ctype}>"
    if element.form == "pair":
        return f"Pair<{element.ctype}, {element.index}>"
    return element.ctype


def _convert_type(name):
    """The representation's type in src/backend/contract/convert.h."""
    return "Bool8" if name == "bool8" else ELEMENTS[name].ctype


def _by_speed(backend, conversions):
    """(only the default instruction set has them, conversions); those that all sets have come first."""
    ordered = sorted(conversions, key=backend.is_fast, reverse=True)
    return [(not fast, list(group)) for fast, group in itertools.groupby(ordered, key=backend.is_fast)]


def _environment(backend):
    env = environment()
    env.filters.update(name=format_name)
    env.globals.update(
        backend=backend,
        elements=ELEMENTS,
        kinds=KINDS,
        leaves=LEAVES,
        widths=WIDTHS,
        moves=list(backend.moves()),
        reductions=backend.reduce_kernels(),
    )
    env.filters.update(kernel_of=backend.reduce_kernel, convert_type=_convert_type)
    env.globals.update(reduction_pairs=list(backend.reductions()))
    if isinstance(backend, GpuBackend):
        env.filters.update(device_type=_device_type, has_vectors=backend.has_vectors, is_tiled=backend.is_tiled)
        env.globals.update(conversions=backend.convert_kernels(), converted=CONVERTED)
        return env
    names = sorted({format_name(kernel) for kernel in backend.kernels()})
    name_ends = list(itertools.accumulate(len(name) + 1 for name in names))
    name_at = dict(zip(names, [0, *name_ends]))
    assert name_ends[-1] <= 1 << 16, "NamedKernel::name_at has 16 bits"
    env.filters.update(
        name_at=lambda kernel: name_at[format_name(kernel)],
        leaf_type=_leaf_type,
        groupby_needs=_groupby_needs,
        row_kernel_of=backend.row_reduce_kernel,
        convert_kernel_of=backend.convert_kernel,
    )
    env.globals.update(
        name_lines=textwrap.wrap(" ".join(names), 84),
        transposes=list(backend.transposes()),
        row_reductions=backend.row_reduce_kernels(),
        row_reduction_triples=list(backend.row_reductions()),
        mantissa=_MANTISSA,
        conversion_groups=_by_speed(backend, backend.convert_kernels()),
        conversion_pairs=_by_speed(backend, backend.conversions()),
    )
    return env


def _move_files(backend):
    """Maps file names to kernels. Files have similar sizes, so that a build can use all cores."""

    def file_of(kernel):
        shape = kernel.shape
        return f"move_3{shape[-1]}.cpp" if len(shape) == 3 else "move_1_2.cpp"

    kernels = sorted(backend.moves(), key=file_of)
    return {name: list(group) for name, group in itertools.groupby(kernels, key=file_of)}


def _kind(kernel):
    """The file for a reduction. The two files have similar sizes."""
    element = ELEMENTS[kernel.element]
    return "integers" if element.form in ("signed", "unsigned") else "others"


def _gpu_files(backend):
    by_width = {
        f"nest_w{width}.cpp": (
            "gpu_nest.cpp.j2",
            {
                "width": width,
                "kernels": [kernel for kernel in backend.moves() if kernel.leaf == f"w{width}"],
            },
        )
        for width in WIDTHS
    }
    kinds = {kernel: _kind(kernel) for kernel in filter(backend.has_vectors, backend.reduce_kernels())}
    by_kind = {
        f"reduce_{kind}.cpp": (
            "gpu_reduce.cpp.j2",
            {"kind": kind, "kernels": [kernel for kernel in kinds if kinds[kernel] == kind]},
        )
        for kind in dict.fromkeys(kinds.values())
    }
    return {
        **by_width,
        "nest_kernels.cpp": ("gpu_nest_kernels.cpp.j2", {}),
        "gpu_convert.cpp": ("gpu_convert.cpp.j2", {}),
        **by_kind,
        "reduce_any.cpp": (
            "gpu_reduce_any.cpp.j2",
            {"doubles": [name for name, element in ELEMENTS.items() if element.ctype == "double"],
             "kernel_kinds": kinds, "kinds": list(dict.fromkeys(kinds.values()))},
        ),
    }


def files(backend):
    """Maps file names to (template, its variables)."""
    if isinstance(backend, GpuBackend):
        return _gpu_files(backend)
    compiled = {
        **{name: ("move.cpp.j2", {"kernels": kernels})
           for name, kernels in _move_files(backend).items()},
        "transpose.cpp": ("transpose.cpp.j2", {}),
        "reduce.cpp": ("reduce.cpp.j2", {}),
        "reduce_rows.cpp": ("reduce_rows.cpp.j2", {}),
        "convert.cpp": ("convert.cpp.j2", {"rare": False}),
        "kernel_tables.cpp": ("kernel_tables.cpp.j2", {}),
    }
    result = {
        "kernels.h": ("kernels.h.j2", {}),
        "kernel_sets.cpp": ("kernel_sets.cpp.j2", {}),
        # Other instruction sets leave these to the compiler's default, which every machine has.
        "convert_rare.cpp": ("convert.cpp.j2", {"rare": True}),
        **compiled,
    }
    for instructions in backend.instructions:
        for name in [*compiled, *backend.written_by_hand]:
            result[f"{instructions.name}_{name}"] = (
                "instructions.cpp.j2",
                {"instructions": instructions, "file": name},
            )
    return result


def render(backend):
    """Maps file names to texts."""
    env = _environment(backend)
    texts = {}
    for name, (template, variables) in files(backend).items():
        banner = (
            f"// Generated from codegen/templates/{template} by\n"
            f"//     codegen/generate.py {backend.name} OUTPUT_DIRECTORY\n"
            "// Edit the template, not this file."
        )
        texts[name] = env.get_template(template).render(banner=banner, **variables)
    return texts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    backends = BACKENDS | GPU_BACKENDS
    parser.add_argument("backend", choices=sorted(backends))
    parser.add_argument("output", nargs="?", type=Path)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    backend = backends[arguments.backend]
    if arguments.list:
        print("\n".join(files(backend)))
        return
    if arguments.output is None:
        parser.error("an output directory is needed")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in render(backend).items():
        write_if_changed(arguments.output / name, text)


if __name__ == "__main__":
    main()
