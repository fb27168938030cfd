// The messages and windows of one-sided operations by themselves: what is written is read again,
// and what was cut off or changed is not.

#include "pipeline/message.h"
#include "rma/rma_message.h"
#include "rma/rma_peer.h"
#include "rma/rma_window.h"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"

#include <cstring>

namespace rma_parts_test {

using namespace ucdtest;
using namespace ucd_ucx::rma;
using ucd_ucx::Reading;
namespace rma = ucd_ucx::rma;

namespace {

using Id = ucd_ucx::ContentId;

Id some_name() {
    Id name;
    for (std::size_t i = 0; i < name.size(); ++i) name[i] = static_cast<uint8_t>(100 + i);
    return name;
}

// Every kind of request; the types are `type`.
std::vector<rma::Request> requests(const std::string &name, const std::string &flattened) {
    std::vector<rma::Request> all;
    for (const Verb verb : {Verb::put, Verb::get, Verb::accumulate, Verb::get_accumulate})
        for (const bool shows_key : {false, true})
            for (const TypeForm form : {TypeForm::known, TypeForm::name, TypeForm::flattened}) {
                rma::Request r;
                r.verb = verb;
                r.op = accumulates(verb) ? UCD_OP__MAX : UCD_OP__REPLACE;
                r.number = 0x01020304;
                r.displacement = -0x0102030405060708;
                r.count = 0x1112131415161718;
                r.shows_key = shows_key;
                if (shows_key)
                    r.window = some_name();
                else
                    r.handle = 0x2122232425262728;
                r.form = form;
                r.type_index = 0x31323334;
                r.type = form == TypeForm::known  ? std::string_view()
                         : form == TypeForm::name ? std::string_view(name)
                                                  : std::string_view(flattened);
                all.push_back(r);
            }
    return all;
}

bool reads(std::string_view text, rma::Request &request, std::string_view &data) {
    Preamble preamble;
    return decode(text, preamble) == Reading::good && decode(text, preamble, request, data);
}

bool are_equal(const rma::Request &a, const rma::Request &b) {
    return a.verb == b.verb && a.op == b.op && a.number == b.number &&
           a.displacement == b.displacement && a.count == b.count && a.shows_key == b.shows_key &&
           a.handle == b.handle && a.window == b.window && a.form == b.form &&
           a.type_index == b.type_index && a.type == b.type;
}

} // namespace

TEST_CASE("verbs are requests, answers or neither") {
    for (unsigned v = 0; v <= 12; ++v) {
        const auto verb = static_cast<Verb>(v);
        INFO(v);
        CHECK(is_request(verb) == (v >= 1 && v <= 4));
        CHECK(is_answer(verb) == (v == 6 || v == 8));
        CHECK(fetches(verb) == (v == 2 || v == 4));
        CHECK(accumulates(verb) == (v == 3 || v == 4));
    }
}

TEST_CASE("requests are read as they were written, and not if anything is missing") {
    const std::string name(16, 'n'), flattened = "a flattened type";
    for (const rma::Request &r : requests(name, flattened)) {
        const Encoded encoded(r);
        std::string text = encoded.text();
        CHECK(text.size() == encoded.size());
        std::string written(text.size(), 0);
        encoded.write(written.data());
        CHECK(written == text);
        INFO("verb " << static_cast<int>(r.verb) << ", form " << static_cast<int>(r.form)
                     << ", key " << r.shows_key);
        for (const std::string &more : {std::string(), std::string("data")}) {
            const std::string whole = text + more;
            rma::Request read;
            std::string_view data = "not set";
            REQUIRE(reads(whole, read, data));
            CHECK(are_equal(read, r));
            CHECK(data == more);
        }
        for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
            // Memory of its own, so that a sanitizer sees what is read behind its end.
            const std::vector<char> part(text.begin(), text.begin() + static_cast<long>(bytes));
            rma::Request read;
            std::string_view data;
            INFO(bytes << " of " << text.size() << " bytes");
            CHECK_FALSE(reads({part.data(), part.size()}, read, data));
        }
    }
}

