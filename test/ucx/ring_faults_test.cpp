// What goes wrong while chunks are in device memory: each ends as it does elsewhere
// (faults_test.cpp), and the workers go on.

#include "datatype/typed_buffer.h"
#include "pipeline/message.h"
#include "support/device_test.hpp"
#include "ucx/ring_pair.hpp"

#include <cstring>
#include <memory>

namespace ring_faults_test {

using namespace ucdtest;

namespace {

void check_ring_is_usable(TwoSides &pair) {
    Case one("ucx ring is usable", 0);
    RingEnds ends(one, false, false, Memory::device0, Memory::device0);
    CHECK(transfer(one, pair, ends) == ends.chunks());
}

} // namespace

DEVICE_TEST("a send that nobody receives is cancelled") {
    TwoSides pair({SMALL_RING});
    for (const int steps : {0, 1, 3, 50}) {
        Case one("ucx ring unmatched", 0);
        RingEnds ends(one, false, false, Memory::device0, Memory::device0);
        Outcome sent;
        start_send(pair.a, ends, sent);
        for (int i = 0; i < steps; ++i) pair.progress();
        CHECK(!sent.done());
        REQUIRE(ucd_ucx_cancel(pair.a.pipeline, sent.request) == UCD_SUCCESS);
        pair.until([&] { return sent.done(); });
        CHECK(sent.result.status == UCS_ERR_CANCELED);
        Outcome received; // of what has come of it
        start_receive(pair.b, ends, received);
        pair.until([&] { return received.done(); });
        CHECK(received.result.status == UCS_ERR_CANCELED);
    }
    check_ring_is_usable(pair);
}

DEVICE_TEST("without memory that can be shared, chunks go through the host") {
    for (const bool contiguous : {false, true}) {
        TwoSides pair({SMALL_RING});
        Case one("ucx ring export", 0);
        RingEnds ends(one, contiguous ? RingLayouts(one, true, false) : RingLayouts(one, 1000),
                      Memory::device0, Memory::device0);
        // The buffer itself cannot be shared: then it is copied to chunks.
        mock::knobs.failing_export = 1;
        CHECK(transfer(one, pair, ends) == (contiguous ? ends.chunks() : 0));
        mock::knobs.failing_export = 0;
        // One chunk; what the receiver finds is not what was shared.
        TwoSides fresh(
            {{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.ring_expose", "no"}});
        mock::knobs.failing_export = 2;
        CHECK(transfer(one, fresh, ends) == 0);
        mock::knobs.failing_export = 0;
        CHECK(transfer(one, fresh, ends) == 1);
        // No device memory at all for chunks.
        TwoSides poor({SMALL_RING, {"ucd.ucx.ring_expose", "no"}});
        mock::knobs.failing_allocation = 1;
        CHECK(transfer(one, poor, ends) == 0);
        mock::knobs.failing_allocation = 0;
        CHECK(transfer(one, poor, ends) == ends.chunks());
    }
}

DEVICE_TEST("each transfer in the ring can have a chunk, whatever the limit") {
    TwoSides pair({SMALL_RING, {"ucd.ucx.ring_expose", "no"}, {"ucd.ucx.ring_staging", "0"}});
    Case one("ucx ring without staging", 0);
    RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
    CHECK(transfer(one, pair, ends) == ends.chunks());
    // Unless the device has no more memory: then it ends. What was refused once would be had later.
    Outcome sent, received;
    start_receive(pair.b, ends, received);
    mock::knobs.failing_allocation = 2;
    start_send(pair.a, ends, sent);
    pair.until([&] { return sent.done() && received.done(); });
    CHECK(mock::knobs.failing_allocation == 0);
    mock::knobs.failing_allocation = 0;
    CHECK(sent.result.status == UCS_ERR_NO_MEMORY);
    CHECK(sent.result.ucd == UCD_ERR__OUT_OF_MEM);
    CHECK(received.result.status == UCS_ERR_NO_MEMORY);
    check_ring_is_usable(pair);
}

DEVICE_TEST("a receive takes as many chunks from the ring at a time as its depth there") {
    TwoSides pair({SMALL_RING, {"ucd.ucx.depth", "8"}});
    Case one("ucx ring depth", 0);
    // Contiguous, so that nothing is packed.
    RingEnds ends(one, RingLayouts(one, std::size_t{1000}, std::intptr_t{1}), Memory::device0,
                  Memory::device0);
    REQUIRE(ends.chunks() > 3);
    const Keys two({{"ucd.ucx.ring_depth", "2"}});
    Outcome sent, received;
    start_receive(pair.b, ends, received, two.get());
    mock::hold();
    start_send(pair.a, ends, sent);
    for (int i = 0; i < 200; ++i) pair.progress();
    CHECK(count_of(pair.b, UCD_UCX_EVENT__RECEIVED) == 2);
    mock::let_go();
    pair.until([&] { return sent.done() && received.done(); });
    require_good(one, received, ends.from.size(), "the receiver");
    ends.check(one);
}

DEVICE_TEST("a send whose first chunk the device does not pack says so, and has not begun") {
    TwoSides pair({SMALL_RING});
    Case one("ucx ring packing", 0);
    RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
    Outcome sent;
    const ucd_ucx_param_t p = sent.param();
    mock::knobs.failing_launch = 1;
    CHECK(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, ends.in.real_base(), ends.from.count,
                           ends.from.type(), 1, &p, &sent.request) == UCD_ERR__DEVICE);
    mock::knobs.failing_launch = 0;
    CHECK(std::string(ucd_ucx_last_error()).find("packing failed: ") != std::string::npos);
    CHECK(sent.request == UCD_UCX_REQUEST__NULL);
    check_ring_is_usable(pair);
}

// Said by hand --------------------------------------------------------------

namespace {

using namespace ucd_ucx;

// A chunk, or an offer of the ring, as it is sent.
struct RingHeader {
    MessageHeader header;
    RingPlace place;
};

struct ByHand {
    struct Said {
        RingHeader message = {};
        Receipt receipt = 0, more = 0;
    };
    TwoSides &pair;
    RingHeader message = {};
    std::size_t receipt_bytes = sizeof(Receipt); // up to those of both
    bool taken_back = false;                     // it is none
    std::vector<ucs_status_ptr_t> posted = {};
    std::vector<std::unique_ptr<Said>> kept = {}; // UCX's, while it sends

    void opening(std::uint64_t number, std::uint64_t total) {
        message.header.id = {4711, number};
        message.header.total = total;
        message.header.kind = MessageKind::opening;
        ucp_request_param_t p = {};
        post(ucp_tag_send_nbx(pair.a.ep, &message.header, sizeof message.header, 1, &p));
        wait();
    }
    // Without waiting for whoever fetches the receipt.
    void say(MessageKind kind, unsigned flags = UCP_AM_SEND_FLAG_RNDV) {
        Said &said = *kept.emplace_back(new Said{message});
        MessageHeader &h = said.message.header;
        h.kind = kind;
        if (kind == MessageKind::ring_chunk) h.detail = 0;
        h.user_header = h.has_place() ? sizeof message.place : 0;
        if (kind == MessageKind::route) said.message.place = {message.place.handle};
        if (kind == MessageKind::ring_chunk && !taken_back) said.receipt = receipt_of(h);
        ucp_request_param_t p = {};
        p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        p.flags = flags | UCP_AM_SEND_FLAG_REPLY;
        post(ucp_am_send_nbx(pair.a.ep, am_id, &said.message, sizeof h + h.user_header,
                             &said.receipt, kind == MessageKind::withdraw ? 0 : receipt_bytes, &p));
    }
    void offer(ChunkRoute route, unsigned flags = UCP_AM_SEND_FLAG_RNDV) {
        const unsigned offered = bit_of(ChunkRoute::host) | bit_of(ChunkRoute::ring);
        message.header.detail =
            static_cast<std::uint16_t>(offered << 8 | static_cast<unsigned>(route));
        say(MessageKind::route, flags);
    }
    void withdraw() {
        message.header.detail = 1;
        say(MessageKind::withdraw, UCP_AM_SEND_FLAG_EAGER);
        wait();
    }
    void post(ucs_status_ptr_t request) {
        REQUIRE(!UCS_PTR_IS_ERR(request));
        if (request != nullptr) posted.push_back(request);
    }
    bool is_done() const {
        return std::all_of(posted.begin(), posted.end(), [](ucs_status_ptr_t r) {
            return ucp_request_check_status(r) != UCS_INPROGRESS;
        });
    }
    void wait() {
        pair.until([&] { return is_done(); });
        for (const ucs_status_ptr_t r : posted) ucp_request_free(r);
        posted.clear();
    }
};

} // namespace

DEVICE_TEST("chunks that are in no memory are refused") {
    TwoSides pair({SMALL_RING});
    Case one("ucx ring hostile", 0);
    RingEnds ends(one, true, false, Memory::device0, Memory::device0);
    ucd_ipc_handle_t good;
    REQUIRE(ucd_ipc_export(ends.in.real_base(), ends.from.size(), &good) == UCD_SUCCESS);
    std::uint64_t number = 0;
    const auto refused = [&](const ucd_ipc_handle_t &handle, std::uint64_t offset,
                             std::uint64_t bytes, unsigned flags, bool accepted) {
        Outcome received;
        start_receive(pair.b, ends, received);
        ByHand hand{pair};
        hand.opening(++number, 80);
        hand.offer(ChunkRoute::host);
        hand.message.place.handle = accepted ? good : handle;
        hand.offer(ChunkRoute::ring);
        for (int i = 0; i < 20; ++i) pair.progress();
        hand.message.place = {handle, offset, bytes};
        hand.say(MessageKind::ring_chunk, flags);
        pair.until([&] { return received.done(); });
        CHECK(received.result.status != UCS_OK);
        hand.withdraw();
    };
    ucd_ipc_handle_t bad = {};
    refused(bad, 0, 80, UCP_AM_SEND_FLAG_RNDV, true);
    refused(bad, 0, 80, UCP_AM_SEND_FLAG_RNDV, false);
    for (std::size_t i = 0; i < sizeof bad.bytes; ++i) {
        bad = good;
        bad.bytes[i] = static_cast<unsigned char>(bad.bytes[i] ^ 1 << one.rng().below(8));
        refused(bad, 0, 80, UCP_AM_SEND_FLAG_RNDV, true);
    }
    for (const auto &[offset, bytes] :
         {std::pair<std::uint64_t, std::uint64_t>(ends.from.size() - 79, 80),
          {ends.from.size() + 1, 1},
          {UINT64_MAX, 2},
          {UINT64_MAX - 40, 80},
          {0, 81},
          {0, UINT64_MAX}})
        refused(good, offset, bytes, UCP_AM_SEND_FLAG_RNDV, true);
    // Whose sender would not know when it has been read.
    refused(good, 0, 80, UCP_AM_SEND_FLAG_EAGER, true);
    check_ring_is_usable(pair);
}

DEVICE_TEST("a chunk counts unless its receipt was taken back") {
    TwoSides pair({SMALL_RING});
    for (const bool taken_back : {false, true}) {
        Case one("ucx ring receipt", 0);
        RingEnds ends(one, true, false, Memory::device0, Memory::device0);
        Outcome received;
        start_receive(pair.b, ends, received);
        ByHand hand{pair};
        hand.opening(300 + taken_back, ends.from.size());
        hand.offer(ChunkRoute::host);
        RingPlace &place = hand.message.place;
        place.bytes = ends.from.size();
        REQUIRE(ucd_ipc_export(ends.in.real_base(), place.bytes, &place.handle) == UCD_SUCCESS);
        hand.offer(ChunkRoute::ring);
        for (int i = 0; i < 20; ++i) pair.progress();
        hand.taken_back = taken_back;
        hand.say(MessageKind::ring_chunk);
        pair.until([&] { return received.done(); });
        CHECK(received.result.status == (taken_back ? UCS_ERR_CONNECTION_RESET : UCS_OK));
        if (!taken_back) ends.check(one);
        hand.wait();
    }
    check_ring_is_usable(pair);
}

DEVICE_TEST("ring offers that come alone, twice or late leave nothing behind") {
    TwoSides pair({SMALL_RING});
    Case one("ucx ring offers", 0);
    RingEnds ends(one, true, false, Memory::device0, Memory::device0);
    for (const ChunkRoute route : {ChunkRoute::host, ChunkRoute::ring}) {
        for (const bool matched : {true, false}) {
            Outcome received;
            ByHand hand{pair};
            if (matched) start_receive(pair.b, ends, received);
            hand.opening(route == ChunkRoute::host ? 100 + matched : 200 + matched, 80);
            hand.offer(route);
            hand.offer(route);
            hand.offer(route, UCP_AM_SEND_FLAG_EAGER);
            for (int i = 0; i < 50; ++i) pair.progress();
            CHECK(!hand.is_done()); // one is kept for the other route
            if (!matched) start_receive(pair.b, ends, received);
            hand.withdraw();
            pair.until([&] { return received.done(); });
            CHECK(received.result.status != UCS_OK);
        }
    }
    check_ring_is_usable(pair);
}

DEVICE_TEST("receipts of another length are no receipts") {
    TwoSides pair({SMALL_RING});
    std::uint64_t number = 400;
    for (const std::size_t bytes : {0, 1, 7, 9, 16}) {
        for (const bool of_offers : {true, false}) {
            Case one("ucx ring receipt length", 0);
            RingEnds ends(one, true, false, Memory::device0, Memory::device0);
            Outcome received;
            start_receive(pair.b, ends, received);
            ByHand hand{pair};
            hand.opening(++number, 80);
            hand.receipt_bytes = of_offers ? bytes : sizeof(Receipt);
            hand.offer(ChunkRoute::host);
            hand.message.place.bytes = 80;
            REQUIRE(ucd_ipc_export(ends.in.real_base(), 80, &hand.message.place.handle) ==
                    UCD_SUCCESS);
            hand.offer(ChunkRoute::ring);
            for (int i = 0; i < 20; ++i) pair.progress();
            hand.receipt_bytes = bytes;
            hand.say(MessageKind::ring_chunk);
            pair.until([&] { return received.done(); });
            INFO(bytes << ", " << of_offers);
            CHECK(received.result.status != UCS_OK);
            hand.receipt_bytes = sizeof(Receipt);
            hand.withdraw();
        }
    }
    check_ring_is_usable(pair);
}

DEVICE_TEST("ring offers that come from an endpoint which has failed by then are not answered") {
    TwoSides pair({SMALL_RING});
    Case one("ucx ring offers of failed endpoints", 0);
    RingEnds ends(one, true, false, Memory::device0, Memory::device0);
    Outcome received;
    start_receive(pair.b, ends, received);
    ByHand hand{pair};
    hand.opening(500, 80);
    for (int i = 0; i < 20; ++i) pair.progress();
    hand.offer(ChunkRoute::host);
    hand.message.place.bytes = 80;
    REQUIRE(ucd_ipc_export(ends.in.real_base(), 80, &hand.message.place.handle) == UCD_SUCCESS);
    hand.offer(ChunkRoute::ring);
    // They come, and nobody has looked at them yet.
    for (int i = 0; i < 1000; ++i)
        for (const Side *side : {&pair.a, &pair.b}) ucp_worker_progress(side->worker);
    pair.b.lose_endpoint();
    for (int i = 0; i < 20; ++i) pair.progress();
    CHECK(received.done());
    CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
    hand.withdraw();
    pair.until([&] { return received.done(); });
    check_ring_is_usable(pair);
}

DEVICE_TEST("a chunk that ends within an element is not reduced") {
    void *memory;
    REQUIRE(ucd_memory_alloc((std::string(mock::backend.name) + ":0").c_str(), UCD_MEMORY__DEVICE,
                             64, &memory) == UCD_SUCCESS);
    const char zeros[64] = {};
    mock::write(memory, zeros, sizeof zeros);
    const ucd_ucx::BufferHints for_host;
    TypedBuffer buffer;
    REQUIRE(buffer
                .set({memory, 4, UCD_TYPE__DOUBLE}, UCD_INFO__NULL, TransferDirection::receive,
                     for_host, UCD_OP__SUM)
                .ok());
    const char *from = static_cast<char *>(memory) + 32;
    for (const std::uint64_t bytes : {8, 12, 16, 31, 32}) {
        ucd_request_t request = UCD_REQUEST__NULL;
        INFO(bytes);
        CHECK(buffer.unpack(0, from, bytes, &request, PackedPlace::own_device).ok() ==
              (bytes % 8 == 0));
        CHECK(ucd_wait(&request) == UCD_SUCCESS);
    }
    CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
}

} // namespace ring_faults_test
