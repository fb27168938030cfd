// The bytes of a flattened type with what they mean.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ucdtool {

// Of bytes that ucd_unflatten accepts.
std::string dump_flat(std::span<const std::byte> flat);

} // namespace ucdtool
