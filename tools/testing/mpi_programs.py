"""Runs MPI programs that nobody here wrote, unmodified, with libucd-mpi-preload and without, and compares.

    tools/test mpi-programs [--build DIRECTORY] [--venvs DIRECTORY] [--rounds N] [--only TEXT] [--library NAME]

For each program and each MPI library it prints a line of a table: whether the results are the same, how many bytes were
taken over (of all processes, in one run), and the plain time divided by the time with UCD: the shortest of N runs each,
in turns; of the whole program, or of what it times itself (heat, heat3d, mpi4py-fft, PnetCDF, OSU, ghosts). "-" means
that the program is not here. A program says something about UCD only if bytes were taken over. Programs are started by
ucd-mpi-run.

It installs nothing. What it finds is tried, with Debian's MPICH and Open MPI and, where tools/install-packages has
put them, with MPICH 5, Intel MPI and Open MPI 5 (mpich-5, intel, openmpi-5):
  Debian   hpcc (HPL, PTRANS and others; Open MPI), scalapack-mpi-test (testers of ScaLAPACK and BLACS),
           libhdf5-mpich-dev and libhdf5-openmpi-dev (a small program that writes and reads a file), libpnetcdf-dev
           (Open MPI, another such program)
  PyPI     mpi4py's own tests and mpi4py-fft: virtual environments DIRECTORY/venv-mpich and DIRECTORY/venv-openmpi, each
           with mpi4py built for that MPI, numpy and mpi4py-fft, or DIRECTORY/venv with mpi4py's wheel, which serves all
           libraries but Debian's MPICH; and mpi4py's source distribution unpacked as DIRECTORY/mpi4py-VERSION. Also
           heat, which needs PyTorch (Debian: python3-torch, for heat 1.3 and numpy 1): where Python finds them,
           PYTHONPATH may say. Intel MPI's wheel (impi-rt) has Intel's MPI benchmarks
  sources  DIRECTORY/osu-KIND/osu_latency and osu_alltoall of the OSU micro-benchmarks from version 7 on,
           PnetCDF installed in DIRECTORY/pnetcdf-KIND, DIRECTORY/ghosts-KIND/CartExchange_VectorTypes of
           chapter 8 of "Essentials of Parallel Computing", and DIRECTORY/heat3d-KIND/heat_mpi of CSC's heat equation in
           three dimensions with -DMPI_DATATYPES, for KIND mpich, openmpi and abi (compiled with mpicc_abi); for KIND mpich
           and openmpi also DIRECTORY/lare3d-KIND/lare3d with 64 x 48 x 48 cells, 60 steps and nprocx = 2, and
           DIRECTORY/ddtbench-openmpi/ddtbench, the one in Fortran
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Callable, NamedTuple, Optional

from commands import ROOT, parser

ENVIRONMENT = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_btl': 'self,vader',
    'OMPI_MCA_pml': 'ob1',
    'OMPI_MCA_mpi_yield_when_idle': '1',
    'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
    'FI_PROVIDER': 'shm',
    'UCX_TLS': 'sm,self',
    'OMP_NUM_THREADS': '1',
    'OPENBLAS_NUM_THREADS': '1',
}
TIMED = re.compile(r'^(?:seconds: |.*Timing is .* total |Iteration took )([\d.]+)', re.M)
TAKEN = re.compile(r'^libucd-mpi-preload: rank \d+: MPI_\w+: (\d+) taken over, (\d+) bytes', re.M)
LIMIT = 300  # seconds of one run
PROGRAMS = pathlib.Path(__file__).resolve().parent / 'programs'


class Library(NamedTuple):
    name: str
    kind: str  # of programs that are compiled for it
    launcher: str
    folder: Optional[pathlib.Path] = None  # of one outside the system's path

    def environment(self, *folders):
        """`folders`: of more libraries."""
        return {'LD_LIBRARY_PATH': ':'.join(map(str, [*([self.folder / 'lib'] if self.folder else []), *folders]))}


LIBRARIES = [
    Library('mpich', 'mpich', 'mpiexec.mpich'),
    Library('openmpi', 'openmpi', 'mpiexec.openmpi'),
    *[Library(name, kind, str(ROOT / folder / 'bin/mpiexec'), ROOT / folder)
      for name, kind, folder in (('mpich-5', 'abi', '.mpi5'), ('intel', 'abi', '.mpi-impi-rt'),
                                 ('openmpi-5', 'openmpi', '.mpi-openmpi'))],
]


class Program(NamedTuple):
    name: str
    command: list
    result: Callable  # of the working directory and the output: what must be the same
    inputs: dict = {}
    processes: int = 2
    status: int = 0  # with which it ends if all is well


def numbers_of_hpcc(directory, _):
    text = (directory / 'hpccoutf.txt').read_text()
    wanted = re.findall(r'^(?:HPL.*(?:PASSED|FAILED).*|PTRANS_residual=.*|HPL_RnormI=.*|HPL_N=.*|'
                        r'.*_error=.*|Success=.*)$', text, re.M)
    return wanted + sorted(set(re.findall(r'PASSED|FAILED', text)))  # PTRANS is run as often as there is time


def verdicts(_, output):
    return re.findall(r'PASSED|FAILED', output)


def without_times(_, output):
    """What ScaLAPACK's testers print, without columns of times and rates."""
    return [line.split()[:6] + line.split()[-1:] if re.match(r'\s*(WALL|CPU)', line) else line
            for line in output.splitlines() if re.search('PASSED|FAILED|tests|residual', line)
            and not re.match(r'\s*(WALL|CPU)\s+\d', line)] + re.findall('PASSED|FAILED', output)


