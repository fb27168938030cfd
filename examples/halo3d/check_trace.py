#!/usr/bin/env python3
"""Checks a trace of halo3d.

Every piece must have been packed (or not, if sent as iov or in place), posted and completed, and
received and unpacked, once and in that order; and in every process some piece must have been packed
between another's post and completion.
"""

import collections
import sys

SEND = ["pack-begin", "pack-end", "post", "complete"]
RECEIVE = ["recv-complete", "unpack-begin", "unpack-end"]


class Wrong(Exception):
    pass


def read(path: str) -> tuple[dict, dict]:
    """The times of each piece: {(rank, iteration, face, piece): {event: time}}, sent and received."""
    sent: dict = collections.defaultdict(dict)
    received: dict = collections.defaultdict(dict)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            time, rank, iteration, face, piece, event = line.split()
            pieces = received if event in RECEIVE else sent
            if event not in SEND + RECEIVE:
                raise Wrong(f"no such event: {line.strip()}")
            times = pieces[int(rank), int(iteration), face, int(piece)]
            if event in times:
                raise Wrong(f"twice: {line.strip()}")
            times[event] = int(time)
    return sent, received


def check_order(pieces: dict, ways: list[list[str]]) -> None:
    for piece, times in pieces.items():
        if not any(set(times) == set(way) for way in ways):
            raise Wrong(f"piece {piece} has the events {sorted(times)}")
        in_order = [times[event] for event in SEND + RECEIVE if event in times]
        if in_order != sorted(in_order):
            raise Wrong(f"piece {piece} has its events out of order: {times}")


def check_counterparts(sent: dict, received: dict) -> None:
    """Each process receives through each of its faces as often as it sends through it."""
    if set(sent) != set(received):
        raise Wrong(f"sent or received only: {sorted(set(sent) ^ set(received))[:5]}")


def overlaps(pieces: list[dict]) -> int:
    """How many pieces were packed, from begin to end, while another was on the wire."""
    packed = sorted((t["pack-begin"], t["pack-end"]) for t in pieces if "pack-begin" in t)
    posted = sorted((t["post"], t["complete"]) for t in pieces)
    count = 0
    at = 0
    latest = 0  # completion of what was posted up to now
    for begin, end in packed:
        while at < len(posted) and posted[at][0] <= begin:
            latest = max(latest, posted[at][1])
            at += 1
        # A piece is posted after it was packed, so none counts against itself.
        count += latest >= end
    return count


def check(path: str) -> str:
    """Returns what there is to say, or raises Wrong."""
    sent, received = read(path)
    if not sent:
        raise Wrong("it shows no piece at all")
    check_order(sent, [SEND, SEND[2:]])
    check_order(received, [RECEIVE])
    check_counterparts(sent, received)
    lines = []
    for rank in sorted({key[0] for key in sent}):
        pieces = [times for key, times in sent.items() if key[0] == rank]
        packed = sum("pack-begin" in times for times in pieces)
        count = overlaps(pieces)
        lines.append(
            f"process {rank}: {len(pieces)} pieces sent, {packed} packed, "
            f"{count} of them between another's post and completion"
        )
        if count == 0:
            raise Wrong(f"process {rank} packed no piece between another's post and completion")
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: check_trace.py TRACE", file=sys.stderr)
        return 2
    try:
        print(check(sys.argv[1]))
    except (Wrong, OSError, ValueError) as wrong:
        print(f"{sys.argv[1]}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
