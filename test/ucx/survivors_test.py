"""One of eight processes that exchange faces in each step is killed, or stopped: each of the others is told
so by UCX, or gives up, and ends by no signal.

usage: survivors_test.py HALO3D [RUNS]
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "examples/halo3d"))
import processes  # pylint: disable=wrong-import-position

EDGE = 192  # faces of more than 64 KiB
# Pieces go by rendezvous, as in the table of docs/reference/errors.md.
PIECES = {"UCX_RNDV_THRESH": "16k"}
OPTIONS = ["--steps", "1000000", "--piece", "65536", "--patience", "10"]
LOST = 3


def start(program: str, field: pathlib.Path, transports: str) -> list[subprocess.Popen]:
    """Returns when the processes exchange faces."""
    os.environ.update({"UCX_TLS": transports} | PIECES)
    started = processes.start(program, field, (EDGE,) * 3, 8, OPTIONS, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    for line in started[0].stdout:
        if line.startswith("+z"):  # what is printed before the first step
            break
    return started


def lose(program: str, transports: str, number: signal.Signals) -> None:
    with tempfile.TemporaryDirectory() as folder:
        field = pathlib.Path(folder) / "field"
        field.touch()
        os.truncate(field, EDGE**3 * 8)
        started = start(program, field, transports)
        lost = started.pop(LOST)
        time.sleep(0.5)  # UCX often tells nobody of a process that is killed in the first exchange
        lost.send_signal(number)
        at = time.monotonic()
        if number == signal.SIGKILL:
            lost.wait()  # else UCX takes it for alive
        ends = processes.wait(started, 100)
        took = time.monotonic() - at
        said = [process.communicate()[1] for process in started]
        lost.kill()
        lost.communicate()
    if ends != [1] * 7:
        raise RuntimeError(f"over {transports} the processes ended with {ends}: {said}")
    told = sum("have not answered" not in text for text in said)
    print(f"{number.name} over {transports}: {told} were told, {7 - told} gave up, within {took:.1f} s", flush=True)


def main() -> int:
    for transports in ("sm,self", "posix,sysv,self", "tcp,self"):
        for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
            lose(sys.argv[1], transports, signal.SIGKILL)
    lose(sys.argv[1], "sm,self", signal.SIGSTOP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
