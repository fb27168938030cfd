"""Draws the parts and rooms of the library and who includes whom, into docs/internals/rooms.svg. With
--check, changes nothing and fails if the picture is out of date.

A part is a folder of src/ or src/backend/, or include/. A room is a folder of a part. An arrow leads from
what includes to what is included; it is left out where other arrows lead there anyway.
"""

import pathlib
import re
import sys

from pages import ROOT, update

PICTURE = ROOT / 'docs/internals/rooms.svg'
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
# Each GPU vendor has its own: what is compiled over it belongs to no vendor.
OF_EACH_VENDOR = {'vendor.h', 'tuning.h'}

ROOM_HEIGHT, ROOM_GAP, LEVEL_GAP = 30, 18, 30
PART_GAP, PART_LEVEL_GAP, PADDING, TITLE = 28, 46, 18, 26
LETTER = 7.6


def part_folders():
    backends = ROOT / 'src/backend'
    folders = [p for p in (ROOT / 'src').iterdir() if p.is_dir() and p != backends]
    folders += [p for p in backends.iterdir() if p.is_dir()]
    return sorted(folders) + [ROOT / 'include']


def room_of(path, part):
    """The name of a file's room: the part's own where it has none, the file's own beside rooms.
    Public headers are one room."""
    inside = path.relative_to(part).parts
    if part == ROOT / 'include':
        return part.name
    if len(inside) > 1:
        return inside[0]
    return path.stem if any(p.is_dir() for p in part.iterdir()) else part.name


def included_file(path, name, part, parts):
    """The file of ours that a file of a part includes by a name, and the part that it is in."""
    if (path.parent / name).is_file():
        return path.parent / name, part
    for other in [part] + [p for p in parts if p != part]:
        if (other / name).is_file() and (other == part or name not in OF_EACH_VENDOR):
            return other / name, other
    return None, None


def read_includes():
    """The rooms of each part, and the arrows between the parts and within each of them."""
    parts = part_folders()
    rooms, between, within = {}, set(), {}
    for part in parts:
        rooms[part.name], within[part.name] = set(), set()
        for path in sorted(p for p in part.rglob('*') if p.suffix in {'.h', '.hpp', '.cpp', '.c', '.cu'}):
            room = room_of(path, part)
            rooms[part.name].add(room)
            for name in INCLUDE.findall(path.read_text()):
                target, other = included_file(path, name, part, parts)
                if target is None:
                    continue
                if other != part:
                    between.add((part.name, other.name))
                elif room_of(target, part) != room:
                    within[part.name].add((room, room_of(target, part)))
    return {part: sorted(names) for part, names in rooms.items() if names}, between, within


def levels(names, arrows):
    """The length of the longest way to each."""
    level = dict.fromkeys(names, 0)
    for _ in names:
        for source, target in arrows:
            level[target] = max(level[target], level[source] + 1)
    circle = sorted({name for a, b in arrows if level[b] <= level[a] for name in (a, b)})
    if circle:
        sys.exit(f'tools/docs rooms: these include each other: {", ".join(circle)}')
    return level


def without_detours(arrows):
    """The arrows, without those between what is connected by others as well."""
    def reaches(source, target, seen):
        return any(b == target or (b not in seen and reaches(b, target, seen | {b}))
                   for a, b in arrows if a == source)
    return sorted((a, b) for a, b in arrows
                  if not any(a2 == a and b2 != b and reaches(b2, b, {b2}) for a2, b2 in arrows))


