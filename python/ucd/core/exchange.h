// DLPack's exchange interface in C, which some libraries' classes of arrays have: the quickest way
// to their arrays and to their current stream.
#pragma once

#include "core/dlpack.h"

namespace ucdpy {

// The interface that an array's own class defines, of a version and with the functions that are
// used here; nullptr if there is none. Classes that inherit one may mean other memory by their
// arrays.
const dlpack::Exchange *exchange_of(nb::handle array);

// A class with such an interface that was asked for before.
struct KnownClass {
    PyObject *type;
    const dlpack::Exchange *exchange;
    bool is_torchs;
};

// That of an array; nullptr if it was not asked for, or has no interface.
const KnownClass *known_class_of(nb::handle array);

// Raises what the producer raised, if a function of the interface failed.
void check_producer(int rc);

// Why a tensor's values are not those in its memory, or that it takes part in automatic
// differentiation; nullptr: they are. __dlpack__ asks for that, the exchange interface does not.
const char *reason_against_values(nb::handle array, const dlpack::DataType &dtype);

// The stream in which the library of such an array works now; nullptr is the default stream.
void *current_stream_of(const dlpack::Exchange &exchange, const char *backend, int device);

} // namespace ucdpy
