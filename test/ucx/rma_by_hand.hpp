// One-sided operations of which one side is the library's, and the other is said and read by hand.
#pragma once

#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <optional>

namespace ucdtest {

inline const Keys no_keys;

inline ucd_ucx_window_key_t made_up_key() {
    ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
    for (unsigned i = 0; i < 16; ++i) key.bytes[8 + i] = static_cast<unsigned char>(200 - i);
    return key;
}

// A target that is played by hand, and an origin of the library's.
struct HandTarget {
    RmaSide a;
    Attacker hand{a.side.address(), [this] { a.progress(); }};
    explicit HandTarget(std::initializer_list<std::pair<std::string, std::string>> keys = {})
        : a(Keys(keys).get(), UCS_THREAD_MODE_SINGLE) {
        a.side.connect(hand.side.address());
    }
    ~HandTarget() { a.close_endpoint(); }
    void answer(std::uint64_t number, unsigned verdict = 0, const std::string &data = {},
                unsigned ucd = 0) {
        hand.say(wire::preamble(wire::answer, number, verdict, ucd), data);
    }
};

// A window of a target of the library's, and requests by hand.
struct HandOrigin {
    RmaSide b;
    bool paused = false;
    Attacker hand{b.side.address(), [this] {
                      if (!paused) b.progress();
                  }};
    std::vector<char> memory;
    std::optional<Window> window;
    wire::Request request;
    std::string data;

    explicit HandOrigin(std::initializer_list<std::pair<std::string, std::string>> keys = {},
                        std::size_t bytes = 800)
        : b(Keys(keys).get(), UCS_THREAD_MODE_SINGLE), memory(200 + bytes, 'm') {
        window.emplace(b, memory.data() + 100, bytes);
        b.side.connect(hand.side.address());
        request.window = wire::window_name(*window->key());
        request.type = flattened(UCD_TYPE__CHAR);
        request.count = 50;
        data.assign(50, 'd');
    }
    ~HandOrigin() { b.close_endpoint(); }
    // Sends it, and returns what the target's answer says.
    unsigned verdict() {
        ++request.number;
        return verdict_of(request.text() + data);
    }
    unsigned verdict_of(const std::string &text) {
        hand.say(text);
        const wire::Said m = hand.next_said();
        CHECK(m.is_answer());
        CHECK(m.number == request.number);
        return m.first;
    }
    // From the window's byte of that number on.
    bool is_untouched(std::ptrdiff_t first = -100) const {
        return std::all_of(memory.begin() + 100 + first, memory.end(),
                           [](char byte) { return byte == 'm'; });
    }
};

} // namespace ucdtest
