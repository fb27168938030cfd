// Unpredictable numbers, and a hash whose collisions a peer cannot choose. Both come from
// libsodium.
#pragma once

#include "common/failure.h"

#include <cstddef>
#include <cstdint>

namespace ucd_ucx {

// Must be called before all other functions of this header and of content_id.h. Any thread may call
// it, also repeatedly.
Status start_cryptography();

void fill_randomly(void *memory, std::size_t bytes);

// An unpredictable 64-bit number that is never 0.
uint64_t random_token();

// SipHash-2-4 with a key that this process draws once, for hash tables whose keys peers choose.
std::size_t keyed_hash(const void *data, std::size_t bytes);

} // namespace ucd_ucx
