#include "support/random/random_layouts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ucdtest {

RecipePtr same_elements_elsewhere(Rng &rng, const TypeMap &map, bool in_order) {
    const std::size_t elements = map.entries.size();
    std::vector<std::size_t> order(elements);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!in_order && rng.chance(50)) rng.shuffle(order);
    Ints displs(elements);
    std::intptr_t cursor = rng.between(-100, 100);
    for (const std::size_t i : order) {
        displs[i] = cursor;
        cursor += static_cast<std::intptr_t>(map.entries[i].type->extent);
        if (rng.chance(40)) cursor += rng.between(0, 9);
    }
    std::vector<RecipePtr> types;
    for (const Entry &entry : map.entries) types.push_back(recipes::leaf(entry.type->handle));
    return recipes::structure(Ints(elements, 1), displs, types);
}

RecipePtr random_strides(Rng &rng, std::intptr_t total, const RecipePtr &element,
                         std::intptr_t bytes) {
    Ints shape;
    for (std::intptr_t rest = total; rest > 1;) {
        std::intptr_t n = rest;
        for (int tries = 0; tries < 4; ++tries)
            if (const std::intptr_t d = rng.between(2, rest); rest % d == 0) n = d;
        shape.push_back(n);
        rest /= n;
    }
    if (shape.empty()) shape.push_back(1);
    rng.shuffle(shape);
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (rng.chance(50))
        rng.shuffle(order);
    else
        std::reverse(order.begin(), order.end()); // as in C
    Ints strides(shape.size());
    std::intptr_t stride = bytes;
    for (const std::size_t d : order) {
        strides[d] = rng.chance(20) ? -stride : stride;
        stride *= shape[d];
        if (rng.chance(40)) stride += bytes * rng.between(1, 3);
        if (rng.chance(5)) stride += 1;
    }
    return recipes::ndarray(shape, strides, element);
}

} // namespace ucdtest
