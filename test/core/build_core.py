"""Builds the host core by CMake for tests: build_core.py MAKE_CORE FOLDER LIBRARY DEPFILE UNOPTIMISED COMPILER...

Writes the tree to FOLDER/tree, as users get it, builds it in FOLDER/build with all instruction sets, and copies the library
to LIBRARY. DEPFILE names what the tree is made of. UNOPTIMISED is ON or OFF, as the tree's option of CMake.
"""

import os
import pathlib
import shutil
import subprocess
import sys


def main():
    make_core, folder, library, depfile, unoptimised, *compiler = sys.argv[1:]
    folder = pathlib.Path(folder)
    tree, build = folder / 'tree', folder / 'build'
    subprocess.run([sys.executable, make_core, '--with', 'yaksa', tree], check=True)
    launcher = [f'-DCMAKE_CXX_COMPILER_LAUNCHER={compiler[0]}'] if len(compiler) > 1 else []
    # Ninja is there, as Meson needs it; make need not be.
    quiet = {'check': True, 'stdout': subprocess.DEVNULL}
    subprocess.run(['cmake', '-S', tree, '-B', build, '-G', 'Ninja', f'-DUCD_UNOPTIMISED={unoptimised}',
                    f'-DCMAKE_CXX_COMPILER={compiler[-1]}', *launcher], **quiet)
    subprocess.run(['cmake', '--build', build, '--parallel', str(os.cpu_count())], **quiet)
    shutil.copyfile(build / 'libucd_core.a', library)

    root = pathlib.Path(make_core).resolve().parent.parent
    sources = [path for name in ('codegen', 'core', 'include', 'src') for path in (root / name).rglob('*') if path.is_file()]
    names = [str(path).replace(' ', '\\ ') for path in [pathlib.Path(make_core), *sources]]
    pathlib.Path(depfile).write_text(f'{library}: ' + ' '.join(names) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