def whole_output(_, output):
    return output.strip().splitlines()


def outcomes(_, output):
    return sorted(re.findall(r'.*\d TESTS; .*FAILED\.$', output, re.M))


def passes(_, output):
    """Of unittest, on each process: lines of processes mix, so only the sums count."""
    return sorted(re.findall(r'Ran \d+ tests', output) + re.findall(r'OK \(skipped=\d+\)|OK$|FAILED \(.*?\)', output, re.M))


def without_rates(_, output):
    """Of a benchmark that measures only: its sizes, from lines that begin with one."""
    return re.findall(r'^ *(\d+) ', output, re.M)


def without_timings(_, output):
    return [line for line in output.splitlines() if 'Timing is' not in line]


def averages(_, output):
    return re.findall(r'Average temperature.*', output)


def energies(directory, _):
    return [(directory / 'Data/en.dat').read_bytes()]


def kinds_of_measurements(directory, _):
    """Of DDTBench: each test, how it packs, and its bytes."""
    return sorted({tuple(line.split()[:3]) for line in (directory / 'ddtbench.out').read_text().splitlines()})


def can_import(python, module, library):
    return python.exists() and subprocess.run([python, '-c', f'import {module}'], check=False, capture_output=True,
                                              env=os.environ | ENVIRONMENT | library.environment()).returncode == 0


def input_of(name):
    return {name: (PROGRAMS / name).read_text()}


def compiled(room, name, source, command):
    """The path of a program that may not be there, because its compiler or a library is not."""
    program = room / name
    if not program.exists() and shutil.which(command[0]):
        subprocess.run([command[0], PROGRAMS / source, '-o', name, *command[1:]], cwd=room, check=False, capture_output=True)
    return program


def for_two_processes(name, text):
    """Inputs of BLACS's tester: two of its five precisions, and grids of two processes."""
    if name == 'bt.dat':
        text = re.sub(r'^5(\s+Number of precisions)', r'2\1', text, flags=re.M)
        return re.sub(r"^'I' 'S' 'D' 'C' 'Z'", "'I' 'D'", text, flags=re.M)
    for what, values in {'Number of grids': '2', 'NPROW': '2 1', 'NPCOL': '1 2'}.items():
        text = re.sub(rf'^[0-9 ]*\d( +{what})', rf'{values}\1', text, flags=re.M)
    return text


def of_debian(library, venvs, room):
    """Programs of packages, one that needs a package, and those that need Debian's compilers of Fortran."""
    mpi = library.name
    if mpi == 'openmpi':
        yield Program('hpcc', ['/usr/bin/hpcc'], numbers_of_hpcc, input_of('hpccinf.txt'))
    testers = pathlib.Path(f'/usr/lib/x86_64-linux-gnu/scalapack/{mpi}-tests')
    yield Program('ScaLAPACK: xdlu, 800 unknowns', [testers / 'xdlu'], without_times, input_of('LU.dat'))
    # Processes of MPICH never wait idly: four of them take minutes on two cores.
    grid = 2 if mpi == 'mpich' else 4
    yield Program('ScaLAPACK: xdhseqr, 500 eigenvalues', [testers / 'xdhseqr'], verdicts, processes=grid)
    blacs = testers / 'BLACS'
    # Its last test is that BLACS_ABORT ends all processes; so they print no statistics.
    inputs = {path.name: path.read_text() for path in blacs.glob('*.dat')}
    if grid == 2:
        inputs = {name: for_two_processes(name, text) for name, text in inputs.items()}
    yield Program('BLACS: xCbtest', [blacs / 'xCbtest'], outcomes, inputs, processes=grid, status=255)
    yield Program('Lare3d: 64 x 48 x 48', [venvs / f'lare3d-{mpi}/lare3d'], energies, {'Data/.keep': ''})
    if mpi == 'openmpi':  # MPICH refuses a null pointer that it passes
        yield Program('DDTBench: 2 x 50 runs', [venvs / 'ddtbench-openmpi/ddtbench', 2, 50], kinds_of_measurements)
    yield Program('HDF5: blocks of a matrix', [compiled(room, f'hdf5-{mpi}', 'hdf5.c', [f'h5pcc.{mpi}'])], whole_output)


