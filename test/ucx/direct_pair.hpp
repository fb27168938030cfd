// Two workers of this process, whose receivers read their senders' memory.
#pragma once

#include "direct/attachable_memory.h"
#include "ucx/strided.hpp"

#include <algorithm>

namespace ucdtest {

#define ALWAYS_DIRECT                                                                              \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                          \
        "ucd.ucx.direct", "always"                                                                 \
    }

// Memory that receivers can map, as that of windows.
class Mappable {
protected:
    explicit Mappable(std::size_t bytes)
        : shared_(ucd_ucx::SharedMemory::make("ucd-window", (bytes / page + 1) * page, file_)),
          attachable_(*shared_, file_.get()) {}
    int *ints() const { return reinterpret_cast<int *>(shared_->address()); }

private:
    static constexpr std::size_t page = ucd_ucx::SharedMemory::page;
    ucd_ucx::FileDescriptor file_;
    std::unique_ptr<ucd_ucx::SharedMemory> shared_;
    ucd_ucx::AttachableMemory attachable_;
};

class MappableStrided : private Mappable, public Strided {
public:
    explicit MappableStrided(std::size_t count)
        : Mappable(2 * count * sizeof(int)), Strided(count, ints()) {}
};

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
        MappableStrided in(500);
        Strided out(500);
        Outcome sent, received;
        ok(start_receive(sides.b, out, received), "receive");
        ok(start_send(sides.a, in, sent), "send");
        sides.until([&] { return sent.done() && received.done(); });
        if (!out.received_from(in)) throw std::runtime_error("wrong data");
        return has_offered_directly(sides.a);
    });
}

} // namespace ucdtest
