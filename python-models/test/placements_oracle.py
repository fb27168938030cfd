"""Who owns which index of an array, worked out index by index from the definitions of placements, and random
distributions. Shares nothing with the planner."""

import numpy as np

import ucd_models


def chunks(indices, parts):
    """As torch.chunk, with empty ones at the end."""
    each = max(-(-len(indices) // parts), 1)
    return [indices[k * each : (k + 1) * each] for k in range(parts)]


def split(left, placement, parts, part):
    """What a part has of a list of indices."""
    match placement:
        case ucd_models.Shard():
            return chunks(left, parts)[part]
        case ucd_models.Cyclic(_, block):
            return [index for i, index in enumerate(left) if i // block % parts == part]
        case ucd_models.StridedShard(_, factor):
            return [index for piece in chunks(left, factor) for index in chunks(piece, parts)[part]]
        case ucd_models.Segment(_, pieces, groups):
            start, rows = 0, []
            for piece in pieces:
                rows.append(left[start : start + piece.size])
                start += piece.size
            if groups:
                mine = chunks(list(range(groups)), parts)[part]
                return [i for g in mine for row in rows for i in row[g * len(row) // groups : (g + 1) * len(row) // groups]]
            found = []
            for piece, row in zip(pieces, rows):
                units = [row[k : k + piece.unit] for k in range(0, len(row), piece.unit)]
                if piece.unit > 1 and 0 < len(units) < parts:
                    mine = [units[part * len(units) // parts]]
                else:
                    mine = chunks(units, parts)[part]
                found += [i for unit in mine for i in unit]
            return found
    raise AssertionError(placement)


def owned(distribution, place):
    """For each dimension, the global indices that a place of the mesh has."""
    where = np.unravel_index(place, distribution.mesh)
    found = [list(range(n)) for n in distribution.shape]
    steps = list(zip(where, distribution.mesh, distribution.placements))
    for dim in range(len(found)):
        of_dim = [s for s in steps if not isinstance(s[2], ucd_models.Replicate) and s[2].dim == dim]
        for k in range(len(of_dim)):  # one that splits what the later ones leave goes to the end
            after = int(np.prod([s[1] for s in of_dim[k + 1 :]], dtype=int))
            if isinstance(of_dim[k][2], ucd_models.StridedShard) and of_dim[k + 1 :] and of_dim[k][2].split_factor == after:
                of_dim = of_dim[:k] + of_dim[k + 1 :] + [(*of_dim[k][:2], ucd_models.Shard(dim))]
                break
        for at, parts, placement in of_dim:
            found[dim] = split(found[dim], placement, parts, int(at))
    return found


def parts_of(field, distribution):
    return [np.array(field[np.ix_(*owned(distribution, place))], order='C') for place in range(distribution.size)]


def random_segment(rng, n, dim, parts):
    """Pieces of n indices; of grouped heads where they fit."""
    if n and rng.random() < 0.3:
        groups = int(rng.choice([g for g in range(1, n + 1) if n % g == 0]))
        share = n // groups
        cut = int(rng.integers(0, share + 1))
        return ucd_models.Segment(dim, {'a': cut * groups, 'b': n - cut * groups}, groups=groups)
    pieces, left = {}, n
    while left:
        size = int(rng.integers(1, left + 1))
        units = [u for u in range(2, size + 1) if size % u == 0 and (size // u >= parts or parts % (size // u) == 0)]
        pieces[str(len(pieces))] = (size, int(rng.choice(units))) if units and rng.random() < 0.5 else size
        left -= size
    return ucd_models.Segment(dim, pieces)


def random_distribution(rng, shape, most_ranks, world=None):
    """Of up to so many ranks; world: those that there are, of which any may be chosen."""
    while True:
        mesh = [int(n) for n in rng.integers(1, 9 if most_ranks > 8 else most_ranks + 1, rng.integers(1, 4))]
        if np.prod(mesh) <= most_ranks:
            break
    placements, segments, strided = [], set(), set()
    later = {}
    for parts in reversed(mesh):
        dim = int(rng.integers(len(shape)))
        kinds = [ucd_models.Shard(dim), ucd_models.Shard(dim), ucd_models.Cyclic(dim, int(rng.integers(1, 5))), ucd_models.Replicate()]
        if dim not in strided:
            after = later.get(dim, 1)
            # Of what the later ones leave; or, alone, of some blocks.
            kinds.append(ucd_models.StridedShard(dim, after if after > 1 else int(rng.integers(1, 5))))
        if dim not in segments | strided and dim not in later:
            kinds += [random_segment(rng, shape[dim], dim, parts)] * 2
        chosen = kinds[rng.integers(len(kinds))]
        if dim in segments and not isinstance(chosen, (ucd_models.Replicate, ucd_models.StridedShard)):
            chosen = ucd_models.Replicate()  # nothing may split before a segment
        if isinstance(chosen, ucd_models.StridedShard):
            if dim in later or dim in segments:
                strided.add(dim)
            if dim in segments and later.get(dim, 1) == 1:
                chosen = ucd_models.Replicate()
        if dim in strided and isinstance(chosen, (ucd_models.Shard, ucd_models.Cyclic)):
            chosen = ucd_models.Replicate()
        if not isinstance(chosen, ucd_models.Replicate):
            later[dim] = later.get(dim, 1) * parts
        if isinstance(chosen, ucd_models.Segment):
            segments.add(dim)
        placements.append(chosen)
    ranks = None
    if world is not None:
        ranks = [int(rank) for rank in rng.permutation(world)[: int(np.prod(mesh))]]
    return ucd_models.Distribution(shape, mesh, placements[::-1], ranks)


def random_tensors(rng, world, end):
    """What a Redistribution of four arrays, and of one number, is given, for ranks of one world, and the arrays as a whole. Lengths are
    below `end`."""
    tensors, fields = {}, {}
    for name in '0123':
        shape = tuple(int(n) for n in rng.integers(1, end, rng.integers(1, 4)))
        tensors[name] = *[random_distribution(rng, shape, world, world) for _ in range(2)], 'float32'
        fields[name] = (rng.standard_normal(shape) * 1e3).astype('f4')
    chosen = [[int(rank) for rank in rng.permutation(world)[: rng.integers(1, world + 1)]] for _ in range(2)]
    tensors['number'] = *[ucd_models.Distribution((), len(ranks), ucd_models.Replicate(), ranks) for ranks in chosen], 'float32'
    fields['number'] = np.array(rng.standard_normal(), 'f4')
    return tensors, fields
