"""The extension module: types as mypy sees them. The docstrings are the extension's own."""

from collections.abc import Generator, Iterable
from typing import Any, Literal

predefined: dict[str, Type]
C_BOOL: Type
CHAR: Type
SIGNED_CHAR: Type
UNSIGNED_CHAR: Type
WCHAR_T: Type
BYTE: Type
SHORT: Type
UNSIGNED_SHORT: Type
INT: Type
UNSIGNED: Type
LONG: Type
UNSIGNED_LONG: Type
LONG_LONG: Type
UNSIGNED_LONG_LONG: Type
INT8_T: Type
INT16_T: Type
INT32_T: Type
INT64_T: Type
UINT8_T: Type
UINT16_T: Type
UINT32_T: Type
UINT64_T: Type
INT_FAST8_T: Type
INT_FAST16_T: Type
INT_FAST32_T: Type
INT_FAST64_T: Type
UINT_FAST8_T: Type
UINT_FAST16_T: Type
UINT_FAST32_T: Type
UINT_FAST64_T: Type
INT_LEAST8_T: Type
INT_LEAST16_T: Type
INT_LEAST32_T: Type
INT_LEAST64_T: Type
UINT_LEAST8_T: Type
UINT_LEAST16_T: Type
UINT_LEAST32_T: Type
UINT_LEAST64_T: Type
INTMAX_T: Type
UINTMAX_T: Type
SIZE_T: Type
INTPTR_T: Type
UINTPTR_T: Type
PTRDIFF_T: Type
FLOAT16: Type
BFLOAT16: Type
FLOAT: Type
DOUBLE: Type
LONG_DOUBLE: Type
C_COMPLEX: Type
C_DOUBLE_COMPLEX: Type
C_LONG_DOUBLE_COMPLEX: Type
FLOAT_INT: Type
DOUBLE_INT: Type
LONG_INT: Type
TWOINT: Type
SHORT_INT: Type
LONG_DOUBLE_INT: Type
TWOFLOAT: Type
TWODOUBLE: Type
FLOAT8_E4M3: Type
FLOAT8_E5M2: Type

def nodes(type: Type) -> list[tuple[str, list[Any], int, int, int]]: ...

