"""The files of the repository, the links of its pages, and what is written anew."""

import functools
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE_BLOCK = re.compile(r'(^```.*?^```$)', re.M | re.S)
LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)\s]+)\)')


@functools.lru_cache(maxsize=None)
def files():
    """The paths of all files, as the documents write them."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        # No build directories, and nothing of tools such as git.
        folders[:] = sorted(f for f in folders if not f.startswith('.') and f != '__pycache__'
                            and not (folder == str(ROOT) and f.startswith('build'))
                            and not os.path.isdir(os.path.join(folder, f, 'meson-private')))
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(found)


@functools.lru_cache(maxsize=None)
def folders():
    return {str(parent) for path in files() for parent in pathlib.PurePath(path).parents}


def outside_code(text, change):
    """A page with its text changed, but not its code blocks."""
    parts = CODE_BLOCK.split(text)
    parts[::2] = [change(part) for part in parts[::2]]
    return ''.join(parts)


def with_links(page, text, link):
    """A page's text with link(picture, text, path, heading) in place of each link to a file."""
    def replaced(match):
        picture, shown, address = match.groups()
        if re.match('[a-z]+:', address) or address.startswith('#'):
            return match.group()
        path, hash_, heading = address.partition('#')
        return link(picture, shown, os.path.normpath(os.path.join(os.path.dirname(page), path)), hash_ + heading)
    return LINK.sub(replaced, text)


def update(path, text, command):
    """Writes a file, or removes it where there is no text. With --check, fails if that would change anything."""
    if text == (path.read_text() if path.is_file() else None):
        return
    if '--check' in sys.argv:
        sys.exit(f'{path.relative_to(ROOT)} is out of date: run tools/docs {command}')
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
