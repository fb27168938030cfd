"""Whether hipcc compiles the device code of ucd_device.h, for the host and each architecture, and keeps it out of memory.

Usage: device_code_test.py HIPCC INCLUDE DEVICE_CODE ARCHITECTURE...

INCLUDE has ucd_device.h, and DEVICE_CODE has ucd_device_code.h. Nothing runs.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = """
#include <hip/hip_runtime.h>
#include <ucd_device.h>

namespace dev = ucd::device;
using Plan = ucd_device_plan_t;

__device__ auto known(const Plan &plan) { return dev::known<8, dev::strided, dev::indexed_block>(plan); }

__global__ void __launch_bounds__(256) any_pack(const Plan *plan, const void *in, void *out) {
    dev::pack(dev::this_grid(), *plan, in, 0, plan->bytes, out);
}
__global__ void __launch_bounds__(256) known_pack(const Plan *plan, const void *in, void *out) {
    dev::pack(dev::this_grid(), known(*plan), in, 0, plan->bytes, out);
}
__global__ void __launch_bounds__(256) known_unpack(const Plan *plan, const void *in, void *out) {
    dev::unpack(dev::this_block(), known(*plan), in, out, 0, plan->bytes);
}
__global__ void __launch_bounds__(256) known_copy(const Plan *from, const Plan *to, const void *in, void *out) {
    dev::copy(dev::this_grid(), known(*from), in, known(*to), out, 0, from->bytes);
}
__global__ void __launch_bounds__(256) known_tiles(const Plan *plan, const void *in, void *out) {
    __shared__ uint4 memory[8 * 1056 / sizeof(uint4)];
    const auto matrix = dev::known<8, dev::strided, dev::strided>(*plan);
    dev::pack(dev::this_block(), matrix, in, 0, plan->bytes, out, {memory, sizeof memory});
}

bool on_the_host(const Plan &plan) { return dev::fits<8, dev::strided>(plan); }
"""
KERNELS = {'any_pack', 'known_pack', 'known_unpack', 'known_copy', 'known_tiles'}

hipcc, include, device_code, *architectures = sys.argv[1:]
for architecture in architectures:
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'kernels.hip.cpp'
        source.write_text(SOURCE)
        run = subprocess.run(
            [hipcc, '-x', 'hip', f'--offload-arch={architecture}', '-std=c++17', '-O3', '-DNDEBUG', '-Wall', '-Werror', '-Wno-pass-failed',
             f'-I{include}', f'-I{device_code}', '-Rpass-analysis=kernel-resource-usage', '-c', source, '-o', source.with_suffix('.o')],
            check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = {}
    for line in run.stderr.splitlines():
        if name := re.search(r'Function Name: _Z\d+([a-z_]+?)(?:PK|\d)', line):
            kernel = found.setdefault(name[1], {})
        elif figure := re.search(r'remark: +([A-Za-z ]+?)(?: \[[a-zA-Z/]+\])?: (\d+) \[-R', line):
            kernel[figure[1]] = int(figure[2])
    assert set(found) == KERNELS, found
    for name, figures in found.items():
        print(architecture, name, figures)
        assert figures['ScratchSize'] == 0, name
        # Scalar registers may be kept in lanes of vector registers, which is not in memory.
        assert figures['VGPRs Spill'] == 0, name
        assert name == 'any_pack' or figures['VGPRs'] <= 64, (name, figures)
