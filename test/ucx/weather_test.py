"""Transfers between two hosts, made of network namespaces, whose network is slow, short of room, or far
away and loses packets. Skipped (77) where that is not allowed."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

import relay

PEER, HALO3D = sys.argv[1:3]
LIMIT = 60  # seconds for an exchange


class Unavailable(Exception):
    pass


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")


class Hosts:
    """Two namespaces with a cable between them: the kernel's, or a relay of our own."""

    def __init__(self, relayed: bool = False) -> None:
        self.relay = None
        self.relayed = relayed
        self.names = [f"ucd-{os.getpid()}-{i}" for i in range(2)]
        self.cable = [f"ucd{os.getpid()}{i}"[-15:] for i in range(2)]
        self.device = "cable"  # both ends are called so in the end

    def __enter__(self) -> "Hosts":
        for tool in ("ip", "tc"):
            if not shutil.which(tool):
                raise Unavailable(f"no program {tool}")
        try:
            for name in self.names:
                run("ip", "netns", "add", name)
            if self.relayed:
                try:
                    self.relay = relay.Relay(self.cable, delay=0.005, jitter=0.001, loss=0.005)
                except OSError as why:
                    raise Unavailable(f"no TUN device: {why}") from why
            else:
                run("ip", "link", "add", self.cable[0], "type", "veth", "peer", "name",
                    self.cable[1])
            for i, (name, end) in enumerate(zip(self.names, self.cable)):
                run("ip", "link", "set", end, "netns", name)
                run("ip", "-n", name, "link", "set", end, "name", self.device)
                run("ip", "-n", name, "addr", "add", f"10.213.7.{i + 1}/24", "dev", self.device)
                run("ip", "-n", name, "link", "set", self.device, "up")
                run("ip", "-n", name, "link", "set", "lo", "up")
            if self.relay:
                self.relay.thread.start()
        except Unavailable:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.relay and self.relay.thread.ident:
            self.relay.stop()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def weather(self, *qdiscs: list[str]) -> None:
        for name in self.names:
            subprocess.run(["tc", "-n", name, "qdisc", "del", "dev", self.device, "root"],
                           capture_output=True, check=False)
            for qdisc in qdiscs:
                run("tc", "-n", name, "qdisc", "add", "dev", self.device, *qdisc)

    def dropped(self) -> int:
        """Packets for which the queues had no room."""
        total = 0
        for name in self.names:
            shown = subprocess.run(["tc", "-n", name, "-s", "qdisc", "show", "dev", self.device],
                                   capture_output=True, text=True, check=True).stdout
            words = shown.replace(",", " ").split()
            total += sum(int(words[i + 1]) for i, w in enumerate(words) if w == "(dropped")
        return total

    def environment(self) -> dict:
        return os.environ | {"UCX_TLS": "tcp", "UCX_NET_DEVICES": self.device,
                             "UCX_LOG_LEVEL": "error"}

    def start(self, i: int) -> subprocess.Popen:
        return subprocess.Popen(["ip", "netns", "exec", self.names[i], PEER, "exchange"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env=self.environment())


def line_with(peer: subprocess.Popen, start: str) -> str:
    for line in peer.stdout:
        if line.startswith(start):
            return line[len(start):].strip()
    raise RuntimeError(f"a peer ended before it said '{start}'")


def exchange(hosts: Hosts) -> None:
    peers = [hosts.start(i) for i in range(2)]
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


def write_field(path: str, shape: tuple) -> None:
    """A .npy file of doubles; NumPy may not be there."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (117 - len(head)) + "\n"
    cells = shape[0] * shape[1] * shape[2]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{cells}d", *(i * 37 % 1009 for i in range(cells))))


def spread_heat(hosts: Hosts) -> None:
    """halo3d, which compares its result with that of one process."""
    with tempfile.TemporaryDirectory() as folder:
        write_field(f"{folder}/field.npy", (48, 64, 64))
        done = subprocess.run(
            [HALO3D, "--method", "pipeline", "--processes", "8", "--hosts", ",".join(hosts.names),
             "--iterations", "4", "--piece", "5000", f"{folder}/field.npy", f"{folder}/out.npy"],
            capture_output=True, text=True, env=hosts.environment(), timeout=LIMIT, check=False)
        if done.returncode != 0 or "identical: 196608 cells" not in done.stdout:
            raise RuntimeError(f"halo3d: {done.stdout}{done.stderr}")


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
        with Hosts(relayed=True) as hosts:
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