def programs(library, venvs, room):
    if library.folder is None:
        yield from of_debian(library, venvs, room)
    compiler = str(ROOT / '.mpi5/bin/mpicc_abi') if library.kind == 'abi' else f'mpicc.{library.kind}'
    own = venvs / f'pnetcdf-{library.kind}'
    paths = [f'-I{own}/include', f'-L{own}/lib'] if own.exists() else []
    pnetcdf = compiled(room, f'pnetcdf-{library.kind}', 'pnetcdf.c', [compiler, '-O2', *paths, '-lpnetcdf'])
    if library.name == 'openmpi-5' and not own.exists():
        pnetcdf = '/none'  # Debian's needs more of Open MPI 4
    for rows, columns, rounds in ((8000, 1, 200), (100000, 1, 20), (100000, 2, 20), (200, 1000, 20)):
        yield Program(f'PnetCDF: {rows} x {columns}', [pnetcdf, rows, columns, rounds], whole_output)
    osu = venvs / f'osu-{library.kind}'
    for name, *arguments in (('osu_latency', '-D', 'vect:128:8'), ('osu_latency', '-T', 'mpi_float', '-D', 'vect:4:2'),
                             ('osu_alltoall', '-T', 'mpi_float', '-D', 'vect:4:2')):
        yield Program(f'OSU: {name} {" ".join(arguments)}',
                      [osu / name, '-m', '65536:262144', '-i', '50', '-x', '5', *arguments], without_rates)
    ghosts = venvs / f'ghosts-{library.kind}'
    for cells in ('-i 32 -j 2000', '-i 2000 -j 2000'):  # the narrow one prints its field
        yield Program(f'ghosts: {cells}', [ghosts / 'CartExchange_VectorTypes', *cells.split(), '-x', 2, '-y', 1],
                      without_timings)
    if library.name not in ('mpich', 'mpich-5'):  # eight of their processes take minutes on two cores, too
        yield Program('heat3d: 128 x 128 x 128, eight processes',
                      [venvs / f'heat3d-{library.kind}/heat_mpi', 128, 128, 128, 300], averages, processes=8)
    if library.name in ('intel', 'mpich-5'):
        yield Program('Intel MPI benchmarks: MPI1', [ROOT / '.mpi-impi-rt/bin/IMB-MPI1', '-iter', '20', '-msglog', '8:16',
                                                     '-time', '2', 'PingPong', 'Exchange', 'Alltoall'], without_rates)
    own = venvs / f'venv-{library.name}'
    # The wheel does not look for MPICH by Debian's name.
    python = (own if own.exists() or library.name == 'mpich' else venvs / 'venv') / 'bin/python'
    tests = sorted(venvs.glob('mpi4py-*/test/main.py')) or [venvs / 'mpi4py/test/main.py']
    for names in ('test_datatype', 'test_pack', 'test_p2p_buf', 'test_cco_vec', 'test_cco_ngh_buf'):
        found = python if tests[0].exists() else '/none'
        yield Program(f'mpi4py: {names}', [found, tests[0], '-v', '-i', names], passes)
    fft = PROGRAMS / 'fft.py'
    interpreter = python if can_import(python, 'mpi4py_fft', library) else '/none'
    yield Program('mpi4py-fft: three dimensions', [interpreter, fft, 'float', '64x64x64', '48x50x52'], whole_output)
    # Each process has a few columns of the transform: short rows.
    yield Program('mpi4py-fft: 8192 x 8, five processes', [interpreter, fft, 'float', '8192x8'], whole_output, processes=5)
    yield Program('mpi4py-fft: 32768 x 4, complex, four processes', [interpreter, fft, 'complex', '32768x4'], whole_output,
                  processes=4)
    yield Program('mpi4py-fft: 65536 x 2, complex', [interpreter, fft, 'complex', '65536x2'], whole_output)
    heat = PROGRAMS / 'heat_program.py'
    interpreter = python if can_import(python, 'heat', library) else '/none'
    for work, n, rounds in (('gather', 1000, 20), ('gather', 250, 200), ('transpose', 1000, 20)):
        yield Program(f'heat: {work}, {n} x {n}', [interpreter, heat, work, n, rounds], whole_output)


