"""Runs a benchmark between two hosts, made of network namespaces, over a link that has a rate, is so far away and loses packets:

over_link.py --rate 10gbit --delay 0.1 --loss 0.001 build/bench/ucd-ucx-bench --rows 64

A link that delays or loses packets is a relay, which carries packets of up to 65,000 bytes; else it is the kernel's.
"""

import argparse
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "test/ucx"))

from hosts import Hosts, Unavailable  # noqa: E402
from relay import Relay  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", help="as tc writes it; without, as fast as the machine")
    parser.add_argument("--delay", type=float, default=0, help="of a packet, in milliseconds")
    parser.add_argument("--loss", type=float, default=0, help="the share of packets that are lost")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    relay = Relay(arguments.delay / 1000, loss=arguments.loss) if arguments.delay or arguments.loss else None
    try:
        with Hosts(relay, 65000 if relay else 1500) as hosts:
            if arguments.rate:
                hosts.weather(["root", "tbf", "rate", arguments.rate, "burst", "256kb", "limit", "8mb"])
            command = [*arguments.command, "--hosts", ",".join(hosts.names)]
            status = subprocess.run(command, env=hosts.environment() | {"UCX_TLS": "tcp,self"}, check=False).returncode
            if relay:
                print(f"{relay.lost} of {relay.relayed + relay.lost} packets lost")
            return status
    except Unavailable as why:
        print(why)
        return 1


if __name__ == "__main__":
    sys.exit(main())