TEST_CASE("types of requests have the size that their form needs") {
    const std::string texts[] = {"", std::string(15, 't'), std::string(16, 't'),
                                 std::string(17, 't')};
    for (const TypeForm form : {TypeForm::known, TypeForm::name, TypeForm::flattened})
        for (const std::string &type : texts) {
            rma::Request r;
            r.form = form;
            r.type = type;
            const std::string text = Encoded(r).text();
            rma::Request read;
            std::string_view data;
            INFO("form " << static_cast<int>(form) << ", " << type.size() << " bytes");
            CHECK(reads(text, read, data) == (form == TypeForm::known  ? type.empty()
                                              : form == TypeForm::name ? type.size() == 16
                                                                       : !type.empty()));
        }
}

TEST_CASE("operations of requests are those that their verb takes") {
    for (const Verb verb : {Verb::put, Verb::get, Verb::accumulate, Verb::get_accumulate})
        for (int first = 0; first < 256; ++first) {
            rma::Request r;
            r.verb = verb;
            std::string text = Encoded(r).text();
            text[2] = static_cast<char>(first);
            rma::Request read;
            std::string_view data;
            const bool reduces = verb == Verb::accumulate || verb == Verb::get_accumulate;
            const bool nothing = verb == Verb::get_accumulate && first == 255;
            INFO("verb " << static_cast<int>(verb) << ", operation " << first);
            const bool good =
                reduces ? first <= UCD_OP__MINLOC || nothing : first == UCD_OP__REPLACE;
            REQUIRE(reads(text, read, data) == good);
            if (good) CHECK(read.op == (nothing ? -1 : first));
        }
}

TEST_CASE("forms that do not exist are refused") {
    for (int second = 0; second < 256; ++second) {
        rma::Request r;
        std::string text = Encoded(r).text();
        // Whatever the form, there is enough behind it.
        text.resize(200);
        text[3] = static_cast<char>(second);
        const bool shows_key = second % 2 == 1;
        text[shows_key ? 44 : 36] = second / 2 == 1 ? 16 : second / 2 == 2 ? 1 : 0;
        rma::Request read;
        std::string_view data;
        INFO(second);
        CHECK(reads(text, read, data) == (second / 2 <= 2));
        if (second / 2 <= 2) {
            CHECK(read.shows_key == shows_key);
            CHECK(static_cast<int>(read.form) == second / 2);
        }
    }
}

TEST_CASE("answers are read as they were written") {
    for (const uint64_t handle : {uint64_t{0}, uint64_t{0x4142434445464748}})
        for (unsigned verdict = 0; verdict <= 6; ++verdict) {
            const uint8_t ucd = verdict == 0 ? 0 : 9;
            const Answer a{static_cast<Verdict>(verdict), ucd, 0x51525354, handle};
            const std::string text = Encoded(a).text();
            CHECK(text.size() == (handle == 0 ? 8U : 16U));
            for (std::size_t bytes = 0; bytes <= text.size() + 3; ++bytes) {
                const std::string part = bytes <= text.size()
                                             ? text.substr(0, bytes)
                                             : text + std::string(bytes - text.size(), 'd');
                Preamble preamble;
                Answer read;
                std::string_view data;
                const bool preamble_is_good = decode(part, preamble) == Reading::good;
                CHECK(preamble_is_good == (bytes >= 8));
                if (!preamble_is_good) continue;
                REQUIRE(decode(part, preamble, read, data) == (bytes >= text.size()));
                if (bytes < text.size()) continue;
                CHECK((read.verdict == a.verdict && read.ucd == ucd && read.number == a.number));
                CHECK(read.handle == handle);
                CHECK(data.size() == bytes - text.size());
            }
        }
}

TEST_CASE("messages of other versions are told from malformed ones") {
    Preamble preamble;
    std::string text = Encoded(Preamble{Verb::get, 1, 2, 3}).text();
    CHECK(decode(text, preamble) == Reading::good);
    CHECK((preamble.verb == Verb::get && preamble.first == 1 && preamble.second == 2));
    CHECK(preamble.number == 3);
    CHECK(decode(text.substr(0, 7), preamble) == Reading::malformed);
    for (const char version : {'\0', '\1', '\2', '\4', '\x7f', '\xff'}) {
        text[0] = version;
        CHECK(decode(text, preamble) == Reading::other_version);
    }
}

