// Messages that a pipeline gets from UCX in an order of the test's own, and such as no pipeline
// sends.

#include "pipeline/message.h"
#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"

namespace foreign_messages_test {

using namespace ucdtest;
using ucd_ucx::MessageHeader;
using ucd_ucx::MessageKind;

namespace {

std::string text_of(const MessageHeader &header) {
    return {reinterpret_cast<const char *>(&header), sizeof header};
}

} // namespace

DEVICE_TEST("chunks come in any order, before and after the message is matched") {
    TwoSides sides(SMALL_CHUNKS);
    Attacker hand(sides.b.address(), [&] { sides.progress(); });
    run_cases("ucx order", 100, [&](Case &one) {
        Strided in(3000), out(3000);
        std::vector<char> stream(in.bytes());
        std::uintptr_t packed;
        one.succeed(ucd_pack(in.data(), 1, in.type(), 0, stream.data(), stream.size(), &packed,
                             UCD_INFO__NULL, UCD_OP__REPLACE),
                    "ucd_pack");
        MessageHeader header;
        header.id = {one.rng().bits(), 1};
        header.total = stream.size();
        // The opening somewhere among them; lengths of any kind.
        std::vector<std::pair<std::size_t, std::size_t>> parts = {{0, 0}};
        for (std::size_t at = 0; at < stream.size();) {
            const std::size_t n = std::min(1 + one.rng().below(3000), stream.size() - at);
            parts.emplace_back(at, n);
            at += n;
        }
        one.rng().shuffle(parts);
        Outcome received;
        const bool early = one.rng().chance(50);
        if (early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        for (const auto &[at, n] : parts) {
            header.kind = n == 0 ? MessageKind::opening : MessageKind::chunk;
            header.offset = at;
            if (n == 0)
                hand.tagged(text_of(header));
            else
                hand.active(text_of(header), std::string(stream.data() + at, n));
        }
        if (!early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        sides.until([&] {
            hand.progress();
            return received.done();
        });
        if (received.result.status != UCS_OK) one.fail(ucs_status_string(received.result.status));
        if (!out.received_from(in)) one.fail("other bytes were received");
    });
    check_usable(sides);
}

DEVICE_TEST("what no pipeline sent is refused") {
    TwoSides sides(SMALL_CHUNKS);
    Attacker hand(sides.b.address(), [&] { sides.progress(); });
    Strided out(1000);
    const auto receive_after = [&](auto &&send) {
        Outcome received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        send();
        sides.until([&] {
            hand.progress();
            return received.done();
        });
        CHECK(received.result.status == UCS_ERR_INVALID_PARAM);
        CHECK(out.is_clear());
    };
    receive_after([&] { hand.tagged(std::string(20, 'b')); });
    receive_after([&] { hand.tagged(std::string(sizeof(MessageHeader), 'b')); });
    MessageHeader header;
    header.total = 4000;
    header.id = {77, 1};
    receive_after([&] {
        header.kind = MessageKind::chunk; // is no opening
        hand.tagged(text_of(header));
    });
    receive_after([&] {
        header.kind = MessageKind::whole; // and 4000 bytes
        hand.tagged(text_of(header));
    });
    // Chunks that reach beyond the message.
    for (const auto &[offset, count] : {std::pair<std::uint64_t, std::size_t>(3999, 2),
                                        {4001, 1},
                                        {UINT64_MAX, 2},
                                        {UINT64_MAX - 1, 1000}}) {
        ++header.id.number;
        receive_after([&] {
            header.kind = MessageKind::opening;
            hand.tagged(text_of(header));
            header.kind = MessageKind::chunk;
            header.offset = offset;
            hand.active(text_of(header), std::string(count, 'b'));
            header.kind = MessageKind::withdraw; // so that nothing is kept of it
            hand.active(text_of(header), {});
        });
    }
    // Active messages that are none of ours leave no trace.
    header.letters = {};
    hand.active(text_of(header), std::string(100, 'b'));
    header = MessageHeader();
    header.user_header = 1000;
    hand.active(text_of(header), std::string(100, 'b'));
    header = MessageHeader();
    header.kind = MessageKind::withdraw;
    hand.active(text_of(header), {});
    header.kind = static_cast<MessageKind>(77);
    hand.active(text_of(header), std::string(100, 'b'));
    header.kind = MessageKind::whole; // has another length
    header.total = 99;
    hand.active(text_of(header), std::string(100, 'b'));
    // An active message is announced once.
    Told told(sides.b);
    header.total = 100;
    header.id = {78, 1};
    header.user_id = 1;
    hand.active(text_of(header), std::string(100, 'b'));
    hand.active(text_of(header), std::string(100, 'b'));
    for (int i = 0; i < 100; ++i) hand.progress();
    CHECK(told.times == 1);
    check_usable(sides);
}

} // namespace foreign_messages_test
