// Two workers of this process, whose receivers read their senders' memory.
#pragma once

#include "ucx/strided.hpp"

#include <algorithm>

namespace ucdtest {

#define ALWAYS_DIRECT                                                                              \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                          \
        "ucd.ucx.direct", "always"                                                                 \
    }

// Whether the side's transfers since the last call have been offered so.
inline bool has_offered_directly(Side &side) {
    const bool found = std::any_of(side.events.begin(), side.events.end(),
                                   [](const auto &e) { return e.what == UCD_UCX_EVENT__SHARE; });
    side.events.clear();
    return found;
}

// Transfers until one is offered so: the first ones only introduce the processes.
inline void link_up(TwoSides &sides) {
    sides.until([&] {
        Strided in(500), out(500);
        Outcome sent, received;
        ok(start_receive(sides.b, out, received), "receive");
        ok(start_send(sides.a, in, sent), "send");
        sides.until([&] { return sent.done() && received.done(); });
        if (!out.received_from(in)) throw std::runtime_error("wrong data");
        return has_offered_directly(sides.a);
    });
}

} // namespace ucdtest
