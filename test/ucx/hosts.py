"""Two hosts, made of network namespaces, between which programs run with UCX over TCP."""

import os
import shutil
import subprocess

from relay import Relay


class Unavailable(Exception):
    pass


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")


class Hosts:
    """Two namespaces with a cable between them: the kernel's, or a relay of our own."""

    def __init__(self, cable: Relay | None = None, mtu: int = 1500) -> None:
        self.relay = cable
        self.mtu = str(mtu)
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
            if self.relay:
                try:
                    self.relay.open(self.cable)
                except OSError as why:
                    raise Unavailable(f"no TUN device: {why}") from why
            else:
                run("ip", "link", "add", self.cable[0], "type", "veth", "peer", "name",
                    self.cable[1])
            for i, (name, end) in enumerate(zip(self.names, self.cable)):
                run("ip", "link", "set", end, "netns", name)
                run("ip", "-n", name, "link", "set", end, "name", self.device)
                run("ip", "-n", name, "addr", "add", f"10.213.7.{i + 1}/24", "dev", self.device)
                run("ip", "-n", name, "link", "set", self.device, "mtu", self.mtu, "up")
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
