"""Makes a web site of the documents, with search and an API reference from the public headers: FOLDER

Needs mkdocs (Debian: mkdocs). Links between documents work as in the repository; functions that a
page names link to the API reference. Fails if a link leads nowhere.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import reference
from pages import ROOT, files, folders, outside_code, with_links

API = pathlib.PurePath('docs/reference/api')
COPIED = {'.md', '.svg', '.csv'}
NAME = re.compile(r'(?<!\[)`(ucd_\w+)(?:\(\))?`(?!\])')


def page_of_header(name):
    return API / (name.removesuffix('.h') + '.md')


def functions_in(stage):
    """Where the API reference describes what."""
    places = {}
    for page in sorted((stage / API).glob('*.md')):
        for name in re.findall(r'^### (ucd_\w+)$', page.read_text(), re.M):
            places.setdefault(name, API / page.name)
    return places


class Site:
    def __init__(self, stage):
        self.stage = stage

    def copy(self, name):
        (self.stage / name).parent.mkdir(parents=True, exist_ok=True)
        if not (self.stage / name).exists():
            shutil.copyfile(ROOT / name, self.stage / name)

    def list_folder(self, folder):
        """A page with the files of a folder that has no README."""
        page = self.stage / folder / 'README.md'
        if page.exists():
            return
        lines = [f'# {folder}', '']
        for name in (n for n in files() if n.startswith(folder + '/')):
            self.copy(name)
            inside = name[len(folder) + 1:]
            lines.append(f'* [{inside}]({inside})')
        page.write_text('\n'.join(lines) + '\n')

    def target(self, name):
        """The file of the site that stands for a file or folder of the repository."""
        path = pathlib.PurePath(name)
        if path.parts[0] == 'include' and path.suffix in ('.h', '.hpp'):
            return str(page_of_header(path.name))
        if name in folders():
            self.list_folder(name)
            return f'{name}/README.md'
        if name in files():
            self.copy(name)
        return name

    def link(self, page, picture, text, path, heading):
        return f'{picture}[{text}]({os.path.relpath(self.target(path), os.path.dirname(page) or ".")}{heading})'

    def add_page(self, name, functions):
        def name_to_link(match):
            place = functions.get(match.group(1))
            if place is None:
                return match.group()
            address = os.path.relpath(place, os.path.dirname(name) or '.')
            return f'[{match.group()}]({address}#{match.group(1)})'

        def change(text):
            text = with_links(name, text, functools.partial(self.link, name))
            return '\n'.join(line if line.startswith('#') else NAME.sub(name_to_link, line) for line in text.split('\n'))

        # Code blocks, which come at odd places, stay as they are.
        page = self.stage / name
        page.write_text(outside_code(page.read_text(), change))


def navigation(stage):
    """The sections of docs/README.md, and the pages that their tables list."""
    index = (ROOT / 'docs/README.md').read_text()
    nav = [{'UCD': 'README.md'}, {'All documents': 'docs/README.md'}]
    for section in re.split(r'^## ', index, flags=re.M)[1:]:
        title, _, body = section.partition('\n')
        links = re.findall(r'\[([^\]]+)\]\(([a-z]+/[^)#]+\.md)\)', body)
        pages = [{re.sub('`', '', text): f'docs/{path}'} for text, path in links]
        if pages:
            nav.append({title: pages})
    api = [{p.name.removesuffix('.md'): str(p.relative_to(stage))} for p in sorted((stage / API).glob('*.md'))]
    nav.append({'API': api})
    return nav


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    mkdocs = shutil.which('mkdocs')
    if mkdocs is None:
        sys.exit('there is no mkdocs (Debian: mkdocs)')
    folder = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as room:
        stage = pathlib.Path(room) / 'pages'
        site = Site(stage)
        for name in files():
            if pathlib.PurePath(name).suffix in COPIED:
                site.copy(name)
        reference.write(stage / API)
        functions = functions_in(stage)
        for name in (n for n in files() if n.endswith('.md')):
            site.add_page(name, functions)
        config = pathlib.Path(room) / 'mkdocs.yml'
        config.write_text(json.dumps({
            'site_name': 'UCD', 'docs_dir': str(stage), 'use_directory_urls': False,
            'theme': {'name': 'readthedocs', 'highlightjs': False},
            'nav': navigation(stage), 'markdown_extensions': ['tables', 'fenced_code', 'toc']}))
        done = subprocess.run([mkdocs, 'build', '--strict', '--clean', '-f', config, '-d', folder],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit('\n'.join(line for line in (done.stdout + done.stderr).splitlines()
                               if not line.startswith(('INFO', '  - '))))
