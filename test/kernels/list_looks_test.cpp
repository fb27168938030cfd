// What lists are found to be by each instruction set, against one entry after the other.
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/random_cases.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace list_looks_test {

using namespace ucd;
using namespace ucd::seq;
using namespace ucdtest;

namespace {

std::vector<int64_t> random_numbers(Rng &rng, std::size_t count, int bits) {
    std::vector<int64_t> list(count);
    for (int64_t &entry : list) {
        entry = static_cast<int64_t>(rng.bits() >> (64 - bits));
        if (rng.chance(40)) entry = ~entry;
    }
    return list;
}

uint64_t magnitude(int64_t entry) {
    return static_cast<uint64_t>(entry < 0 ? ~entry : entry);
}

} // namespace

TEST_CASE("looks at lists see the same in every instruction set") {
    run_cases("looks", 2000, [](Case &one) {
        Rng &rng = one.rng();
        const std::size_t count = 1 + rng.mostly_small(3000);
        const auto displs = random_numbers(rng, count, 1 + static_cast<int>(rng.below(64)));
        auto lengths = random_numbers(rng, count, 1 + static_cast<int>(rng.below(64)));
        if (rng.chance(70))
            for (int64_t &length : lengths) length &= INT64_MAX;
        if (rng.chance(50))
            for (int64_t &length : lengths) length += length == 0;
        const auto unit = rng.chance(50) ? int64_t{1} << rng.below(64) : displs[0];

        uint64_t displ_bits = 0, length_bits = 0, sum = 0, differing = 0;
        bool any_empty = false;
        int64_t last = INT64_MIN;
        std::vector<int64_t> products(count), scaled(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto length = static_cast<uint64_t>(lengths[i]);
            displ_bits |= magnitude(displs[i]);
            for (unsigned bit = 0; bit < 64; ++bit)
                if ((displs[i] >> bit & 1) != (displs[0] >> bit & 1))
                    differing |= uint64_t{1} << bit;
            length_bits |= length;
            sum += length;
            any_empty = any_empty || lengths[i] <= 0;
            last =
                std::max(last, static_cast<int64_t>(static_cast<uint64_t>(displs[i]) + length - 1));
            products[i] = static_cast<int64_t>(static_cast<uint64_t>(displs[i]) *
                                               static_cast<uint64_t>(unit));
        }
        const auto [least, most] = std::minmax_element(displs.begin(), displs.end());
        for (const KernelSet *set : kernel_sets()) {
            const ListLooks &looks = set->looks;
            std::vector<int64_t> copy(count + 1, 42);
            const auto [reach, differing_bits] = looks.copy(displs.data(), count, copy.data());
            if (differing_bits != differing)
                one.fail(set->instructions, ": differing bits are wrong");
            if (!std::equal(displs.begin(), displs.end(), copy.begin()) || copy.back() != 42)
                one.fail(set->instructions, ": the copy is wrong");
            if (reach.least != *least || reach.most != *most)
                one.fail(set->instructions, ": the reach is wrong");
            const BlocksLook look = looks.blocks(displs.data(), lengths.data(), count);
            if (look.displ_bits != displ_bits || look.length_bits != length_bits)
                one.fail(set->instructions, ": bits are wrong");
            if (look.lengths != sum) one.fail(set->instructions, ": the sum is wrong");
            if (look.any_empty != any_empty) one.fail(set->instructions, ": empty ones are wrong");
            if (look.reach.least != *least || look.reach.most != last)
                one.fail(set->instructions, ": the reach of blocks is wrong");
            looks.scale(displs.data(), count, unit, scaled.data());
            if (scaled != products) one.fail(set->instructions, ": products are wrong");
        }
    });
}

} // namespace list_looks_test
