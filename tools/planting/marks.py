"""Places that the sources say change nothing but the time that something takes.

    // performance only: WHY        on lines of its own: the function, statement or declaration that begins below it
    count > 8) { // performance only: WHY        at the end of a line: that line

A mark goes on in the comment lines that follow it. The copy of the sources has no marks, so that a mark does not let
anything be compiled anew.
"""

import dataclasses
import re

MARK = re.compile(rb'[ \t]*// performance only: *(.*)$')
MORE = re.compile(rb'[ \t]*// ?(.*)$')


@dataclasses.dataclass(eq=False)
class Mark:
    file: str
    line: int  # in the source
    row: int  # the line that it is about, in the text without marks, from 0
    below: bool  # all that begins in that row, not that line only
    why: str
    begin: int = 0  # what it covers, in the text without marks
    end: int = 0


def without_marks(file, text):
    """The text without its marks; for each of its lines, its number in the source; the marks."""
    kept, numbers, marks, open_mark = [], [], [], None
    for number, line in enumerate(text.split(b'\n'), 1):
        more = MORE.fullmatch(line) if open_mark else None
        found = MARK.search(line)
        if found:
            before = line[:found.start()]
            open_mark = Mark(file, number, len(kept), not before, found[1].decode())
            marks.append(open_mark)
            if not before:
                continue
            line = before
        elif more:
            open_mark.why += ' ' + more[1].decode()
            continue
        else:
            open_mark = None
        kept.append(line)
        numbers.append(number)
    return b'\n'.join(kept), numbers, marks


def spread(marks, text, tree):
    """Works out what each mark covers."""
    starts = [0]
    for line in text.split(b'\n'):
        starts.append(starts[-1] + len(line) + 1)
    for mark in marks:
        mark.begin, mark.end = starts[mark.row], starts[mark.row + 1]
        if not mark.below:
            continue
        line = text[mark.begin:mark.end]
        first = mark.begin + len(line) - len(line.lstrip())
        node = tree.root_node.descendant_for_byte_range(first, first)
        while node.parent is not None and node.parent.parent is not None and node.parent.start_byte == first:
            node = node.parent
        if node.start_byte == first:
            mark.end = node.end_byte


def mark_of(marks, start):
    return next((m for m in marks if m.begin <= start < m.end), None)
