"""On a machine with a GPU that the maintainers do not have: builds its backend, runs the tests that need the GPU, measures, and
writes hip-report.txt or ze-report.txt. What these have to show: docs/internals/backends.md.
"""

import os
import re
import subprocess
import time
from typing import NamedTuple

from commands import ROOT, configure, fail, output, parser, prefer_distribution, run


class Vendor(NamedTuple):
    """What differs. The last three are commands of the shell."""
    build: str
    options: list
    machine: str
    kernels: str
    rates: str


def hip(architecture):
    found = re.search(r'^ *Name: *(gfx[0-9a-f]*)$', output('rocminfo'), re.M)
    if architecture is None and found is None:
        fail('rocminfo knows no GPU; say which architecture to build for')
    architecture = architecture or found[1]
    build = f'build-hip-{architecture}'
    return Vendor(
        build, [f'-Darch_hip={architecture}', '-Dze=disabled'],
        f"echo architecture {architecture}; rocminfo | grep -E '^ *(Name|Marketing Name):'; hipcc --version",
        f'tools/inspect-kernels hip {build}/src/libucd_hip.so',
        # gpu_pingpong is built where UCX is.
        f'{build}/bench/ucd-bench --backend hip --layouts --batches --reductions && '
        f'if [ -x {build}/examples/gpu_pingpong/gpu_pingpong ]; then {build}/examples/gpu_pingpong/gpu_pingpong --backend hip; fi')


def ze(devices):
    build = 'build-ze'
    return Vendor(
        build, ['-Dhip=disabled'],
        "grep -hE '^(DRIVER|PCI_ID)=' /sys/class/drm/card[0-9]*/device/uevent; dpkg-query -W 'libze*' 'intel-*' 'libigc*'",
        'if ! command -v ocloc >/dev/null; then echo "no ocloc: kernels were not looked at"; '
        f'else tools/inspect-kernels ze --devices {devices or "pvc,dg2"} {build}; fi',
        ' && '.join(f'echo {setting} && {setting} {build}/bench/ucd-ze-bench' for setting in
                    ('ZE_FLAT_DEVICE_HIERARCHY=FLAT', 'ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE')))


def main():
    given = parser(__doc__)
    given.add_argument('backend', choices=('hip', 'ze'))
    given.add_argument('what', nargs='?', help="hip: the architecture, rocminfo's if not given; ze: ocloc's names (pvc,dg2)")
    options = given.parse_args()
    os.chdir(ROOT)
    os.environ['PATH'] += ':/opt/rocm/bin'
    prefer_distribution()
    backend = options.backend
    vendor = {'hip': hip, 'ze': ze}[backend](options.what)
    run('tools/install-packages')
    # Not as a file: see tools/run-tests.
    everything = re.findall(r"^([a-z_]+) = '(.*)'$", (ROOT / 'everything.ini').read_text(), re.M)
    configure(ROOT / vendor.build, *(f'-D{name}={value}' for name, value in everything), '-Dtests=enabled',
              f'-D{backend}=enabled', '-Dcuda=disabled', *vendor.options)
    run('meson', 'compile', '-C', vendor.build)
    os.environ['UCD_REQUIRE_BACKEND'] = backend
    moves = f'UCD_TEST_NEEDS_BACKEND={backend} {vendor.build}/test/{backend}_moves'
    # Each part of the report: its heading, its command, and whether a failure of that matters.
    parts = [('', f'{vendor.machine}; {vendor.build}/tool/ucd info', False),
             ('kernels', vendor.kernels, True),
             *((f'tests, ucd.peers={peers}', f'UCD_PEERS={peers} {moves}', True) for peers in ('auto', 'none')),
             ('all other tests', f'meson test -C {vendor.build} --no-rebuild --print-errorlogs', True),
             ('rates', vendor.rates, True)]
    failed = False
    with open(f'{backend}-report.txt', 'w', encoding='utf-8') as report:
        print(time.ctime(), f'commit {output("git", "rev-parse", "--short", "HEAD").strip() or "unknown"}', sep='\n', file=report)
        for heading, command, matters in parts:
            print(f'\n== {heading}' if heading else '', file=report, flush=True)
            status = subprocess.run(command, shell=True, check=False, stdout=report, stderr=subprocess.STDOUT).returncode
            failed |= matters and status != 0
        outcome = 'SOMETHING FAILED' if failed else 'all passed'
        print(f'\n{outcome}', file=report)
    print(outcome)
    return 1 if failed else 0
