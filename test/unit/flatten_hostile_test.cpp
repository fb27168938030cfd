// Flattened types made by hand to do harm: refused, or harmless.
#include "support/catch.hpp"

#include "support/moves/exercise.hpp"
#include "support/moves/flat_bytes.hpp"
#include "support/moves/recipe_build.hpp"

#include <array>
#include <string>

namespace flatten_hostile_test {

using namespace ucdtest;

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

int status_of(const FlatBytes &bytes) {
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, bytes.data(), bytes.size());
    const BuiltType owner(type);
    if (rc == UCD_SUCCESS) exercise(type);
    return rc;
}

// It is one, and nothing takes long.
void accept(const FlatNodes &nodes, std::uintptr_t size,
            const FlatNodes::Root &root = FlatNodes::Root()) {
    const FlatBytes bytes = nodes.sealed(root);
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, bytes.data(), bytes.size());
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    const BuiltType owner(type);
    std::uintptr_t found = 0;
    CHECK(ucd_get_size(type, &found) == UCD_SUCCESS);
    CHECK(found == size);
    exercise(type, 12345);
}

} // namespace

// Which other bytes are refused, the vectors say (test/vectors/refused.txt).
TEST_CASE("Bits that mean nothing are refused") {
    // Each bit of the first two bytes that means nothing in a node of its kind.
    const struct {
        std::vector<std::uint8_t> node;
        std::uint8_t first, widths;
    } nodes[] = {
        {{1, 5, 4, 2}, 0xf0, 0},                  // an element, which has no widths
        {{2, 0, 1, 2, 8, 0}, 0xf0, 0xf0},         // a nest
        {{3, 0, 2, 1, 0, 100}, 0xf0, 0xc0},       // indexed_block
        {{4, 0, 2, 1, 8, 0, 100, 1, 1}, 0xc0, 0}, // indexed
        {{5, 0, 2, 1, 0, 0, 100}, 0xe0, 0xc0},    // a structure
    };
    for (const auto &[node, first, widths] : nodes) {
        const auto status = [&, &good = node](std::size_t at, unsigned bit) {
            std::vector<std::uint8_t> changed = good;
            changed[at] = static_cast<std::uint8_t>(changed[at] | bit);
            FlatNodes n;
            n.int64();
            n.raw(changed);
            n.progression_structure(2, 8, {0, 1});
            return status_of(n.sealed());
        };
        INFO("kind " << unsigned{node[0]});
        CHECK(status(0, 0) == UCD_SUCCESS);
        for (unsigned bit = 1; bit < 256; bit *= 2) {
            if ((first & bit) != 0) CHECK(status(0, bit) == UCD_ERR__CORRUPT);
            if ((widths & bit) != 0) CHECK(status(1, bit) == UCD_ERR__CORRUPT);
        }
    }
    FlatNodes one;
    one.int64();
    for (const std::uint8_t flag : std::to_array<std::uint8_t>({8, 16, 32, 64, 128})) {
        FlatBytes bytes = one.sealed();
        bytes[6] |= flag;
        seal(bytes);
        CHECK(status_of(bytes) == UCD_ERR__CORRUPT);
    }
}

TEST_CASE("Levels of a nest are too many for the format, or for a size") {
    const auto said_of = [](int levels) {
        FlatNodes nodes;
        FlatNodes::Numbers numbers;
        for (int i = 0; i < levels; ++i) numbers.insert(numbers.end(), {2, 0});
        nodes.nest(numbers, nodes.byte());
        CHECK(status_of(nodes.sealed()) == UCD_ERR__CORRUPT);
        return std::string(ucd_last_error());
    };
    CHECK(said_of(63).find("that do not fit") != std::string::npos);
    CHECK(said_of(64).find("a depth that is not defined") != std::string::npos);
    FlatNodes nodes;
    FlatNodes::Numbers numbers;
    for (int i = 0; i < 62; ++i) numbers.insert(numbers.end(), {2, 0});
    nodes.nest(numbers, nodes.byte());
    CHECK(status_of(nodes.sealed()) == UCD_SUCCESS);
}

