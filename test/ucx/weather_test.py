"""Transfers between two hosts, made of network namespaces, whose network is slow, short of room, or far
away and loses packets. Skipped (77) where that is not allowed."""

import os
import shutil
import subprocess
import sys
import threading

import relay

PEER = sys.argv[1]
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
                run("ip", "-n", name, "addr", "add", f"10.213.7.{i + 1}/24", "dev", end)
                run("ip", "-n", name, "link", "set", end, "up")
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
        for name, end in zip(self.names, self.cable):
            subprocess.run(["tc", "-n", name, "qdisc", "del", "dev", end, "root"],
                           capture_output=True, check=False)
            for qdisc in qdiscs:
                run("tc", "-n", name, "qdisc", "add", "dev", end, *qdisc)

    def dropped(self) -> int:
        """Packets for which the queues had no room."""
        total = 0
        for name, end in zip(self.names, self.cable):
            shown = subprocess.run(["tc", "-n", name, "-s", "qdisc", "show", "dev", end],
                                   capture_output=True, text=True, check=True).stdout
            words = shown.replace(",", " ").split()
            total += sum(int(words[i + 1]) for i, w in enumerate(words) if w == "(dropped")
        return total

    def start(self, i: int) -> subprocess.Popen:
        environment = os.environ | {"UCX_TLS": "tcp", "UCX_NET_DEVICES": self.cable[i],
                                    "UCX_LOG_LEVEL": "error"}
        return subprocess.Popen(["ip", "netns", "exec", self.names[i], PEER, "exchange"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env=environment)


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


def main() -> int:
    try:
        with Hosts() as hosts:
            exchange(hosts)
            print("clear: good")
            hosts.weather(["root", "handle", "1:", "tbf", "rate", "200mbit", "burst", "20kb",
                           "limit", "30kb"])
            exchange(hosts)
            print(f"200 Mbit/s, 30 KB of queue: good, {hosts.dropped()} packets dropped")
            if hosts.dropped() == 0:
                print("the queue never overflowed")
                return 1
            hosts.weather(["root", "handle", "1:", "tbf", "rate", "500mbit", "burst", "50kb",
                           "limit", "200kb"],
                          ["parent", "1:", "handle", "2:", "pfifo", "limit", "8"])
            exchange(hosts)
            print(f"500 Mbit/s, queues of 8 packets: good, {hosts.dropped()} packets dropped")
        with Hosts(relayed=True) as hosts:
            exchange(hosts)
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
