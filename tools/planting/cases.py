"""Runs a test that is a script of unittest, and writes of its cases what listener.h writes of those of a Catch2 program.

    cases.py SCRIPT ARGUMENT...

PLANTED_CASES has the names of the cases that are run, one a line; without it, all are. Programs that a case starts, by
launchers of MPI too, leave what they reach in the file that PLANTED_MAP names.
"""

import importlib.util
import json
import os
import sys
import time
import unittest


def loaded(path):
    """The script as a module, so that it does not run its tests by itself. It finds the modules beside it."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location('planted_script', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def cases_of(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases_of(each)
        else:
            yield each


def taken(path):
    """What was reached since the last time."""
    with open(path, 'r+b') as file:
        reached = [number for number, byte in enumerate(file.read()) if byte]
        for number in reached:
            file.seek(number)
            file.write(b'\0')
    return reached


def main():
    del sys.argv[:1]
    reached_at, log = os.environ.get('PLANTED_MAP'), os.environ.get('PLANTED_LOG')
    os.environ['PLANTED_OWNER'] = str(os.getpid())  # programs of Catch2 that it starts write nothing to the log
    wanted = os.environ.get('PLANTED_CASES')
    for case in cases_of(unittest.defaultTestLoader.loadTestsFromModule(loaded(sys.argv[0]))):
        name = case.id().partition('.')[2]
        if wanted is not None and name not in wanted.split('\n'):
            continue
        start = time.monotonic()
        result = unittest.TextTestRunner().run(unittest.TestSuite([case]))
        if reached_at:
            entry = {'case': name, 'seconds': time.monotonic() - start, 'passed': result.wasSuccessful(),
                     'reached': taken(reached_at)}
            with open(log, 'a') as file:
                file.write(json.dumps(entry) + '\n')
        elif not result.wasSuccessful():
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