def installed_run(build, room):
    """ucd-mpi-run, with its libraries where it looks for them once it is installed."""
    text = (build / 'src/mpi/ucd-mpi-run').read_text()
    script = room / 'bin/ucd-mpi-run'
    libraries = room / 'bin' / re.search(r'dirname [^)]*\)"\)/([^"]*)"', text).group(1)
    script.parent.mkdir()
    libraries.resolve().mkdir(parents=True)
    for path in (build / 'src/mpi').glob('libucd-mpi-preload-*.so'):
        (libraries / path.name).symlink_to(path.resolve())
    script.write_text(text)
    script.chmod(0o755)
    return script


def run(program, library, run_script, build):
    """Seconds, the result, and bytes taken over."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for path, text in program.inputs.items():
            (directory / path).parent.mkdir(exist_ok=True)
            (directory / path).write_text(text)
        environment = os.environ | ENVIRONMENT | library.environment(build / 'src') | {'UCD_MPI_STATS': '1'}
        launcher = [library.launcher, '-n', str(program.processes)]
        with_library = [run_script] if run_script else []
        begin = time.monotonic()
        done = subprocess.run([*launcher, *with_library, *map(str, program.command)], cwd=directory, env=environment,
                              capture_output=True, text=True, check=False, timeout=LIMIT)
        seconds = time.monotonic() - begin
        if done.returncode != program.status:
            return seconds, [f'it returned {done.returncode}', done.stderr[-2000:]], 0
        # MPICH 4 counts types that the program, and so the library, still has at the end.
        output = re.sub(r'^(?:libucd-mpi-preload:|\[WARNING\] yaksa:|seconds:).*\n?', '', done.stdout + done.stderr, flags=re.M)
        timed_itself = TIMED.search(done.stdout + done.stderr)
        if timed_itself:
            seconds = float(timed_itself.group(1))
        elif program.result == without_rates: # size and microseconds
            seconds = sum(map(float, re.findall(r'^ *\d+ +([\d.]+)', done.stdout, re.M)))
        taken = sum(int(size) for _, size in TAKEN.findall(done.stderr))
        return seconds, program.result(directory, output), taken


def main():
    given = parser(__doc__)
    given.add_argument('--build', type=pathlib.Path, default='build')
    given.add_argument('--venvs', type=pathlib.Path, default='.')
    given.add_argument('--rounds', type=int, default=3)
    given.add_argument('--only', default='')
    given.add_argument('--library', choices=[library.name for library in LIBRARIES])
    options = given.parse_args()
    print('| program | MPI | same results | bytes taken over | plain time / time with UCD |\n|---|---|---|---|---|')
    differs = False
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        build = options.build.resolve()
        run_script = installed_run(build, room)
        for library in LIBRARIES:
            if options.library not in (None, library.name):
                continue
            mpi = library.name
            for program in programs(library, options.venvs.resolve(), room):
                if options.only not in program.name:
                    continue
                if not shutil.which(library.launcher) or not pathlib.Path(program.command[0]).exists():
                    print(f'| {program.name} | {mpi} | - | - | - |', flush=True)
                    continue
                try:
                    rounds = [(run(program, library, None, build), run(program, library, run_script, build))
                              for _ in range(options.rounds)]
                except subprocess.TimeoutExpired:
                    print(f'| {program.name} | {mpi} | - | - | longer than {LIMIT} s |', flush=True)
                    continue
                same = all(plain[1] == ours[1] and plain[1] for plain, ours in rounds)
                differs |= not same
                for plain, ours in rounds:
                    if plain[1] != ours[1]:
                        print(f'{program.name}: plain {plain[1]}\nwith UCD {ours[1]}', file=sys.stderr)
                ratio = min(plain[0] for plain, _ in rounds) / min(ours[0] for _, ours in rounds)
                print(f'| {program.name} | {mpi} | {"yes" if same else "NO"} | {rounds[0][1][2]} | {ratio:.2f} |', flush=True)
    return 1 if differs else 0
