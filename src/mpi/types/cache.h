// Converted types, kept on their MPI datatypes as an attribute.
#pragma once

#include "types/convert.h"

#include <atomic>

namespace ucd_mpi {

// Shared by a datatype, its duplicates, and calls that use it.
class CachedType {
public:
    explicit CachedType(Converted &&converted) : converted_(std::move(converted)) {}
    CachedType(const CachedType &) = delete;
    CachedType &operator=(const CachedType &) = delete;

    ucd_type_t type() const { return converted_.type.get(); }
    const std::vector<PredefinedPart> &leaves() const { return converted_.leaves; }

    void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

private:
    ~CachedType() = default;

    Converted converted_;
    std::atomic<long> references_{1};
};

// The datatype's cached type, which is made if necessary, with a reference for the caller. Returns
// a status of ucd.h.
int cached_type(MPI_Datatype datatype, CachedType *&cached);

} // namespace ucd_mpi