TEST_CASE("bytes that mean nothing are 0") {
    Preamble preamble;
    for (const Verb verb :
         {Verb::type, Verb::need_type, Verb::several, Verb::introduction, Verb::grant}) {
        const bool has_number = verb == Verb::type || verb == Verb::need_type;
        const std::string text = Encoded(Preamble{verb, 0, 0, has_number ? 5U : 0U}).text();
        CHECK(decode(text, preamble) == Reading::good);
        CHECK(decode(text + 'x', preamble) ==
              (verb == Verb::need_type ? Reading::malformed : Reading::good));
        for (std::size_t byte = 2; byte < text.size(); ++byte)
            for (const int bit : {1, 16, 128}) {
                INFO("verb " << static_cast<int>(verb) << ", byte " << byte << ", bit " << bit);
                std::string other = text;
                other[byte] = static_cast<char>(other[byte] ^ bit);
                CHECK(decode(other, preamble) ==
                      (byte >= 4 && has_number ? Reading::good : Reading::malformed));
            }
    }
    // An operation that is done has no status of a failure.
    for (const uint64_t handle : {uint64_t{0}, uint64_t{7}})
        for (int ucd = 0; ucd < 256; ++ucd) {
            const std::string text =
                Encoded(Answer{Verdict::done, static_cast<uint8_t>(ucd), 5, handle}).text();
            Answer read;
            std::string_view data;
            REQUIRE(decode(text, preamble) == Reading::good);
            CHECK(decode(text, preamble, read, data) == (ucd == 0));
        }
}

TEST_CASE("requests of version 2 are refused in its words, and nothing else is") {
    const Encoded request(Preamble{Verb::get, 0, 1, 0x12345678}, 2);
    const std::string text = request.text(), transfer = "2DCU" + std::string(44, '\0');
    for (const std::string &header : {std::string(), transfer + text}) {
        const auto refusal = refusal_of_version_2(header, header.empty() ? text : std::string());
        REQUIRE(refusal.has_value());
        CHECK(refusal->text() == std::string("\2\6\4\0\x78\x56\x34\x12", 8));
    }
    CHECK(refusal_of_version_2({}, text + "the rest").has_value());
    CHECK(refusal_of_version_2("UCD2" + std::string(44, '\0') + text, {}).has_value());
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
        CHECK_FALSE(refusal_of_version_2({}, text.substr(0, bytes)).has_value());
        CHECK_FALSE(refusal_of_version_2(transfer + text.substr(0, bytes), {}).has_value());
    }
    CHECK_FALSE(refusal_of_version_2("2DCU" + std::string(43, '\0') + text, {}).has_value());
    for (unsigned verb = 0; verb < 12; ++verb) {
        std::string other = text;
        other[1] = static_cast<char>(verb);
        CHECK(refusal_of_version_2({}, other).has_value() == (verb >= 1 && verb <= 4));
    }
    for (const uint8_t version : {uint8_t{1}, uint8_t{3}, uint8_t{4}}) {
        const std::string other = Encoded(Preamble{Verb::get}, version).text();
        CHECK_FALSE(refusal_of_version_2({}, other).has_value());
    }
}

TEST_CASE("several answers are taken apart again") {
    std::string message;
    const std::vector<std::string> parts = {"first", "", "the second", std::string(300, 'x')};
    for (const std::string &part : parts) {
        char length[length_bytes];
        write_length(part.size(), length);
        message.append(length, sizeof length).append(part);
    }
    std::string_view left = message;
    for (const std::string &part : parts) CHECK(take_part(left) == part);
    CHECK(left.empty());
    CHECK(take_part(left).empty());
    // The last one is not all there.
    left = std::string_view(message).substr(0, message.size() - 1);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) CHECK(take_part(left) == parts[i]);
    CHECK(take_part(left).empty());
    // Nor is the length.
    for (std::size_t bytes = 0; bytes < length_bytes; ++bytes) {
        left = std::string_view("\1\0\0\0", bytes);
        CHECK(take_part(left).empty());
    }
}

