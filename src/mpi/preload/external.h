// Packed data in MPI's external32 form, where it differs from this machine's in the order of bytes
// only.
#pragma once

#include "types/convert.h"

#include <cstdint>
#include <vector>

namespace ucd_mpi {

class ExternalForm {
public:
    // Asks MPI what it does with one element of each kind. False if an element changes its size, or
    // if the kinds of elements do not repeat soon: then MPI has to do it.
    bool find(const Converted &converted);

    // From either form to the other; `bytes` are whole items. In host memory; to may be from.
    void convert(void *to, const void *from, std::uintptr_t bytes) const;

private:
    struct Part {
        std::uintptr_t bytes;
        std::uintptr_t width; // of what has its bytes reversed
    };
    std::vector<Part> parts_; // over and over
};

} // namespace ucd_mpi
