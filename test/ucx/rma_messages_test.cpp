// What goes over the wire, said and read by hand: how much of it there is, when types travel, and
// what a target does with messages that no origin sends.

#include "common/tokens.h"
#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/type_name.hpp"

#include <algorithm>
#include <numeric>
#include <sodium.h>

namespace rma_messages_test {

using namespace ucdtest;

namespace {

ucd_type_t every_other(std::intptr_t ints) {
    return made(ucd_create_vector, ints, 1, 2, UCD_TYPE__INT);
}

ucd_type_t list(std::size_t entries) {
    std::vector<std::intptr_t> displs;
    Rng rng(entries);
    std::intptr_t at = 0;
    for (std::size_t i = 0; i < entries; ++i) displs.push_back(at += 1 + rng.between(0, 100));
    return made(ucd_create_indexed_block, static_cast<std::intptr_t>(entries), 1, displs.data(),
                UCD_TYPE__INT);
}

// A put of whatever is at hand.
struct PutByLibrary {
    std::vector<int> from = std::vector<int>(100000, 3);
    Outcome o;
    PutByLibrary(RmaSide &a, std::size_t ints, ucd_type_t target) {
        const ucd_ucx_window_key_t key = made_up_key();
        start_put(a, {from.data(), ints, UCD_TYPE__INT}, {&key, -5, 1, target}, o);
    }
};

std::string text_of(const wire::Said &said) {
    return wire::preamble(said.verb, said.number, said.first, said.second) + said.rest;
}

} // namespace

DEVICE_TEST("operations whose types and data come in chunks leave their places to others") {
    RmaPair pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {"ucd.ucx.rma.types", "0"}});
    std::vector<int> memory(600'000, -1);
    const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
    // More than have places at a time. Of two types, the target forgets one when the other comes.
    for (int i = 0; i < 70; ++i) {
        const std::size_t ints = 5000 + static_cast<std::size_t>(i % 2);
        const std::vector<int> from(ints, i);
        ucd_type_t type = list(ints);
        Outcome put;
        start_put(pair.a, {from.data(), ints, UCD_TYPE__INT}, {window.key(), 0, 1, type}, put);
        ok(ucd_free(&type), "free");
        pair.until([&] { return put.done(); });
        REQUIRE(put.result.status == UCS_OK);
        REQUIRE(std::count(memory.begin(), memory.end(), i) == static_cast<std::ptrdiff_t>(ints));
    }
}

