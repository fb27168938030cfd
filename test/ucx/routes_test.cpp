// The table that decides which way a transfer goes, by itself.

#include "pipeline/routes.h"
#include "support/device_test.hpp"

#include <cstdint>
#include <initializer_list>

namespace routes_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

constexpr std::size_t KiB = 1 << 10, MiB = 1 << 20;

// Rows at twice their length. Nothing of them is read.
struct Message {
    ucd_type_t type = UCD_TYPE__NULL;
    char byte = 0;
    BufferHints hints;
    TypedBuffer buffer;
    TransferOptions options;

    Message(std::size_t bytes, std::size_t row, std::size_t distance = 2) {
        REQUIRE(ucd_create_vector(static_cast<std::intptr_t>(bytes / row),
                                  static_cast<std::intptr_t>(row),
                                  static_cast<std::intptr_t>(distance * row), UCD_TYPE__BYTE,
                                  UCD_INFO__NULL, &type) == UCD_SUCCESS);
        REQUIRE(hints.set("host", UCD_INFO__NULL, TransferDirection::send).ok());
        REQUIRE(buffer.set({&byte, 1, type, &hints}, UCD_INFO__NULL, TransferDirection::send, hints)
                    .ok());
        REQUIRE(buffer.bytes() == bytes);
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
    CHECK(Message(66 * KiB, 128).is_direct(Transport::device));
    CHECK_FALSE(Message(62 * KiB, 128).is_direct(Transport::device));
    CHECK(Message(MiB, 64).is_direct(Transport::device)); // just under 2 MiB of memory
    CHECK_FALSE(Message(MiB, 64, 3).is_direct(Transport::device));
    CHECK(Message(MiB, 128, 3).is_direct(Transport::device));
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

} // namespace routes_test
