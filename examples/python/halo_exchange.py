"""Halo exchange of a 2-D heat equation, with ranks in one process.

Each rank sends its edge rows and columns. The types are made once. Where a rank sends, a program with MPI
calls Isend on the packed buffer, and where it receives, Irecv: the messages are contiguous, also those of
columns.
"""

import numpy as np

import ucd

P, N = 2, 32  # ranks along each dimension, cells of a rank along each dimension
STEPS = 20


def step(cells):
    """One step for all cells but the outermost."""
    inner = cells[1:-1, 1:-1]
    inner += 0.2 * (cells[:-2, 1:-1] + cells[2:, 1:-1] + cells[1:-1, :-2] + cells[1:-1, 2:] - 4 * inner)


field = np.random.default_rng(3).random((P * N + 2, P * N + 2))
local = {
    (i, j): field[i * N : i * N + N + 2, j * N : j * N + N + 2].copy() for i in range(P) for j in range(P)
}
# For each direction: the edge that is sent, and the halo at the receiver that it goes to.
EDGES = {(-1, 0): '1, 1:-1', (1, 0): '-2, 1:-1', (0, -1): '1:-1, 1', (0, 1): '1:-1, -2'}
HALOS = {(-1, 0): '-1, 1:-1', (1, 0): '0, 1:-1', (0, -1): '1:-1, -1', (0, 1): '1:-1, 0'}
shape = (N + 2, N + 2)
edges = {way: ucd.slice_type(shape, text, 'float64') for way, text in EDGES.items()}
halos = {way: ucd.slice_type(shape, text, 'float64') for way, text in HALOS.items()}

for _ in range(STEPS):
    messages = {}
    for (i, j), cells in local.items():
        for way, edge in edges.items():
            neighbour = i + way[0], j + way[1]
            if neighbour in local:
                messages[neighbour, way] = ucd.pack(cells, type=edge)
    for (rank, way), message in messages.items():
        ucd.unpack(message, local[rank], type=halos[way])
    for cells in local.values():
        step(cells)
    step(field)

for (i, j), cells in local.items():
    mine = field[1 + i * N : 1 + i * N + N, 1 + j * N : 1 + j * N + N]
    assert np.allclose(cells[1:-1, 1:-1], mine)
print(f'{len(messages)} messages a step, {sum(m.nbytes for m in messages.values())} bytes')