TEST_CASE("names of contents are SHA-256's first half") {
    // FIPS 180-4's examples.
    const auto digest = [](const std::string &text) {
        const auto id = ucd_ucx::content_id(text.data(), text.size());
        return to_hex({id.begin(), id.end()});
    };
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb924");
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223");
    CHECK(digest(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67");
    CHECK(to_hex(name_of("abc")) == digest("abc"));
}

DEVICE_TEST("a type travels once, a key until there is a handle for it") {
    HandTarget target;
    Attacker &hand = target.hand;
    ucd_type_t type = every_other(10);
    for (int use = 0; use < 4; ++use) {
        PutByLibrary put(target.a, 10, type);
        const wire::Said m = hand.next_said();
        wire::Request expected;
        expected.number = m.number;
        expected.window = wire::window_name(made_up_key());
        expected.displacement = -5;
        expected.type = flattened(type);
        expected.shows_key = use < 2; // the first answer brings no handle
        expected.handle = 0x1234567890abcdef;
        expected.is_known = use > 0;
        if (use > 0) expected.type.clear();
        const std::string data(reinterpret_cast<const char *>(put.from.data()), 40);
        CHECK(to_hex(text_of(m)) == to_hex(expected.text() + data));
        if (use > 1) CHECK(expected.text().size() == 40);
        // An answer to no operation changes nothing.
        target.answer(m.number + 1);
        hand.progress(20);
        CHECK(!put.o.done());
        if (use == 3)
            target.answer(m.number, wire::failed, {}, 8);
        else if (use == 1)
            hand.say(wire::preamble(wire::answer_with_handle, m.number) +
                     std::string("\xef\xcd\xab\x90\x78\x56\x34\x12"));
        else
            target.answer(m.number);
        REQUIRE(hand.within(5, [&] { return put.o.done(); }));
        CHECK(put.o.result.status == (use == 3 ? UCS_ERR_IO_ERROR : UCS_OK));
        if (use == 3) CHECK(put.o.result.ucd == UCD_ERR__DEVICE);
        if (use < 3) CHECK(put.o.result.bytes == 40);
    }
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

DEVICE_TEST("a target that does not know a name is told the type, once for an operation") {
    HandTarget target;
    Attacker &hand = target.hand;
    // The last is too long for a request, and goes by its name at once; so does its data in chunks.
    for (const std::size_t entries : {std::size_t{10}, std::size_t{100000}}) {
        ucd_type_t type = list(entries);
        const std::string flat = flattened(type);
        for (int use = 0; use < 2; ++use) {
            PutByLibrary put(target.a, entries, type);
            const wire::Said m = hand.next_said();
            const bool told_at_once = use == 0 && entries == 10;
            CHECK(m.second >> 1 == (told_at_once ? 2 : 1));
            CHECK(m.rest.find(told_at_once ? flat : name_of(flat)) != std::string::npos);
            if (entries > 10) CHECK(hand.data_of(m).size() == 4 * entries);
            hand.say(wire::preamble(wire::need_type, m.number ^ 1)); // not this one's
            for (int again = 0; again < 2; ++again)
                hand.say(wire::preamble(wire::need_type, m.number));
            const wire::Said told = hand.next_said();
            CHECK(told.verb == wire::type_message);
            CHECK(told.number == m.number);
            const bool is_same = hand.data_of(told) == flat;
            CHECK(is_same);
            hand.progress(100);
            CHECK(!hand.has_said());
            target.answer(m.number,
                          use == 0 ? wire::no_memory : wire::done); // then it knows it not
            REQUIRE(hand.within(5, [&] { return put.o.done(); }));
            CHECK(put.o.result.status == (use == 0 ? UCS_ERR_NO_MEMORY : UCS_OK));
        }
        REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    }
}

DEVICE_TEST("the answers of a target are not trusted") {
    HandTarget target;
    Attacker &hand = target.hand;
    const ucd_ucx_window_key_t key = made_up_key();
    std::vector<char> to(100, 'x');
    // Bytes that were not asked for, too few, too many, and an answer that no version knows.
    struct {
        unsigned verdict;
        std::size_t bytes;
        ucs_status_t status;
    } const answers[] = {{0, 0, UCS_ERR_INVALID_PARAM},   {0, 99, UCS_ERR_INVALID_PARAM},
                         {0, 101, UCS_ERR_INVALID_PARAM}, {0, 1000000, UCS_ERR_INVALID_PARAM},
                         {1, 100, UCS_ERR_INVALID_PARAM}, {1, 0, UCS_ERR_NO_ELEM},
                         {77, 0, UCS_ERR_IO_ERROR},       {0, 100, UCS_OK}};
    for (const auto &answer : answers) {
        std::fill(to.begin(), to.end(), 'x');
        Outcome o;
        start_get(target.a, {to.data(), 100, UCD_TYPE__CHAR}, {&key, 0, 100, UCD_TYPE__CHAR}, o);
        const wire::Said m = hand.next_said();
        // Another peer's answer is none.
        Attacker other(target.a.side.address(), [&] { target.a.progress(); });
        other.say(wire::preamble(wire::answer, m.number), std::string(100, 'o'));
        other.progress(20);
        CHECK(!o.done());
        target.answer(m.number, answer.verdict, std::string(answer.bytes, 'a'));
        REQUIRE(hand.within(5, [&] { return o.done(); }));
        CHECK(o.result.status == answer.status);
        const char expected = answer.status == UCS_OK ? 'a' : 'x';
        CHECK(std::count(to.begin(), to.end(), expected) == 100);
        target.answer(m.number, 0, std::string(100, 'b')); // late
    }
    CHECK(std::count(to.begin(), to.end(), 'a') == 100);
}

DEVICE_TEST("a target refuses what no origin sends, and writes nothing") {
    HandOrigin origin;
    const wire::Request good = origin.request;
    const auto refused = [&](unsigned verdict, auto &&change) {
        const std::uint64_t number = origin.request.number;
        origin.request = good;
        origin.request.number = number;
        change(origin.request);
        CHECK(origin.verdict() == verdict);
        CHECK(origin.is_untouched());
    };
    using R = wire::Request;
    refused(wire::invalid, [](R &r) { r.op = 3; }); // of a put
    refused(wire::invalid, [](R &r) { r.verb = wire::accumulate, r.op = 13; });
    refused(wire::invalid, [](R &r) { r.verb = wire::accumulate, r.op = 255; });
    for (const int form : {7, 8, 13, 255}) // 7: the type in a form that there is not
        refused(wire::invalid, [form](R &r) { r.form = form; });
    refused(wire::invalid, [](R &r) { r.form = 1 | 1 << 1; }); // the name has another length
    refused(wire::invalid, [](R &r) { r.form = 1; });          // the index says all
    refused(wire::invalid, [](R &r) { r.is_known = true, r.type.clear(), r.index = 4096; });
    refused(wire::invalid, [](R &r) { r.index = 4096; });
    refused(wire::no_window, [](R &r) { r.window[3] ^= 1; });
    refused(wire::no_window, [](R &r) { r.window.assign(16, '\0'); });
    refused(wire::no_window, [](R &r) { r.shows_key = false, r.handle = 1; });
    refused(wire::no_window, [](R &r) { r.shows_key = false; });
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{UINT32_MAX}})
        refused(wire::invalid, [bytes](R &r) { r.type_bytes = bytes; });
    refused(wire::invalid, [](R &r) { r.count = 49; });
    refused(wire::invalid, [](R &r) { r.count = 51; });
    refused(wire::invalid, [](R &r) { r.count = INT64_MAX; });
    refused(wire::invalid, [](R &r) { r.verb = wire::get; }); // brings data
    refused(wire::invalid, [](R &r) { r.type.back() ^= 1; }); // the checksum says so
    refused(wire::invalid, [](R &r) { r.type += 'x'; });
    refused(wire::invalid, [](R &r) { r.type.clear(); });
    // Accumulates of what takes no op.
    refused(wire::not_supported, [](R &r) { r.verb = wire::accumulate, r.op = UCD_OP__SUM; });
    // Anywhere but in the window.
    for (const std::int64_t d : {std::int64_t{-1}, std::int64_t{751}, std::int64_t{800},
                                 INT64_MAX - 49, INT64_MAX - 50, INT64_MAX, INT64_MIN})
        refused(wire::out_of_range, [d](R &r) { r.displacement = d; });
    // So many that the bytes overflow.
    for (const std::uint64_t n : {std::uint64_t{1} << 63, UINT64_MAX})
        refused(wire::out_of_range, [n](R &r) { r.count = n; });
    // Messages that are cut short. What is too short to have a number is not answered.
    const std::string whole = good.text();
    for (std::size_t n = wire::preamble_bytes; n < whole.size(); ++n) {
        origin.request.number = good.number;
        CHECK(origin.verdict_of(whole.substr(0, n)) == wire::invalid);
    }
    for (std::size_t n = 1; n < wire::preamble_bytes; ++n) origin.hand.say(whole.substr(0, n));
    for (const unsigned what : {0u, 5u, 6u, 7u, 8u, 9u, 255u})
        origin.hand.say(wire::preamble(what, 99), origin.data);
    for (const unsigned version : {0u, 1u, 4u, 255u}) {
        origin.request = good;
        origin.request.version = version;
        origin.hand.say(origin.request.text(), origin.data);
    }
    origin.hand.progress(200);
    CHECK(!origin.hand.has_said());
    CHECK(origin.is_untouched());
    // The message that all of them were made of is a good one.
    origin.request = good;
    origin.request.number = 1000;
    origin.request.displacement = 750;
    CHECK(origin.verdict() == wire::done);
    CHECK(std::string(origin.memory.data() + 849, 52) == "m" + std::string(50, 'd') + "m");
}

DEVICE_TEST("messages in which a byte without meaning is set are dropped or refused") {
    HandOrigin origin;
    Attacker &hand = origin.hand;
    const auto is_ignored = [&] {
        hand.progress(50);
        return !hand.has_said() && origin.is_untouched();
    };
    // The type that the target asks for.
    const std::string type = origin.request.type;
    origin.request.by_name = true;
    origin.request.type = name_of(type);
    origin.request.number = 5;
    hand.request(origin.request, origin.data);
    CHECK(hand.next_said().verb == wire::need_type);
    for (const unsigned first : {1u, 0u}) {
        hand.say(wire::preamble(wire::type_message, 5, first, 128 - 128 * first), type);
        CHECK(is_ignored());
    }
    // Several in one.
    std::string several = wire::join_answers({wire::preamble(wire::type_message, 5) + type});
    for (std::size_t byte = 2; byte < wire::preamble_bytes; ++byte) {
        std::string other = several;
        other[byte] = 1;
        hand.say(other);
        CHECK(is_ignored());
    }
    // A request that is the header of a transfer.
    wire::Message m;
    m.kind = wire::whole;
    m.total = origin.data.size();
    origin.request.number = 6;
    m.user_header = origin.request.text();
    for (int field = 0; field < 3; ++field) {
        wire::Message other = m;
        other.id = hand.new_id();
        if (field == 0) other.user_id = 1;
        if (field == 1) other.offset = 1;
        if (field == 2) other.status = 1;
        hand.active(other, origin.data);
        CHECK(is_ignored());
    }
    m.id = hand.new_id();
    hand.active(m, origin.data);
    CHECK(hand.next_said().verb == wire::need_type);
    // These are good ones.
    hand.say(several);
    CHECK(hand.next_said().number == 5);
    hand.say(wire::preamble(wire::type_message, 6), type);
    CHECK(hand.next_said().number == 6);
    CHECK_FALSE(origin.is_untouched());
}

DEVICE_TEST("an answer in which a byte without meaning is set ends its operation with an error") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    char from = 'f';
    Outcome o;
    start_put(target.a, {&from, 1, UCD_TYPE__CHAR}, {&key, 0, 1, UCD_TYPE__CHAR}, o);
    const wire::Said m = target.hand.next_said();
    // A question with something behind it is none.
    target.hand.say(wire::preamble(wire::need_type, m.number) + "x");
    target.hand.progress(50);
    CHECK_FALSE(target.hand.has_said());
    target.answer(m.number, wire::done, {}, 1);
    REQUIRE(target.hand.within(5, [&] { return o.done(); }));
    CHECK(o.result.status == UCS_ERR_INVALID_PARAM);
}

