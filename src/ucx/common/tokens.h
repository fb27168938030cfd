// Unpredictable numbers, and a hash whose collisions a peer cannot choose. Both come from
// libsodium.
#pragma once

#include "common/failure.h"

#include <cstddef>
#include <cstdint>

namespace ucd_ucx {

// Before anything else here, and before content_id.h. May be called again, by any thread.
Status start_cryptography();

void fill_randomly(void *memory, std::size_t bytes);

// 64 bits that cannot be predicted, and are never 0.
uint64_t random_token();

// SipHash-2-4 with a key that this process draws once. For tables whose keys peers choose.
std::size_t keyed_hash(const void *data, std::size_t bytes);

} // namespace ucd_ucx
