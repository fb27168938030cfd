#!/usr/bin/env python3
"""Writes include/ucd_prefix.h, which gives the functions of the other public headers a prefix.

    codegen/prefix_header.py [--check]

The headers are the only place where the functions are listed. With --check, changes nothing and fails if the file is out of date.
"""

import re
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "include"
PREFIX_HEADER = INCLUDE / "ucd_prefix.h"
DECLARED = re.compile(r"^UCD_(?:\w+_)?API [^;]*?\b((?:ucd|yaksa)_\w+)\(", re.M)
HANDLE = re.compile(r"^typedef struct (\w+) \*\w+;", re.M)

TOP = """\
/*
 * ucd_prefix.h - other names for the functions of UCD, for programs with several copies of it.
 *
 * If UCD_PREFIX is defined (-DUCD_PREFIX=my_), ucd.h and the other headers include this one: each
 * function has that prefix then (my_ucd_pack), while the source code still says ucd_pack. UCD must
 * have been built with the same prefix (meson setup -Dsymbol_prefix=my_). Constants and types keep
 * their names.
 *
 * Made by codegen/prefix_header.py from the other headers.
 */
#ifndef UCD_PREFIX_H_INCLUDED
#define UCD_PREFIX_H_INCLUDED

/* clang-format off */

#define UCD_JOINED(prefix, name) prefix##name
#define UCD_PREFIXED(prefix, name) UCD_JOINED(prefix, name)
"""
BOTTOM = """
/* clang-format on */

#endif /* UCD_PREFIX_H_INCLUDED */
"""


def defines(names):
    width = max(map(len, names))
    return "".join(f"#define {name:{width}} UCD_PREFIXED(UCD_PREFIX, {name})\n" for name in names)


def prefix_header():
    text, handles = TOP, []
    for header in sorted(INCLUDE.rglob("*.h"), key=lambda path: (path.name != "ucd.h", str(path))):
        declarations = header.read_text()
        functions = DECLARED.findall(declarations)
        handles += HANDLE.findall(declarations)
        if functions:
            text += f"\n/* {header.relative_to(INCLUDE)} */\n" + defines(functions)
    text += "\n/* What handles point to. UCD's code has classes of these names. */\n" + defines(handles)
    return text + BOTTOM


def main():
    text = prefix_header()
    if sys.argv[1:] == ["--check"]:
        if PREFIX_HEADER.read_text() != text:
            sys.exit(f"{PREFIX_HEADER} is out of date: run codegen/prefix_header.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PREFIX_HEADER.write_text(text)


if __name__ == "__main__":
    main()
