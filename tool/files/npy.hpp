// Reads and writes headers of the .npy format, versions 1 to 3.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ucdtool {

struct Npy {
    std::string descr;       // for example, "<f8"
    uint64_t item_bytes = 0; // size of one element
    bool fortran_order = false;
    std::vector<intptr_t> shape; // empty for a scalar
    uint64_t data_at = 0;        // offset of the first element

    uint64_t elements() const;
    uint64_t data_bytes() const { return elements() * item_bytes; }
    // The distance in bytes between neighbours in each dimension, according to the order.
    std::vector<intptr_t> strides() const;
    std::string shown() const; // for messages: "3x4 of <f8"
};

bool is_npy(std::span<const std::byte> file);

// Throws Failure with `path` in its message if the header is not supported, or the file is shorter
// than the header says.
Npy read_npy(std::span<const std::byte> file, const std::string &path);

// The header to write before the data, padded as NumPy does.
std::vector<std::byte> npy_header(const std::string &descr, std::span<const intptr_t> shape);

// The predefined type for a dtype in this machine's byte order; NULL if there is none.
ucd_type_t type_of_dtype(const std::string &descr);

// The dtype for a predefined type whose packed form NumPy supports; "" if there is none.
std::string dtype_of_type(ucd_type_t predefined);

} // namespace ucdtool
