// Prints the bytes of a flattened type with their meaning.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ucdtool {

// ucd_unflatten must accept the bytes.
std::string dump_flat(std::span<const std::byte> flat);

} // namespace ucdtool
