"""Device code by ocloc, Intel's compiler, which needs no device."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

# Kernels that would spill registers to memory with the default number. With twice as many registers, a thread has twice
# as many lanes, and the device runs the same number of lanes. Level Zero accepts this flag for all devices; those
# without such a mode ignore it.
MANY_REGISTERS = re.compile("(un)?pack(_small)?_batch|reduce_any(_batch)?")


def build_flags(kernels):
    """The flags of the driver's compiler for a module of these kernels."""
    return "-ze-opt-large-register-file" if any(map(MANY_REGISTERS.fullmatch, kernels)) else ""


class Code(NamedTuple):
    binary: bytes | None  # None if it was not compiled
    messages: str


def compile_natively(ocloc, spirv, device, flags):
    """Compiles SPIR-V to native code for zeModuleCreate, without the SPIR-V in it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "module.spv").write_bytes(spirv)
        command = [ocloc, "compile", "-spirv_input", "-file", "module.spv", "-device", device, "--format", "zebin",
                   "-exclude_ir", "-output_no_suffix", "-output", "native", *(["-options", flags] if flags else [])]
        run = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace")
        native = Path(folder) / "native"
        binary = native.read_bytes() if run.returncode == 0 and native.exists() else b""
        # Some versions leave a file without kernels when they fail.
        return Code(binary if b".ze_info" in binary else None, run.stdout)


