"""The version is the same wherever it is written, also after tools/release has set another one."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CMAKE_PAGES = ('README.md', 'docs/guide/embedding.md', 'docs/guide/ucx.md')
FILES = (*CMAKE_PAGES, 'CHANGELOG.md', 'include/ucd.h', 'include/ucd.hpp', 'include/ucd_types.hpp', 'meson.build',
         'python/meson.build', 'python/pyproject.toml', 'python-models/meson.build', 'python-models/pyproject.toml',
         'test/c_api/abi_pins.h', 'test/support/device_code/on_threads.h',
         'tools/release')


def found(root, file, *patterns):
    """What the patterns' groups match in a file, joined by dots."""
    text = (root / file).read_text()
    return '.'.join(re.search(p, text, re.MULTILINE).group(1) for p in patterns)


def versions(root):
    parts = ('MAJOR', 'MINOR', 'PATCH')
    pins = [rf'^PIN\(UCD_VERSION_{part}, (\d+)\);' for part in parts]
    return {
        'CHANGELOG.md': found(root, 'CHANGELOG.md', r'\A# Changelog\n\n## (\S+) \('),
        'ucd.h': found(root, 'include/ucd.h', *(rf'^#define UCD_VERSION_{p} (\d+)' for p in parts)),
        'meson.build': found(root, 'meson.build', r"^    version: '(.*)',"),
        'python/meson.build': found(root, 'python/meson.build', r"^    version: '(.*)',"),
        'pyproject.toml': found(root, 'python/pyproject.toml', r"^version = '(.*)'"),
        'python-models/meson.build': found(root, 'python-models/meson.build', r"^    version: '(.*)',"),
        'pyproject.toml of models': found(root, 'python-models/pyproject.toml', r"^version = '(.*)'"),
        'dependencies of models': found(root, 'python-models/pyproject.toml', r"^dependencies = \['ucd==(.*)'\]"),
        'abi_pins.h': found(root, 'test/c_api/abi_pins.h', *pins),
        'debian/changelog': found(root, 'debian/changelog', r'\Aucd \((\S+)\)'),
    }


def library_packages(root):
    """Libraries with the versions that the packages' names have."""
    text = (root / 'debian/control').read_text()
    return set(re.findall(r'\b(libucd[a-z-]*?)(\d+(?:\.\d+)*)(?=\s)', text))


def abi_of(version):
    """By docs/reference/abi.md."""
    return version.rpartition('.')[0] if version[0] == '0' else version.partition('.')[0]


def expected_packages(root, version):
    ucx, mpi, yaksa = (abi_of(found(root, 'meson.build', rf"^    '{name}': '(.*)',")) for name in ('ucx', 'mpi', 'yaksa'))
    return {('libucd', abi_of(version)), ('libucd-ucx', ucx), ('libucd-yaksa', yaksa), ('libucd-mpi-mpich', mpi),
            ('libucd-mpi-openmpi', mpi)}


class Release(unittest.TestCase):
    def check(self, root, version):
        abi = abi_of(version)
        self.assertEqual(set(versions(root).values()), {version}, versions(root))
        self.assertEqual(library_packages(root), expected_packages(root, version))
        inner = re.findall(r'namespace v(\w+)', (root / 'test/support/device_code/on_threads.h').read_text())
        self.assertEqual(inner, [version.rpartition('.')[0].replace('.', '_')] * 2)
        inner = re.findall(r'(?:INNER_NAMESPACE |UCD_PREFIX, )v(\w+)', (root / 'include/ucd.hpp').read_text())
        self.assertEqual(inner, [abi.replace('.', '_')] * 2)
        for page in CMAKE_PAGES:
            wanted = set(re.findall(r'find_package\(ucd ([\d.]+)', (root / page).read_text()))
            self.assertEqual(wanted, {abi}, page)
        packages = {name + its_abi for name, its_abi in expected_packages(root, version)}
        self.assertEqual({f.stem for f in (root / 'debian').glob('libucd*.install')}, packages | {'libucd-dev'})
        for package in packages:
            self.assertIn(f'Package: {package}\n', (root / 'debian/control').read_text())

    def test_the_version_is_the_same_everywhere(self):
        self.check(ROOT, versions(ROOT)['meson.build'])

    def set_version(self, version, heading='0.1.0 (unreleased)'):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file in FILES:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, root / file)
            shutil.copytree(ROOT / 'debian', root / 'debian')
            build = root / 'meson.build'
            build.write_text(re.sub(r"(^    'ucx': ').*'", r"\g<1>0.61.2'", build.read_text(), flags=re.MULTILINE))
            changelog = root / 'CHANGELOG.md'
            changelog.write_text(re.sub(r'\A(# Changelog\n\n## ).*', rf'\g<1>{heading}', changelog.read_text()))
            done = subprocess.run(
                [sys.executable, root / 'tools/release', version, '--only-edit', '--date',
                 '2031-02-03'], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                self.check(root, version)
                self.assertIn(f'## {version} (2031-02-03)\n', (root / 'CHANGELOG.md').read_text())
                text = (root / 'debian/changelog').read_text()
                self.assertIn(' Mon, 03 Feb 2031 ', text)
                entries = re.findall(r'^ucd \((\S+)\)', text, re.MULTILINE)
                self.assertEqual(sorted(set(entries)), sorted(entries))
                self.assertNotIn('\n\n\n', text)
            return done

    def test_a_release_sets_it_everywhere(self):
        for version in ('1.0.0', '1.87.65', '7.0.0'):
            done = self.set_version(version)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_release_may_be_tried_again(self):
        version = versions(ROOT)['meson.build']
        done = self.set_version(version, f'{version} (2031-02-02)')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_section_of_an_earlier_release_stays(self):
        done = self.set_version('9.1.0', '9.0.0 (2030-01-02)')
        self.assertEqual(done.returncode, 1)
        self.assertIn('"## 9.1.0 (unreleased)"', done.stderr)
        self.assertEqual(self.set_version('9.1.0', '9.1.0 (2030-01-02)').returncode, 0)

    def test_what_is_no_later_version_is_refused(self):
        for version, reason in (('0.0.9', 'comes before'), ('1.0', 'is no version'),
                                ('v1.0.0', 'is no version')):
            done = self.set_version(version)
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)


if __name__ == '__main__':
    unittest.main()
