"""Looks whether each sentence of a page of promises names what tests it.

A comment behind the sentence does: <!-- test: NAME; NAME "TEXT" -->. NAME is a test of Meson or a file of tests, TEXT a part of
that file, or of any test, such as the name of a case. In a table, the first cell is the promise. A section whose first line is
<!-- no promise: WHY --> says nothing that a test could show.
"""

import functools
import re

from pages import ROOT, files

PAGES = {'SECURITY.md', 'guarantees.md'}

COMMENT = re.compile(r'<!--\s*(.*?)\s*-->', re.S)
SECOND_SENTENCE = re.compile(r'[.!?]\s+[A-Z`\[(*]')
# What a sentence may have that is none of its words; what is left shows where sentences end.
NOT_PROSE = [(re.compile(r'`[^`]*`'), 'code'), (re.compile(r'\]\([^)]*\)'), ']'), (re.compile(r'\*\*[^*]*[.:]\*\*'), '')]


@functools.cache
def tests():
    """The paths of tests and what builds them, with their texts."""
    in_tests = [p for p in files() if re.match(r'(test|python/test|python-models/test)/', p)]
    return {p: (ROOT / p).read_text(errors='replace') for p in in_tests}


@functools.cache
def names():
    """The names that Meson's files give to tests, and the parts of those that they put together."""
    return {name for path, text in tests().items() if path.endswith('meson.build') for name in re.findall(r"'([^'\n]+)'", text)}


def is_test(name):
    """Whether there is such a test, such a file, or such a command of tools/test."""
    if '/' in name:
        return (ROOT / name.split()[0]).exists()
    return name in names() or any(name[:at] in names() and name[at:] in names() for at in range(1, len(name)))


def is_written(text, name):
    return any(text in there for path, there in tests().items() if '/' not in name or path == name)


def wrong_names(comment):
    """What the names of a comment lack."""
    for entry in comment.removeprefix('test:').split(';'):
        name, _, text = entry.strip().partition('"')
        name, text = name.strip(), text.rstrip('"')
        if not is_test(name):
            yield f'there is no test {name}'
        elif text and not is_written(text, name):
            yield f'no test {name} has "{text}"'


def blocks(text):
    """Paragraphs, items of lists and first cells of tables, each with its position; None at each heading."""
    lines, start, block, in_code = text.splitlines(keepends=True), 0, '', False
    position = 0
    for line, following in zip(lines, lines[1:] + ['']):
        fence = line.startswith(('```', '~~~'))
        begins = re.match(r'\s*([*-]|\d+\.) |#|\|', line) or not line.strip() or fence
        if begins and block:
            yield start, block
            block = ''
        in_code ^= fence
        if line.startswith('#'):
            yield position, None
        elif line.startswith('|'):
            if not re.match(r'\|[\s:|-]+\|$', line) and not re.match(r'\|[\s:|-]+\|$', following):
                yield position, line.split(' | ')[0].strip(' |\n')
        elif line.strip() and not in_code and not fence:
            start, block = (start, block + line) if block else (position, re.sub(r'^\s*([*-]|\d+\.) ', '', line))
        position += len(line)
    if block:
        yield start, block


def problems(text):
    """What is wrong with a page of promises, each with its position."""
    promises = True
    for position, block in blocks(text):
        if block is None:
            promises = True
            continue
        comments = COMMENT.findall(block)
        promises &= not any(c.startswith('no promise:') for c in comments)
        if not promises:
            continue
        for comment in comments:
            yield from ((position, problem) for problem in wrong_names(comment))
        prose = COMMENT.sub('\0', block)
        for expression, by in NOT_PROSE:
            prose = expression.sub(by, prose)
        *named, last = prose.split('\0')
        if last.strip() and not last.strip().endswith(':') or any(SECOND_SENTENCE.search(part) for part in [*named, last]):
            yield position, 'a sentence names no test'
