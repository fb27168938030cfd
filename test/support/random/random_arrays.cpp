#include "support/random/random_arrays.hpp"

#include "support/random/random_placement.hpp"

#include <algorithm>
#include <numeric>

namespace ucdtest {
namespace {

int random_order(Rng &rng) {
    return rng.chance(50) ? UCD_ORDER__C : UCD_ORDER__FORTRAN;
}

// Numbers >= 1 whose product is at most `room`.
Ints random_shape(Rng &rng, Pool &pool, std::size_t ndims, std::size_t room) {
    Ints shape(ndims, 1);
    for (std::intptr_t &length : shape) {
        length = pool.positive(rng, std::min<std::size_t>(room, 41));
        room = std::max<std::size_t>(1, room / static_cast<std::size_t>(length));
    }
    rng.shuffle(shape);
    return shape;
}

} // namespace

RecipePtr random_subarray(Rng &rng, Pool &pool, const RecipePtr &old, std::size_t room) {
    if (room == 0) return nullptr;
    const std::size_t ndims = 1 + rng.below(4);
    const Ints subsizes = random_shape(rng, pool, ndims, room);
    Ints sizes(ndims), starts(ndims);
    for (std::size_t k = 0; k < ndims; ++k) {
        // A full dimension merges with its neighbours, so it should be common.
        const auto more = static_cast<std::intptr_t>(rng.chance(45) ? 0 : rng.mostly_small(8));
        sizes[k] = subsizes[k] + more;
        starts[k] = rng.between(0, more);
    }
    return recipes::subarray(sizes, subsizes, starts, random_order(rng), old);
}

RecipePtr random_darray(Rng &rng, Pool &pool, const RecipePtr &old, std::size_t room) {
    const std::size_t ndims = 1 + rng.below(4);
    Ints gsizes(ndims), dargs(ndims);
    std::vector<int> distribs(ndims), psizes(ndims);
    int size = 1;
    std::size_t max_owned = 1; // at least what any process owns
    for (std::size_t k = 0; k < ndims; ++k) {
        gsizes[k] = pool.positive(rng, ndims == 1 ? 201 : 13);
        const int kinds[] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC, UCD_DISTRIBUTE__NONE};
        distribs[k] = kinds[rng.below(3)];
        psizes[k] = distribs[k] == UCD_DISTRIBUTE__NONE ? 1 : static_cast<int>(rng.between(1, 4));
        const std::intptr_t even = (gsizes[k] + psizes[k] - 1) / psizes[k];
        dargs[k] = UCD_DISTRIBUTE__DFLT_DARG;
        if (distribs[k] == UCD_DISTRIBUTE__BLOCK && rng.chance(50)) {
            dargs[k] = even + rng.between(0, 3);
        } else if (distribs[k] == UCD_DISTRIBUTE__CYCLIC && rng.chance(70)) {
            dargs[k] = rng.between(1, 4);
        }
        size *= psizes[k];
        const std::intptr_t deal = std::max<std::intptr_t>(1, dargs[k]);
        max_owned *= static_cast<std::size_t>(std::min(gsizes[k], even + deal));
    }
    if (max_owned > room) return nullptr;
    const int rank = static_cast<int>(rng.between(0, size - 1));
    return recipes::darray(size, rank, gsizes, distribs, dargs, psizes, random_order(rng), old);
}

RecipePtr random_ndarray(Rng &rng, Pool &pool, const RecipePtr &old, const TypeMap &old_map,
                         std::size_t room, bool orderly) {
    if (room == 0) return nullptr;
    const std::size_t ndims = rng.below(6);
    Ints shape = random_shape(rng, pool, ndims, room);
    Ints strides(ndims);
    if (orderly) {
        std::vector<std::size_t> fastest_first(ndims);
        std::iota(fastest_first.rbegin(), fastest_first.rend(), std::size_t{0});
        if (rng.chance(40)) rng.shuffle(fastest_first);
        std::intptr_t stride = block_range(old_map, 1).length();
        for (const std::size_t k : fastest_first) {
            if (rng.chance(40)) stride += random_gap(rng);
            strides[k] = rng.chance(20) ? -stride : stride;
            stride *= shape[k];
        }
    } else {
        for (std::intptr_t &stride : strides) {
            stride = rng.chance(25) ? 0 : pool.distance(rng, -80, 80);
        }
    }
    if (ndims > 0 && rng.chance(3)) shape[rng.below(ndims)] = 0;
    return recipes::ndarray(shape, strides, old);
}

} // namespace ucdtest
