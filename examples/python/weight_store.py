"""A store of weights that sends only the slices that somebody needs, in bfloat16.

Four ranks that train put their shards of float32 into the store: the store keeps where they are, and no copies. Two ranks that
serve get their shards, which are cut otherwise. For each shard that has something of it, an owner packs what is needed as
bfloat16, and sends it in one message. Ranks are threads here, and the messages go over sockets.
"""

import json
import socket
import threading

import numpy as np

import ucd
import ucd_models
from ucd_models import Distribution, Replicate, Segment, Shard

TRAINERS, SERVERS, WIDTH = 4, 2, 16
HEADS = {'q': (12 * WIDTH, WIDTH), 'k': (4 * WIDTH, WIDTH), 'v': (4 * WIDTH, WIDTH)}


def packed(nbytes):
    return np.empty(nbytes, np.uint8)


class Owner(threading.Thread):
    """A rank that trains: it answers who asks for a part of its shards."""

    def __init__(self, store, rank, shards):
        super().__init__(daemon=True)
        self.store, self.rank, self.shards = store, rank, shards
        self.sockets, self.sent = [], 0

    def connect(self):
        mine, theirs = socket.socketpair()
        threading.Thread(target=self.answer, args=(mine,), daemon=True).start()
        return theirs

    def answer(self, mine):
        for line in mine.makefile('rb'):
            asked = json.loads(line)
            array = self.shards[asked['name']]
            [route] = [r for r in self.store.routing(asked['name']).sends(self.rank) if r.target == asked['rank']]
            message = packed(2 * route.elements)
            flat = ucd.Type.contiguous(route.elements, 'bfloat16')
            ucd.Batch.copy([(array, message, route.send_type(array.strides), 1, flat, 1)], op='convert').run()
            mine.sendall(message)
            self.sent += message.nbytes


class Store:
    """Who has what, and who wants what: distributions by name."""

    def __init__(self, owners_have, servers_want):
        self.owners_have, self.servers_want = owners_have, servers_want

    def routing(self, name):
        return ucd_models.routing(self.owners_have[name], self.servers_want[name], 'float32', 'bfloat16')

    def get(self, name, rank, owners):
        """The shard of a rank that serves, as bits of bfloat16."""
        out = np.empty(self.servers_want[name].local_shape(rank), np.uint16)
        for route in self.routing(name).receives(rank):
            peer = owners[route.source].connect()
            peer.sendall(json.dumps({'name': name, 'rank': rank}).encode() + b'\n')
            message = packed(2 * route.elements)
            view = memoryview(message)
            while view:
                view = view[peer.recv_into(view) :]
            ucd.unpack(message, out, type=route.receive_type(out.strides))
            peer.close()
        return out


def bfloat16(array):
    """Its bits: rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


rng = np.random.default_rng(5)
rows = sum(size for size, _ in HEADS.values())
whole = {'qkv': rng.random((rows, 256), np.float32), 'o': rng.random((256, rows), np.float32), 'norm': rng.random(256, np.float32)}
have = {name: Distribution(array.shape, TRAINERS, Shard(0)) for name, array in whole.items()}
want = {
    'qkv': Distribution(whole['qkv'].shape, SERVERS, Segment(0, HEADS)),
    'o': Distribution(whole['o'].shape, SERVERS, Shard(1)),
    'norm': Distribution(whole['norm'].shape, SERVERS, Replicate()),
}
store = Store(have, want)
shards = {n: ucd_models.redistribute([a], Distribution(a.shape, 1, Replicate()), have[n]) for n, a in whole.items()}
owners = [Owner(store, rank, {name: shards[name][rank] for name in whole}) for rank in range(TRAINERS)]

for rank in range(SERVERS):
    got = {name: store.get(name, rank, owners) for name in whole}
    q, k, v = np.split(whole['qkv'], [12 * WIDTH, 16 * WIDTH])
    expected = {
        'qkv': np.concatenate([np.split(part, SERVERS)[rank] for part in (q, k, v)]),
        'o': np.split(whole['o'], SERVERS, 1)[rank],
        'norm': whole['norm'],
    }
    assert all((got[name] == bfloat16(expected[name])).all() for name in whole)
sent = sum(owner.sent for owner in owners)
print(f'{sent} bytes were sent; all that the servers have, as float32 in whole tensors, would be {SERVERS * sum(a.nbytes for a in whole.values())}')
