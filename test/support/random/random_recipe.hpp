// Seeded random recipes: all constructors, zero and negative everything, bounded so that the
// byte-by-byte oracle stays cheap.
#pragma once

#include "support/random/pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ucdtest {

struct RecipeOptions {
    std::size_t max_bytes = 4096; // packed bytes of one
    // The same of two lists with equal parts, which are made if max_bytes is 1024 or more.
    static constexpr std::size_t max_alike = 8192;
    std::intptr_t max_span = 65536;   // bytes touched, and the magnitude of all bounds
    int max_depth = 6;                // constructors on top of a predefined type
    bool unpack_safe = false;         // no byte of memory twice in one element
    std::vector<ucd_type_t> elements; // the predefined types to use; empty: all
    // Where indices are placed that are read when data moves; empty: there are none such. What it
    // returns may be null: then they are ordinary memory.
    std::function<std::shared_ptr<void>(Rng &, const std::vector<std::byte> &)> index_memory;
    // For several types that draw from one pool; empty: each has its own, or none.
    std::shared_ptr<Pool> pool;
};

RandomType random_type(Rng &rng, const RecipeOptions &options = {});

// A count for such a type, at most `most`, with which the bytes touched stay within max_span and,
// if unpack_safe, no two elements overlap. Sometimes 0.
std::size_t random_count(Rng &rng, const RandomType &type, const RecipeOptions &options,
                         std::size_t most = 5);

} // namespace ucdtest
