#!/usr/bin/env python3
"""Embeds kernels as SPIR-V and, for some devices, also as native code.

    embed_kernels.py --simplify OPT --translate LLVM_SPIRV [--validate SPIRV_VAL] [--ocloc OCLOC --devices pvc,dg2]
                     OUTPUT.cpp OUTPUT.bin OUTPUT.json FILE.bc...

OUTPUT.bin gets all modules, one after the other. OUTPUT.cpp includes it and has a table of the kernels' modules;
OUTPUT.json has the same table for tools. Reductions of one kind of element share a module, since they share most of
their code; every other kernel has its own. A kernel that is in several files is embedded several times, in the order
of the files.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # write no __pycache__ beside the sources

from native_code import build_flags, compile_natively
from spirv_modules import File


def finished(arguments, words, module):
    """A module's bytes, validated, and its native code."""
    data = struct.pack(f"<{len(words)}I", *words)
    if arguments.validate:
        subprocess.run([arguments.validate, "--target-env", "opencl2.2", "-"], input=data, check=True)
    natives = []
    for device in filter(None, arguments.devices.split(",")):
        code = compile_natively(arguments.ocloc, data, device, module["flags"])
        if code.binary is not None:
            natives.append(code.binary)
        elif not module["doubles"]:  # with doubles it may fail, since some devices lack them
            sys.exit(f"{arguments.ocloc} compiles {module['kernels'][0]} not for {device}: {code.messages}")
    return data, natives


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simplify", required=True)
    parser.add_argument("--translate", required=True)
    parser.add_argument("--validate")
    parser.add_argument("--ocloc")
    parser.add_argument("--devices", default="")
    parser.add_argument("source", type=Path)
    parser.add_argument("binary", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    modules, words = [], []
    for path in arguments.files:
        file = File(arguments.simplify, arguments.translate, path)
        for kernels in file.groups():
            made, doubles = file.module_of(kernels)
            modules.append({"kernels": kernels, "doubles": doubles, "flags": build_flags(kernels)})
            words.append(made)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        contents = list(pool.map(lambda w, m: finished(arguments, w, m), words, modules))
    at = 0
    natives, rows = [], []
    with arguments.binary.open("wb") as binary:

        def place(data):
            nonlocal at
            begin = at
            at += binary.write(data + bytes(-len(data) % 8))  # SPIR-V consists of words
            return f"{{ucd_ze_modules + {begin}, {len(data)}}}"

        for module, (data, native) in zip(modules, contents):
            module.update(offset=at, bytes=len(data))
            spirv = place(data)
            span = f"{{natives + {len(natives)}, {len(native)}}}" if native else "{}"
            natives += map(place, native)
            doubles = str(module["doubles"]).lower()
            rows += [f'    {{"{kernel}", {spirv}, {span}, {doubles}, "{module["flags"]}"}},\n'
                     for kernel in module["kernels"]]
    arguments.index.write_text(json.dumps(modules))
    table = "static const Code natives[] = {\n" + "".join(f"    {native},\n" for native in natives) + "};\n"
    arguments.source.write_text(f"""// Made by embed_kernels.py.
#include "kernel_modules.h"

asm(".section .rodata\\n"
    ".balign 8\\n"
    ".hidden ucd_ze_modules\\n"
    ".global ucd_ze_modules\\n"
    "ucd_ze_modules: .incbin \\"{arguments.binary.resolve()}\\"\\n"
    ".previous\\n");
extern "C" const unsigned char ucd_ze_modules[];

namespace ucd::ze {{

{table if natives else ""}
static const KernelModule modules[] = {{
{"".join(rows)}}};

std::span<const KernelModule> kernel_modules() {{
    return modules;
}}

}} // namespace ucd::ze
""")


main()
