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

ucd_type_t number_of(const DataType &dtype) {
    const intptr_t bytes = dtype.bits / 8;
    switch (dtype.code) {
    case integer: return integer_of(bytes, true);
    case unsigned_integer: return integer_of(bytes, false);
    case floating: return floating_of(bytes);
    case complex: return complex_of(bytes);
    case bfloat: return bytes == 2 ? UCD_TYPE__BFLOAT16 : UCD_TYPE__NULL;
    case float8_e4m3fn: return bytes == 1 ? UCD_TYPE__FLOAT8_E4M3 : UCD_TYPE__NULL;
    case float8_e5m2: return bytes == 1 ? UCD_TYPE__FLOAT8_E5M2 : UCD_TYPE__NULL;
    case boolean: return bytes == 1 ? UCD_TYPE___BOOL : UCD_TYPE__NULL;
    default: return UCD_TYPE__NULL;
    }
}

Element element_of(const DataType &dtype, intptr_t &itemsize) {
    const int bits = dtype.bits * dtype.lanes;
    itemsize = (bits + 7) / 8;
    Element element;
    if (dtype.lanes == 1 && bits % 8 == 0) element.type = number_of(dtype);
    if (element.type != UCD_TYPE__NULL) return element;
    if (bits % 8 != 0)
        raise(PyExc_BufferError, "elements of %d bits are no whole bytes", int(dtype.bits));
    // Without a type of its own (other 8-bit floats, several lanes): bytes, which can be moved.
    return bytes_of(itemsize);
}

} // namespace ucdpy::dlpack
