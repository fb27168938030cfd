"""Runs the subcommand that a command's first argument names."""

import importlib
import pathlib
import sys


def run(text, folder, names):
    """Each subcommand is the main() of a module in the folder beside this file. `text` is the command's help."""
    name = sys.argv[1] if len(sys.argv) > 1 else ''
    if name not in names:
        if name in ('-h', '--help'):
            print(text)
            sys.exit(0)
        sys.exit(text)
    # In front, so that no installed module of the same name is taken.
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / folder))
    sys.argv[:2] = [f'{sys.argv[0]} {name}']
    sys.exit(importlib.import_module(name.replace('-', '_')).main())
