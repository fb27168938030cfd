"""The README's two commands from nothing, on distributions that debootstrap makes. Prints a record of what ran and how it ended.

    tools/test distributions bookworm trixie            # Debian 12 and 13, from the mirror that apt uses here
    tools/test distributions noble --mirror URL         # Ubuntu 24.04, from a mirror of Ubuntu
    tools/test distributions bookworm --quick           # the second command with --quick
    tools/test distributions trixie --record FILE       # the record goes there, too

Needs root, debootstrap and a network, and 12 GB in --folder for each. A system has nothing but its smallest set of packages, git and
sudo; the commands install the rest. What is committed is cloned into it. The commands run there as root, in a mount namespace, with
this machine's network and settings of proxies and of pip. Ends with 0 if both commands passed on each.
"""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

from commands import ROOT, fail, output, parser

PASSED_ON = ('http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'PIP_INDEX_URL',
             'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'PIP_CERT', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE')
# How names are resolved, and whom this machine's clients trust.
COPIED = ('etc/resolv.conf', 'etc/hosts', 'etc/pip.conf', 'etc/apt/apt.conf.d', 'etc/ssl/certs/ca-certificates.crt')
COUNT = re.compile(r'\d+ passed, \d+ failed')
PARTS = ('g++', 'libc6', 'libstdc++6', 'meson', 'python3', 'libucx0', 'libmpich-dev', 'libopenmpi-dev', 'catch2')


def mirror_of_apt():
    """The first in apt's sources that is a distribution's."""
    files = [pathlib.Path('/etc/apt/sources.list'), *pathlib.Path('/etc/apt/sources.list.d').glob('*')]
    text = '\n'.join(file.read_text() for file in files if file.is_file())
    found = re.search(r'^(?:deb(?: \[.*\])?|URIs:) +(\S+/(?:debian|ubuntu))/?\s', text, re.MULTILINE)
    return found.group(1) if found else fail('apt has no sources; --mirror names one')


def make_system(suite, folder, mirror):
    """A new system with a clone of the repository in /ucd."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(['debootstrap', '--variant=minbase', '--include=git,sudo,ca-certificates', suite, str(folder), mirror],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if made.returncode != 0:
        fail(f'debootstrap made no {suite}:\n{made.stdout[-2000:]}')
    for name in COPIED:
        source, target = pathlib.Path('/') / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)
    subprocess.run(['git', 'clone', '-q', '--no-hardlinks', ROOT, folder / 'ucd'], check=True)


def inside(folder, *command, **more):
    """Runs a command in the system, in the clone."""
    mounts = '; '.join(f'mount --rbind /{name} {folder}/{name}' for name in ('proc', 'sys', 'dev'))
    script = f'{mounts}; exec chroot {folder} /usr/bin/env -C /ucd "$@"'
    settings = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    return subprocess.run(['unshare', '--mount', 'sh', '-ec', script, 'sh', *command], check=False, text=True,
                          env={'PATH': path, 'HOME': '/root', 'LANG': 'C.UTF-8', **settings}, **more)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder, log, *command):
    """A line of the record about one of the README's commands, and whether it passed."""
    began, used = time.monotonic(), processor_seconds()
    with open(log, 'w', encoding='utf-8') as file:
        status = inside(folder, *command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT).returncode
    text = log.read_text(errors='replace')
    said = COUNT.findall(text)[-1:] or text.rstrip().splitlines()[-1:] or ['nothing']
    return status == 0, (f'`{" ".join(command)}`: {"passed" if status == 0 else f"FAILED with {status}"}, '
                         f'{time.monotonic() - began:.0f} s, {processor_seconds() - used:.0f} s of processors; it ends with "{said[0]}"')


def try_on(suite, folder, mirror, tests):
    """The record of one distribution, and whether all passed."""
    make_system(suite, folder, mirror)
    passed, lines = zip(run(folder, folder.with_suffix('.example.log'), 'tools/run-example'),
                        run(folder, folder.with_suffix('.tests.log'), *tests))
    name = re.search(r'PRETTY_NAME="(.*)"', (folder / 'etc/os-release').read_text()).group(1)
    found = inside(folder, 'dpkg-query', '-W', '-f=${Package} ${Version}, ', *PARTS, capture_output=True).stdout
    return all(passed), '\n'.join([f'## {name}', '', *(f'* {line}' for line in (*lines, found.rstrip(', ')))])


def main():
    given = parser(__doc__)
    given.add_argument('suites', nargs='+', metavar='SUITE', help='as debootstrap calls them')
    given.add_argument('--mirror', help="where packages come from (the first of apt's sources)")
    given.add_argument('--folder', type=pathlib.Path, default=pathlib.Path('/var/tmp/ucd-distributions'), help='where they are')
    given.add_argument('--record', type=pathlib.Path, help='a file for the record')
    given.add_argument('--quick', action='store_true', help='the second command is tools/run-tests --quick')
    options = given.parse_args()
    if os.geteuid() != 0:
        fail('chroot and mount need root')
    if shutil.which('debootstrap') is None:
        fail('there is no debootstrap')
    tests = ('tools/run-tests', *(['--quick'] if options.quick else []))
    commit = output('git', 'rev-parse', 'HEAD').strip()
    processors = os.cpu_count()
    record, passed = [f'The README\'s two commands from nothing, at {commit}, with {processors} processors.'], True
    for suite in options.suites:
        fine, text = try_on(suite, options.folder / suite, options.mirror or mirror_of_apt(), tests)
        passed &= fine
        record.append(text)
        print(text, flush=True)
        if options.record:
            options.record.write_text('\n\n'.join(record) + '\n')
    return 0 if passed else 1


if __name__ == '__main__':
    sys.exit(main())
