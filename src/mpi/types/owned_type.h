// Owns a type handle of libucd.
#pragma once

#include <ucd.h>

#include <memory>

namespace ucd_mpi {

struct FreeType {
    void operator()(ucd_type_t type) const { (void)ucd_free(&type); }
};
using OwnedType = std::unique_ptr<ucd_type, FreeType>;

} // namespace ucd_mpi
