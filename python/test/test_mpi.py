"""Types from and to mpi4py's datatypes, with MPI's own engine as oracle.

Left out without mpi4py, which CI does not have."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_types import bytes_of, recipes

import ucd

MPI = pytest.importorskip('mpi4py.MPI', exc_type=ImportError)
MEMORY = np.random.default_rng(3).integers(0, 256, 1 << 14, np.uint8)
ORIGIN = 1 << 13


def sent_by_mpi(datatype):
    """The bytes that MPI sends from the middle of MEMORY."""
    placed = datatype.Create_hindexed([1], [MPI.Get_address(MEMORY) + ORIGIN]).Commit()
    received = np.zeros(datatype.Get_size(), np.uint8)
    MPI.COMM_SELF.Sendrecv([MPI.BOTTOM, 1, placed], 0, 0, [received, MPI.BYTE], 0, 0)
    placed.Free()
    return received.tolist()


def placed_bytes(type):
    return [int(MEMORY[ORIGIN + at]) for at in bytes_of(type)]


@given(recipes())
def test_types_to_mpi(recipe):
    type, expected, extent = recipe
    datatype = type.to_mpi()
    assert sent_by_mpi(datatype) == [int(MEMORY[ORIGIN + at]) for at in expected]
    assert datatype.Get_extent() == (type.lb, extent)
    twin = ucd.Type.from_mpi(datatype)
    assert bytes_of(twin) == expected and (twin.lb, twin.extent) == (type.lb, extent)
    datatype.Free()


@st.composite
def datatypes(draw, depth=3):
    """Random datatypes, and those that are to be freed."""
    if depth == 0:
        named = [MPI.INT, MPI.DOUBLE, MPI.SHORT, MPI.BYTE, MPI.FLOAT_INT, MPI.C_DOUBLE_COMPLEX, MPI.AINT]
        return draw(st.sampled_from(named)), []
    old, parts = draw(datatypes(depth=depth - 1))
    n, m = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    lists = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 5)), max_size=4))
    lengths, displacements = [length for length, _ in lists], [at for _, at in lists]
    made = draw(
        st.sampled_from(
            [
                lambda: old.Dup(),
                lambda: old.Create_contiguous(n),
                lambda: old.Create_vector(n, m, 3),
                lambda: old.Create_hvector(n, m, -5),
                lambda: old.Create_indexed(lengths, displacements),
                lambda: old.Create_hindexed(lengths, displacements),
                lambda: old.Create_indexed_block(n, displacements),
                lambda: old.Create_hindexed_block(n, displacements),
                lambda: MPI.Datatype.Create_struct([1, m], [0, 70], [MPI.CHAR, old]),
                lambda: old.Create_subarray([4, 5], [2, m + 1], [1, 0], MPI.ORDER_F if n % 2 else MPI.ORDER_C),
                lambda: old.Create_resized(-8, 24),
            ]
        )
    )()
    return made, [*parts, made]


@given(datatypes())
def test_types_from_mpi(drawn):
    datatype, made = drawn
    type = ucd.Type.from_mpi(datatype)
    assert type.size == datatype.Get_size() and (type.lb, type.extent) == datatype.Get_extent()
    if -ORIGIN < type.true_lb and type.true_lb + type.true_extent < ORIGIN:
        assert placed_bytes(type) == sent_by_mpi(datatype)
    for part in made:
        part.Free()


def test_predefined_datatypes():
    assert ucd.Type.from_mpi(MPI.DOUBLE) is ucd.types.DOUBLE and ucd.Type.from_mpi(MPI.TWOINT) is ucd.types.TWOINT
    assert ucd.Type.from_mpi(MPI.INTEGER) is ucd.types.INT32_T and ucd.Type.from_mpi(MPI.PACKED) is ucd.types.BYTE
    for type in ucd.predefined.values():
        datatype = type.to_mpi()
        assert datatype.Get_size() == type.size and datatype.Get_extent()[1] == type.extent
        datatype.Free()
    with pytest.raises(ValueError):
        ucd.Type.from_mpi(MPI.DATATYPE_NULL)
    with pytest.raises(ucd.NotSupported):
        ucd.Type.indexed_block_ref(1, np.zeros(1, np.int32), 1, 0, 1, 'i1').to_mpi()


def test_parts_of_distributed_arrays():
    distribs = [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_NONE]
    for rank, order in [(rank, order) for rank in range(6) for order in (MPI.ORDER_C, MPI.ORDER_F)]:
        dargs = [2, MPI.DISTRIBUTE_DFLT_DARG, MPI.DISTRIBUTE_DFLT_DARG]
        datatype = MPI.INT.Create_darray(6, rank, [5, 7, 3], distribs, dargs, [2, 3, 1], order)
        assert placed_bytes(ucd.Type.from_mpi(datatype)) == sent_by_mpi(datatype)
        datatype.Free()


def test_deep_datatypes():
    datatypes = [MPI.INT]
    for _ in range(3000):
        datatypes.append(datatypes[-1].Dup())
    assert ucd.Type.from_mpi(datatypes[-1]).size == 4
    for datatype in datatypes[1:]:
        datatype.Free()
