"""The kernel space: all axes as data, and the part of it that each backend uses."""

import itertools
from dataclasses import dataclass

DIRECTIONS = ("pack", "unpack")
MAX_LEVELS = 3

# Kinds of levels: the letter in kernel names, and the name in the C++ code.
KINDS = {"s": "strided", "b": "indexed_block", "i": "indexed"}


@dataclass(frozen=True)
class Leaf:
    """How a block, or a run of blocks, is copied.

    exact    blocks of `size` bytes: one access
    ends     blocks of up to `size` bytes: one access at each end; the two may overlap
    pieces   blocks of at least `size` bytes: pieces of that size, of which the last two may overlap
    any      blocks of any length: memcpy
    run      blocks of a multiple of `size`; a run of blocks is copied as one piece
    """

    name: str
    form: str
    size: int = 1

    @property
    def ends(self):
        """The widths of the two accesses, the wider one first."""
        head = 1 << (self.size - 1).bit_length() - 1
        return head, self.size - head


LEAVES = {
    leaf.name: leaf
    for leaf in (
        *(Leaf(f"w{size}", "exact", size) for size in (1, 2, 4, 8, 16)),
        *(Leaf(f"o{size}", "ends", size) for size in (3, 8, 16, 24, 32, 40, 48, 64, 80, 96, 128)),
        Leaf("p64", "pieces", 64),
        Leaf("m", "any"),
        *(Leaf(f"r{size}", "run", size) for size in (1, 2, 4, 8, 16)),
    )
}

# For an innermost level s or b, and for an innermost level i.
BLOCK_LEAVES = tuple(name for name, leaf in LEAVES.items() if leaf.form != "run")
RUN_LEAVES = tuple(name for name, leaf in LEAVES.items() if leaf.form == "run")

ORDER = ("max", "min")
SUMS = ("sum", "prod")
LOGICAL = ("land", "lor", "lxor")
BITWISE = ("band", "bor", "bxor")
LOC = ("maxloc", "minloc")
OPS = ORDER + SUMS + LOGICAL + BITWISE + LOC

# The ops and elements of reductions that also have a kernel for rows in place.
ROW_OPS = ORDER + ("sum",)
ROW_ELEMENTS = ("float32", "float64", "int32", "uint32", "int64", "uint64")


@dataclass(frozen=True)
class Element:
    """A representation, as in src/backend/contract/element.h.

    form     unsigned, signed, bytes, bool, half (8 or 16 bits, computed in float), float, complex, pair
    ctype    what the kernels compute with; of a pair: of its value
    index    the C type of a pair's index
    needs    the kind of long double that the machine must have, if any: x87 or binary128
    """

    name: str
    form: str
    ctype: str
    ops: tuple
    index: str = ""
    needs: str = ""

    @property
    def size(self):
        """The packed size of one element; None if it contains C's long double."""
        parts = {"complex": 2}.get(self.form, 1)
        size = _SIZES.get(self.ctype)
        return size and parts * size + (_SIZES[self.index] if self.index else 0)


_SIZES = {
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "Float16": 2, "BFloat16": 2, "Float8E4M3": 1, "Float8E5M2": 1, "float": 4, "double": 8,
}


def _elements():
    for bits in (8, 16, 32, 64):
        every = ORDER + SUMS + LOGICAL + BITWISE
        yield Element(f"uint{bits}", "unsigned", f"uint{bits}_t", every)
        yield Element(f"int{bits}", "signed", f"int{bits}_t", every)
    yield Element("byte", "bytes", "uint8_t", BITWISE)
    yield Element("bool8", "bool", "uint8_t", LOGICAL)
    yield Element("float16", "half", "Float16", ORDER + SUMS)
    yield Element("bfloat16", "half", "BFloat16", ORDER + SUMS)
    yield Element("float8_e4m3", "half", "Float8E4M3", ORDER + SUMS)
    yield Element("float8_e5m2", "half", "Float8E5M2", ORDER + SUMS)
    real = (("float32", "float", ""), ("float64", "double", ""))
    extended = (("x87_80", "long double", "x87"), ("binary128", "long double", "binary128"))
    for name, ctype, needs in real + extended:
        yield Element(name, "float", ctype, ORDER + SUMS, needs=needs)
    for name, ctype, needs in (("complex32", "float", ""), ("complex64", "double", "")):
        yield Element(name, "complex", ctype, SUMS)
    for name, ctype, needs in extended:
        yield Element(f"complex_{name}", "complex", ctype, SUMS, needs=needs)
    integers = tuple((f"int{bits}", f"int{bits}_t", "") for bits in (64, 32, 16))
    for name, ctype, needs in real + integers + extended:
        yield Element(f"{name}_int32", "pair", ctype, LOC, index="int32_t", needs=needs)
    for name, ctype, needs in real:
        yield Element(f"{name}_{name}", "pair", ctype, LOC, index=ctype)


