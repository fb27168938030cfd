// What most tests start from: `count` elements of a type, built by the library and mapped by the
// oracle, and its place in memory.
#pragma once

#include "support/buffers/image_buffer.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <cstddef>
#include <memory>

namespace ucdtest {

struct Subject {
    RecipePtr recipe;
    std::shared_ptr<const TypeMap> map; // of one element
    std::size_t count = 0;
    ByteMap bytes; // of all of them
    TouchedRange range;
    BuiltType built;

    ucd_type_t type() const { return built.get(); }
    std::size_t size() const { return bytes.size(); }
};

// Both tell the case what it is about, under the name `role`.
Subject make_subject(Case &one, const RecipePtr &recipe, std::size_t count,
                     const char *role = "type");
Subject random_subject(Case &one, const RecipeOptions &options = {}, std::size_t max_count = 5,
                       const char *role = "type");
// The same with at least one byte; draws again until it finds one.
Subject random_nonempty_subject(Case &one, const RecipeOptions &options = {},
                                std::size_t max_count = 5, const char *role = "type");

// A subject's bytes in memory, as the library is told of them.
struct MemoryLocation {
    ImageBuffer *memory;
    void *address;
    ucd_type_t type;
    std::size_t count;
    const ByteMap *bytes; // relative to memory->base()
};
MemoryLocation place(const Subject &subject, ImageBuffer &memory);

// The same bytes with absolute displacements, for a buffer that is NULL: one of the constructors
// shifts the type by the address of the memory. `shifted` owns the type.
MemoryLocation absolute_place(Rng &rng, const Subject &subject, ImageBuffer &memory,
                              BuiltType &shifted);

} // namespace ucdtest
