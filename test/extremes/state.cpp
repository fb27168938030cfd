// Many types, lists and constructors.
#include "arena.hpp"
#include "extremes.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace ucdtest;

namespace extremes {
namespace {

// One block in three bytes, at the first or the second of them.
std::intptr_t place_of(std::uint64_t block) {
    return static_cast<std::intptr_t>(3 * block + (word(block, 7) & 1));
}
std::intptr_t length_of(std::uint64_t block) {
    return 1 + static_cast<std::intptr_t>(word(block, 8) & 1);
}

// Memory of lists is kept for the next one: starts without.
void forget_lists() {
    must(ucd_finalize() == UCD_SUCCESS && ucd_init(UCD_INFO__NULL) == UCD_SUCCESS, "a new start");
}

// The bytes of memory that have come to life since, by block.
double state_bytes(std::ptrdiff_t before, std::uint64_t blocks, bool on_device) {
    if (!on_device) forget_lists();
    return static_cast<double>(live_bytes() - before) / static_cast<double>(blocks);
}

// Packs all blocks twice, as the first use differs from others; and a part of them, which begins
// and ends anywhere. Returns by how many bytes the whole packs let memory grow for a while.
std::ptrdiff_t use(ucd_type_t type, std::uint64_t blocks, std::uint64_t bytes, bool own_lengths,
                   bool on_device) {
    Arena typed(3 * blocks, on_device), packed(bytes, on_device);
    typed.fill<std::uint8_t>([](std::uint64_t i) { return byte(i, 1); });
    const std::ptrdiff_t before = live_bytes();
    reset_peak();
    for (int i = 0; i < 2; ++i)
        must(pack_now(typed.address(), 1, type, 0, packed.address(), bytes) == bytes, "ucd_pack");
    const std::ptrdiff_t grown = peak_bytes() - before;
    std::vector<std::uint8_t> all;
    for (std::uint64_t block = 0; block < blocks; ++block)
        for (std::intptr_t i = 0; i < (own_lengths ? length_of(block) : 1); ++i)
            all.push_back(byte(static_cast<std::uint64_t>(place_of(block) + i), 1));
    packed.check<std::uint8_t>("packed blocks", [&](std::uint64_t i) { return all[i]; });
    const std::uint64_t offset = bytes / 3 + 1, length = bytes / 2;
    Arena part(length, on_device);
    must(pack_now(typed.address(), 1, type, offset, part.address(), length) == length,
         "ucd_pack of a part");
    part.check<std::uint8_t>("a part of the blocks",
                             [&](std::uint64_t i) { return all[offset + i]; });
    return grown;
}

std::vector<std::intptr_t> listed(std::uint64_t n, std::intptr_t (*make)(std::uint64_t)) {
    std::vector<std::intptr_t> values(n);
    for (std::uint64_t i = 0; i < n; ++i) values[i] = make(i);
    return values;
}

std::uint64_t seed_of_shuffle = 5;

void shuffle(std::vector<ucd_type_t> &types) {
    for (std::size_t i = types.size(); i > 1; --i) {
        seed_of_shuffle = word(seed_of_shuffle, 3);
        std::swap(types[i - 1], types[seed_of_shuffle % i]);
    }
}

} // namespace

void require_all_given_back(std::ptrdiff_t allocations, const char *what) {
    const std::ptrdiff_t left = live_allocations() - allocations;
    if (left > 64)
        throw std::runtime_error(std::string(what) + ": " + std::to_string(left) +
                                 " allocations are left");
}

void many_blocks(std::uint64_t blocks, bool on_device) {
    for (const bool own_lengths : {false, true}) {
        forget_lists();
        const std::ptrdiff_t before = live_bytes();
        ucd_type_t made = UCD_TYPE__NULL;
        std::uint64_t bytes = blocks;
        {
            const std::vector<std::intptr_t> displs = listed(blocks, place_of);
            const auto n = static_cast<std::intptr_t>(blocks);
            if (own_lengths) {
                const std::vector<std::intptr_t> lengths = listed(blocks, length_of);
                bytes = 0;
                for (const std::intptr_t l : lengths) bytes += static_cast<std::uint64_t>(l);
                must(ucd_create_hindexed(n, lengths.data(), displs.data(), UCD_TYPE__BYTE,
                                         UCD_INFO__NULL, &made) == UCD_SUCCESS,
                     "ucd_create_hindexed");
            } else {
                must(ucd_create_hindexed_block(n, 1, displs.data(), UCD_TYPE__BYTE, UCD_INFO__NULL,
                                               &made) == UCD_SUCCESS,
                     "ucd_create_hindexed_block");
            }
        }
        const BuiltType type(made);
        const double created = state_bytes(before, blocks, on_device);
        const double max_packed =
            created + static_cast<double>(use(type.get(), blocks, bytes, own_lengths, on_device)) /
                          static_cast<double>(blocks);
        const double packed = state_bytes(before, blocks, on_device);
        std::uintptr_t segments = 0;
        must(ucd_iov_len(1, type.get(), &segments) == UCD_SUCCESS && segments > 0, "ucd_iov_len");
        const double each = state_bytes(before, blocks, on_device);
        std::printf("%llu blocks of %s: %.1f bytes each when created, %.1f when packed, %.1f with "
                    "their segments counted, %.1f at most\n",
                    static_cast<unsigned long long>(blocks),
                    own_lengths ? "lengths of their own" : "one length", created, packed, each,
                    max_packed);
        // With a little for all that does not grow with the number; for a while, with the lists
        // that were given up, too: short ones are kept for the next type.
        const double little = 200000.0 / static_cast<double>(blocks);
        const double most = (own_lengths ? 24 : 8) + little,
                     for_a_while = (own_lengths ? 38 : 16) + little;
        if (!on_device && (each > most || max_packed > for_a_while))
            throw std::runtime_error("more than " + std::to_string(most) +
                                     " bytes for each block, or " + std::to_string(for_a_while) +
                                     " for a while");
    }
}

void many_types(std::uint64_t number, bool) {
    const std::ptrdiff_t allocations = live_allocations(), bytes = live_bytes();
    std::vector<ucd_type_t> types(number);
    std::uint8_t memory[64], packed[8];
    for (std::size_t i = 0; i < sizeof memory; ++i) memory[i] = byte(i, 1);
    for (std::uint64_t i = 0; i < number; ++i) {
        const auto stride = static_cast<std::intptr_t>(2 + i % 7);
        must(ucd_create_vector(8, 1, stride, UCD_TYPE__BYTE, UCD_INFO__NULL, &types[i]) ==
                 UCD_SUCCESS,
             "ucd_create_vector");
        must(pack_now(memory, 1, types[i], 0, packed, 8) == 8, "ucd_pack");
        for (std::size_t k = 0; k < 8; ++k)
            must(packed[k] == byte(k * static_cast<std::size_t>(stride), 1), "a packed byte");
    }
    const double each = static_cast<double>(live_bytes() - bytes) / static_cast<double>(number);
    shuffle(types);
    for (ucd_type_t &type : types) must(ucd_free(&type) == UCD_SUCCESS, "ucd_free");
    require_all_given_back(allocations, "types that were freed");
    std::printf("%llu types alive and used, %.0f bytes each\n",
                static_cast<unsigned long long>(number), each);
}

void many_cycles(std::uint64_t cycles, bool) {
    std::ptrdiff_t after_some = 0, bytes_after_some = 0;
    std::uint8_t memory[128] = {}, packed[16];
    const std::intptr_t displs[] = {0, 9, 30, 31}, lengths[] = {1, 2, 1, 3};
    for (std::uint64_t i = 0; i < cycles; ++i) {
        if (i == cycles / 10) {
            after_some = live_allocations();
            bytes_after_some = live_bytes();
        }
        ucd_type_t type = UCD_TYPE__NULL, outer = UCD_TYPE__NULL;
        const int rc =
            i % 2 == 0
                ? ucd_create_hvector(3, 1, 7, UCD_TYPE__INT, UCD_INFO__NULL, &type)
                : ucd_create_hindexed(4, lengths, displs, UCD_TYPE__BYTE, UCD_INFO__NULL, &type);
        must(rc == UCD_SUCCESS &&
                 ucd_create_resized(type, 0, 64, UCD_INFO__NULL, &outer) == UCD_SUCCESS,
             "a constructor");
        must(ucd_free(&type) == UCD_SUCCESS, "ucd_free");
        must(pack_now(memory, 2, outer, 1, packed, sizeof packed) == (i % 2 == 0 ? 16u : 13u),
             "packed bytes");
        must(ucd_free(&outer) == UCD_SUCCESS, "ucd_free");
    }
    require_all_given_back(after_some, "cycles");
    const std::ptrdiff_t more = live_bytes() - bytes_after_some;
    if (more > 4096) throw std::runtime_error("cycles left " + std::to_string(more) + " bytes");
    std::printf("%llu times created, used and freed: %lld bytes more at the end than after a tenth "
                "of them\n",
                static_cast<unsigned long long>(cycles), static_cast<long long>(more));
}

// A constructor on top of the other, each of which moves the data on by 8 bytes.
void deep(std::uint64_t depth, bool) {
    const std::ptrdiff_t allocations = live_allocations();
    ucd_type_t type = UCD_TYPE__NULL;
    const std::intptr_t step = 8, one = 1;
    must(ucd_create_dup(UCD_TYPE__INT64_T, UCD_INFO__NULL, &type) == UCD_SUCCESS, "ucd_create_dup");
    for (std::uint64_t i = 0; i < depth; ++i) {
        ucd_type_t inner = type;
        const int rc = i % 2 == 0
                           ? ucd_create_hindexed_block(1, 1, &step, inner, UCD_INFO__NULL, &type)
                           : ucd_create_struct(1, &one, &step, &inner, UCD_INFO__NULL, &type);
        must(rc == UCD_SUCCESS && ucd_free(&inner) == UCD_SUCCESS, "a constructor");
    }
    std::intptr_t low = 0, extent = 0;
    must(ucd_get_true_extent(type, &low, &extent) == UCD_SUCCESS &&
             low == static_cast<std::intptr_t>(8 * depth) && extent == 8,
         "true bounds");
    const std::int64_t value = 0x0123456789abcdef;
    std::int64_t packed = 0;
    const void *const buffer = reinterpret_cast<const char *>(&value) - 8 * depth;
    must(pack_now(buffer, 1, type, 0, &packed, 8) == 8 && packed == value, "ucd_pack");
    std::uintptr_t flat = 0;
    must(ucd_flatten_size(type, &flat) == UCD_SUCCESS && flat < 100, "ucd_flatten_size");
    // A plan has the type for itself.
    ucd_move_t move = pack_move(buffer, 1, type, 0, &packed, sizeof packed);
    ucd_plan_t plan = UCD_PLAN__NULL;
    must(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan) == UCD_SUCCESS,
         "ucd_plan_create");
    must(ucd_free(&type) == UCD_SUCCESS, "ucd_free");
    packed = 0;
    start_and_wait(plan);
    must(packed == value, "a plan of a deep type");
    must(ucd_plan_free(&plan) == UCD_SUCCESS, "ucd_plan_free");
    require_all_given_back(allocations, "a deep type");
    std::printf("%llu constructors on top of each other\n", static_cast<unsigned long long>(depth));
}

} // namespace extremes
