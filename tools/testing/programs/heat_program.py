import sys, time
import heat
from mpi4py import MPI
n, rounds = int(sys.argv[2]), int(sys.argv[3])
heat.random.seed(7)
rows, columns = (heat.random.rand(n, n, split=axis, dtype=heat.float64) for axis in (0, 1))
work = {'gather': lambda: heat.resplit(columns, None), 'transpose': lambda: heat.resplit(rows.T, 0)}[sys.argv[1]]
work()
MPI.COMM_WORLD.Barrier()
begin = time.monotonic()
for _ in range(rounds):
    result = work()
MPI.COMM_WORLD.Barrier()
seconds = time.monotonic() - begin
weighted = heat.sum(result * heat.arange(n)).item()
if MPI.COMM_WORLD.rank == 0:
    print(f'{weighted:.15e}')
    print(f'seconds: {seconds}', file=sys.stderr)
