"""Prints the AMD architectures that this machine's hipcc makes code for, with a comma between them: for -Darch_hip.
Those of ROCm's releases; of processors' graphics only the one that ROCm supports.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

KNOWN = ('gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950', 'gfx1010', 'gfx1030', 'gfx1100', 'gfx1101', 'gfx1102',
         'gfx1151', 'gfx1200', 'gfx1201')
KERNEL = '__global__ void kernel(unsigned *out) { out[threadIdx.x] = __umulhi(blockIdx.x, 3); }\n'


def is_compiled(architecture, source):
    return subprocess.run(['hipcc', '-x', 'hip', '-include', 'hip/hip_runtime.h', f'--offload-arch={architecture}', '-fPIC',
                           '-c', source, '-o', source.with_suffix('.o')], check=False, stderr=subprocess.DEVNULL).returncode == 0


def main():
    os.environ['PATH'] += ':/opt/rocm/bin'
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'kernel.hip.cpp'
        source.write_text(KERNEL)
        found = [architecture for architecture in KNOWN if is_compiled(architecture, source)]
    if not found:
        sys.exit('inspect-kernels: hipcc makes code for none that is known here')
    print(','.join(found))
