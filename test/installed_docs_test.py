"""The documents that docs/meson.build installs: all pages for users, with an index, and without links that lead nowhere.
Nothing has to be built: the list is read, and tools/docs installed writes the pages."""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / 'docs/meson.build'
DOCS = pathlib.PurePath('share/doc/ucd')
LINK = re.compile(r'\]\(([^)\s]+)\)')
CODE_BLOCK = re.compile(r'^```.*?^```$', re.M | re.S)


def installed_folders(text):
    """The dictionary of that name, which is written as Python writes it."""
    return ast.literal_eval(re.search(r'^installed_folders = (\{.*?^\})', text, re.M | re.S)[1])


def installed(text):
    """For each file of the repository, its path below the prefix."""
    files = {'CHANGELOG.md': DOCS / 'CHANGELOG.md'}
    for folder, what in installed_folders(text).items():
        files |= {f'{folder}/{name}': DOCS / what['to'] / name for name in what['files']}
    for header in (ROOT / 'include').rglob('*.h*'):
        files[str(header.relative_to(ROOT))] = pathlib.PurePath(header.relative_to(ROOT))
    return files


def headings(text):
    """The anchors of a page's headings, as GitHub makes them."""
    plain = [re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title) for title in re.findall(r'^#+ +(.+?)\s*$', text, re.M)]
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in plain}


def install(files, prefix):
    """Copies the files, and writes the pages as they are installed."""
    with tempfile.TemporaryDirectory() as written:
        targets = [f'{source}={place}' for source, place in files.items()]
        subprocess.run([sys.executable, ROOT / 'tools/docs', 'installed', written, *targets], check=True)
        for source, place in files.items():
            (prefix / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(pathlib.Path(written) / place.name if source.endswith('.md') else ROOT / source, prefix / place)


def broken_links(prefix):
    """A line for each link of the installed pages that leads to nothing that is installed, or to no heading."""
    found = []
    for page in sorted((prefix / DOCS).rglob('*.md')):
        for address in LINK.findall(CODE_BLOCK.sub('', page.read_text())):
            path, _, heading = address.partition('#')
            if re.match('[a-z]+:', address):
                continue
            target = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
            if prefix not in target.parents or not target.exists():
                found.append(f'{page.relative_to(prefix)}: {address} leads nowhere')
            elif heading and target.suffix == '.md' and heading not in headings(target.read_text()):
                found.append(f'{page.relative_to(prefix)}: {address} is no heading')
    return found


class InstalledDocuments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.prefix = pathlib.Path(room.name).resolve()
        cls.files = installed(BUILD.read_text())
        install(cls.files, cls.prefix)

    def test_all_pages_for_users_are_installed(self):
        pages = {str(page.relative_to(ROOT)) for kind in ('guide', 'reference') for page in (ROOT / 'docs' / kind).rglob('*')
                 if page.is_file()}
        self.assertEqual(pages - set(self.files), set())

    def test_links_may_lead_to_all_headers(self):
        listed = set(re.findall(r"'([\w/-]+\.hp?p?)'", BUILD.read_text()))
        self.assertEqual({str(h.relative_to(ROOT / 'include')) for h in (ROOT / 'include').rglob('*.h*')} - listed, set())

    def test_the_index_leads_to_each_page(self):
        listed = {os.path.normpath(address) for address in LINK.findall((self.prefix / DOCS / 'README.md').read_text())}
        for kind in ('guide', 'reference'):
            pages = {f'{kind}/{page.name}' for page in (self.prefix / DOCS / kind).glob('*.md')}
            self.assertGreater(len(pages), 5)
            self.assertEqual(pages - listed, set())

    def test_no_link_leads_nowhere(self):
        self.assertEqual(broken_links(self.prefix), [])

    def test_planted_links_are_found(self):
        with tempfile.TemporaryDirectory() as room:
            prefix = pathlib.Path(room).resolve()
            (prefix / DOCS).mkdir(parents=True)
            (prefix / DOCS / 'a.md').write_text('# A b\n[x](#a-b) [y](https://a.b) [z](b.md) [w](#c) [v](../../../../etc)\n')
            self.assertEqual(broken_links(prefix), [f'{DOCS}/a.md: b.md leads nowhere', f'{DOCS}/a.md: #c is no heading',
                                                    f'{DOCS}/a.md: ../../../../etc leads nowhere'])


if __name__ == '__main__':
    unittest.main()
