// What UCX packs and unpacks of a stream, fragment by fragment.

#include "datatype/segment_cursor.h"
#include "pipeline/framed.h"
#include "support/device_test.hpp"
#include "support/random/random_cases.hpp"

#include <cstring>
#include <vector>

namespace framed_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

// Rows at a distance, filled with random bytes.
struct Rows {
    std::size_t count, bytes, stride;
    ucd_type_t type = UCD_TYPE__NULL;
    std::vector<char> data;
    BufferHints hints;
    TypedBuffer buffer;

    Rows(Rng &rng, std::size_t n, std::size_t length, std::size_t distance)
        : count(n), bytes(length), stride(distance), data(n * distance) {
        REQUIRE(ucd_create_vector(static_cast<std::intptr_t>(n), static_cast<std::intptr_t>(length),
                                  static_cast<std::intptr_t>(distance), UCD_TYPE__BYTE,
                                  UCD_INFO__NULL, &type) == UCD_SUCCESS);
        for (char &c : data) c = static_cast<char>(rng.bits());
        REQUIRE(hints.set("host", UCD_INFO__NULL, TransferDirection::send).ok());
        REQUIRE(buffer.set({data.data(), 1, type}, UCD_INFO__NULL, TransferDirection::send, hints)
                    .ok());
    }
    ~Rows() { (void)ucd_free(&type); }
    std::size_t size() const { return count * bytes; }
    char &at(std::size_t i) { return data[i / bytes * stride + i % bytes]; }
};

std::vector<std::pair<std::size_t, std::size_t>> random_fragments(Rng &rng, std::size_t bytes) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t at = 0; at < bytes;) {
        const std::size_t some = std::min<std::size_t>(bytes - at, 1 + rng.below(9000));
        found.push_back({at, some});
        at += some;
    }
    if (rng.chance(30)) rng.shuffle(found);
    return found;
}

} // namespace

DEVICE_TEST("fragments of a range, in any order, are those of the stream") {
    const ucp_generic_dt_ops_t &call = framed_callbacks;
    run_cases("ucx framed range", 300, [&](Case &one) {
        Rng &rng = one.rng();
        const std::size_t length = rng.chance(50) ? 1 + rng.below(100) : 2000 + rng.below(10000);
        Rows rows(rng, 1 + rng.below(20), length, length + rng.below(3000));
        const std::size_t offset = rng.below(rows.size());
        const std::size_t bytes = 1 + rng.below(rows.size() - offset);
        FramedRange range(rows.buffer, offset, bytes);
        if ((range.cursor != nullptr) != (length >= 2048)) one.fail("the cursor");
        void *const state = call.start_pack(nullptr, &range, 1);
        if (call.packed_size(state) != bytes) one.fail("the size");
        std::vector<char> packed(bytes + 1, 'p');
        for (const auto &[at, some] : random_fragments(rng, bytes))
            if (call.pack(state, at, packed.data() + at, some) != some) one.fail("a length");
        for (std::size_t i = 0; i < bytes; ++i)
            if (packed[i] != rows.at(offset + i)) one.fail("byte ", i, " is packed wrongly");
        if (packed[bytes] != 'p') one.fail("beyond the end");

        std::vector<char> expected(rows.data.size());
        for (char &c : rows.data) c = 'u';
        for (char &c : packed) c = static_cast<char>(rng.bits());
        void *const unpacking = call.start_unpack(nullptr, &range, 1);
        for (const auto &[at, some] : random_fragments(rng, bytes))
            if (call.unpack(unpacking, at, packed.data() + at, some) != UCS_OK) one.fail("unpack");
        std::swap(expected, rows.data);
        for (char &c : rows.data) c = 'u';
        for (std::size_t i = 0; i < bytes; ++i) rows.at(offset + i) = packed[i];
        if (expected != rows.data) one.fail("it is unpacked wrongly");
        if (range.failure != UCD_SUCCESS) one.fail("a failure");
        call.finish(state);
    });
}

