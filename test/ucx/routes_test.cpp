// The table that decides which way a transfer goes, by itself.

#include "pipeline/routes.h"
#include "support/device_test.hpp"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace routes_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

constexpr std::size_t KiB = 1 << 10, MiB = 1 << 20;

// Rows at twice their length, or at another stride. Nothing of them is read.
struct Message {
    ucd_type_t type = UCD_TYPE__NULL;
    alignas(64) char byte = 0;
    BufferHints hints;
    TypedBuffer buffer;
    TransferOptions options;

    Message(std::size_t bytes, std::size_t row, std::size_t stride = 0,
            const char *memory = "host") {
        if (stride == 0) stride = 2 * row;
        REQUIRE(ucd_create_vector(static_cast<std::intptr_t>(bytes / row),
                                  static_cast<std::intptr_t>(row),
                                  static_cast<std::intptr_t>(stride), UCD_TYPE__BYTE,
                                  UCD_INFO__NULL, &type) == UCD_SUCCESS);
        REQUIRE(hints.set(memory, UCD_INFO__NULL, TransferDirection::send).ok());
        REQUIRE(buffer.set({&byte, 1, type, &hints}, UCD_INFO__NULL, TransferDirection::send, hints)
                    .ok());
        REQUIRE(buffer.bytes() == bytes / row * row);
    }
    ~Message() { (void)ucd_free(&type); }
    const RouteRow *row(Transport transport, std::initializer_list<TransferRoute> possible,
                        bool is_tagged = true) const {
        unsigned set = 0;
        for (const TransferRoute route : possible) set |= bit_of(route);
        return find_row(transport, set, buffer, options, is_tagged);
    }
    // The route of host memory, if all are possible.
    TransferRoute route(Transport transport, bool is_tagged = true) const {
        const RouteRow *found =
            row(transport, {TransferRoute::whole, TransferRoute::pieces, TransferRoute::streamed},
                is_tagged);
        REQUIRE(found != nullptr);
        return found->route;
    }
    bool is_direct(Transport transport) const {
        return row(transport, {TransferRoute::direct}) != nullptr;
    }
};

} // namespace

DEVICE_TEST("host memory goes whole up to a limit of its transport, and else in chunks") {
    const struct {
        Transport transport;
        bool is_tagged;
        std::size_t limit;
        TransferRoute beyond;
    } rows[] = {
        {Transport::shared_memory, true, 512 * KiB, TransferRoute::streamed},
        {Transport::shared_memory, false, 64 * KiB, TransferRoute::streamed},
        {Transport::network, true, 64 * KiB, TransferRoute::pieces},
        {Transport::network, false, 64 * KiB, TransferRoute::pieces},
        {Transport::slow_network, true, 512 * KiB, TransferRoute::pieces},
        {Transport::slow_network, false, 64 * KiB, TransferRoute::pieces},
        {Transport::device, true, 64 * KiB, TransferRoute::pieces},
    };
    for (const auto &row : rows) {
        INFO("transport " << static_cast<int>(row.transport) << ", tagged " << row.is_tagged);
        CHECK(Message(row.limit, 8).route(row.transport, row.is_tagged) == TransferRoute::whole);
        CHECK(Message(row.limit + 8, 8).route(row.transport, row.is_tagged) == row.beyond);
        Message other(1000, 8);
        for (const bool is_short : {false, true}) { // the key stands for the limit
            other.options.eager = is_short ? 1000 : 999;
            CHECK((other.route(row.transport, row.is_tagged) == TransferRoute::whole) == is_short);
        }
    }
    const auto is_packed = [](std::size_t bytes, Transport transport) {
        return Message(bytes, 8).row(transport, {TransferRoute::whole})->terms.packed;
    };
    CHECK_FALSE(is_packed(8 * KiB - 8, Transport::slow_network));
    CHECK(is_packed(8 * KiB, Transport::slow_network));
    CHECK_FALSE(is_packed(8 * KiB, Transport::network));
    CHECK(is_packed(8, Transport::device));
}

