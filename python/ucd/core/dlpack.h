// DLPack's structs, versions 0 and 1 and the exchange interface in C of version 1.3, as its
// specification lays them out in memory.
#pragma once

#include "core/element.h"

#include <cstdint>

namespace ucdpy::dlpack {

enum DeviceType : int32_t {
    cpu = 1,
    cuda = 2,
    cuda_host = 3,
    rocm = 10,
    rocm_host = 11,
    cuda_managed = 13,
};

struct Device {
    int32_t type, id;
};

struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};

struct Tensor {
    void *data;
    Device device;
    int32_t ndim;
    DataType dtype;
    const int64_t *shape, *strides; // in elements; no strides: C order
    uint64_t byte_offset;
};

struct Managed {
    Tensor tensor;
    void *context;
    void (*deleter)(Managed *);
};

struct ManagedVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(ManagedVersioned *);
    uint64_t flags; // bit 0: read-only
    Tensor tensor;
};

// What a producer's class offers to consumers in C. The functions need the GIL. Those that fail
// return other than 0, with a Python exception.
struct Exchange {
    uint32_t major, minor;
    const Exchange *other_version; // or nullptr
    void (*allocate)();
    int (*managed_tensor)(PyObject *array, ManagedVersioned **made);
    void (*to_object)();
    int (*borrowed_tensor)(PyObject *array, Tensor *made); // may be nullptr
    int (*current_stream)(int32_t device_type, int32_t device, void **stream);
};

// Whether such memory is used in the order of streams.
inline bool on_device(int device_type) {
    return device_type == cuda || device_type == rocm || device_type == cuda_managed;
}

// DLPack's number of a stream; CUDA's default stream has one of its own.
inline int64_t stream_number(const void *stream) {
    return stream ? static_cast<int64_t>(reinterpret_cast<intptr_t>(stream)) : 1;
}

bool is_integer(const DataType &dtype); // or boolean
bool is_complex(const DataType &dtype);

// "cuda", "hip", or nullptr for memory that no stream's order is for. Raises BufferError for other
// devices.
const char *backend_of(int device_type);

inline bool is_readonly(const ManagedVersioned &managed) {
    return (managed.flags & 1) != 0;
}

// Raises BufferError for a tensor of another major version.
void require_version(uint32_t major);

// Takes the tensor out of a capsule of __dlpack__: its deleter is the caller's to call. A capsule
// is taken once, by whoever comes first. Raises BufferError for one that was, and for what is none.
void take(nb::handle capsule, ManagedVersioned *&versioned, Managed *&unversioned);

// The predefined type of elements of one lane; UCD_TYPE__NULL if there is none.
ucd_type_t number_of(const DataType &dtype);

// A tensor's elements, and their bytes.
Element element_of(const DataType &dtype, intptr_t &itemsize);

} // namespace ucdpy::dlpack
