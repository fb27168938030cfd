"""Writers of checkpoints for tests, by the definitions of the formats: what torch.distributed.checkpoint and torch.save
write, and sharded safetensors. Share nothing with the readers, and need neither torch nor pickle."""

import io
import json
import struct
import zipfile
from typing import Any, NamedTuple

import numpy as np

METADATA = 'torch.distributed.checkpoint.metadata'
FILESYSTEM = 'torch.distributed.checkpoint.filesystem'
NAMES = {
    'float32': 'F32', 'float64': 'F64', 'float16': 'F16', 'int8': 'I8', 'uint8': 'U8', 'uint16': 'U16', 'int32': 'I32',
    'int64': 'I64', 'complex64': 'C64', 'bool': 'BOOL',
}  # fmt: skip
STORAGES = {
    'float32': 'Float', 'float64': 'Double', 'float16': 'Half', 'int8': 'Char', 'int32': 'Int', 'int64': 'Long',
    'complex64': 'ComplexFloat', 'bool': 'Bool', 'bfloat16': 'BFloat16',
}  # fmt: skip


class Named(NamedTuple):
    module: str
    name: str


class Call(NamedTuple):
    of: Named
    arguments: tuple


class Object(NamedTuple):
    of: Named
    state: Any


class Persistent(NamedTuple):
    of_writer: Any


class Shared(NamedTuple):
    """Written once, and then referred to."""

    value: Any


