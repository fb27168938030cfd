// What goes over the wire, said and read by hand: how much of it there is, when types travel, and
// what a target does with messages that no origin sends.

#include "content_name.h"
#include "secret_numbers.h"
#include "support/catch.hpp"
#include "support/mock_buffer.hpp"
#include "ucx/rma_by_hand.hpp"

#include <numeric>

using namespace ucdtest;

namespace {

const Keys no_keys;

ucd_type_t every_other(std::intptr_t ints) {
    ucd_type_t type;
    ok(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
    return type;
}

ucd_type_t list(std::size_t entries) {
    std::vector<std::intptr_t> displs;
    Rng rng(entries);
    std::intptr_t at = 0;
    for (std::size_t i = 0; i < entries; ++i) displs.push_back(at += 1 + rng.between(0, 100));
    ucd_type_t type;
    ok(ucd_create_indexed_block(static_cast<std::intptr_t>(entries), 1, displs.data(),
                                UCD_TYPE__INT, UCD_INFO__NULL, &type),
       "indexed_block");
    return type;
}

std::string name_of(const std::string &flat) {
    const auto name = ucd_ucx::name_of(flat.data(), flat.size());
    return {name.begin(), name.end()};
}

ucd_ucx_window_key_t made_up_key() {
    ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
    for (unsigned i = 0; i < 16; ++i) key.bytes[8 + i] = static_cast<unsigned char>(200 - i);
    return key;
}

// A put of whatever is at hand, to a target that is played by hand.
struct PutByLibrary {
    std::vector<int> from = std::vector<int>(100000, 3);
    Outcome o;
    PutByLibrary(RmaSide &a, std::size_t ints, ucd_type_t target) {
        const ucd_ucx_window_key_t key = made_up_key();
        const ucd_ucx_param_t p = o.param();
        ok(ucd_ucx_put_nbx(a.rma, a.ep(), from.data(), ints, UCD_TYPE__INT, &key, -5, 1, target, &p,
                           &o.request),
           "put");
    }
};

} // namespace

TEST_CASE("names of contents are SHA-256's") {
    // FIPS 180-4's examples, and lengths about the edge of a block.
    const auto digest = [](const std::string &text) {
        const auto d = ucd_ucx::sha256(text.data(), text.size());
        return to_hex({d.begin(), d.end()});
    };
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("numbers of operations are SipHash-2-4's") {
    // Of 0, 1, ... 7 with the key 0, 1, ... 15: an example of the authors'.
    CHECK(ucd_ucx::siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, 0x0706050403020100) ==
          0x93f5f5799a932462);
    ucd_ucx::SecretNumbers some, others;
    const uint64_t first = some.next();
    CHECK(first != some.next());
    CHECK(first != others.next());
}

TEST_CASE("a type travels once, in the header if it fits") {
    const MockSession session;
    RmaSide a(no_keys.get(), UCS_THREAD_MODE_SINGLE);
    HandSide hand(a);
    ucd_type_t type = every_other(10);
    const std::string flat = flattened(type);
    std::uint64_t last = 0;
    for (int use = 0; use < 3; ++use) {
        PutByLibrary put(a, 10, type);
        const HandSide::Message m = hand.next();
        wire::Request expected;
        expected.number = m.number();
        expected.window = wire::window_name(made_up_key());
        expected.displacement = -5;
        expected.bytes = 40;
        expected.form = use == 0;
        expected.type = use == 0 ? flat : name_of(flat);
        CHECK(to_hex(m.header) == to_hex(expected.text()));
        CHECK(m.header.size() == (use == 0 ? wire::fixed_bytes + flat.size() : 76));
        CHECK(hand.receive(m) == std::string(reinterpret_cast<const char *>(put.from.data()), 40));
        CHECK(m.number() != last + 1); // nor any that could be guessed
        last = m.number();
        // An answer to no operation changes nothing, nor does one that brings data.
        hand.send(wire::short_message(wire::answer, m.number() + 1));
        for (int i = 0; i < 20; ++i) hand.progress();
        CHECK(!put.o.done());
        if (use == 2) {
            hand.send(wire::short_message(wire::answer, m.number(), wire::failed, 8));
            hand.until([&] { return put.o.done(); });
            CHECK(put.o.result.status == UCS_ERR_IO_ERROR);
            CHECK(put.o.result.ucd == UCD_ERR__DEVICE);
            continue;
        }
        hand.send(wire::short_message(wire::answer, m.number()));
        hand.until([&] { return put.o.done(); });
        CHECK(put.o.result.status == UCS_OK);
        CHECK(put.o.result.bytes == 40);
    }
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

TEST_CASE("a target that does not know a name is told the type, once for an operation") {
    const MockSession session;
    RmaSide a(no_keys.get(), UCS_THREAD_MODE_SINGLE);
    HandSide hand(a);
    // The last is too long for a header, and goes by its name at once.
    for (const std::size_t entries : {std::size_t{10}, std::size_t{100000}}) {
        ucd_type_t type = list(entries);
        const std::string flat = flattened(type);
        for (int use = 0; use < 2; ++use) {
            PutByLibrary put(a, entries, type);
            HandSide::Message m = hand.next();
            hand.drop(m);
            CHECK(m.header.size() ==
                  (use == 0 && entries == 10 ? wire::fixed_bytes + flat.size() : 76));
            hand.send(wire::short_message(wire::need_type, m.number() ^ 1)); // not this one's
            for (int again = 0; again < 2; ++again)
                hand.send(wire::short_message(wire::need_type, m.number()));
            const HandSide::Message told = hand.next();
            CHECK(told.header == wire::short_message(wire::type, m.number()));
            CHECK(hand.receive(told) == flat);
            for (int i = 0; i < 100; ++i) hand.progress();
            CHECK(hand.messages.empty());
            hand.send(wire::short_message(wire::answer, m.number()));
            hand.until([&] { return put.o.done(); });
            CHECK(put.o.result.status == UCS_OK);
        }
        REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    }
}

TEST_CASE("the answers of a target are not trusted") {
    const MockSession session;
    RmaSide a(no_keys.get(), UCS_THREAD_MODE_SINGLE);
    HandSide hand(a);
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
        const ucd_ucx_param_t p = o.param();
        ok(ucd_ucx_get_nbx(a.rma, a.ep(), to.data(), 100, UCD_TYPE__CHAR, &key, 0, 100,
                           UCD_TYPE__CHAR, &p, &o.request),
           "get");
        const HandSide::Message m = hand.next();
        hand.drop(m);
        hand.send(wire::short_message(wire::answer, m.number(), answer.verdict),
                  std::string(answer.bytes, 'a'));
        hand.until([&] { return o.done(); });
        CHECK(o.result.status == answer.status);
        const char expected = answer.status == UCS_OK ? 'a' : 'x';
        CHECK(std::count(to.begin(), to.end(), expected) == 100);
        hand.send(wire::short_message(wire::answer, m.number()), std::string(100, 'b')); // late
    }
    CHECK(std::count(to.begin(), to.end(), 'a') == 100);
}

namespace {

// A window of a target of the library's, and requests by hand.
struct HandOrigin {
    RmaSide b{no_keys.get(), UCS_THREAD_MODE_SINGLE};
    HandSide hand{b};
    std::vector<char> memory = std::vector<char>(1000, 'm');
    Window window{b, memory.data() + 100, 800};
    wire::Request request;
    std::string data;