class Type:
    @staticmethod
    def contiguous(count: int, oldtype: Any) -> Type: ...
    @staticmethod
    def dup(oldtype: Any) -> Type: ...
    @staticmethod
    def vector(count: int, blocklength: int, stride: int, oldtype: Any) -> Type: ...
    @staticmethod
    def hvector(count: int, blocklength: int, stride: int, oldtype: Any) -> Type: ...
    @staticmethod
    def indexed_block(blocklength: int, displacements: Any, oldtype: Any) -> Type: ...
    @staticmethod
    def hindexed_block(blocklength: int, displacements: Any, oldtype: Any) -> Type: ...
    @staticmethod
    def indexed(blocklengths: Any, displacements: Any, oldtype: Any) -> Type: ...
    @staticmethod
    def hindexed(blocklengths: Any, displacements: Any, oldtype: Any) -> Type: ...
    @staticmethod
    def struct(blocklengths: Any, displacements: Any, types: Iterable[Any]) -> Type: ...
    @staticmethod
    def subarray(sizes: Any, subsizes: Any, starts: Any, oldtype: Any, order: str = 'C') -> Type: ...
    @staticmethod
    def darray(
        size: int,
        rank: int,
        gsizes: Any,
        distribs: Iterable[str],
        dargs: Iterable[int | None],
        psizes: Any,
        oldtype: Any,
        order: str = 'C',
    ) -> Type: ...
    @staticmethod
    def ndarray(shape: Any, strides: Any, oldtype: Any) -> Type: ...
    @staticmethod
    def resized(oldtype: Any, lb: int, extent: int) -> Type: ...
    @staticmethod
    def from_view(array: Any) -> Type: ...
    @staticmethod
    def indexed_block_ref(
        blocklength: int, indices: Any, unit: int, lb: int, extent: int, oldtype: Any
    ) -> Type: ...
    @staticmethod
    def unflatten(data: Any) -> Type: ...
    def flatten(self) -> bytes: ...
    @staticmethod
    def from_text(text: str, *, files: bool = False) -> Type: ...
    def to_text(self) -> str: ...
    @staticmethod
    def from_mpi(datatype: Any) -> Type: ...
    def to_mpi(self) -> Any: ...
    def svg(self, count: int = 1, *, columns: int = 64, rows: int = 32) -> str: ...
    def _repr_svg_(self) -> str | None: ...
    @property
    def size(self) -> int: ...
    @property
    def lb(self) -> int: ...
    @property
    def extent(self) -> int: ...
    @property
    def true_lb(self) -> int: ...
    @property
    def true_extent(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    def layout(self, count: int = 1) -> dict[str, Any]: ...
    def advice(self, count: int = 1, *, min_segment: int = 0, max_entries: int = 0) -> dict[str, Any]: ...
    def describe(self) -> str: ...
    def __copy__(self) -> Type: ...
    def __deepcopy__(self, memo: Any) -> Type: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class Hints:
    def __init__(self, values: dict[str, Any]) -> None: ...

class Request:
    def done(self) -> bool: ...
    def wait(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def __await__(self) -> Generator[Any, None, int]: ...

class Batch:
    def __init__(self, members: Iterable[tuple[Any, ...]], *, op: str | int | None = None, hints: Hints | None = None) -> None: ...
    @staticmethod
    def pack(members: Iterable[tuple[Any, ...]], *, op: str | int | None = None, hints: Hints | None = None) -> Batch: ...
    @staticmethod
    def unpack(members: Iterable[tuple[Any, ...]], *, op: str | int | None = None, hints: Hints | None = None) -> Batch: ...
    @staticmethod
    def copy(members: Iterable[tuple[Any, ...]], *, op: str | int | None = None, hints: Hints | None = None) -> Batch: ...
    def __len__(self) -> int: ...
    def run(self, *, stream: Any = None) -> int: ...
    def start(self) -> Request: ...
    def rebase(self, members: Iterable[tuple[Any, Any]], first: int = 0) -> None: ...

class Splits:
    def __init__(self, splits: Iterable[tuple[int, int, int, tuple[tuple[int, int], ...]]]) -> None: ...
    def size(self, n: int, part: int) -> int: ...

_Runs = tuple[tuple[int, int, int, int, int, int], ...]

def common(n: int, source: Splits, sender: int, target: Splits, receiver: int) -> _Runs: ...
def common_with_block(n: int, start: int, length: int, target: Splits, part: int) -> _Runs: ...
def receivers(n: int, source: Splits, sender: int, target: Splits) -> list[int]: ...
def senders(n: int, source: Splits, target: Splits, receiver: int) -> list[int]: ...
def clipped(runs: _Runs, start: int, stop: int) -> _Runs: ...
def part(runs: _Runs, number: int, parts: int) -> _Runs: ...
def pack_into(
    src: Any,
    out: Any,
    *,
    type: Type | None = None,
    count: int = 1,
    offset: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
    stream: Any = None,
) -> int: ...
def unpack(
    packed: Any,
    dst: Any,
    *,
    type: Type | None = None,
    count: int = 1,
    offset: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
    stream: Any = None,
) -> int: ...
def copy(
    src: Any,
    dst: Any,
    *,
    src_type: Type | None = None,
    src_count: int = 1,
    dst_type: Type | None = None,
    dst_count: int = 1,
    op: str | int | None = None,
    convert: bool | Literal['saturate'] = False,
    hints: Hints | None = None,
) -> int: ...
def ipack_into(
    src: Any,
    out: Any,
    *,
    type: Type | None = None,
    count: int = 1,
    offset: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
) -> Request: ...
def iunpack(
    packed: Any,
    dst: Any,
    *,
    type: Type | None = None,
    count: int = 1,
    offset: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
) -> Request: ...
def icopy(
    src: Any,
    dst: Any,
    *,
    src_type: Type | None = None,
    src_count: int = 1,
    dst_type: Type | None = None,
    dst_count: int = 1,
    op: str | int | None = None,
    convert: bool | Literal['saturate'] = False,
    hints: Hints | None = None,
) -> Request: ...
def gather_into(
    pool: Any,
    indices: Any,
    out: Any,
    *,
    axis: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
    stream: Any = None,
) -> int: ...
def scatter(
    packed: Any,
    pool: Any,
    indices: Any,
    *,
    axis: int = 0,
    op: str | int | None = None,
    hints: Hints | None = None,
    stream: Any = None,
) -> int: ...
def memory(array: Any) -> str: ...
def address(array: Any) -> int: ...
def synchronize(array: Any) -> None: ...
def element_of(array: Any) -> Type: ...
def described(array: Any) -> tuple[tuple[int, ...], Type, Any]: ...
def placed(array: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], Type, Any]: ...
def shape_and_strides(array: Any) -> tuple[tuple[int, ...], tuple[int, ...]]: ...
def reaches(terms: list[tuple[int, int, int]], first: int, last: int) -> bool | None: ...
def packed_size(array: Any, type: Type | None = None, count: int = 1) -> int: ...
def op_is_supported(op: str | int, type: Any, backend: str = 'seq') -> bool: ...
def version() -> tuple[int, int, int]: ...
def backends() -> list[tuple[str, bool, int, str, str]]: ...
def ipc_export(array: Any) -> bytes | None: ...
def ipc_open(handle: bytes, device: str) -> tuple[int, int]: ...
def ipc_close(address: int) -> None: ...
def iov(type: Type, address: int, count: int) -> bytearray: ...
def boxes(type: Type, address: int, count: int) -> bytearray: ...
def columns(type: Type, address: int, count: int, expand: bool) -> list[bytearray]: ...
def element_runs(type: Type, count: int) -> list[tuple[Type | None, int, int, int]]: ...
