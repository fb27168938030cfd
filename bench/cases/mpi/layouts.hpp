// The layouts of messages, as MPI datatypes.
#pragma once

#include "harness/mpi/turns.hpp"

namespace bench {

// Freed with it, if it is derived.
class MpiLayout {
public:
    MpiLayout(std::string name, MPI_Datatype type, int count);
    MpiLayout(MpiLayout &&other) noexcept;
    MpiLayout &operator=(MpiLayout &&) = delete;
    ~MpiLayout();

    // Returns the same items with a type that these calls make and commit now.
    MpiLayout resized(const MpiCalls &calls) const;

    std::string name;
    MPI_Datatype type;
    int count;
    std::size_t bytes = 0;  // of data
    std::size_t extent = 0; // of all items, from the buffer on
    bool is_contiguous() const { return name.starts_with("contiguous"); }
};

// Of about so many bytes of data, 64 at least.
std::vector<MpiLayout> mpi_layouts(int bytes);

// Rows of so many bytes, at twice the distance.
MpiLayout rows_layout(int bytes, int row);

// For the memory of devices: rows of three lengths, faces of a field, structs, a transpose.
std::vector<MpiLayout> device_layouts(int bytes);

// Those of ucd-bench --layouts and --apps.
std::vector<MpiLayout> table_layouts();

} // namespace bench
