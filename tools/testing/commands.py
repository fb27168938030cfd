"""Commands that tests of several kinds run."""

import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parser(text):
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def fail(text, status=1):
    print(f'{os.path.basename(sys.argv[0])}: {text}', file=sys.stderr)
    sys.exit(status)


def run(*command, **more):
    """Ends with a failure if the command does."""
    print('+', *command, flush=True)
    if subprocess.run([str(part) for part in command], cwd=ROOT, check=False, **more).returncode != 0:
        fail(f'this failed: {" ".join(map(str, command))}')


def output(*command):
    """What a command prints; '' where it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    except (OSError, subprocess.CalledProcessError):
        return ''


def configure(folder, *options, source=ROOT):
    if not (folder / 'build.ninja').exists():
        run('meson', 'setup', folder, source, *options)


def prefer_distribution():
    """The distribution's Meson comes first: its Python is the one that tools/install-packages installs packages for."""
    os.environ['PATH'] = '/usr/bin:' + os.environ['PATH']
