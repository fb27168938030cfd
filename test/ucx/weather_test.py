"""Transfers between two hosts, made of network namespaces, whose network is slow, short of room, or far
away and loses packets. Skipped (77) where that is not allowed."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import threading

from hosts import Hosts, Unavailable
from relay import Relay

sys.path.append(str(pathlib.Path(__file__).parents[2] / "examples/halo3d"))
import processes  # pylint: disable=wrong-import-position

PEER, HALO3D = sys.argv[1:3]
LIMIT = 60  # seconds for an exchange


def line_with(peer: subprocess.Popen, start: str) -> str:
    for line in peer.stdout:
        if line.startswith(start):
            return line[len(start):].strip()
    raise RuntimeError(f"a peer ended before it said '{start}'")


def start(hosts: Hosts, i: int) -> subprocess.Popen:
    return subprocess.Popen(["ip", "netns", "exec", hosts.names[i], PEER, "exchange"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env=hosts.environment())


def exchange(hosts: Hosts) -> None:
    peers = [start(hosts, i) for i in range(2)]
    clock = threading.Timer(LIMIT, lambda: [p.kill() for p in peers])
    clock.start()
    try:
        addresses = [line_with(p, "address ") for p in peers]
        for peer, address in zip(peers, reversed(addresses)):
            peer.stdin.write(address + "\n")
            peer.stdin.flush()
        for peer in peers:
            line_with(peer, "exchanged")
        for peer in peers:
            peer.stdin.write("through\n")
            peer.stdin.flush()
        codes = [p.wait(timeout=20) for p in peers]
        if codes != [0, 0]:
            raise RuntimeError(f"the peers ended with {codes}")
    finally:
        clock.cancel()
        for p in peers:
            p.kill()
            p.wait()


def spread_heat(hosts: Hosts) -> None:
    """halo3d: eight processes, by turns on the hosts, and one have the same result."""
    shape, options = (48, 64, 64), ["--steps", "4", "--piece", "5000"]
    cells = shape[0] * shape[1] * shape[2]
    start = struct.pack(f"<{cells}d", *(i * 37 % 1009 for i in range(cells)))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        field = pathlib.Path(folder) / "field"
        for count in (8, 1):
            field.write_bytes(start)
            ends = processes.wait(
                processes.start(HALO3D, field, shape, count, options, stdout=subprocess.DEVNULL,
                                prefix=lambda rank: ("ip", "netns", "exec", hosts.names[rank % 2]),
                                env=hosts.environment()), LIMIT)
            if any(ends):
                raise RuntimeError(f"the processes of halo3d ended with {ends}")
            results.append(field.read_bytes())
    if results[0] != results[1] or results[0] == start:
        raise RuntimeError("halo3d: eight processes and one have other results")


def main() -> int:
    try:
        with Hosts() as hosts:
            exchange(hosts)
            print("clear: good")
            hosts.weather(["root", "handle", "1:", "tbf", "rate", "200mbit", "burst", "20kb",
                           "limit", "30kb"])
            exchange(hosts)
            spread_heat(hosts)
            print(f"200 Mbit/s, 30 KB of queue: good, {hosts.dropped()} packets dropped")
            if hosts.dropped() == 0:
                print("the queue never overflowed")
                return 1
            hosts.weather(["root", "handle", "1:", "tbf", "rate", "500mbit", "burst", "50kb",
                           "limit", "200kb"],
                          ["parent", "1:", "handle", "2:", "pfifo", "limit", "8"])
            exchange(hosts)
            spread_heat(hosts)
            print(f"500 Mbit/s, queues of 8 packets: good, {hosts.dropped()} packets dropped")
        with Hosts(Relay(delay=0.005, jitter=0.001, loss=0.005)) as hosts:
            exchange(hosts)
            spread_heat(hosts)
            print(f"5 ms away, by a relay: good, {hosts.relay.lost} of {hosts.relay.relayed} "
                  "packets lost")
            if hosts.relay.lost == 0:
                print("the relay lost nothing")
                return 1
        return 0
    except Unavailable as why:
        print(f"skipped: {why}")
        return 77


if __name__ == "__main__":
    sys.exit(main())