    HandOrigin() {
        request.window = wire::window_name(*window.key());
        request.type = flattened(UCD_TYPE__CHAR);
        request.count = request.bytes = 50;
        data.assign(50, 'd');
    }
    // Sends it, and returns what the target's answer says.
    unsigned verdict() {
        ++request.number;
        return verdict_of(request.text());
    }
    unsigned verdict_of(const std::string &text) {
        hand.send(text, data);
        const HandSide::Message m = hand.next();
        hand.drop(m);
        CHECK(m.what() == wire::answer);
        CHECK(m.number() == request.number);
        return static_cast<unsigned char>(m.header.at(2));
    }
    bool is_untouched() const { return std::count(memory.begin(), memory.end(), 'm') == 1000; }
};

} // namespace

TEST_CASE("a target refuses what no origin sends, and writes nothing") {
    const MockSession session;
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
    refused(wire::not_supported, [](R &r) { r.version = 2; });
    refused(wire::invalid, [](R &r) { r.op = 3; }); // of a put
    refused(wire::invalid, [](R &r) { r.what = wire::accumulate, r.op = 13; });
    refused(wire::invalid, [](R &r) { r.what = wire::accumulate, r.op = 255; });
    refused(wire::invalid, [](R &r) { r.form = 2; });
    refused(wire::invalid, [](R &r) { r.form = 0; }); // the name has another length
    refused(wire::no_window, [](R &r) { r.window[3] ^= 1; });
    refused(wire::no_window, [](R &r) { r.window.assign(16, '\0'); });
    refused(wire::invalid, [](R &r) { r.bytes = 49; }); // than there are
    refused(wire::invalid, [](R &r) { r.count = 49; });
    refused(wire::invalid, [](R &r) { r.count = 51; });
    refused(wire::invalid, [](R &r) { r.count = INT64_MAX; });
    refused(wire::invalid, [](R &r) { r.what = wire::get; }); // brings data
    refused(wire::invalid, [](R &r) { r.type.back() ^= 1; }); // the checksum says so
    refused(wire::invalid, [](R &r) { r.type += 'x'; });
    refused(wire::invalid, [](R &r) { r.type.clear(); });
    // Accumulates say what the elements are.
    refused(wire::invalid, [](R &r) { r.what = wire::accumulate; });
    refused(wire::invalid, [](R &r) { r.what = wire::accumulate, r.element = 12345; });
    // Anywhere but in the window.
    for (const std::int64_t d : {std::int64_t{-1}, std::int64_t{751}, std::int64_t{800},
                                 INT64_MAX - 49, INT64_MAX - 50, INT64_MAX, INT64_MIN})
        refused(wire::out_of_range, [d](R &r) { r.displacement = d; });
    // So many that the bytes overflow.
    for (const std::uint64_t n : {std::uint64_t{1} << 63, UINT64_MAX})
        refused(wire::out_of_range, [n](R &r) { r.count = n; });
    // Fields that are cut short. What is too short to have a number is not answered.
    const std::string whole = good.text();
    for (std::size_t n = 12; n < whole.size(); ++n) {
        origin.request.number = good.number;
        CHECK(origin.verdict_of(whole.substr(0, n)) == wire::invalid);
    }
    for (std::size_t n = 0; n < 12; ++n) origin.hand.send(whole.substr(0, n), origin.data);
    for (const unsigned what : {0u, 5u, 6u, 7u, 8u, 255u})
        origin.hand.send(wire::short_message(what, 99), origin.data);
    for (int i = 0; i < 200; ++i) origin.hand.progress();
    CHECK(origin.hand.messages.empty());
    CHECK(origin.is_untouched());
    // The message that all of them were made of is a good one.
    origin.request = good;
    origin.request.number = 1000;
    origin.request.displacement = 750;
    CHECK(origin.verdict() == wire::done);
    CHECK(std::string(origin.memory.data() + 849, 52) == "m" + std::string(50, 'd') + "m");
}

TEST_CASE("types whose bounds overflow or overlap are refused") {
    const MockSession session;
    HandOrigin origin;
    const auto verdict = [&](ucd_type_t type, std::uint64_t count, std::int64_t displacement) {
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "size");
        origin.request.type = flattened(type);
        origin.request.count = count;
        origin.request.bytes = size * count;
        origin.request.displacement = displacement;
        origin.data.assign(size * count, 'd');
        const unsigned v = origin.verdict();
        ok(ucd_free(&type), "free");
        return v;
    };
    const auto shifted = [](std::intptr_t displacement) {
        ucd_type_t type;
        ok(ucd_create_hindexed_block(1, 1, &displacement, UCD_TYPE__CHAR, UCD_INFO__NULL, &type),
           "hindexed_block");
        return type;
    };
    const auto spread = [](std::intptr_t stride) {
        ucd_type_t type;
        ok(ucd_create_hvector(2, 1, stride, UCD_TYPE__CHAR, UCD_INFO__NULL, &type), "hvector");
        return type;
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

TEST_CASE("a name is worth nothing without the bytes that it is made of") {
    const MockSession session;
    HandOrigin origin;
    HandSide &hand = origin.hand;
    const std::string chars = origin.request.type;
    // Of the same size: only the name tells that it is another.
    const std::intptr_t shift = 5;
    ucd_type_t shifted;
    ok(ucd_create_hindexed_block(1, 1, &shift, UCD_TYPE__CHAR, UCD_INFO__NULL, &shifted), "shift");
    const std::string other = flattened(shifted);
    ok(ucd_free(&shifted), "free");
    const auto ask = [&](std::uint64_t number) {
        origin.request.number = number;
        origin.request.form = 0;
        origin.request.type = name_of(chars);
        hand.send(origin.request.text(), origin.data);
        const HandSide::Message m = hand.next();
        hand.drop(m);
        CHECK(m.header == wire::short_message(wire::need_type, number));
    };
    const auto told = [&](std::uint64_t number, const std::string &bytes) {
        hand.send(wire::short_message(wire::type, number), bytes);
        const HandSide::Message m = hand.next();
        hand.drop(m);
        CHECK(m.number() == number);
        return static_cast<unsigned char>(m.header.at(2));
    };
    ask(1);
    CHECK(told(1, other) == wire::invalid); // bytes of another type
    ask(2);
    CHECK(told(2, chars.substr(1)) == wire::invalid);
    ask(3);
    CHECK(told(3, std::string()) == wire::invalid);
    ask(4);
    // A number twice: the second operation is refused, and the first goes on.
    CHECK(origin.verdict_of(origin.request.text()) == wire::invalid);
    hand.send(wire::short_message(wire::type, 5), chars); // nobody asked
    CHECK(origin.is_untouched());
    CHECK(told(4, chars) == wire::done);
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 50);
    // From now on it is known.
    origin.request.number = 6;
    CHECK(origin.verdict_of(origin.request.text()) == wire::done);
    // A type that nobody will tell any more does not keep the window.
    origin.request.type = name_of("no type");
    hand.send(origin.request.text(), origin.data);
    hand.drop(hand.next());
    REQUIRE(ucd_ucx_window_destroy(&origin.window.handle) == UCD_SUCCESS);
    const HandSide::Message m = hand.next();
    CHECK(m.header == wire::short_message(wire::answer, 6, wire::no_window));
    hand.drop(m);
}

TEST_CASE("how long flattened types are") {
    const MockSession session;
    const std::intptr_t sizes[] = {1000, 2000, 3000}, parts[] = {100, 200, 300},
                        starts[] = {11, 22, 33};
    ucd_type_t type;
    REQUIRE(ucd_create_subarray(3, sizes, parts, starts, UCD_ORDER__C, UCD_TYPE__DOUBLE,
                                UCD_INFO__NULL, &type) == UCD_SUCCESS);
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

TEST_CASE("a type that is asked for is in the host's memory, wherever the data is") {
    const MockSession session;
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
    const ucd_ucx_param_t p = o.param(hints.get());
    ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), from, ints, UCD_TYPE__INT, exposed.key(), 0, 1,
                       type, &p, &o.request),
       "put");
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