DEVICE_TEST("what lies beyond a range is not written, and is a failure") {
    Rng rng(1);
    const std::size_t length = GENERATE(as<std::size_t>(), 10, 5000);
    Rows rows(rng, 10, length, 2 * length);
    const std::vector<char> before = rows.data;
    for (const auto &[at, some] : {std::pair<std::size_t, std::size_t>{100, 1},
                                   {90, 11},
                                   {SIZE_MAX, 1},
                                   {0, SIZE_MAX},
                                   {SIZE_MAX - 5, 10}}) {
        FramedRange range(rows.buffer, 0, 100);
        const std::vector<char> data(200, 'x');
        CHECK(framed_callbacks.unpack(&range, at, data.data(), some) == UCS_OK);
        CHECK(range.failure != UCD_SUCCESS);
        CHECK(rows.data == before);
    }
    // A range that is longer than the data: what is not there is zeros.
    FramedRange range(rows.buffer, rows.size() - 5, 10);
    std::vector<char> packed(10, 'p');
    CHECK(framed_callbacks.pack(&range, 0, packed.data(), 10) == 10);
    if (length == 5000) CHECK(range.failure != UCD_SUCCESS);
}

// UCX may cut a message anywhere, within the header too.
DEVICE_TEST("fragments of a message with its header are the header and the stream") {
    run_cases("ucx frame", 300, [&](Case &one) {
        Rng &rng = one.rng();
        const std::size_t length = 1 + rng.below(100);
        Rows rows(rng, 1 + rng.below(20), length, length + rng.below(50));
        MessageHeader header;
        header.total = rows.size();
        header.offset = rng.bits();
        header.user_id = static_cast<uint32_t>(rng.bits());
        const bool has_header = rng.chance(80);
        const std::size_t before = has_header ? sizeof header : 0, bytes = before + rows.size();
        std::vector<char> expected(bytes), packed(bytes + 1, 'p');
        if (has_header) std::memcpy(expected.data(), &header, sizeof header);
        for (std::size_t i = 0; i < rows.size(); ++i) expected[before + i] = rows.at(i);
        std::vector<std::pair<std::size_t, std::size_t>> fragments;
        for (std::size_t at = 0, some = 0; at < bytes; at += some) {
            some = std::min<std::size_t>(bytes - at, 1 + rng.below(40));
            fragments.push_back({at, some});
        }

        const ucp_generic_dt_ops_t &call = framed_callbacks;
        FramedRange sent(rows.buffer, 0, rows.size());
        sent.header = &header;
        sent.prefix = before;
        void *state = call.start_pack(nullptr, &sent, 1);
        if (call.packed_size(state) != bytes) one.fail("the size");
        for (const auto &[at, some] : fragments)
            if (call.pack(state, at, packed.data() + at, some) != some) one.fail("a length");
        for (std::size_t i = 0; i < bytes; ++i)
            if (packed[i] != expected[i]) one.fail("byte ", i, " is packed wrongly");
        if (packed[bytes] != 'p') one.fail("beyond the end");

        for (char &c : rows.data) c = 'u';
        MessageHeader header_received;
        FramedArrival arrival;
        FramedRange received(rows.buffer, 0, FramedRange::any_length);
        received.header = &header_received;
        received.prefix = before;
        received.arrival = &arrival;
        state = call.start_unpack(nullptr, &received, 1);
        for (const auto &[at, some] : fragments) {
            if (call.unpack(state, at, expected.data() + at, some) != UCS_OK) one.fail("a status");
            // Before all of it is here, nobody knows how much follows.
            if (arrival.has_header != (has_header && at + some >= before))
                one.fail("the header has come with ", at + some, " bytes: ", arrival.has_header);
        }
        if (has_header && std::memcmp(&header_received, &header, sizeof header) != 0)
            one.fail("the header");
        std::vector<char> in_rows(rows.data.size(), 'u');
        for (std::size_t i = 0; i < rows.size(); ++i)
            in_rows[i / rows.bytes * rows.stride + i % rows.bytes] = expected[before + i];
        if (in_rows != rows.data) one.fail("what is unpacked");
    });
}

} // namespace framed_test
