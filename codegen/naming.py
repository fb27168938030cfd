"""The names of kernels; docs/internals/kernel-naming.md describes the grammar.

    move      = direction "_" kind{1,} "_" leaf        pack_sb_w8, unpack_i_r4
    transpose = "transpose_" leaf                      transpose_w8
    reduce    = "reduce_" op "_" element               reduce_sum_float32
    rows      = direction "_s_" op "_" element         unpack_s_sum_float32
    convert   = "convert_" element "_to_" element      convert_float32_to_bfloat16
"""

from kernel_space import ConvertKernel, MoveKernel, RowReduceKernel, TransposeKernel


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
