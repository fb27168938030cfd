"""Runs the program that guides quote, and checks that their C snippets are parts of it."""

import pathlib
import re
import subprocess
import sys
import textwrap


def main() -> int:
    program, source_path, *guide_paths = sys.argv[1:]
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    print(done.stdout, done.stderr)
    expected = ["prepared: 200 columns", "pipelined: 200 columns", "with its type of a header: 480000 bytes",
                "with its type of a message: 160000 bytes",
                "put: 200 columns", "fetch and add: 2000 became 2001", "beyond the window: "]
    bad = [f"it did not print '{text}'" for text in expected if text not in done.stdout]
    if done.returncode != 0:
        bad.append(f"exit status {done.returncode}")

    def lines(text: str) -> str:
        return "\n".join(line.strip() for line in text.splitlines())

    source = lines(pathlib.Path(source_path).read_text(encoding="utf-8"))
    for guide_path in guide_paths:
        guide = pathlib.Path(guide_path).read_text(encoding="utf-8")
        snippets = re.findall(r"```c\n(.*?)```", guide, re.S)
        if len(snippets) < 4:
            bad.append(f"{guide_path} has {len(snippets)} snippets")
        for snippet in snippets:
            if lines(textwrap.dedent(snippet)).strip() not in source:
                bad.append(f"{guide_path}: no part of {source_path}:\n{snippet}")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
