"""A cable of any length: packets from one TUN device come out of another one, later or not at all."""

import fcntl
import heapq
import os
import random
import select
import struct
import threading
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 1
IFF_NO_PI = 0x1000


class Relay:
    def __init__(self, delay: float, jitter: float = 0, loss: float = 0) -> None:
        self.delay, self.jitter, self.loss = delay, jitter, loss
        self.relayed = self.lost = 0
        self.ends: list[int] = []
        self.ending = False
        self.random = random.Random(1)
        self.thread = threading.Thread(target=self.work, daemon=True)

    def open(self, names: list[str]) -> None:
        for name in names:
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
            self.ends.append(end)

    def work(self) -> None:
        due: list = []
        other = {self.ends[0]: self.ends[1], self.ends[1]: self.ends[0]}
        while not self.ending:
            wait = max(0.0, due[0][0] - time.monotonic()) if due else 0.1
            for end in select.select(self.ends, [], [], wait)[0]:
                packet = os.read(end, 65536)
                if self.random.random() < self.loss:
                    self.lost += 1
                    continue
                # Jitter changes the order.
                at = time.monotonic() + self.delay + self.random.uniform(-self.jitter, self.jitter)
                heapq.heappush(due, (at, self.relayed, other[end], packet))
                self.relayed += 1
            while due and due[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(due)
                try:
                    os.write(end, packet)
                except OSError:
                    self.lost += 1  # no room, or not up yet

    def stop(self) -> None:
        self.ending = True
        self.thread.join()
        for end in self.ends:
            os.close(end)