DEVICE_TEST("types whose bounds overflow or overlap are refused") {
    HandOrigin origin;
    const auto verdict = [&](ucd_type_t type, std::uint64_t count, std::int64_t displacement) {
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "size");
        origin.request.type = flattened(type);
        origin.request.count = count;
        origin.request.displacement = displacement;
        origin.data.assign(size * count, 'd');
        const unsigned v = origin.verdict();
        ok(ucd_free(&type), "free");
        return v;
    };
    const auto shifted = [](std::intptr_t displacement) {
        return made(ucd_create_hindexed_block, 1, 1, &displacement, UCD_TYPE__CHAR);
    };
    const auto spread = [](std::intptr_t stride) {
        return made(ucd_create_hvector, 2, 1, stride, UCD_TYPE__CHAR);
    };
    CHECK(verdict(shifted(INT64_MAX - 1), 1, 2) == wire::out_of_range);
    CHECK(verdict(shifted(INT64_MAX - 1), 1, INT64_MAX) == wire::out_of_range);
    CHECK(verdict(shifted(-INT64_MAX), 1, -2) == wire::out_of_range);
    CHECK(verdict(spread(INT64_MAX - 1), 1, 0) == wire::out_of_range);
    CHECK(verdict(spread(-101), 1, 100) == wire::out_of_range);
    CHECK(verdict(spread(1000), 1, 0) == wire::out_of_range);
    CHECK(verdict(spread(0), 1, 10) == wire::invalid); // one byte, twice
    CHECK(origin.is_untouched());
    CHECK(verdict(spread(-100), 1, 100) == wire::done);
    CHECK(verdict(shifted(INT64_MAX - 1), 1, -(INT64_MAX - 1)) == wire::done);
    CHECK(verdict(shifted(1000000), 1, -1000000 + 799) == wire::done);
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 3);
}

