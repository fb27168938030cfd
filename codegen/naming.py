"""Formats and parses the names of kernels; docs/internals/kernel-naming.md describes the grammar.

    move      = direction "_" kind{1,} "_" leaf        pack_sb_w8, unpack_i_r4
    transpose = "transpose_" leaf                      transpose_w8
    reduce    = "reduce_" op "_" element               reduce_sum_float32
    rows      = direction "_s_" op "_" element         unpack_s_sum_float32
    convert   = "convert_" element "_to_" element      convert_float32_to_bfloat16
"""

import re

from kernel_space import (
    CONVERTED,
    DIRECTIONS,
    ELEMENTS,
    KINDS,
    LEAVES,
    OPS,
    ConvertKernel,
    MoveKernel,
    ReduceKernel,
    RowReduceKernel,
    TransposeKernel,
)


def _one_of(names):
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


_MOVE = re.compile(rf"({_one_of(DIRECTIONS)})_([{''.join(KINDS)}]+)_({_one_of(LEAVES)})")
_TRANSPOSE = re.compile(rf"transpose_({_one_of(LEAVES)})")
_REDUCE = re.compile(rf"reduce_({_one_of(OPS)})_({_one_of(ELEMENTS)})")
_ROWS = re.compile(rf"({_one_of(DIRECTIONS)})_s_({_one_of(OPS)})_({_one_of(ELEMENTS)})")
_CONVERT = re.compile(rf"convert_({_one_of(CONVERTED)})_to_({_one_of(CONVERTED)})")


def format_name(kernel):
    """The name of a kernel."""
    if isinstance(kernel, MoveKernel):
        return f"{kernel.direction}_{kernel.shape}_{kernel.leaf}"
    if isinstance(kernel, TransposeKernel):
        return f"transpose_{kernel.leaf}"
    if isinstance(kernel, RowReduceKernel):
        return f"{kernel.direction}_s_{kernel.op}_{kernel.element}"
    if isinstance(kernel, ConvertKernel):
        return f"convert_{kernel.source}_to_{kernel.target}"
    return f"reduce_{kernel.op}_{kernel.element}"


def parse_name(name):
    """The kernel with a name; ValueError if the name is not that of a kernel."""
    if match := _MOVE.fullmatch(name):
        return MoveKernel(*match.groups())
    if match := _TRANSPOSE.fullmatch(name):
        return TransposeKernel(*match.groups())
    if match := _REDUCE.fullmatch(name):
        return ReduceKernel(*match.groups())
    if match := _ROWS.fullmatch(name):
        return RowReduceKernel(*match.groups())
    if match := _CONVERT.fullmatch(name):
        return ConvertKernel(*match.groups())
    raise ValueError(f"not a kernel name: {name}")