ELEMENTS = {element.name: element for element in _elements()}


@dataclass(frozen=True)
class MoveKernel:
    direction: str
    shape: str  # letters of KINDS, the outermost level first
    leaf: str


@dataclass(frozen=True)
class TransposeKernel:
    """A matrix whose rows are lines of one side and whose columns are lines of the other, moved in tiles."""

    leaf: str  # of a block


@dataclass(frozen=True)
class ReduceKernel:
    op: str
    element: str


@dataclass(frozen=True)
class RowReduceKernel:
    """One strided level of blocks of elements, combined in place."""

    direction: str
    op: str
    element: str


@dataclass(frozen=True)
class ConvertKernel:
    """Consecutive elements of one representation become those of another."""

    source: str
    target: str


# The representations that conversions know. Complex numbers are converted part by part.
CONVERTED = ("bool8", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
             "float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float32", "float64")


def convert_kernel(source, target):
    """The kernel for a conversion. Integers are converted to integers modulo 2^N, so kernels for integers of equal
    widths are shared."""
    form = ELEMENTS[source].form, ELEMENTS[target].form
    integers = ("signed", "unsigned")
    if form[1] == "signed" and form[0] in (*integers, "bool"):
        target = "u" + target
    widens = ELEMENTS[target].size > ELEMENTS[source].size
    if form[0] == "signed" and (form[1] == "bool" or form[1] in integers and not widens):
        source = "u" + source
    return ConvertKernel(source, target)


def shared_element(op, element):
    """The element whose kernel does this reduction. Kernels are shared if the op does not depend on signedness."""
    form = ELEMENTS[element].form
    if form == "signed" and op not in ORDER:
        return "u" + element
    if form in ("bytes", "bool"):
        return "uint8"
    return element


@dataclass(frozen=True)
class Instructions:
    """An instruction set that the kernels are compiled for besides the compiler's default."""

    name: str
    features: tuple  # features that the processor must have
    implied: tuple  # features that such processors always have; some compilers cannot test for them
    gcc_options: tuple = ()

    @property
    def left_out(self):
        """The macro that leaves the set out."""
        return f"UCD_NO_{self.name.upper()}"


@dataclass(frozen=True)
class Space:
    """What backends have in common."""

    name: str
    elements: tuple

    def shapes(self):
        for levels in range(1, MAX_LEVELS + 1):
            yield from map("".join, itertools.product(KINDS, repeat=levels))

    def reductions(self):
        """All pairs (op, element) that the backend supports."""
        for name in self.elements:
            for op in ELEMENTS[name].ops:
                yield ReduceKernel(op, name)

    def reduce_kernel(self, reduction):
        """The kernel for a reduction."""
        return ReduceKernel(reduction.op, shared_element(reduction.op, reduction.element))

    def reduce_kernels(self):
        """All kernels for reductions, without repetitions; on devices, a kernel's number is its index in this list."""
        return list(dict.fromkeys(map(self.reduce_kernel, self.reductions())))


