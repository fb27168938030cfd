"""Runs notebooks without Jupyter: code cells of plain Python, whose last expression is the output.

usage: notebooks.py FILE.ipynb ...   runs them, and writes what their cells show into them
"""

import ast
import contextlib
import io
import json
import pathlib
import sys


def lines(text):
    return text.splitlines(keepends=True)


def run(source, names, number):
    """What a cell shows, as a notebook stores it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f'cell {number}', 'exec'), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f'cell {number}', 'eval'), names)
    outputs = []
    if printed.getvalue():
        outputs.append({'name': 'stdout', 'output_type': 'stream', 'text': lines(printed.getvalue())})
    if value is not None:
        data = {'text/plain': lines(repr(value))}
        picture = value._repr_svg_() if hasattr(value, '_repr_svg_') else None
        if picture is not None:
            data['image/svg+xml'] = lines(picture)
        outputs.append({'data': data, 'execution_count': number, 'metadata': {}, 'output_type': 'execute_result'})
    return outputs


def executed(notebook):
    """A notebook with the outputs of this run."""
    names, cells = {'__name__': '__main__'}, []
    for cell in notebook['cells']:
        if cell['cell_type'] == 'code':
            number = 1 + sum(c['cell_type'] == 'code' for c in cells)
            cell = {**cell, 'execution_count': number, 'outputs': run(''.join(cell['source']), names, number)}
        cells.append(cell)
    return {**notebook, 'cells': cells}


if __name__ == '__main__':
    for path in map(pathlib.Path, sys.argv[1:]):
        path.write_text(json.dumps(executed(json.loads(path.read_text())), indent=1, ensure_ascii=False) + '\n')