DEVICE_TEST("a name is worth nothing without the bytes that it is made of") {
    HandOrigin origin;
    Attacker &hand = origin.hand;
    const std::string chars = origin.request.type;
    // Of the same size: only the name tells that it is another.
    const std::intptr_t shift = 5;
    ucd_type_t shifted = made(ucd_create_hindexed_block, 1, 1, &shift, UCD_TYPE__CHAR);
    const std::string other = taken_apart(shifted);
    const auto ask = [&](std::uint64_t number) {
        origin.request.number = number;
        origin.request.by_name = true;
        origin.request.type = name_of(chars);
        hand.say(origin.request.text(), origin.data);
        const wire::Said m = hand.next_said();
        CHECK(m.verb == wire::need_type);
        CHECK(m.number == number);
    };
    const auto told = [&](std::uint64_t number, const std::string &bytes) {
        hand.say(wire::preamble(wire::type_message, number), bytes);
        const wire::Said m = hand.next_said();
        CHECK(m.number == number);
        return m.first;
    };
    ask(1);
    CHECK(told(1, other) == wire::invalid); // bytes of another type
    ask(2);
    CHECK(told(2, chars.substr(1)) == wire::invalid);
    ask(3);
    CHECK(told(3, std::string()) == wire::invalid);
    ask(4);
    // A number twice: the second operation is refused, and the first goes on.
    CHECK(origin.verdict_of(origin.request.text() + origin.data) == wire::invalid);
    hand.say(wire::preamble(wire::type_message, 5), chars); // nobody asked
    // Another peer's type is none for it.
    Attacker third(origin.b.side.address(), [&] { origin.b.progress(); });
    third.say(wire::preamble(wire::type_message, 4), chars);
    third.progress(50);
    CHECK(origin.is_untouched());
    CHECK(told(4, chars) == wire::done);
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 50);
    // From now on it is known, by its name and by its index.
    origin.request.number = 6;
    CHECK(origin.verdict_of(origin.request.text() + origin.data) == wire::done);
    origin.request.number = 7;
    origin.request.is_known = true;
    origin.request.type.clear();
    CHECK(origin.verdict_of(origin.request.text() + origin.data) == wire::done);
    // A type that nobody will tell any more does not keep the window.
    origin.request.is_known = false;
    origin.request.type = name_of("no type");
    hand.say(origin.request.text(), origin.data);
    CHECK(hand.next_said().verb == wire::need_type);
    REQUIRE(ucd_ucx_window_destroy(&origin.window->handle) == UCD_SUCCESS);
    const wire::Said m = hand.next_said();
    CHECK(m.is_answer());
    CHECK(m.first == wire::no_window);
    CHECK(m.number == 7);
}