def pickled(value, protocol=4):
    """A pickle, opcode by opcode. Texts and names are remembered, as pickle does."""
    out = bytearray(b'\x80' + bytes([protocol]))
    memo = {}

    def known(what):
        if what in memo:
            out.extend(b'h' + bytes([memo[what]]) if memo[what] < 256 else b'j' + struct.pack('<I', memo[what]))
        return what in memo

    def text(what):
        if known(what):
            return
        data = what.encode()
        out.extend(b'\x8c' + bytes([len(data)]) if protocol > 3 and len(data) < 256 else b'X' + struct.pack('<I', len(data)))
        out.extend(data)
        memo[what] = len(memo)
        out.extend(b'\x94' if protocol > 3 else b'r' + struct.pack('<I', memo[what]))

    def name(what):
        if protocol > 3:
            if known(what):
                return
            text(what.module)
            text(what.name)
            out.extend(b'\x93\x94')
            memo[what] = len(memo)
        else:
            out.extend(f'c{what.module}\n{what.name}\n'.encode())

    def write(what):
        match what:
            case Shared(value):
                if known(id(value)):
                    return
                write(value)
                memo[id(value)] = len(memo)
                out.extend(b'\x94')
            case Named():
                name(what)
            case Call(of, arguments):
                name(of)
                write(arguments)
                out.extend(b'R')
            case Object(of, state):
                name(of)
                out.extend(b')\x81')
                write(state)
                out.extend(b'b')
            case Persistent(of_writer):
                write(of_writer)
                out.extend(b'Q')
            case None:
                out.extend(b'N')
            case bool():
                out.extend(b'\x88' if what else b'\x89')
            case int():
                if 0 <= what < 256:
                    out.extend(b'K' + bytes([what]))
                elif 0 <= what < 65536:
                    out.extend(b'M' + struct.pack('<H', what))
                elif -(2**31) <= what < 2**31:
                    out.extend(b'J' + struct.pack('<i', what))
                else:
                    data = what.to_bytes(what.bit_length() // 8 + 1, 'little', signed=True)
                    out.extend(b'\x8a' + bytes([len(data)]) + data)
            case str():
                text(what)
            case tuple():
                out.extend(b'(')
                for each in what:
                    write(each)
                out.extend(b't')
            case list():
                out.extend(b'](')
                for each in what:
                    write(each)
                out.extend(b'e')
            case dict():
                pairs = list(what.items()) if not isinstance(what, Dict) else what.pairs
                out.extend(b'}')
                for k in range(0, len(pairs), 1000):
                    out.extend(b'(')
                    for key, entry in pairs[k : k + 1000]:
                        write(key)
                        write(entry)
                    out.extend(b'u')
            case _:
                raise AssertionError(what)

    write(value)
    return bytes(out) + b'.'


class Dict(dict):
    """A dict whose keys are not hashable here."""

    def __init__(self, pairs):
        super().__init__()
        self.pairs = list(pairs)


def size(shape):
    return Call(Named('torch', 'Size'), (tuple(int(n) for n in shape),))


def saved_tensor(array, dtype=None, pad=0, strides=None):
    """What torch.save writes of an array, whose strides are dense in some order of the dimensions."""
    dtype = dtype or array.dtype.name
    order = sorted(range(array.ndim), key=lambda k: -array.strides[k])
    data = b'\x55' * pad * array.itemsize + array.transpose(order).tobytes()
    if strides is None:
        dense = np.cumprod([1, *[array.shape[k] for k in order[:0:-1]]])[::-1]
        by_axis = dict(zip(order, dense.tolist()))
        strides = tuple(by_axis[k] for k in range(array.ndim))
    hooks = Call(Named('collections', 'OrderedDict'), ())
    if dtype in STORAGES:
        storage = Persistent(('storage', Named('torch', f'{STORAGES[dtype]}Storage'), '0', 'cpu', len(data) // array.itemsize))
        made = Call(Named('torch._utils', '_rebuild_tensor_v2'), (storage, pad, array.shape, strides, False, hooks))
    else:
        storage = Persistent(('storage', Named('torch.storage', 'UntypedStorage'), '0', 'cpu', len(data)))
        rest = (pad, array.shape, strides, False, hooks, Named('torch', dtype))
        made = Call(Named('torch._utils', '_rebuild_tensor_v3'), (storage, *rest))
    return archive({'data.pkl': pickled(made, 2), 'byteorder': b'little', 'data/0': data, 'version': b'3\n'})


def archive(entries, prefix='archive/', method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', method) as made:
        for name, data in entries.items():
            made.writestr(zipfile.ZipInfo(prefix + name), data, method)
    return file.getvalue()


def metadata_of(tensors, objects=(), **more):
    """The bytes of .metadata. tensors: name -> (dtype, shape, [(offsets, sizes, file, start, length)])."""
    entries, places = {}, []
    for name, (dtype, shape, parts) in tensors.items():
        layout = Call(Named('torch.serialization', '_get_layout'), ('torch.strided',))
        memory_format = Call(Named(METADATA, '_MEM_FORMAT_ENCODING'), (0,))
        properties = Object(Named(METADATA, 'TensorProperties'), (Named('torch', dtype), layout, False, memory_format, False))
        chunks = [
            Object(Named(METADATA, 'ChunkStorageMetadata'), {'offsets': size(offsets), 'sizes': size(sizes)})
            for offsets, sizes, *_ in parts
        ]
        state = {'properties': properties, 'size': size(shape), 'chunks': chunks}
        entries[name] = Object(Named(METADATA, 'TensorStorageMetadata'), state)
        seen = set()
        for k, (offsets, _, file, start, length) in enumerate(parts):
            if tuple(offsets) in seen:  # parts without elements
                continue
            seen.add(tuple(offsets))
            index = Object(Named(METADATA, 'MetadataIndex'), {'fqn': name, 'offset': size(offsets), 'index': k})
            places.append((index, _place(file, start, length)))
    for name, file, start, length in objects:
        entries[name] = Object(Named(METADATA, 'BytesStorageMetadata'), {})
        index = Object(Named(METADATA, 'MetadataIndex'), {'fqn': name, 'offset': None, 'index': None})
        places.append((index, _place(file, start, length)))
    path = Call(Named('pathlib', 'PosixPath'), ('somewhere',))
    meta = {'checkpoint_id': path, 'save_id': 'x', 'load_id': None, 'modules': []}
    state = {
        'state_dict_metadata': entries,
        'planner_data': {name: ('model', name, 0) for name in entries},
        'storage_data': Dict(places),
        'storage_meta': Object(Named(METADATA, 'StorageMeta'), meta),
        'version': '1.0.0',
    }
    return pickled(Object(Named(METADATA, 'Metadata'), state | more))


def _place(file, start, length):
    return Object(Named(FILESYSTEM, '_StorageInfo'), {'relative_path': file, 'offset': start, 'length': length})


def write_dcp(folder, tensors):
    """A directory of torch.distributed.checkpoint. tensors: name -> (dtype, array, [(rank, slices)])."""
    folder.mkdir(exist_ok=True)
    files, said = {}, {}
    for name, (dtype, array, parts) in tensors.items():
        chunks = []
        for k, (rank, where) in enumerate(parts):
            data = saved_tensor(array[where], dtype, pad=k % 3)
            file = files.setdefault(f'__{rank}_0.distcp', bytearray())
            found = array[where].shape
            chunks.append(([s.start for s in where], found, f'__{rank}_0.distcp', len(file), len(data)))
            file += data
        said[name] = dtype, array.shape, chunks
    last = files.setdefault('__0_0.distcp', bytearray())
    (folder / '.metadata').write_bytes(metadata_of(said, [('step', '__0_0.distcp', len(last), 5)]))
    last += b'12345'
    for name, data in files.items():
        (folder / name).write_bytes(data)


def safetensors_file(path, tensors, metadata=None):
    """tensors: name -> array, or (dtype, array)."""
    header: dict[str, Any] = {'__metadata__': metadata} if metadata else {}
    data = b''
    for name, given in tensors.items():
        dtype, array = given if isinstance(given, tuple) else (NAMES[given.dtype.name], given)
        header[name] = {'dtype': dtype, 'shape': list(array.shape), 'data_offsets': [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, 'little') + text + data)
    return path