TEST_CASE("each verdict is a status and a sentence of its own") {
    const ucs_status_t expected[] = {UCS_OK,
                                     UCS_ERR_NO_ELEM,
                                     UCS_ERR_OUT_OF_RANGE,
                                     UCS_ERR_INVALID_PARAM,
                                     UCS_ERR_UNSUPPORTED,
                                     UCS_ERR_NO_MEMORY,
                                     UCS_ERR_IO_ERROR,
                                     UCS_ERR_IO_ERROR};
    for (unsigned v = 0; v < 8; ++v) {
        CHECK(meaning_of(static_cast<Verdict>(v)).status == expected[v]);
        CHECK(std::strlen(meaning_of(static_cast<Verdict>(v)).text) > 0);
    }
}

TEST_CASE("keys of windows have no byte that may be anything") {
    const ucd_ucx_window_key_t key = window_key(some_name());
    Id name;
    REQUIRE(read_window_key(key, name).ok());
    CHECK(name == some_name());
    for (std::size_t byte = 0; byte < sizeof key.bytes; ++byte)
        for (const int bit : {1, 16, 128}) {
            INFO("byte " << byte << ", bit " << bit);
            ucd_ucx_window_key_t other = key;
            other.bytes[byte] = static_cast<unsigned char>(other.bytes[byte] ^ bit);
            if (byte < 8 || byte >= 24) {
                CHECK(read_window_key(other, name).code() == UCD_ERR__INVALID_ARG);
            } else {
                REQUIRE(read_window_key(other, name).ok());
                CHECK(name != some_name());
            }
        }
}

TEST_CASE("a peer earns work with what it sends, up to a limit") {
    ucd_ucx::Ledger ledger({});
    ucd_ucx::rma::Peer peer(ledger, nullptr);
    CHECK(peer.work == 1 << 20);
    peer.earn(100);
    CHECK(peer.work == (1 << 20) + 100);
    peer.earn((3 << 20) - 101);
    CHECK(peer.work == (4 << 20) - 1);
    for (int i = 0; i < 2; ++i) {
        peer.earn(1 << 20);
        CHECK(peer.work == 4 << 20);
    }
}

DEVICE_TEST("a window has what is within its bytes") {
    HandOrigin o;
    std::vector<char> memory(100);
    const Window made(o.b, memory.data(), memory.size());
    const ucd_ucx_window &w = *made.handle;
    for (const int64_t at : {int64_t{-101}, int64_t{-100}, int64_t{-1}, int64_t{0}, int64_t{1},
                             int64_t{50}, int64_t{100}, int64_t{101}})
        for (const int64_t low : {int64_t{-51}, int64_t{-50}, int64_t{0}, int64_t{7}})
            for (const int64_t bytes :
                 {int64_t{0}, int64_t{1}, int64_t{49}, int64_t{50}, int64_t{100}, int64_t{101}}) {
                INFO("at " << at << ", from " << low << ", " << bytes << " bytes");
                const bool inside = at + low >= 0 && at + low + bytes <= 100;
                CHECK(rma::is_within(at, low, low + bytes, w.bytes) == inside);
            }
    CHECK_FALSE(rma::is_within(INT64_MAX, 1, 2, w.bytes));
    CHECK_FALSE(rma::is_within(INT64_MAX, 0, 1, w.bytes));
    CHECK_FALSE(rma::is_within(INT64_MIN, -1, 0, w.bytes));
    CHECK_FALSE(rma::is_within(0, 10, 9, w.bytes));
    CHECK(w.at(7) == memory.data() + 7);
    CHECK(w.at(-3) + 3 == memory.data());
}

DEVICE_TEST("a peer whose account has no room gets no handle of a window") {
    RmaSide side(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
    char memory[8] = {};
    const Window window(side, memory, sizeof memory);
    char place;
    const auto ep = reinterpret_cast<ucp_ep_h>(&place);
    ucd_ucx::Ledger none({.peer = 0}), enough({.peer = 1000});
    rma::Peer poor(none, ep), peer(enough, ep);
    CHECK(poor.handle_of(*window.handle) == 0);
    CHECK(poor.window(1) == nullptr);
    const uint64_t handle = peer.handle_of(*window.handle);
    CHECK(handle != 0);
    CHECK(peer.handle_of(*window.handle) == handle);
    CHECK(peer.window(handle) == window.handle);
}

} // namespace rma_parts_test
