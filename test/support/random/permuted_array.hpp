// Arrays of two to eight dimensions whose packed order is another than that in memory.
#pragma once

#include "support/random/rng.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ucdtest {

// Entries of equal size, enumerated in packed order.
struct PermutedArray {
    std::intptr_t block;                       // bytes of an entry
    std::vector<std::intptr_t> shape, strides; // in packed order
    std::size_t entries = 1, span = 0;

    // An array of random shape, packed in a random order of its dimensions. An entry has `bytes`.
    PermutedArray(Rng &rng, std::size_t max_entries, std::intptr_t bytes) : block(bytes) {
        const std::size_t dims = 2 + rng.below(7);
        // With many dimensions, none is long.
        const std::size_t longest = dims < 5 ? 90 : 9;
        std::vector<std::intptr_t> memory_shape(dims), memory_strides(dims);
        std::intptr_t step = block + gap_between(rng);
        for (std::size_t d = dims; d-- > 0;) {
            const std::size_t room = max_entries / entries;
            memory_shape[d] = static_cast<std::intptr_t>(1 + rng.below(std::min(room, longest)));
            memory_strides[d] = step;
            const std::intptr_t padding = rng.chance(30) ? rng.between(0, 100) : 0;
            step = step * memory_shape[d] + padding;
            entries *= static_cast<std::size_t>(memory_shape[d]);
        }
        span = static_cast<std::size_t>(step);
        std::vector<std::size_t> order(dims);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t d = dims; d-- > 1;) std::swap(order[d], order[rng.below(d + 1)]);
        for (const std::size_t d : order) {
            shape.push_back(memory_shape[d]);
            strides.push_back(memory_strides[d]);
        }
    }

    // An array of the same shape in packed order, which lies in memory in another order.
    PermutedArray(Rng &rng, const PermutedArray &other, std::intptr_t bytes)
        : block(bytes), shape(other.shape) {
        entries = other.entries;
        std::vector<std::size_t> order(shape.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t d = order.size(); d-- > 1;) std::swap(order[d], order[rng.below(d + 1)]);
        strides.resize(shape.size());
        std::intptr_t step = block + gap_between(rng);
        for (const std::size_t d : order) {
            strides[d] = step;
            step = step * shape[d] + (rng.chance(20) ? rng.between(0, 100) : 0);
        }
        span = static_cast<std::size_t>(step);
    }

    std::size_t offset_of(std::size_t entry) const {
        std::size_t at = 0;
        for (std::size_t d = shape.size(); d-- > 0;) {
            const auto extent = static_cast<std::size_t>(shape[d]);
            at += entry % extent * static_cast<std::size_t>(strides[d]);
            entry /= extent;
        }
        return at;
    }

    // The type of the array; the outermost dimension by the call's count if `by_count`. An entry
    // consists of elements of this type.
    ucd_type_t build(ucd_type_t element, bool by_count) const {
        uintptr_t size = 0;
        require(ucd_get_size(element, &size));
        ucd_type_t entry = UCD_TYPE__NULL, array = UCD_TYPE__NULL, type = UCD_TYPE__NULL;
        require(
            ucd_create_contig(block / static_cast<std::intptr_t>(size), element, nullptr, &entry));
        const int first = by_count ? 1 : 0;
        require(ucd_create_ndarray(static_cast<int>(shape.size()) - first, shape.data() + first,
                                   strides.data() + first, entry, nullptr, &array));
        require(ucd_create_resized(array, 0, strides[0], nullptr, &type));
        require(ucd_free(&array));
        require(ucd_free(&entry));
        return type;
    }
    std::uintptr_t count(bool by_count) const {
        return by_count ? static_cast<std::uintptr_t>(shape[0]) : 1;
    }

private:
    // What lies between entries that are neighbours in memory: mostly nothing.
    static std::intptr_t gap_between(Rng &rng) { return rng.chance(15) ? rng.between(1, 40) : 0; }
    static void require(int rc) {
        if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
    }
};

} // namespace ucdtest
