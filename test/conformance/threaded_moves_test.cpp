// One call that several threads work on: each stream byte by itself tells where it comes from.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/move_now.hpp"
#include "support/random/rng.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace threaded_moves_test {

using namespace ucdtest;

namespace {

// {int32_t at 0, int64_t at 8}, 16 bytes apart: 12 bytes of the stream each.
constexpr std::size_t members = 300'000, total = 12 * members;

std::size_t place_of(std::size_t stream_byte) {
    const std::size_t within = stream_byte % 12;
    return stream_byte / 12 * 16 + (within < 4 ? within : within + 4);
}

std::vector<char> random_bytes(Rng &rng, std::size_t size) {
    std::vector<char> bytes(size);
    for (char &c : bytes) c = static_cast<char>(rng.bits());
    return bytes;
}

// The sum of what lies at both, to `to`.
template <class T>
void add(char *to, const char *from) {
    T a, b;
    std::memcpy(&a, to, sizeof a);
    std::memcpy(&b, from, sizeof b);
    a = static_cast<T>(a + b);
    std::memcpy(to, &a, sizeof a);
}

struct Range {
    std::size_t offset, length;
};

// At the ends of elements, for reductions.
Range random_range(Rng &rng, bool elements) {
    const auto cut = [&](std::size_t at) {
        return elements ? at / 12 * 12 + (at % 12 < 4 ? 0 : 4) : at;
    };
    const std::size_t offset = rng.chance(30) ? 0 : cut(rng.below(total / 3));
    const std::size_t end = rng.chance(30) ? total : cut(total - rng.below(total / 3));
    return {offset, end - offset};
}

} // namespace

TEST_CASE("a range that several threads move or reduce, wherever it begins") {
    const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 8};
    const ucd_type_t elements[] = {UCD_TYPE__INT32_T, UCD_TYPE__INT64_T};
    ucd_type_t member = UCD_TYPE__NULL, type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_struct(2, lengths, displs, elements, UCD_INFO__NULL, &member) ==
            UCD_SUCCESS);
    REQUIRE(ucd_create_contig(members, member, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    Rng rng(11);
    for (const char *number : {"2", "3", "7"}) {
        const Keys threads({{"ucd.threads", number}});
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM})
            for (int round = 0; round < 3; ++round) {
                const auto [offset, length] = random_range(rng, op == UCD_OP__SUM);
                INFO(number << " threads, op " << op << ", from " << offset << ", " << length
                            << " bytes");
                std::vector<char> typed = random_bytes(rng, 16 * members),
                                  packed = random_bytes(rng, length);
                std::vector<char> wanted_typed = typed, wanted_packed = packed;
                // From packed to typed, and from what has been there before to packed.
                for (std::size_t at = offset, step; at < offset + length; at += step) {
                    char *const in_typed = &wanted_typed[place_of(at)];
                    char *const in_packed = &wanted_packed[at - offset];
                    step = op == UCD_OP__REPLACE ? 1 : at % 12 == 0 ? 4 : 8;
                    const std::vector<char> before(in_typed, in_typed + step);
                    if (step == 1) {
                        *in_typed = *in_packed;
                        *in_packed = before[0];
                    } else if (step == 4) {
                        add<std::uint32_t>(in_typed, in_packed);
                        add<std::uint32_t>(in_packed, before.data());
                    } else {
                        add<std::uint64_t>(in_typed, in_packed);
                        add<std::uint64_t>(in_packed, before.data());
                    }
                }
                std::vector<char> to_pack = typed, to_unpack = packed;
                CHECK(pack_now(to_pack.data(), 1, type, offset, packed.data(), length, threads,
                               op) == length);
                CHECK((packed == wanted_packed));
                CHECK(unpack_now(to_unpack.data(), length, typed.data(), 1, type, offset, threads,
                                 op) == length);
                CHECK((typed == wanted_typed));
            }
    }
    CHECK(ucd_free(&type) == UCD_SUCCESS);
    CHECK(ucd_free(&member) == UCD_SUCCESS);
}

} // namespace threaded_moves_test