TEST_CASE("Few bytes may say much") {
    FlatNodes nodes;
    const std::uint32_t word = nodes.int64();
    SECTION("a nest of 2^50 entries") {
        nodes.nest({1 << 20, 1 << 25, 1 << 20, 24, 1 << 10, 0}, word);
        accept(nodes, std::uintptr_t{8} << 50);
    }
    SECTION("runs of 2^40 entries") {
        nodes.indexed(3, 1, 8, word, {1 << 20, 1 << 25}, {huge, 1, 7});
        accept(nodes, 8 * (huge + 8));
    }
    SECTION("runs of 2^40 entries, several times") {
        const std::uint32_t runs = nodes.indexed(3, 1, 8, word, {5, 77}, {1, huge, 7});
        const std::uint32_t more = nodes.nest({8, 24, 3, 9 * huge}, runs);
        nodes.indexed(3, 1, 24, more, {63, -67}, {8}, 32);
        accept(nodes, 8 * (huge + 8) * 24 * 24);
    }
    SECTION("bytes up to the last place, with an alignment beyond it") {
        nodes = FlatNodes();
        const std::uint32_t aligned = nodes.element(5, 8, 15);
        nodes.nest({2, INT64_MAX - 8}, aligned);
        accept(nodes, 16);
    }
    SECTION("runs of one length, and of one step") {
        const std::uint32_t runs = nodes.indexed(4, 1, 16, word, {500, 77, 3}, {1000}, 32);
        nodes.indexed(3, 10000000, 20000, runs, {}, {1, 500, 1000}, 16);
        accept(nodes, 8 * 4000 * 1501);
    }
}

TEST_CASE("Shared nodes do not expand") {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte(), word = nodes.int64();
    std::uint32_t top = nodes.structure(2, 1, {byte, word}, {8});
    std::uintptr_t size = 9;
    SECTION("when each level has the one below twice") {
        std::int64_t span = 16;
        for (int i = 0; i < 50; ++i) {
            top = nodes.structure(3, 1, {top, byte, top}, {span + 3, 5});
            span = 2 * span + 8;
            size = 2 * size + 1;
        }
        accept(nodes, size);
    }
    SECTION("when they overlap, too") {
        for (int i = 0; i < 59; ++i) {
            top = nodes.structure(3, 1, {top, byte, top}, {i % 3, i % 5});
            size = 2 * size + 1;
        }
        accept(nodes, size);
    }
    SECTION("and too many of them do not fit") {
        for (int i = 0; i < 64; ++i) top = nodes.structure(3, 1, {top, byte, top}, {3, 5});
        CHECK(status_of(nodes.sealed()) == UCD_ERR__CORRUPT);
    }
    SECTION("when all levels of a deep nest are used once more") {
        FlatNodes::Ids all{top};
        FlatNodes::Numbers steps;
        for (int i = 0; i < 3000; ++i) {
            top = nodes.structure(2, 1, {byte, top}, {1000 + i % 7});
            all.push_back(top);
            steps.push_back(1);
            size += 9 + static_cast<std::uintptr_t>(i) + 1;
        }
        nodes.structure(static_cast<std::int64_t>(all.size()), 1, all, steps);
        accept(nodes, size);
    }
    SECTION("when many lists have one part in common") {
        FlatNodes::Numbers steps, apart;
        for (std::int64_t i = 1; i < 1000; ++i) steps.push_back(8 + i * i * 7919 % 1000 * 8);
        const std::uint32_t list = nodes.indexed_block(1000, 1, word, steps);
        FlatNodes::Ids all{top};
        for (std::int64_t i = 0; i < 1000; ++i) {
            all.push_back(nodes.structure(2, 1, {list, byte}, {huge + i}));
            apart.push_back(huge + 4 * i);
            size += 8001;
        }
        nodes.structure(static_cast<std::int64_t>(all.size()), 1, all, apart);
        accept(nodes, size);
    }
}

} // namespace flatten_hostile_test
