// Arrays whose dimensions are packed in another order than that in memory.
#pragma once

#include "shapes/recipe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Permutation {
    std::string name;
    int element;            // bytes
    std::vector<int> shape; // of the array in memory, the slowest dimension first
    std::vector<int> order; // dimension order[i] of the array is dimension i of the packed one

    RecipePtr type() const;
    // From the packed array back to the array.
    Permutation inverse() const;
};

// Permutations that are often needed, and random ones of rank 2 to 8 from 16 KiB to 64 MiB.
std::vector<Permutation> permutations();

} // namespace bench
