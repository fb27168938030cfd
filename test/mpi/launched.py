"""Programs of several processes, and what libucd-mpi-preload says of their calls with UCD_MPI_STATS=1."""

import os
import re
import subprocess

LINE = re.compile(r'rank (\d): MPI_(\w+): (\d+) taken over, (\d+) bytes; (\d+) left')


class Launcher:
    """Runs programs by mpiexec. Returns what they print; raises if they end otherwise than expected."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *command, processes=2, status=0, **environment):
        done = subprocess.run([self.path, '-n', str(processes), *map(str, command)], env=os.environ | environment,
                              capture_output=True, text=True, check=False, timeout=120)
        if (done.returncode != 0) != (status != 0):
            raise AssertionError(f'{command} returned {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout + done.stderr


def taken_over(text):
    """Calls that were taken over, by name, of all processes."""
    taken = {}
    for _, call, count, _, _ in LINE.findall(text):
        taken[call] = taken.get(call, 0) + int(count)
    return taken
