#include "core/dlpack.h"

namespace ucdpy::dlpack {

namespace {

enum Code : uint8_t {
    integer = 0,
    unsigned_integer = 1,
    floating = 2,
    bfloat = 4,
    complex = 5,
    boolean = 6,
    float8_e4m3fn = 10,
    float8_e5m2 = 12
};

} // namespace

bool is_integer(const DataType &dtype) {
    return dtype.code == integer || dtype.code == unsigned_integer || dtype.code == boolean;
}

bool is_complex(const DataType &dtype) {
    return dtype.code == complex;
}

const char *backend_of(int device_type) {
    switch (device_type) {
    case cpu:
    case cuda_host:
    case rocm_host: return nullptr;
    case cuda:
    case cuda_managed: return "cuda"; // its library uses it in streams
    case rocm: return "hip";
    default: raise(PyExc_BufferError, "a tensor on a device of DLPack's type %d", device_type);
    }
}

void require_version(uint32_t major) {
    if (major != 1) raise(PyExc_BufferError, "a tensor of version %u of DLPack", major);
}

void take(nb::handle capsule, ManagedVersioned *&versioned, Managed *&unversioned) {
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        versioned = static_cast<ManagedVersioned *>(
            PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        const uint32_t major = versioned->major;
        if (major != 1)
            versioned = nullptr; // of which nothing else is known: the capsule's to delete
        require_version(major);
        (void)PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
        unversioned = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
        (void)PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    } else {
        raise(PyExc_BufferError,
              "__dlpack__ gave no capsule of a tensor, or one that was taken before");
    }
}

Element element_of(const DataType &dtype, intptr_t &itemsize) {
    itemsize = (dtype.bits * dtype.lanes + 7) / 8;
    const bool whole_bytes = dtype.bits % 8 == 0;
    const intptr_t bytes = dtype.bits / 8;
    Element element;
    if (dtype.lanes == 1 && whole_bytes) {
        switch (dtype.code) {
        case integer: element.type = integer_of(bytes, true); break;
        case unsigned_integer: element.type = integer_of(bytes, false); break;
        case floating: element.type = floating_of(bytes); break;
        case complex: element.type = complex_of(bytes); break;
        case bfloat: element.type = bytes == 2 ? UCD_TYPE__BFLOAT16 : UCD_TYPE__NULL; break;
        case float8_e4m3fn:
            element.type = bytes == 1 ? UCD_TYPE__FLOAT8_E4M3 : UCD_TYPE__NULL;
            break;
        case float8_e5m2: element.type = bytes == 1 ? UCD_TYPE__FLOAT8_E5M2 : UCD_TYPE__NULL; break;
        case boolean: element.type = bytes == 1 ? UCD_TYPE___BOOL : UCD_TYPE__NULL; break;
        default: break;
        }
        if (element.type != UCD_TYPE__NULL) return element;
    }
    if (dtype.bits * dtype.lanes % 8 != 0)
        raise(PyExc_BufferError,
              "elements of %d bits are no whole bytes; give the tensor's bytes, as uint8",
              int(dtype.bits));
    // Without a type of its own (other 8-bit floats, several lanes): bytes, which can be moved.
    return bytes_of(itemsize);
}

} // namespace ucdpy::dlpack
