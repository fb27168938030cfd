"""The packages as a whole: imports, stubs, names, examples, and what the guides show."""

import ast
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import types

import notebooks
import pytest

import ucd
import ucd_models

SOURCE = pathlib.Path(os.environ.get('UCD_SOURCE', pathlib.Path(__file__).parents[2]))
PACKAGES = {ucd: SOURCE / 'python/ucd', ucd_models: SOURCE / 'python-models/ucd_models'}
EXTENSIONS = {'_core': PACKAGES[ucd], '_routes': PACKAGES[ucd_models]}
each_package = pytest.mark.parametrize('package', PACKAGES, ids=lambda package: package.__name__)


def run(*arguments, **options):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_imported_that_was_not_handed_in():
    heavy = {'numpy', 'torch', 'cupy', 'numba', 'mpi4py', 'asyncio'}
    program = f'import sys, ucd_models; print(*({heavy} & set(sys.modules)))'
    assert run('-c', program).split() == []


def test_without_numpy():
    program = """
import array, sys
sys.modules['numpy'] = None
import ucd
view = memoryview(b'abcdef')[::2]
assert bytes(ucd.pack(view)) == b'ace'
assert ucd.boxes(0, ucd.Type.vector(3, 1, 2, 'float32')).tolist() == [[0, 4, 3, 8, 0]]
assert len(ucd.iov(view)) == 3 and len(ucd.iov(0, ucd.Type.contiguous(0, 'int8'))) == 0
assert bytes(ucd.gather(memoryview(b'abcd'), memoryview(bytearray(b'\\x02\\0\\0\\0')).cast('i'))) == b'c'
for kind in 'iIqQ':
    strided = memoryview(array.array(kind, [3, 9, 1, 9]))[::2]
    assert bytes(ucd.gather(memoryview(b'abcd'), strided)) == b'db'
assert bytes(ucd.pack(bytes(range(6)), type=ucd.slice_type((2, 3), ':, 1', 'uint8'))) == b'\\x01\\x04'
"""
    run('-c', program)


@pytest.mark.parametrize('version, free_threaded, stable', [((3, 11), 0, False), ((3, 12), 0, True), ((3, 13), 1, False)])
def test_which_wheels_use_the_stable_abi(monkeypatch, version, free_threaded, stable):
    """Up to the settings that meson-python gets: no Python but the one of the tests is at hand."""
    hooks = ('build_sdist', 'build_wheel', 'build_editable', 'get_requires_for_build_editable',
             'get_requires_for_build_sdist', 'get_requires_for_build_wheel')  # fmt: skip
    given = []
    mesonpy = types.SimpleNamespace(**dict.fromkeys(hooks, lambda folder, settings, metadata: given.append(settings)))
    monkeypatch.setitem(sys.modules, 'mesonpy', mesonpy)
    backend = runpy.run_path(str(SOURCE / 'python/build_backend.py'))
    monkeypatch.setattr(sys, 'version_info', version)
    monkeypatch.setattr(backend['sysconfig'], 'get_config_var', {'Py_GIL_DISABLED': free_threaded}.get)
    backend['build_wheel']('folder', {'setup-args': '-Da=b'})
    allowed = f'-Dpython.allow_limited_api={"true" if stable else "false"}'
    assert given == [{'setup-args': ['-Da=b', allowed]}]


@each_package
def test_names(package):
    assert all(hasattr(package, name) for name in package.__all__)
    public = [getattr(package, name) for name in package.__all__]
    assert all(thing.__doc__ for thing in public if callable(thing))


def imports_of(path, package):
    """The modules of the package that one imports anywhere, for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or '').startswith(f'{package}.'):
            yield node.module.removeprefix(f'{package}.')


@each_package
def test_no_module_imports_itself_by_way_of_others(package):
    paths = [path for path in PACKAGES[package].glob('*.py') if path.stem != '__init__']
    imports = {path.stem: set(imports_of(path, package.__name__)) for path in paths}
    while lowest := {name for name, needs in imports.items() if not needs & imports.keys()}:
        for name in lowest:
            del imports[name]
    assert not imports, 'these import each other'


def test_models_use_public_names_of_ucd_alone():
    """Those of ucd.__all__, of public modules, and of what these give."""
    for path in PACKAGES[ucd_models].glob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == 'ucd':
                assert node.attr in ucd.__all__, (path.name, node.attr)
        for name in imports_of(path, 'ucd'):
            module = PACKAGES[ucd] / f'{name}.py'
            assert name in ucd.__all__ or not name.startswith('_') and module.exists(), (path.name, name)


def test_names_of_before():
    names = [name for name in ucd_models.__all__ if name not in ('Scales', 'cast', 'copy', 'weights')]  # which are new
    program = f"""
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    import sys, ucd
    assert 'ucd_models' not in sys.modules and ucd.FLOAT is ucd.types.FLOAT
    from ucd import BYTE, cache, Shard
    from ucd.cache import Format
    from ucd.checkpoint import open
    import ucd_models
    assert all(getattr(ucd, name) is getattr(ucd_models, name) for name in {names} if name not in ('cache', 'checkpoint'))
    assert Shard is ucd_models.Shard and cache is ucd_models.cache and Format is cache.Format
