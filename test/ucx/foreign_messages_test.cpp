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

// What a sender says, said by hand.
class ByHand {
public:
    explicit ByHand(TwoSides &sides) : peer_(sides.b.address(), [&] { sides.progress(); }) {}
    void tagged(const void *bytes, std::size_t count) {
        peer_.tagged(std::string(static_cast<const char *>(bytes), count));
    }
    void active(const MessageHeader &header, const void *bytes, std::size_t count) {
        const auto text = [](const void *from, std::size_t length) {
            return length == 0 ? std::string()
                               : std::string(static_cast<const char *>(from), length);
        };
        peer_.active(text(&header, sizeof header), text(bytes, count));
    }
    void progress() { peer_.progress(); }

private:
    Attacker peer_;
};

} // namespace

DEVICE_TEST("chunks come in any order, before and after the message is matched") {
    TwoSides sides(SMALL_CHUNKS);
    ByHand hand(sides);
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
                hand.tagged(&header, sizeof header);
            else
                hand.active(header, stream.data() + at, n);
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
    ByHand hand(sides);
    std::vector<char> bytes(4000, 'b');
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
    receive_after([&] { hand.tagged(bytes.data(), 20); });
    receive_after([&] { hand.tagged(bytes.data(), sizeof(MessageHeader)); });
    MessageHeader header;
    header.total = 4000;
    header.id = {77, 1};
    receive_after([&] {
        header.kind = MessageKind::chunk; // is no opening
        hand.tagged(&header, sizeof header);
    });
    receive_after([&] {
        header.kind = MessageKind::whole; // and 4000 bytes
        hand.tagged(&header, sizeof header);
    });
    // Chunks that reach beyond the message.
    for (const auto &[offset, count] : {std::pair<std::uint64_t, std::size_t>(3999, 2),
                                        {4001, 1},
                                        {UINT64_MAX, 2},
                                        {UINT64_MAX - 1, 1000}}) {
        ++header.id.number;
        receive_after([&] {
            header.kind = MessageKind::opening;
            hand.tagged(&header, sizeof header);
            header.kind = MessageKind::chunk;
            header.offset = offset;
            hand.active(header, bytes.data(), count);
            header.kind = MessageKind::withdraw; // so that nothing is kept of it
            hand.active(header, nullptr, 0);
        });
    }
    // Active messages that are none of ours leave no trace.
    header.letters = {};
    hand.active(header, bytes.data(), 100);
    header = MessageHeader();
    header.user_header = 1000;
    hand.active(header, bytes.data(), 100);
    header = MessageHeader();
    header.kind = MessageKind::withdraw;
    hand.active(header, nullptr, 0);
    header.kind = static_cast<MessageKind>(77);
    hand.active(header, bytes.data(), 100);
    header.kind = MessageKind::whole; // has another length
    header.total = 99;
    hand.active(header, bytes.data(), 100);
    // An active message is announced once.
    Told told(sides.b);
    header.total = 100;
    header.id = {78, 1};
    header.user_id = 1;
    hand.active(header, bytes.data(), 100);
    hand.active(header, bytes.data(), 100);
    for (int i = 0; i < 100; ++i) hand.progress();
    CHECK(told.times == 1);
    check_usable(sides);
}

} // namespace foreign_messages_test
