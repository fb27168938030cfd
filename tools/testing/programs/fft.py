import sys, time
import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
seconds = 0
for shape in [[int(n) for n in text.split('x')] for text in sys.argv[2:]]:
    for grid in ((-1,), None):
        fft = PFFT(MPI.COMM_WORLD, shape, dtype=sys.argv[1], grid=grid)
        u = newDistArray(fft, False)
        u[:] = numpy.random.default_rng(MPI.COMM_WORLD.rank).random(u.shape)
        v = u.copy()
        MPI.COMM_WORLD.Barrier()
        begin = time.monotonic()
        for _ in range(100):
            hat = fft.forward(u)
            u = fft.backward(hat, u)
        MPI.COMM_WORLD.Barrier()
        seconds += time.monotonic() - begin
        assert numpy.allclose(u, v)
        total = MPI.COMM_WORLD.allreduce(float(abs(hat).sum()))
        if MPI.COMM_WORLD.rank == 0:
            print(f'{total:.9e}')
if MPI.COMM_WORLD.rank == 0:
    print(f'seconds: {seconds}', file=sys.stderr)