assert all(w.category is DeprecationWarning and w.filename == '<string>' for w in said), said
print(*dict.fromkeys(str(w.message) for w in said), sep='\\n')
"""
    told = run('-c', program).splitlines()
    assert 'ucd.FLOAT is ucd.types.FLOAT now' in told and 'ucd.cache is ucd_models.cache now' in told
    assert 'ucd.Shard is ucd_models.Shard now' in told and len(told) == len(names) + 2
    with pytest.raises(AttributeError, match="module 'ucd' has no attribute 'Sharded'"):
        ucd.Sharded
    run('-c', """
import sys, ucd
sys.path = [folder for folder in sys.path if 'python-models' not in folder]
try:
    ucd.redistribute
except ImportError as error:
    assert str(error) == 'ucd_models is in a package of its own: pip install ucd-models', error
else:
    raise AssertionError
""")


def examples(ending):
    return pytest.mark.parametrize('path', sorted((SOURCE / 'examples/python').glob(f'*.{ending}')), ids=lambda p: p.stem)


@examples('py')
def test_examples(path, capsys):
    if 'mpi4py' in path.read_text():
        pytest.importorskip('mpi4py.MPI', exc_type=ImportError)
    runpy.run_path(str(path), run_name='__main__')
    assert capsys.readouterr().out


@examples('ipynb')
def test_notebooks_show_what_they_say(path):
    """If this fails with reason, python/test/notebooks.py writes them anew."""
    notebook = json.loads(path.read_text())
    assert notebooks.executed(notebook) == notebook


@pytest.mark.parametrize('page', ['python.md', 'caches.md', 'moving-a-model.md'])
def test_the_guide(page):
    """Its code blocks of one page are one program; a line that ends in a comment with => is checked."""
    text = (SOURCE / 'docs/guide' / page).read_text()
    blocks = re.findall(r'```python\n(.*?)```', text, re.S)
    names, checked = {}, 0
    for block in blocks:
        for line in block.splitlines():
            if '  # => ' in line:
                expression, expected = line.split('  # => ')
                block = block.replace(line, f'assert repr({expression}) == {expected.strip()!r}, repr({expression})')
                checked += 1
        exec(compile(block, page, 'exec'), names)
    assert checked > 3


@each_package
def test_stubs(package):
    pytest.importorskip('mypy')
    config = str(PACKAGES[package].parent / 'pyproject.toml')
    environment = {**os.environ, 'MYPYPATH': ':'.join(str(folder.parent) for folder in PACKAGES.values())}
    run('-m', 'mypy', '--config-file', config, '--cache-dir', os.devnull, '-p', package.__name__, env=environment)


def arguments_of_stubs(path):
    """The argument names of each function and method in a stub, by its name."""
    tree = ast.parse(path.read_text())
    functions = [(node.name, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        functions += [(f'{owner.name}.{n.name}', n) for n in owner.body if isinstance(n, ast.FunctionDef)]
    return {
        name: ([a.arg for a in node.args.args], [a.arg for a in node.args.kwonlyargs]) for name, node in functions
    }


@pytest.mark.parametrize('extension', [ucd._core, ucd_models._routes], ids=lambda module: module.__name__)
def test_stubs_are_those_of_the_extension(extension):
    """nanobind's docstrings begin with the signature."""
    short = extension.__name__.rpartition('.')[2]
    found = arguments_of_stubs(EXTENSIONS[short] / f'{short}.pyi')
    for name in (n for n in dir(extension) if callable(getattr(extension, n)) and not n.startswith('_')):
        thing = getattr(extension, name)
        methods = [m for m in vars(thing) if not m.startswith('_')] if isinstance(thing, type) else []
        for full in [f'{name}.{m}' for m in methods] if isinstance(thing, type) else [name]:
            assert full in found, full
            function = getattr(thing, full.partition('.')[2]) if methods else thing
            if type(function).__name__ not in ('nb_func', 'nb_method'):
                continue
            signature = re.match(r'\w+\((.*)\) -> ', function.__doc__.splitlines()[0])[1]
            names = re.findall(r'(?:^|, )(\w+|\*)(?=[:,]|$)', signature)
            star = names.index('*') if '*' in names else len(names)
            assert (names[:star], names[star + 1 :]) == found[full], full