DEVICE_TEST("the ring begins where a message is not always whole") {
    CHECK(Message(32 * KiB, 8).row(Transport::device, {TransferRoute::ring}) == nullptr);
    CHECK(Message(32 * KiB + 8, 8).row(Transport::device, {TransferRoute::ring}) != nullptr);
    CHECK(Message(32 * KiB + 8, 8).row(Transport::network, {TransferRoute::ring}) == nullptr);
    const RouteRow *first =
        Message(MiB, 8).row(Transport::device, {TransferRoute::whole, TransferRoute::pieces,
                                                TransferRoute::ring, TransferRoute::streamed});
    CHECK(first->route == TransferRoute::ring);
}

DEVICE_TEST("what is offered to be read is long enough for its rows") {
    const struct {
        std::size_t bytes, row;
        bool is_mapped;
    } rows[] = {
        {256 * KiB, 2 * KiB, true}, {254 * KiB, 2 * KiB, false}, {256 * KiB, KiB, false},
        {MiB, 256, true},           {MiB - 256, 256, false},     {MiB, 128, false},
        {16 * MiB, 8, true},        {16 * MiB - 8, 8, false},
    };
    for (const auto &row : rows) {
        INFO(row.bytes << " bytes in rows of " << row.row);
        CHECK(Message(row.bytes, row.row).is_direct(Transport::mapped) == row.is_mapped);
    }
    Message by_key(70 * KiB, 8);
    CHECK_FALSE(by_key.is_direct(Transport::mapped));
    by_key.options.direct_bytes = 70 * KiB;
    CHECK(by_key.is_direct(Transport::mapped));
    by_key.options.direct_bytes = 71 * KiB;
    CHECK_FALSE(by_key.is_direct(Transport::mapped));
    by_key.options.direct = Trust::always;
    CHECK(by_key.is_direct(Transport::mapped));
    by_key.options.eager = 70 * KiB;
    CHECK_FALSE(by_key.is_direct(Transport::mapped));
}

DEVICE_TEST("what devices read is offered if enough of the sectors is data") {
    const struct {
        std::size_t bytes, row, stride;
        bool is_direct;
    } rows[] = {
        {34 * KiB, 128, 256, true}, {32 * KiB, 128, 256, false}, // too short
        {MiB, 8, 16, true},                                      // in less than 2 MiB of memory
        {MiB, 8, 24, false},                                     // a third is data
        {MiB, 64, 192, true},                                    // whole sectors
        {4 * MiB, 8, 64, false},                                 // a quarter of each sector
        {4 * MiB, 16, 32, false},                                // half of each sector
        {4 * MiB, 16, 24, true},                                 // two thirds are data
        {16 * MiB, 16, 24, false}, // which is enough for short messages only
        {16 * MiB, 56, 72, true},  // 78 %
        {64 * MiB, 56, 72, false},  {64 * MiB, 48, 56, true}, // 86 %
        {64 * MiB, 256, 512, true},
    };
    for (const auto &row : rows) {
        INFO(row.bytes << " bytes in rows of " << row.row << " at " << row.stride);
        CHECK(Message(row.bytes, row.row, row.stride, "mock:0").is_direct(Transport::device) ==
              row.is_direct);
    }
    // Elements of few segments each are regular, lists are not.
    const auto is_direct = [](std::intptr_t segments) {
        std::vector<std::intptr_t> at;
        for (std::intptr_t i = 0; i < segments; ++i) at.push_back(10 + 100 * i + i * i % 7);
        ucd_type_t blocks, type;
        REQUIRE(ucd_create_indexed_block(segments, 90, at.data(), UCD_TYPE__BYTE, UCD_INFO__NULL,
                                         &blocks) == UCD_SUCCESS);
        REQUIRE(ucd_create_resized(blocks, 0, 100 * segments + 20, UCD_INFO__NULL, &type) ==
                UCD_SUCCESS);
        (void)ucd_free(&blocks);
        Message message(MiB, 64, 128, "mock:0");
        TypedBuffer buffer;
        REQUIRE(buffer
                    .set({&message.byte, 10000, type, &message.hints}, UCD_INFO__NULL,
                         TransferDirection::send, message.hints)
                    .ok());
        (void)ucd_free(&type);
        return find_row(Transport::device, bit_of(TransferRoute::direct), buffer, message.options,
                        true) != nullptr;
    };
    CHECK(is_direct(8));
    CHECK_FALSE(is_direct(9));
}

} // namespace routes_test
