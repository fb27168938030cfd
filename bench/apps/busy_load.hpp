// Other work in a place while something is measured there.
#pragma once

#include <cstdint>

namespace bench::apps {

// Goes on from construction to destruction.
class BusyLoad {
public:
    virtual ~BusyLoad() = default;
    // Grows as long as it goes on. Throws if it has failed.
    virtual std::uint64_t done() const = 0;
};

} // namespace bench::apps