@dataclass(frozen=True)
class Backend(Space):
    """The part of the space that a backend uses."""

    fast_conversions: tuple  # representations between which each instruction set has conversions of its own
    instructions: tuple = ()  # the fastest first
    written_by_hand: tuple = ()  # source files that are compiled for each instruction set, too

    def leaves(self, shape):
        return RUN_LEAVES if shape.endswith("i") else BLOCK_LEAVES

    def moves(self):
        for shape in self.shapes():
            for leaf in self.leaves(shape):
                for direction in DIRECTIONS:
                    yield MoveKernel(direction, shape, leaf)

    def transposes(self):
        for leaf in BLOCK_LEAVES:
            # Tiles pay only for blocks that share a cache line.
            if LEAVES[leaf].form == "any" or LEAVES[leaf].size < 64:
                yield TransposeKernel(leaf)

    def row_reductions(self):
        """All triples (direction, op, element) with a kernel for rows."""
        for direction in DIRECTIONS:
            for name in ROW_ELEMENTS:
                for op in ROW_OPS:
                    yield RowReduceKernel(direction, op, name)

    def row_reduce_kernel(self, reduction):
        """The kernel for a reduction of rows."""
        element = shared_element(reduction.op, reduction.element)
        return RowReduceKernel(reduction.direction, reduction.op, element)

    def row_reduce_kernels(self):
        """All kernels for reductions of rows, without repetitions."""
        return list(dict.fromkeys(map(self.row_reduce_kernel, self.row_reductions())))

    def conversions(self):
        """All pairs (source, target). Equal representations are copied, and so are integers of equal widths."""
        for source, target in itertools.permutations(CONVERTED, 2):
            kernel = convert_kernel(source, target)
            if kernel.source != kernel.target:
                yield ConvertKernel(source, target)

    def convert_kernel(self, conversion):
        """The kernel for a conversion."""
        return convert_kernel(conversion.source, conversion.target)

    def convert_kernels(self):
        """All kernels for conversions, without repetitions."""
        return list(dict.fromkeys(map(self.convert_kernel, self.conversions())))

    def is_fast(self, conversion):
        """Whether each instruction set has the kernel of the conversion."""
        kernel = self.convert_kernel(conversion)
        return kernel.source in self.fast_conversions and kernel.target in self.fast_conversions

    def kernels(self):
        """All kernels, without repetitions."""
        return [
            *self.moves(),
            *self.transposes(),
            *self.reduce_kernels(),
            *self.row_reduce_kernels(),
            *self.convert_kernels(),
        ]


BACKENDS = {
    "seq": Backend(
        name="seq",
        elements=tuple(ELEMENTS),
        fast_conversions=("float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float32", "float64",
                          "int8", "uint8", "int32"),
        instructions=(
            Instructions(
                "avx512",
                ("avx2", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl"),
                ("f16c",),
                gcc_options=("prefer-vector-width=512",),
            ),
            Instructions("avx2", ("avx2", "bmi2"), ("f16c",)),
        ),
        written_by_hand=("list_looks.cpp",),
    ),
}


WIDTHS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class GpuBackend(Space):
    """The part of the space that the kernels of src/backend/gpu_common use. A block is any number of words, and the
    leaf gives their width."""

    fast_conversions: tuple  # (source, target); one kernel does all others
    tiled_conversions: tuple  # those of them that also have a kernel for permuted axes

    def moves(self):
        """The move kernels in the order of the tables: by width, direction and shape."""
        for width in WIDTHS:
            for direction in DIRECTIONS:
                for shape in self.shapes():
                    yield MoveKernel(direction, shape, f"w{width}")

    def convert_kernels(self):
        """The kernels for one pair of representations each."""
        return [ConvertKernel(*pair) for pair in self.fast_conversions]

    def is_tiled(self, kernel):
        """Whether the pair also has a kernel that converts in tiles."""
        return (kernel.source, kernel.target) in self.tiled_conversions

    def has_vectors(self, kernel):
        """Whether a vector holds a whole number of elements, so that a kernel is generated. Other elements are left to
        the kernel for any elements."""
        size = ELEMENTS[kernel.element].size
        return size & (size - 1) == 0


GPU_BACKENDS = {
    "gpu": GpuBackend(
        name="gpu",
        # Devices do not support C's long double.
        elements=tuple(name for name, element in ELEMENTS.items() if not element.needs),
        fast_conversions=(
            *itertools.permutations(("float16", "bfloat16", "float32"), 2),
            *itertools.product(("float16", "bfloat16", "float32"), ("float8_e4m3", "float8_e5m2")),
            *itertools.product(("float8_e4m3", "float8_e5m2"), ("float16", "bfloat16", "float32")),
            ("float32", "float64"), ("float64", "float32"), ("float32", "int32"), ("int32", "float32"),
            ("uint8", "float32"), ("uint8", "float16"), ("int8", "bfloat16"), ("int8", "float16"),
        ),
        # Few, for the size of the modules for Level Zero.
        tiled_conversions=(
            ("float32", "bfloat16"), ("bfloat16", "float32"), ("float32", "float16"), ("float16", "float32"),
            ("bfloat16", "float8_e4m3"), ("bfloat16", "float8_e5m2"), ("float8_e4m3", "bfloat16"),
            ("float8_e5m2", "bfloat16"), ("float32", "float8_e4m3"), ("float8_e4m3", "float32"),
            ("float64", "float32"), ("float32", "float64"), ("int32", "float32"), ("uint8", "float32"),
        ),
    ),
}
