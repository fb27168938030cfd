"""What hipcc made of the kernels: registers, spills, memory and occupancy, as CSV.

Needs llvm-readelf (Debian: llvm-15, which hipcc brings).
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import table

MAGIC = b'__CLANG_OFFLOAD_BUNDLE__'
COLUMNS = ['architecture', 'kernel', 'vector_registers', 'scalar_registers', 'spilled_vector', 'spilled_scalar',
           'private_bytes', 'shared_bytes', 'waves_per_simd']
# Of each lane in wavefronts of 64, or of 32 from gfx10 on: vector registers, by how many they are given out, and the
# most wavefronts of a SIMD.
HARDWARE = {'gfx900': (256, 4, 10), 'gfx906': (256, 4, 10), 'gfx908': (256, 4, 10), 'gfx90a': (512, 8, 8),
            'gfx942': (512, 8, 8), 'gfx950': (512, 8, 8), 'gfx1010': (1024, 8, 20), 'gfx1030': (1024, 16, 16),
            'gfx1100': (1536, 24, 16), 'gfx1101': (1536, 24, 16), 'gfx1102': (1024, 16, 16), 'gfx1151': (1536, 24, 16),
            'gfx1200': (1536, 24, 16), 'gfx1201': (1536, 24, 16)}


def code_objects(library):
    """Architecture and ELF file of each piece of device code."""
    for found in re.finditer(MAGIC, library):
        start = found.start()
        count, = struct.unpack_from('<Q', library, start + len(MAGIC))
        at = start + len(MAGIC) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from('<QQQ', library, at)
            name = library[at + 24:at + 24 + length].decode()
            at += 24 + length
            if name.startswith('hip') and size > 0:
                yield name.split('--')[-1], library[start + offset:start + offset + size]


def read(elf, readelf, *options):
    with tempfile.NamedTemporaryFile() as file:
        file.write(elf)
        file.flush()
        return subprocess.run([readelf, *options, file.name], check=True, capture_output=True, text=True).stdout


def kernels(elf, readelf):
    """The numbers of each kernel, from the notes of the ELF file."""
    notes = read(elf, readelf, '--notes')
    notes = notes[notes.index('amdhsa.kernels:'):notes.index('amdhsa.target')]
    for text in re.split(r'\n  - ', notes)[1:]:
        yield dict(re.findall(r'^ *(?:- )?\.(\w+): +(\S+)$', text, re.M))


def occupancy(architecture, registers, lanes):
    family = architecture.split(':')[0]
    if family not in HARDWARE:
        return ''
    all_of_them, granule, most = HARDWARE[family]
    given = max(granule, -(-registers // granule) * granule) * (2 if lanes == 64 and family.startswith('gfx1') else 1)
    return min(most, all_of_them // given)


def facts(architectures, compilers):
    return {
        'title': 'Code for AMD GPUs',
        'unit': 'the largest number of a group of kernels; waves per SIMD: the smallest',
        'machine': 'none: ' + ', '.join(sorted(compilers)) + ', -O3, ' + ', '.join(sorted(architectures)),
        'command': 'tools/inspect-kernels hip --table build/src/libucd_hip.so',
        'note': 'No kernel has run on an AMD GPU. The most waves per SIMD: '
                + ', '.join(f'{HARDWARE[a][2]} on {a}' for a in sorted(architectures) if a in HARDWARE) + '.',
    }


def inspect(library, readelf):
    """A row for each kernel, and the compilers."""
    rows, compilers = [], set()
    for architecture, elf in code_objects(pathlib.Path(library).read_bytes()):
        compilers.add(re.search(r'clang version [\d.]+', read(elf, readelf, '-p', '.comment')).group())
        for k in kernels(elf, readelf):
            name = re.search(r'\d+([a-z]\w*?)E', re.sub(r'^_ZN3ucd3hip(?:12_GLOBAL__N_1)?', '', k['name']))
            registers = int(k['vgpr_count']) + int(k.get('agpr_count', 0))
            rows.append([architecture, name.group(1) if name else k['name'], registers, int(k['sgpr_count']),
                         int(k.get('vgpr_spill_count', 0)), int(k.get('sgpr_spill_count', 0)),
                         int(k['private_segment_fixed_size']), int(k['group_segment_fixed_size']),
                         occupancy(architecture, registers, int(k.get('wavefront_size', 64)))])
    return rows, compilers


def main():
    parser = table.parser(__doc__)
    parser.add_argument('plugin', help='BUILD/src/libucd_hip.so')
    options = parser.parse_args()
    search = os.pathsep.join([os.environ['PATH'], '/opt/rocm/llvm/bin'])
    names = 'llvm-readelf', 'llvm-readelf-15', 'llvm-readelf-14'
    readelf = next((found for name in names if (found := shutil.which(name, path=search))), None)
    if readelf is None:
        sys.exit('inspect-kernels: no llvm-readelf')
    rows, compilers = inspect(options.plugin, readelf)
    if not rows:
        sys.exit('inspect-kernels: there is no code for AMD in it')
    table.write(options, COLUMNS, rows, facts({row[0] for row in rows}, compilers))
