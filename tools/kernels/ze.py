"""What ocloc, Intel's compiler, makes of the kernels: lanes, registers, spills and memory, as CSV.

All kernels for four devices take about ten minutes on two cores. Needs ocloc (Debian: intel-opencl-icd).
"""

import glob
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import table

sys.path.insert(0, str(table.ROOT / 'src/backend/ze'))
from native_code import compile_natively  # noqa: E402  pylint: disable=wrong-import-position,import-error

COLUMNS = ['device', 'kernel', 'lanes', 'registers', 'spilled', 'memory_bytes', 'shared_bytes', 'code_bytes',
           'wide_loads', 'wide_stores']


def sections(elf):
    table, = struct.unpack_from('<Q', elf, 0x28)
    size, count, names = struct.unpack_from('<HHH', elf, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', elf, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length in headers:
        at = headers[names][4] + name
        yield elf[at:elf.index(b'\0', at)].decode(), elf[offset:offset + length]


def disassembled(ocloc, binary, device):
    """The instructions of each kernel as text; none if ocloc finds no disassembler."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Debian has it only with a version in its name.
        for library in glob.glob('/usr/lib/*/libiga64.so.?')[:1]:
            (folder / 'libiga64.so').symlink_to(library)
        (folder / 'native').write_bytes(binary)
        (folder / 'dump').mkdir()
        search = os.pathsep.join(filter(None, [str(folder), os.environ.get('LD_LIBRARY_PATH')]))
        subprocess.run([ocloc, 'disasm', '-file', 'native', '-device', device, '-dump', 'dump'], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, 'LD_LIBRARY_PATH': search})
        return {path.name[len('.text.'):-len('.asm')]: path.read_text(errors='replace')
                for path in (folder / 'dump').glob('.text.*.asm')}


def wide(text, kind):
    """How many instructions load, or store, 16 bytes for each lane."""
    new = len(re.findall(kind + r'\.ugm\.(?:d32x4|d64x2)\.a64', text))
    # Before pvc: messages of as many registers of 32 bytes as that takes.
    name, count = {'load': ('gathering read', r'rd:(\d+)'), 'store': ('scattering write', r'wr:\d+h?\+(\d+)')}[kind]
    messages = re.findall(r'\((\d+)\|M\d+\).*// .*' + count + r'.*a64 [dq]word ' + name, text)
    return new + sum(int(registers) * 32 == int(lanes) * 16 for lanes, registers in messages)


def numbers(ocloc, device, code, disassemble):
    """A row for each kernel of a module."""
    contents = dict(sections(code.binary))
    texts = disassembled(ocloc, code.binary, device) if disassemble else {}
    spilled = dict(re.findall(r'kernel (\w+) +compiled .* spilled around (\d+)', code.messages))
    info = contents['.ze_info'].decode().split('kernels_misc_info')[0]
    for text in re.split(r'\n  - name: *', info)[1:]:
        name = text.split()[0]
        if name.startswith('Intel_'):  # for a linker: no code
            continue
        facts = dict(re.findall(r'^      (\w+): +(\S+)$', text, re.M))
        lanes = int(facts['simd_size'])
        # For a thread, unless it says that it is for a lane.
        buffers = re.findall(r'usage: +\w+\n +size: +(\d+)((?:\n +(?:slot|is_\w+): .*)*)', text)
        memory = sum(int(size) // (1 if 'is_simt_thread' in rest else lanes) for size, rest in buffers)
        # Newer versions say the bytes that are spilled, older ones warn of registers.
        spills = int(facts.get('spill_size', spilled.get(name, 0)))
        row = [device, name, lanes, int(facts['grf_count']), spills, memory,
               int(facts.get('slm_size', 0)), len(contents['.text.' + name])]
        yield row + ([wide(texts[name], kind) for kind in ('load', 'store')] if texts else ['', ''])


def version_of(ocloc):
    packages = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', 'intel-opencl-icd'], check=False,
                              capture_output=True, text=True) if shutil.which('dpkg-query') else None
    return packages.stdout if packages and packages.returncode == 0 else pathlib.Path(ocloc).resolve().name


def facts(ocloc, devices, missing):
    return {
        'title': 'Code for Intel GPUs',
        'unit': 'the largest number of a group of kernels; of lanes, and of instructions that load or store 16 bytes '
                'for each lane: the smallest',
        'machine': f'none: ocloc {version_of(ocloc)}, ' + ', '.join(devices),
        'command': 'tools/inspect-kernels ze --table build',
        'note': 'No kernel has run on an Intel GPU. A register has 64 bytes on pvc, 32 on the others; memory is that of '
                'a lane, for spilled registers and for what has no place in registers. '
                + ' '.join(f'{device} computes with no 64-bit floats: {count} modules are not for it.'
                           for device, count in sorted(missing.items())),
    }


def main():
    parser = table.parser(__doc__)
    parser.add_argument('--devices', default='pvc,dg2,tgllp,skl')
    parser.add_argument('--kernels', type=re.compile, help='a regular expression; all without it')
    parser.add_argument('build', type=pathlib.Path, help='a build folder with libucd_ze.so')
    options = parser.parse_args()
    ocloc = shutil.which('ocloc')
    if ocloc is None:
        sys.exit('inspect-kernels: no ocloc')
    folder = options.build / 'src/backend/gpu_common'
    modules = json.loads((folder / 'ze_kernel_modules.json').read_text())
    binary = (folder / 'ze_kernel_modules.bin').read_bytes()
    if options.kernels is not None:
        modules = [module for module in modules if any(map(options.kernels.fullmatch, module['kernels']))]
    devices = options.devices.split(',')

    def inspect(device, module):
        spirv = binary[module['offset']:module['offset'] + module['bytes']]
        code = compile_natively(ocloc, spirv, device, module['flags'])
        if code.binary is not None:
            return list(numbers(ocloc, device, code, disassemble=True))
        if module['doubles'] and re.search('[Dd]ouble|fp64', code.messages):
            return device
        raise RuntimeError(f'{device} {module["kernels"][0]}: {code.messages}')

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(inspect, device, module) for device in devices for module in modules]
        results = [job.result() for job in jobs]
    missing = {}
    for device in (result for result in results if isinstance(result, str)):
        missing[device] = missing.get(device, 0) + 1
    # Of a kernel in two modules, with and without 64-bit floats, the one that the device takes: the first.
    rows = [row for result in reversed(results) if isinstance(result, list) for row in result]
    rows = list({tuple(row[:2]): row for row in rows}.values())
    left_out = ''.join(f'; {count} modules with 64-bit floats not for {device}'
                       for device, count in sorted(missing.items()))
    table.write(options, COLUMNS, rows, facts(ocloc, devices, missing), left_out)
