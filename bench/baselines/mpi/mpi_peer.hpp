// MPI_Pack and MPI_Unpack as one of those that are measured, if there was an MPI when this program
// was built.
#pragma once

#include "shapes/recipe.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Committed, and freed with this object.
class MpiType {
public:
    virtual ~MpiType() = default;
    // One element.
    virtual void pack(char *typed, char *packed, std::int64_t bytes) const = 0;
    virtual void unpack(char *typed, char *packed, std::int64_t bytes) const = 0;
};

class MpiPeer {
public:
    virtual ~MpiPeer() = default;
    virtual const std::string &version() const = 0;
    virtual std::unique_ptr<MpiType> build(const Recipe &recipe) const = 0;
    // Create, commit and free a type on doubles.
    virtual void create_vector(int count, int blocklength, int stride) const = 0;
    virtual void create_indexed(const std::vector<int> &blocklengths,
                                const std::vector<int> &displs) const = 0;
};

// Initialises MPI for this one process; null if the program was built without.
std::unique_ptr<MpiPeer> start_mpi();

} // namespace bench