class Graph:
    """Boxes in levels, from above to below, and the arrows between them."""

    def __init__(self, sizes, arrows, gap, level_gap):
        self.sizes = dict(sizes)
        level = levels(sorted(sizes), sorted(arrows))
        self.arrows = without_detours(arrows)
        # An arrow that passes a level has a place of its own there, so that it crosses no box.
        self.paths = []
        for a, b in self.arrows:
            stops = [(a, b, at) for at in range(level[a] + 1, level[b])]
            for stop in stops:
                self.sizes[stop] = (0, 0)
                level[stop] = stop[2]
            self.paths.append([a, *stops, b])
        self.rows = [[] for _ in range(max(level.values()) + 1)]
        for name in sorted(self.sizes, key=str):
            self.rows[level[name]].append(name)
        self.sort_rows()
        self.place(gap, level_gap)

    def sort_rows(self):
        """Puts each box near what it is connected with."""
        steps = [step for path in self.paths for step in zip(path, path[1:])]
        for _ in range(4):
            for here in list(range(1, len(self.rows))) + list(range(len(self.rows) - 2, -1, -1)):
                place = {name: (i + 0.5) / len(row) for row in self.rows for i, name in enumerate(row)}

                def wish(name):
                    near = [place[b if a == name else a] for a, b in steps if name in (a, b)]
                    return (round(sum(near) / len(near), 6) if near else place[name], str(name))
                self.rows[here].sort(key=wish)

    def place(self, gap, level_gap):
        widths = [sum(self.sizes[n][0] for n in row) + gap * (len(row) - 1) for row in self.rows]
        self.width, self.at, self.row_ends, y = max(widths), {}, {}, 0
        for row, width in zip(self.rows, widths):
            height = max(self.sizes[n][1] for n in row)
            x = (self.width - width) / 2
            for name in row:
                self.at[name] = (x, y)
                self.row_ends[name] = (y, y + height)
                x += self.sizes[name][0] + gap
            y += height + level_gap
        self.height = y - level_gap

    def lines(self):
        """The points of each arrow, in pairs: it is straight within a level, and bends between two."""
        for path in self.paths:
            points = []
            for name in path:
                x, y = self.at[name]
                w, h = self.sizes[name]
                top, bottom = self.row_ends[name]
                if name == path[0]:
                    points += [(x + w / 2, y + h), (x + w / 2, bottom)]
                elif name == path[-1]:
                    points.append((x + w / 2, y))
                else:
                    points += [(x, top), (x, bottom)]
            yield points


def number(value):
    return f'{value:.1f}'.removesuffix('.0')


def arrow(points, dx, dy):
    moved = [(x + dx, y + dy) for x, y in points]
    path = f'M{number(moved[0][0])} {number(moved[0][1])}'
    for (x1, y1), (x2, y2) in zip(moved, moved[1:]):
        bend = (y2 - y1) / 2
        path += ' C' + ' '.join(number(v) for v in (x1, y1 + bend, x2, y2 - bend, x2, y2))
    return f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>'


def box(x, y, w, h, fill):
    return (f'<rect x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="4" fill="{fill}" '
            'stroke="#888"/>')


def label(x, y, text, size, weight='normal'):
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="middle" font-size="{size}" font-weight="{weight}">{text}</text>'


def draw():
    rooms, between, within = read_includes()
    inner, sizes = {}, {}
    for part, names in rooms.items():
        least = len(part) * LETTER * 1.2 + 2 * PADDING
        if names == [part]:
            sizes[part] = (least, ROOM_HEIGHT + PADDING)
            continue
        inner[part] = Graph({n: (len(n) * LETTER + 20, ROOM_HEIGHT) for n in names}, within[part], ROOM_GAP, LEVEL_GAP)
        sizes[part] = (max(least, inner[part].width + 2 * PADDING), inner[part].height + PADDING + TITLE)
    outer = Graph(sizes, {(a, b) for a, b in between if a in rooms and b in rooms}, PART_GAP, PART_LEVEL_GAP)
    width, height = outer.width + 2 * PADDING, outer.height + 2 * PADDING
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
           f'width="{number(width)}" height="{number(height)}" font-family="sans-serif">',
           '<title>The parts and rooms of the library: arrows lead to what is included</title>',
           '<!-- Written by tools/docs rooms. -->',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 Z" fill="#555"/></marker></defs>',
           f'<rect width="{number(width)}" height="{number(height)}" fill="white"/>']
    for part in rooms:
        x, y = outer.at[part][0] + PADDING, outer.at[part][1] + PADDING
        w, h = sizes[part]
        svg.append(box(x, y, w, h, '#f2f5f9'))
        if part not in inner:
            svg.append(label(x + w / 2, y + h / 2 + 5, part, 14, 'bold'))
            continue
        svg.append(label(x + w / 2, y + 18, part, 14, 'bold'))
        graph = inner[part]
        dx, dy = x + (w - graph.width) / 2, y + TITLE
        for room in rooms[part]:
            rx, ry = graph.at[room][0] + dx, graph.at[room][1] + dy
            svg.append(box(rx, ry, *graph.sizes[room], 'white'))
            svg.append(label(rx + graph.sizes[room][0] / 2, ry + ROOM_HEIGHT / 2 + 4, room, 13))
        svg += [arrow(points, dx, dy) for points in graph.lines()]
    svg += [arrow(points, PADDING, PADDING) for points in outer.lines()]
    return '\n'.join(svg) + '\n</svg>\n'


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit(__doc__)
    update(PICTURE, draw(), 'rooms')
