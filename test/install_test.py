"""Installs the built tree, and builds and runs an example against it by pkg-config alone."""

import os
import pathlib
import subprocess
import sys
import tempfile

build, source, prefix, compiler = sys.argv[1:5]


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as root:
        run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', root)
        installed = pathlib.Path(root + prefix)
        for header in ('ucd.h', 'ucd.hpp'):
            assert (installed / 'include' / header).is_file(), f'{header} is not installed'
        pc = next(installed.rglob('ucd.pc'))
        environment = os.environ | {'PKG_CONFIG_PATH': str(pc.parent),
                                    'PKG_CONFIG_SYSROOT_DIR': root}
        flags = run('pkg-config', '--cflags', '--libs', 'ucd', env=environment).split()
        library = next(installed.rglob('libucd.so')).parent
        program = pathlib.Path(root) / 'column'
        run(*compiler.split(), '-std=c11', '-o', program, source, *flags)
        environment['LD_LIBRARY_PATH'] = str(library)
        printed = run(program, env=environment)
        assert printed == '24 bytes: 2 12 22\n', printed
        # Embedders must be able to load it anywhere.
        needed = [line.split('[')[1].split(']')[0]
                  for line in run('readelf', '-d', library / 'libucd.so').splitlines()
                  if 'NEEDED' in line]
        allowed = {'libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libc.so.6',
                   'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
        assert set(needed) <= allowed, f'libucd needs {needed}'


if __name__ == '__main__':
    main()
