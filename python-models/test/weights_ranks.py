"""What test_weights.py runs on four ranks: a Llama that fully_shard has cut on ranks 0 and 1, to ranks 2 and 3, over Gloo."""

import os

import torch
import torch.distributed as dist
from test_weights import HIDDEN, WIDTH, model, served
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard

from ucd_models import weights

RULES = {'mesh': 2, 'ranks': range(2, 4), 'units': {'head': WIDTH}, 'convert': 'bfloat16'}


class Llama(torch.nn.Module):
    """Parameters by the names of a model."""

    def __init__(self, arrays):
        super().__init__()
        for name, array in arrays.items():
            at = self
            *path, last = name.split('.')
            for part in path:
                if part not in dict(at.named_children()):
                    at.add_module(part, torch.nn.Module())
                at = getattr(at, part)
            at.register_parameter(last, torch.nn.Parameter(torch.from_numpy(array.copy())))


def refused(me, sync, trained, into, told):
    try:
        sync.execute(dist, trained, into)
    except (AttributeError, TypeError, ValueError) as e:
        assert told in str(e), (told, e)
    else:
        raise AssertionError(f'{told!r} was not said')


def main():
    dist.init_process_group('gloo')
    me = dist.get_rank()
    whole = {name: a for name, a in model(2).items() if 'inv_freq' not in name}
    mesh = DeviceMesh('cpu', torch.arange(2))
    trained = {}
    if me < 2:
        trained = dict(fully_shard(Llama(whole), mesh=mesh).named_parameters())
    said = [weights.described(trained) if me == 0 else None]
    dist.broadcast_object_list(said, 0)
    expected = served(whole | model(2), 2, 2, me - 2) if me >= 2 else {}
    into = {n: torch.nn.Parameter(torch.zeros(a.shape, dtype=torch.bfloat16)) for n, a in expected.items()}

    sync = weights.Sync(weights.LLAMA, said[0], **RULES)
    again = sync.prepare(dist, trained, into)
    for step in range(2):
        with torch.no_grad():
            for p in trained.values():
                p.mul_(2)
        again.run()
        for name, array in expected.items():
            assert torch.equal(into[name].detach(), (torch.from_numpy(array) * 2 ** (step + 1)).bfloat16()), (me, name)

    # What one rank gives wrong, all hear of.
    norm = 'model.norm.weight'
    extra = {**trained, 'model.extra': torch.zeros(3)} if me == 1 else trained
    refused(me, sync, extra, into, "sources has 'model.extra'")
    extra = {**into, 'model.extra': torch.zeros(3)} if me == 3 else into
    refused(me, sync, trained, extra, "targets has 'model.extra'")
    less = {n: p for n, p in into.items() if n != norm} if me == 2 else into
    refused(me, sync, trained, less, f"targets['{norm}'] is missing")
    longer = {**into, norm: torch.zeros(HIDDEN + 1, dtype=torch.bfloat16)} if me == 2 else into
    refused(me, sync, trained, longer, f"targets['{norm}'] has shape")
    doubled = {**into, norm: into['model.layers.0.input_layernorm.weight']} if me == 3 else into
    refused(me, sync, trained, doubled, 'has bytes in common with')
    refused(me, sync, None if me == 0 else trained, into, 'NoneType')
    refused(me, sync, trained, None if me == 2 else into, 'NoneType')
    dist.barrier()
    print(f'rank {me} is right', flush=True)
    os._exit(0)


if __name__ == '__main__':
    main()