DEVICE_TEST("how long flattened types are") {
    const std::intptr_t sizes[] = {1000, 2000, 3000}, parts[] = {100, 200, 300},
                        starts[] = {11, 22, 33};
    ucd_type_t type =
        made(ucd_create_subarray, 3, sizes, parts, starts, UCD_ORDER__C, UCD_TYPE__DOUBLE);
    CHECK(flattened(type).size() <= 128);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    std::vector<std::intptr_t> displs(10000);
    for (std::size_t i = 0; i < displs.size(); ++i) displs[i] = static_cast<std::intptr_t>(7 * i);
    REQUIRE(ucd_create_indexed_block(10000, 1, displs.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                     &type) == UCD_SUCCESS);
    CHECK(flattened(type).size() <= 128);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    // Any list whose steps are small.
    Rng rng(1);
    std::intptr_t at = 0;
    for (std::intptr_t &d : displs) d = at += rng.between(1, 200);
    REQUIRE(ucd_create_indexed_block(10000, 1, displs.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                     &type) == UCD_SUCCESS);
    CHECK(flattened(type).size() <= 2 * displs.size() + 100);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

DEVICE_TEST("a type that is asked for is in the host's memory, wherever the data is") {
    RmaPair pair;
    constexpr std::size_t ints = 60000; // so that the type fits no header
    ucd_type_t type = list(ints);
    REQUIRE(flattened(type).size() > 50000);
    std::vector<int> window(ints * 101, 0), values(ints);
    std::iota(values.begin(), values.end(), 1);
    void *from = mock::allocate(ucd::MemoryKind::device, 0, ints * sizeof(int));
    mock::write(from, values.data(), ints * sizeof(int));
    const Window exposed(pair.b, window.data(), window.size() * sizeof(int));
    const Keys hints({{"ucd.inbuf", "mock:0"}});
    Outcome o;
    start_put(pair.a, {from, ints, UCD_TYPE__INT}, {exposed.key(), 0, 1, type}, o, hints.get());
    pair.until([&] { return o.done(); });
    mock::release(from);
    CHECK(o.result.status == UCS_OK);
    std::vector<int> found(ints);
    std::uintptr_t packed;
    ok(ucd_pack(window.data(), 1, type, 0, found.data(), ints * sizeof(int), &packed,
                UCD_INFO__NULL, UCD_OP__REPLACE),
       "pack");
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    CHECK(found == values);
}

} // namespace rma_messages_test
