"""mpi4py: types from and to MPI datatypes.

mpi4py is imported when a function of this file is called.
"""

from __future__ import annotations

import functools
from typing import Any

from ucd import _core, _dtypes
from ucd._errors import NotSupported

# Those whose types have the names of MPI.
_SAME = (
    'CHAR', 'SIGNED_CHAR', 'UNSIGNED_CHAR', 'BYTE', 'SHORT', 'UNSIGNED_SHORT', 'INT', 'UNSIGNED', 'LONG', 'UNSIGNED_LONG',
    'LONG_LONG', 'UNSIGNED_LONG_LONG', 'FLOAT', 'DOUBLE', 'LONG_DOUBLE', 'C_BOOL', 'C_DOUBLE_COMPLEX', 'C_LONG_DOUBLE_COMPLEX',
    'FLOAT_INT', 'DOUBLE_INT', 'LONG_INT', 'TWOINT', 'SHORT_INT', 'LONG_DOUBLE_INT',
)  # fmt: skip
# Predefined datatypes by mpi4py's names: the type, or the kind of one of the datatype's size.
_PREDEFINED = {
    **{name: name for name in _SAME},
    **{f'{sign}INT{bits}_T': f'{sign}INT{bits}_T' for sign in ('', 'U') for bits in (8, 16, 32, 64)},
    'WCHAR': 'WCHAR_T',
    'PACKED': 'BYTE',
    'C_FLOAT_COMPLEX': 'C_COMPLEX',
    'AINT': 'INTPTR_T',
    'OFFSET': 'INT64_T',
    'COUNT': 'INT64_T',
    'CXX_BOOL': 'C_BOOL',
    'CXX_FLOAT_COMPLEX': 'C_COMPLEX',
    'CXX_DOUBLE_COMPLEX': 'C_DOUBLE_COMPLEX',
    'CXX_LONG_DOUBLE_COMPLEX': 'C_LONG_DOUBLE_COMPLEX',
    'CHARACTER': 'CHAR',
    **dict.fromkeys(('INTEGER', 'INTEGER1', 'INTEGER2', 'INTEGER4', 'INTEGER8', 'LOGICAL', 'F90_INTEGER'), 'i'),
    **dict.fromkeys(('REAL', 'DOUBLE_PRECISION', 'REAL4', 'REAL8', 'F90_REAL'), 'f'),
    **dict.fromkeys(('COMPLEX', 'DOUBLE_COMPLEX', 'COMPLEX8', 'COMPLEX16', 'F90_COMPLEX'), 'c'),
}
# The arguments of constructors that Type and Datatype have alike, by MPI's names of both.
_ARGUMENTS = {
    'CONTIGUOUS': ('count',),
    **dict.fromkeys(('VECTOR', 'HVECTOR'), ('count', 'blocklength', 'stride')),
    **dict.fromkeys(('INDEXED', 'HINDEXED'), ('blocklengths', 'displacements')),
    **dict.fromkeys(('INDEXED_BLOCK', 'HINDEXED_BLOCK'), ('blocklength', 'displacements')),
}


def _known(name: str, size: int) -> _core.Type:
    """The type of a predefined datatype: bytes if there is none of the name and size."""
    wanted = _PREDEFINED.get(name, '')
    found = _core.predefined.get(_dtypes._KINDS.get(wanted, {}).get(size, wanted))
    return found if found is not None and found.size == size else _dtypes.of_bytes(size)


@functools.lru_cache(maxsize=1)
def _constants() -> list[tuple[Any, str]]:
    from mpi4py import MPI

    found = [(getattr(MPI, name, MPI.DATATYPE_NULL), name) for name in _PREDEFINED]
    return [(datatype, name) for datatype, name in found if datatype != MPI.DATATYPE_NULL]


class _Node:
    """A datatype as it was built; parts are the numbers of nodes."""

    def __init__(self, datatype: Any) -> None:
        self.base, self.combiner, self.arguments = datatype.decode()
        self.name = ''
        if self.combiner == 'NAMED':
            self.name = next((name for known, name in _constants() if known == datatype), '')
        self.size = datatype.Get_size()
        self.lb, self.extent = datatype.Get_extent()
        self.parts: list[int] = []


