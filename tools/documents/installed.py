"""Writes documents as they are installed: FOLDER SOURCE=INSTALLED...

SOURCE is a file of the repository, INSTALLED its path below the prefix. Each SOURCE that is a page (.md) is written to FOLDER,
under its installed name. Its links lead to where their targets are installed. Where the target is not installed, the link
becomes its text and the target's path in the sources.
"""

import os
import pathlib
import sys

from pages import ROOT, outside_code, with_links


def with_folders(installed):
    """Files, and the folders around them that have the same name where they are installed."""
    places = dict(installed)
    for source, place in installed.items():
        source, place = pathlib.PurePath(source), pathlib.PurePath(place)
        while source.name == place.name and source.name:
            places.setdefault(str(source), str(place))
            source, place = source.parent, place.parent
    return places


def rewritten(page, places):
    def link(picture, text, target, heading):
        if target in places:
            return f'{picture}[{text}]({os.path.relpath(places[target], os.path.dirname(places[page]))}{heading})'
        return f'{text} of the sources' if text.strip('`') == target else f'{text} (`{target}` of the sources)'

    return outside_code((ROOT / page).read_text(), lambda text: with_links(page, text, link))


def main():
    folder = pathlib.Path(sys.argv[1])
    installed = dict(argument.split('=') for argument in sys.argv[2:])
    places = with_folders(installed)
    for page, place in installed.items():
        if page.endswith('.md'):
            (folder / os.path.basename(place)).write_text(rewritten(page, places))
