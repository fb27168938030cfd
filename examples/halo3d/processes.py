"""Starts the processes of halo3d, and waits for them."""

import os
import pathlib
import subprocess
import time

# With these, UCX tells of a process that has died: docs/reference/errors.md.
SETTINGS = {"UCX_TLS": "sm,self,tcp", "UCX_KEEPALIVE_INTERVAL": "1s"}
FOR_SHARED_MEMORY = {"UCX_MM_ERROR_HANDLING": "y", "UCX_MM_FIFO_SIZE": "4096"}


def settings() -> dict[str, str]:
    """The environment, with the settings that the user has not set."""
    chosen = SETTINGS | os.environ
    # UCX warns of a setting that none of its transports takes.
    if any(name in chosen["UCX_TLS"] for name in ("sm", "shm", "posix", "sysv")):
        chosen = FOR_SHARED_MEMORY | chosen
    return chosen


def start(program, field, shape, count, options=(), prefix=lambda rank: (), **popen):
    """Starts count processes on a file of doubles; prefix(rank) is what comes before the program."""
    team = pathlib.Path(f"{field}.team")
    team.unlink(missing_ok=True)
    sizes = "x".join(str(size) for size in shape)
    popen.setdefault("env", settings())
    return [
        subprocess.Popen(  # pylint: disable=consider-using-with
            [*prefix(rank), program, "--rank", str(rank), "--processes", str(count)]
            + ["--team", str(team), "--shape", sizes, *options, str(field)],
            **popen,
        )
        for rank in range(count)
    ]


def wait(started, seconds=3600):
    """Returns how they have ended. One that fails ends alone: the others find that out."""
    deadline = time.monotonic() + seconds
    try:
        # UCX takes a process that was killed for alive until it was asked how it ended: ask all.
        while None in [process.poll() for process in started] and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [process.returncode for process in started]
