"""Runs the column example and compares what it prints; and looks for its source in the README."""

import pathlib
import subprocess
import sys


def main() -> int:
    program, source, *documents = sys.argv[1:]
    done = subprocess.run([program], capture_output=True, text=True, timeout=30, check=False)
    expected = "24 bytes: 2 12 22\n"
    if (done.returncode, done.stdout, done.stderr) != (0, expected, ""):
        print(f"exit status {done.returncode}, stdout {done.stdout!r}, stderr {done.stderr!r};")
        print(f"expected exit status 0 and {expected!r}")
        return 1
    code = pathlib.Path(source).read_text()
    for document in documents:
        if code not in pathlib.Path(document).read_text():
            print(f"{document} does not quote {source} word for word")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