def from_mpi(datatype: Any) -> _core.Type:
    """The type of an mpi4py.MPI.Datatype: the same bytes, in the same order, with the bounds that the
    MPI library gives. The two are independent; the datatype need not be committed.

    A predefined datatype becomes the type of the same representation, or as many bytes if there is none.
    Raises NotSupported for a datatype that was built in a way that is not known here.
    """
    from mpi4py import MPI

    if datatype == MPI.DATATYPE_NULL:
        raise ValueError('the datatype is MPI_DATATYPE_NULL')
    nodes: list[_Node] = []
    pending = [(datatype, -1)]
    while pending:
        whole, parent = pending.pop()
        node = _Node(whole)
        if parent >= 0:
            nodes[parent].parts.append(len(nodes))
        parts = node.arguments.get('datatypes', [] if node.base is whole else [node.base])
        pending += [(part, len(nodes)) for part in reversed(parts)]
        nodes.append(node)
        # What decode() returned is the caller's to free, unless predefined.
        if parent >= 0 and not whole.is_predefined:
            whole.Free()
    made: dict[int, _core.Type] = {}
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        type = _built(node, [made.pop(part) for part in node.parts])
        if (type.lb, type.extent) != (node.lb, node.extent):
            type = _core.Type.resized(type, node.lb, node.extent)
        if type.size != node.size:
            raise NotSupported(f'MPI says that the datatype has {node.size} bytes, how it was built {type.size}')
        made[number] = type
    return made[0]


def _built(node: _Node, parts: list[_core.Type]) -> _core.Type:
    from mpi4py import MPI

    a, make = node.arguments, _core.Type
    order = 'F' if a.get('order') == MPI.ORDER_FORTRAN else 'C'
    match node.combiner:
        case 'NAMED':
            return _known(node.name, node.size)
        case 'F90_INTEGER' | 'F90_REAL' | 'F90_COMPLEX':
            return _known(node.combiner, node.size)
        case 'DUP' | 'RESIZED':  # the bounds come afterwards
            return parts[0]
        case known if known in _ARGUMENTS:
            made: _core.Type = getattr(make, known.lower())(*[a[name] for name in _ARGUMENTS[known]], parts[0])
            return made
        case 'STRUCT':
            return make.struct(a['blocklengths'], a['displacements'], parts)
        case 'SUBARRAY':
            return make.subarray(a['sizes'], a['subsizes'], a['starts'], parts[0], order)
        case 'DARRAY':
            names = {MPI.DISTRIBUTE_BLOCK: 'block', MPI.DISTRIBUTE_CYCLIC: 'cyclic', MPI.DISTRIBUTE_NONE: 'none'}
            distribs = [names[d] for d in a['distribs']]
            dargs = [None if d == MPI.DISTRIBUTE_DFLT_DARG else d for d in a['dargs']]
            return make.darray(a['size'], a['rank'], a['gsizes'], distribs, dargs, a['psizes'], parts[0], order)
    raise NotSupported(f'a datatype made by {node.combiner} has no type here')


def to_mpi(type: _core.Type) -> Any:
    """A committed mpi4py.MPI.Datatype of the same bytes in the same order, with the same bounds. The caller
    frees it.

    It is not always built as the type was. Elements that MPI does not have (float16, bfloat16) are
    bytes. Raises NotSupported for types of indexed_block_ref, and what mpi4py raises: OverflowError where
    the MPI library counts in int.
    """
    from mpi4py import MPI

    made: list[Any] = []
    try:
        for name, arguments, size, lb, extent in _core.nodes(type):
            made.append(_datatype(name, arguments, size, made))
            if made[-1].Get_extent() != (lb, extent):
                whole = made[-1].Create_resized(lb, extent)
                _free(made[-1])
                made[-1] = whole
        found = made.pop()
        return (found.Dup() if found.is_predefined else found).Commit()
    finally:
        for datatype in made:
            _free(datatype)


def _free(datatype: Any) -> None:
    if not datatype.is_predefined:
        datatype.Free()


def _datatype(name: str, arguments: list[Any], size: int, made: list[Any]) -> Any:
    """A datatype of its own, or a predefined one."""
    from mpi4py import MPI

    match name, arguments:
        case 'contig', [count, old]:
            return made[old].Create_contiguous(count)
        case _, [*given, old] if name.upper() in _ARGUMENTS:
            return getattr(made[old], f'Create_{name}')(*given)
        case 'struct', [lengths, displacements, types]:
            return MPI.Datatype.Create_struct(lengths, displacements, [made[old] for old in types])
        case 'ndarray', [shape, strides, old]:
            whole = made[old].Dup()
            for count, stride in zip(reversed(shape), reversed(strides)):
                inner, whole = whole, whole.Create_hvector(count, 1, stride)
                inner.Free()
            return whole
        case ('resized' | 'bounds' | 'aligned'), [old, *_]:  # the bounds come afterwards
            return made[old].Dup()
    for constant, known in _constants():
        if _PREDEFINED[known] == name and constant.Get_size() == size:
            return constant
    return MPI.BYTE.Create_contiguous(size)  # float16 and others
