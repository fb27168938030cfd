"""Tests of libucd-ucx that take minutes to build; releases run them.

    tools/test ucx threads     threads that share objects, under the thread sanitizer
    tools/test ucx versions    a process of this version and one of the last release in one job, both ways round

Works in build-threads-ucx and build-versions.
"""

import os
import subprocess

from commands import ROOT, configure, fail, parser, run

THREADS, VERSIONS = ROOT / 'build-threads-ucx', ROOT / 'build-versions'
# The last release whose messages have the same version of the protocol, and its commit. A release changes them.
RELEASE, COMMIT = '0.3.1', '2bec4d0c8'
# The host library for one instruction set, which is enough to move data.
HOST_ONLY = ('-Dauto_features=disabled', '-Ducx=enabled', '-Dtests=enabled', '-Darch_seq=')
# The roles of ucx_peer, and the ways of UCX by which they meet.
TRANSPORTS = 'sm,self', 'tcp'
SECONDS = 120


def build(source, folder, *options, targets):
    configure(folder, *HOST_ONLY, *options, source=source)
    run('ninja', '-C', folder, *targets)


# UCX is not built with the sanitizer: what only its queues order is listed in ordered_by_messages.txt. With its hooks on calls
# for memory, programs crash under the sanitizer.
def test_threads():
    programs = [f'test/ucx/ucx_{name}' for name in ('test', 'parts', 'hostgpu')]
    build(ROOT, THREADS, '-Db_sanitize=thread', '-Db_lundef=false', '-Doptimization=1', targets=programs)
    suppressions = ROOT / 'test/ucx/ordered_by_messages.txt'
    environment = {**os.environ, 'UCX_TLS': 'sm,self', 'UCX_MEM_EVENTS': 'n', 'UCX_LOG_LEVEL': 'error',
                   'TSAN_OPTIONS': f'suppressions={suppressions}'}
    for program in programs:
        run(THREADS / program, '*threads*', env=environment)


def start(folder, transports):
    """A process of that build that exchanges messages with another one, and its address."""
    environment = {**os.environ, 'UCX_TLS': transports, 'UCX_LOG_LEVEL': 'error'}
    process = subprocess.Popen([folder / 'test/ucx/ucx_peer', 'exchange'], env=environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, process.stdout.readline().removeprefix('address ')


def tell(process, line):
    process.stdin.write(line)
    process.stdin.flush()


def exchange(folders, transports):
    """Whether all messages arrive, with the right bytes; ucx_peer compares them."""
    (first, address), (second, other) = (start(folder, transports) for folder in folders)
    processes = first, second
    try:
        tell(first, other)
        tell(second, address)
        said = [process.stdout.readline() for process in processes]
        for process in processes:
            tell(process, 'end\n')
        return said == ['exchanged\n'] * 2 and [process.wait(SECONDS) for process in processes] == [0, 0]
    except (BrokenPipeError, subprocess.TimeoutExpired):
        return False
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_versions():
    source, old, new = VERSIONS / 'source', VERSIONS / RELEASE, VERSIONS / 'this'
    if not source.exists():
        source.mkdir(parents=True)
        archive = subprocess.run(['git', 'archive', COMMIT], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        run('tar', 'x', '-C', source, input=archive)
    for tree, folder in ((source, old), (ROOT, new)):
        build(tree, folder, targets=['test/ucx/ucx_peer'])
    for transports in TRANSPORTS:
        for folders in ((old, new), (new, old)):
            names = ' and '.join(folder.name for folder in folders)
            if not exchange(folders, transports):
                fail(f'{names} do not exchange messages over {transports}')
            print(f'{names} exchange messages over {transports}', flush=True)


def main():
    given = parser(__doc__)
    given.add_argument('what', choices=('threads', 'versions'))
    {'threads': test_threads, 'versions': test_versions}[given.parse_args().what]()
