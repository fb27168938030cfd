"""Checks that halo3d fails as it should: wrong input, wrong usage, a process that dies."""

import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time

import check_trace
import numpy


ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def children_of(parent: int) -> list[int]:
    children = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_text()
        except OSError:
            continue  # it has ended
        if int(status.rpartition(")")[2].split()[1]) == parent:
            children.append(int(entry.name))
    return children


class Checks:
    def __init__(self, program: str, work: pathlib.Path) -> None:
        self.program = program
        self.work = work
        self.failures = 0

    def file(self, name: str, array: numpy.ndarray) -> str:
        path = self.work / name
        numpy.save(path, array)
        return str(path)

    def report(self, what: str, good: bool, got: str) -> None:
        print(f"{'ok' if good else 'FAILED'}: {what}: {got.strip()}", flush=True)
        self.failures += not good

    def fails(self, what: str, status: int, message: str, *arguments: str) -> None:
        """halo3d with these arguments must end with this status and say this."""
        done = subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        good = done.returncode == status and message in done.stderr
        self.report(what, good, f"status {done.returncode}: {done.stderr.splitlines()[:1]}")

    def start(self, field: str, *options: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a run without end, and returns when the processes exchange faces."""
        run = subprocess.Popen(  # pylint: disable=consider-using-with
            [self.program, "--iterations", "1000000", *options, field, self.out()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        assert run.stdout
        for line in run.stdout:
            if line.startswith("+z"):  # what is printed before the exchange
                break
        return run

    def end(self, run: subprocess.Popen[str], timeout: float) -> str:
        """What it says until it ends; it is killed if that takes too long."""
        try:
            return run.communicate(timeout=timeout)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            return "TOO LATE: " + run.communicate()[1]

    def dies(self, field: str) -> None:
        """One process is killed: the others must not wait for it for ever, nor stay behind."""
        run = self.start(field, "--processes", "3")
        time.sleep(0.2)
        children = children_of(run.pid)
        if len(children) == 3:
            os.kill(children[1], signal.SIGKILL)
        killed = time.monotonic()
        message = self.end(run, 20)
        took = time.monotonic() - killed
        left = [child for child in children if pathlib.Path(f"/proc/{child}").exists()]
        good = run.returncode == 1 and "ended by signal 9" in message and took < 10 and not left
        self.report(
            "a process is killed", good and len(children) == 3, f"{message} after {took:.2f} s"
        )

    def is_noticed(self, field: str, method: str, transports: str) -> None:
        """One process is killed: the others find that out themselves, and end by no signal. Over
        shared memory UCX may find nothing in a few runs of a hundred: then the time limit of
        transfers does."""
        run = self.start(
            field, "--processes", "8", "--method", method, "--patience", "40",
            "--transfer-timeout", "4", UCX_TLS=transports
        )
        os.kill(children_of(run.pid)[3], signal.SIGKILL)
        message = self.end(run, 60)
        ended = message.count("failed with exit status 1\n")
        good = run.returncode == 1 and ended == 7 and message.count("ended by signal") == 1
        what = f"a killed process is noticed by {method} over {transports}"
        self.report(what, good, message if not good else f"by {ended}")

    def is_given_up(self, field: str, method: str) -> None:
        """One process is stopped: it is alive, so UCX tells nobody, and the others give up."""
        run = self.start(
            field, "--processes", "8", "--method", method, "--patience", "4",
            "--transfer-timeout", "1.5",
        )
        os.kill(children_of(run.pid)[3], signal.SIGSTOP)
        message = self.end(run, 60)
        ended = message.count("failed with exit status 1\n")
        good = run.returncode == 1 and ended == 7 and message.count("has noticed nothing") == 1
        what = f"a stopped process is given up by {method}"
        self.report(what, good, message if not good else f"by {ended}")

    def leaves_the_old_output(self, field: str) -> None:
        """However a run ends early, there is no output, or the one that was there before."""
        out = pathlib.Path(self.out())
        for old in [None, b"old"]:
            for number in [*ENDING, signal.SIGKILL, None]:
                out.unlink(missing_ok=True)
                if old:
                    out.write_bytes(old)
                run = self.start(field)
                if number:
                    run.send_signal(number)
                else:
                    os.kill(children_of(run.pid)[0], signal.SIGKILL)
                message = self.end(run, 20)
                good = run.returncode == (-number if number else 1)
                good = good and (out.read_bytes() if out.exists() else None) == old
                parts = list(self.work.glob("*.part"))
                for part in parts:  # SIGKILL leaves it
                    part.unlink()
                good = good and len(parts) == (number == signal.SIGKILL)
                self.report(f"ended by {number or 'a process that dies'}", good, message)

    def keeps_permissions_and_links(self, field: str) -> None:
        out = pathlib.Path(self.out())
        real = self.work / "real.npy"
        out.unlink(missing_ok=True)
        real.write_bytes(b"old")
        real.chmod(0o640)
        out.symlink_to("real.npy")
        subprocess.run(
            [self.program, "--iterations", "1", field, str(out)], stdout=subprocess.DEVNULL, check=True
        )
        good = out.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
        self.report("a link to an old file", good and numpy.load(real).shape == (8, 8, 8), "replaced")
        out.unlink()

    def nothing_overlaps(self, good_field: str) -> None:
        """With one piece on the wire at a time none can overlap, and check_trace must say so."""
        trace = str(self.work / "trace.txt")
        command = [self.program, "--method", "pack", "--window", "1", "--iterations", "2"]
        subprocess.run(
            [*command, "--trace", trace, good_field, self.out()],
            stdout=subprocess.DEVNULL,
            timeout=60,
            check=True,
        )
        try:
            got = check_trace.check(trace)
        except check_trace.Wrong as wrong:
            got = str(wrong)
        self.report("a trace without overlap", "packed no piece between" in got, got)

    def out(self) -> str:
        return str(self.work / "out.npy")

    def run(self) -> None:
        out = self.out()
        cube = numpy.arange(512, dtype=numpy.float64).reshape(8, 8, 8)
        good = self.file("good.npy", cube)
        text = self.work / "text.npy"
        text.write_text("no field")
        cut = self.work / "cut.npy"
        cut.write_bytes(pathlib.Path(good).read_bytes()[:-8])
        float32 = self.file("float32.npy", cube.astype(numpy.float32))
        fortran = self.file("fortran.npy", numpy.asfortranarray(cube))
        flat = self.file("flat.npy", cube.reshape(64, 8))
        empty = self.file("empty.npy", cube[:0])

        self.fails("no arguments", 2, "usage:")
        self.fails("unknown option", 2, "unrecognized option", "--nonsense", good, out)
        self.fails("bad number", 2, "--processes is '0'", "--processes", "0", good, out)
        self.fails("bad method", 2, "--method is 'guess'", "--method", "guess", good, out)
        self.fails("bad grid", 2, "--grid is '2x1'", "--grid", "2x1", good, out)
        self.fails("no such input", 1, "cannot open it", str(self.work / "none.npy"), out)
        self.fails("no .npy file", 1, "is not a .npy file", str(text), out)
        self.fails("a cut file", 1, "its shape needs", str(cut), out)
        self.fails("float32", 1, "float64", float32, out)
        self.fails("Fortran order", 1, "C order", fortran, out)
        self.fails("two dimensions", 1, "three dimensions", flat, out)
        self.fails("no cells", 1, "at least 1", empty, out)
        self.fails("the same file", 1, "are the same file", good, good)
        self.fails("no such host", 1, "/run/netns/no-such-host", "--hosts", "no-such-host", good, out)
        self.fails("no such folder", 1, "cannot make it", good, str(self.work / "none" / "out.npy"))
        self.fails("too many blocks", 1, "cannot be divided", "--processes", "11", good, out)
        self.fails("wrong grid", 1, "--grid has 4 blocks", "--grid", "2x2x1", good, out)
        self.fails("time is up", 1, "after 1 s", "--timeout", "1", "--iterations", "1000000", good, out)
        self.fails("bad seconds", 2, "must be seconds", "--transfer-timeout", "2.", good, out)
        self.fails("a device", 1, "no regular file", good, "/dev/null")
        self.keeps_permissions_and_links(good)
        larger = self.file("larger.npy", numpy.zeros((64, 64, 64)))
        self.dies(larger)
        self.leaves_the_old_output(larger)
        # Faces of more than 64 KiB: some go by rendezvous.
        largest = self.file("largest.npy", numpy.zeros((192, 192, 192)))
        for transports in ["sm,self", "posix,sysv,self", "tcp,self"]:
            for method in ["pack", "pipeline"]:
                self.is_noticed(largest, method, transports)
        for method in ["pack", "pipeline"]:
            self.is_given_up(largest, method)
        self.nothing_overlaps(larger)


def main() -> int:
    for number in ENDING:  # they may be ignored here, as under nohup, and not there
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="halo3d-test.") as folder:
        checks = Checks(sys.argv[1], pathlib.Path(folder))
        checks.run()
        return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
