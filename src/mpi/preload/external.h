// Packed data in MPI's external32 form, for elements that differ from this machine's only in byte
// order.
#pragma once

#include "types/convert.h"

#include <cstdint>
#include <vector>

namespace ucd_mpi {

class ExternalForm {
public:
    // Tries MPI's conversion of one element of each kind. False if the conversion is more than a
    // reversal of bytes, or if the sequence of kinds has a long period: MPI then has to convert.
    bool find(const Converted &converted);

    // Converts from either form to the other. `bytes` is a multiple of the item's size. Both
    // buffers are in host memory; `to` may equal `from`.
    void convert(void *to, const void *from, std::uintptr_t bytes) const;

private:
    struct RunOfWords {
        std::uintptr_t bytes;
        std::uintptr_t width; // of the words whose bytes are reversed
    };
    std::vector<RunOfWords> parts_; // one period, which repeats
};

} // namespace ucd_mpi
