"""What C programs do, for comparison: calls.c, compiled when a benchmark begins."""

import ctypes
import pathlib
import subprocess
import tempfile

import ucd  # noqa: F401 -- loads libucd


def _libucd():
    """The libucd that ucd uses."""
    with open('/proc/self/maps') as maps:
        return next(line.split()[-1] for line in maps if '/libucd.so' in line)


def c_program():
    """The functions of calls.c."""
    here = pathlib.Path(__file__).parent
    library = _libucd()
    with tempfile.TemporaryDirectory() as folder:
        made = f'{folder}/calls.so'
        command = ['cc', '-O2', '-shared', '-fPIC', f'-I{here.parent.parent}/include', here / 'calls.c', library]
        subprocess.run([*command, f'-Wl,-rpath,{pathlib.Path(library).parent}', '-o', made], check=True)
        calls = ctypes.CDLL(made)
    integer, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    calls.view_type.restype = pointer
    calls.view_type.argtypes = [ctypes.c_int, pointer, pointer]
    for name, arguments in {
        'pack_seconds': [pointer, pointer, pointer, integer],
        'enqueue_seconds': [pointer, pointer, pointer, integer, pointer],
        'gather_seconds': [pointer, integer, integer, integer, pointer, integer, pointer, pointer],
    }.items():
        function = getattr(calls, name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int, *arguments]
    calls.copy_each.argtypes = [pointer, pointer, pointer, integer, integer, pointer]
    return calls


def extents(numbers):
    """A list of extents for C."""
    return (ctypes.c_ssize_t * len(numbers))(*numbers)
