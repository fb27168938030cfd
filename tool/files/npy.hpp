// The .npy format, versions 1 to 3: its header read and written.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ucdtool {

struct Npy {
    std::string descr;       // "<f8"
    uint64_t item_bytes = 0; // of one element
    bool fortran_order = false;
    std::vector<intptr_t> shape; // empty for a scalar
    uint64_t data_at = 0;        // where the elements start

    uint64_t elements() const;
    uint64_t data_bytes() const { return elements() * item_bytes; }
    // Bytes from one index to the next, by the order.
    std::vector<intptr_t> strides() const;
    std::string shown() const; // "3x4 of <f8", for messages
};

bool is_npy(std::span<const std::byte> file);

// Throws Failure, which names `path`, if the header is none that this tool reads, or the file is
// shorter than the header says.
Npy read_npy(std::span<const std::byte> file, const std::string &path);

// The bytes in front of the data, padded as NumPy pads them.
std::vector<std::byte> npy_header(const std::string &descr, std::span<const intptr_t> shape);

// The predefined type of a dtype in this machine's byte order; NULL if there is none.
ucd_type_t type_of_dtype(const std::string &descr);

// The dtype of a predefined type whose packed bytes NumPy knows; "" if there is none.
std::string dtype_of_type(ucd_type_t predefined);

} // namespace ucdtool
