"""Halo exchange of a periodic 2-D heat equation over mpi4py: mpiexec -n 4 python halo_exchange_mpi.py

Edges and halos are slices, made into MPI datatypes once. MPI sends columns from where they are.
"""

import numpy as np
from mpi4py import MPI

import ucd

N, STEPS = 32, 20  # cells of a rank along each dimension


def step(cells):
    """One step for all cells but the outermost."""
    inner = cells[1:-1, 1:-1]
    inner += 0.2 * (cells[:-2, 1:-1] + cells[2:, 1:-1] + cells[1:-1, :-2] + cells[1:-1, 2:] - 4 * inner)


grid = MPI.Compute_dims(MPI.COMM_WORLD.Get_size(), 2)
comm = MPI.COMM_WORLD.Create_cart(grid, periods=(True, True))
row, column = comm.Get_coords(comm.Get_rank())
whole = np.random.default_rng(3).random((grid[0] * N, grid[1] * N))  # the same on all ranks
cells = np.zeros((N + 2, N + 2))
cells[1:-1, 1:-1] = whole[row * N : row * N + N, column * N : column * N + N]

# For each dimension and direction: the edge that is sent, and the halo that comes from the other side.
WAYS = {
    (0, -1): ('1, 1:-1', '-1, 1:-1'),
    (0, 1): ('-2, 1:-1', '0, 1:-1'),
    (1, -1): ('1:-1, 1', '1:-1, -1'),
    (1, 1): ('1:-1, -2', '1:-1, 0'),
}
exchanges = []
for (dimension, way), slices in WAYS.items():
    edge, halo = [ucd.slice_type(cells.shape, text, 'float64').to_mpi() for text in slices]
    source, target = comm.Shift(dimension, way)
    exchanges.append((edge, target, halo, source))

for _ in range(STEPS):
    for edge, target, halo, source in exchanges:
        comm.Sendrecv([cells, 1, edge], target, 0, [cells, 1, halo], source, 0)
    step(cells)
    whole = np.pad(whole, 1, mode='wrap')
    step(whole)
    whole = whole[1:-1, 1:-1]

for edge, _, halo, _ in exchanges:
    edge.Free()
    halo.Free()
assert np.allclose(cells[1:-1, 1:-1], whole[row * N : row * N + N, column * N : column * N + N])
if comm.Get_rank() == 0:
    print(f'{STEPS} steps on {grid[0]} x {grid[1]} ranks')
