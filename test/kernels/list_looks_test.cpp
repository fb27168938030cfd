// What lists are found to be by each instruction set, against one entry after the other.
#include "kernel_set.h"
#include "list_looks.h"

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

        uint64_t displ_bits = 0, sum = 0, product_bits = 0;
        int64_t last = INT64_MIN;
        std::vector<int64_t> products(count);
        const int64_t origin = rng.chance(50) ? displs[0] : rng.chance(50) ? displs.back() : 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto length = static_cast<uint64_t>(lengths[i]);
            displ_bits |= magnitude(displs[i]);
            sum += length;
            last =
                std::max(last, static_cast<int64_t>(static_cast<uint64_t>(displs[i]) + length - 1));
            const uint64_t product =
                (static_cast<uint64_t>(displs[i]) - static_cast<uint64_t>(origin)) *
                static_cast<uint64_t>(unit);
            products[i] = static_cast<int64_t>(product);
            product_bits |= product;
        }
        const auto [least, most] = std::minmax_element(displs.begin(), displs.end());
        const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
        for (const KernelSet *set : kernel_sets()) {
            const ListLooks &looks = set->looks;
            std::vector<int64_t> copy(count + 1, 42);
            const auto [reach, bits] = looks.copy(displs.data(), count, origin, unit, copy.data());
            if (bits != product_bits) one.fail(set->instructions, ": bits of products are wrong");
            if (!std::equal(products.begin(), products.end(), copy.begin()) || copy.back() != 42)
                one.fail(set->instructions, ": products are wrong");
            if (reach.least != *least || reach.most != *most)
                one.fail(set->instructions, ": the reach is wrong");
            const BlocksLook look = looks.blocks(displs.data(), lengths.data(), count);
            if (look.displ_bits != displ_bits) one.fail(set->instructions, ": bits are wrong");
            if (look.lengths != sum) one.fail(set->instructions, ": the sum is wrong");
            if (look.shortest != *shortest || look.longest != *longest)
                one.fail(set->instructions, ": the lengths are wrong");
            if (look.reach.least != *least || look.reach.most != last)
                one.fail(set->instructions, ": the reach of blocks is wrong");
        }
    });
}

} // namespace list_looks_test
