// Transfers from one device to another, for tests of those whose chunks stay in device memory.
#pragma once

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "ucx/pair.hpp"

#include <algorithm>
#include <string>

namespace ucdtest {

constexpr std::size_t ring_chunk = 100;

#define SMALL_RING                                                                                 \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.ring_chunk", "100"}, {            \
        "ucd.ucx.ring_depth", "3"                                                                  \
    }

// The layout that is sent, and one with room for it.
struct RingLayouts {
    Subject from, to;

    // So many bytes, every third one; those that are sent may have another stride.
    RingLayouts(Case &one, std::size_t bytes, std::intptr_t stride = 3)
        : from(bytes_with_stride(one, bytes, stride, "sent")),
          to(bytes_with_stride(one, bytes, 3, "received")) {}
    RingLayouts(Case &one, bool contiguous_in, bool contiguous_out)
        : from(layout(one, contiguous_in, 0, "sent")),
          to(layout(one, contiguous_out, from.size(), "received")) {}

    std::size_t chunks() const { return (from.size() + ring_chunk - 1) / ring_chunk; }
    // So far as it is known before the data moves.
    bool from_is_contiguous() const {
        if (from.map->by_reference) return false;
        for (std::size_t i = 1; i < from.size(); ++i)
            if (from.bytes[i] != from.bytes[0] + static_cast<std::intptr_t>(i)) return false;
        return true;
    }

private:
    static Subject bytes_with_stride(Case &one, std::size_t bytes, std::intptr_t stride,
                                     const char *role) {
        return make_subject(one,
                            recipes::vector(static_cast<std::intptr_t>(bytes), 1, stride,
                                            recipes::leaf(UCD_TYPE__BYTE)),
                            1, role);
    }
    static Subject layout(Case &one, bool contiguous, std::size_t least, const char *role) {
        Rng &rng = one.rng();
        const std::size_t bytes = least == 0 ? 65 + rng.below(2000) : least + rng.below(50);
        if (contiguous) return bytes_with_stride(one, bytes, 1, role);
        if (rng.chance(50)) return bytes_with_stride(one, bytes, 3, role);
        for (;;) {
            Subject s = random_subject(one, device_options(UCD_OP__REPLACE), 5, role);
            if (s.size() >= least && s.size() > 64) return s;
        }
    }
};

struct RingEnds : RingLayouts {
    DeviceBuffer in, out;

    RingEnds(Case &one, bool contiguous_in, bool contiguous_out, Memory source, Memory target)
        : RingEnds(one, RingLayouts(one, contiguous_in, contiguous_out), source, target) {}
    RingEnds(Case &one, RingLayouts layouts, Memory source, Memory target)
        : RingLayouts(std::move(layouts)), in(one.rng(), from.range, source),
          out(one.rng(), to.range, target) {
        for (std::size_t i = 0; i < from.size(); ++i)
            *out.expected(to.bytes[i]) = *in.actual(from.bytes[i]);
        in.send();
        out.send();
    }
    void check(Case &one) {
        in.fetch();
        out.fetch();
        require_intact(one, in, "what was sent");
        require_intact(one, out, "what was received");
    }
};

inline RingEnds random_ends(Case &one, Memory source = Memory::device0,
                            Memory target = Memory::device0) {
    const bool in = one.rng().chance(50), out = one.rng().chance(50);
    return {one, in, out, source, target};
}

inline void start_send(Side &side, RingEnds &ends, Outcome &o, ucd_info_t info = UCD_INFO__NULL) {
    start_send(side, {ends.in.real_base(), ends.from.count, ends.from.type()}, o, 1, info);
    if (o.done()) o.result.bytes = ends.from.size(); // there is no result to look at
}

inline void start_receive(Side &side, RingEnds &ends, Outcome &o,
                          ucd_info_t info = UCD_INFO__NULL) {
    start_receive(side, {ends.out.real_base(), ends.to.count, ends.to.type()}, o, 1, info);
}

inline void require_good(Case &one, const Outcome &o, std::size_t bytes, const char *who) {
    if (o.result.status != UCS_OK || o.result.bytes != bytes)
        one.fail(who, ": ", ucs_status_string(o.result.status), ", ", ucd_strerror(o.result.ucd));
}

inline std::size_t count_of(const Side &side, int what) {
    return static_cast<std::size_t>(
        std::count_if(side.events.begin(), side.events.end(),
                      [&](const ucd_ucx_event_t &e) { return e.what == what; }));
}

// A whole transfer from a to b; how many of its chunks stayed in device memory.
inline std::size_t transfer(Case &one, TwoSides &pair, RingEnds &ends,
                            ucd_info_t to_send = UCD_INFO__NULL,
                            ucd_info_t to_receive = UCD_INFO__NULL) {
    pair.a.events.clear();
    pair.b.events.clear();
    Outcome sent, received;
    const bool early = one.rng().chance(50);
    if (early) start_receive(pair.b, ends, received, to_receive);
    start_send(pair.a, ends, sent, to_send);
    for (std::size_t i = early ? 0 : one.rng().below(20); i > 0; --i) pair.progress();
    if (!early) start_receive(pair.b, ends, received, to_receive);
    pair.until([&] { return sent.done() && received.done(); });
    require_good(one, sent, ends.from.size(), "the sender");
    require_good(one, received, ends.from.size(), "the receiver");
    ends.check(one);
    return count_of(pair.a, UCD_UCX_EVENT__SHARE);
}

} // namespace ucdtest
