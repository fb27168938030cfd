// A libucd that fails for libucd-mpi-preload, as with a device that fails or has no memory.
#pragma once

#include <string>
#include <vector>

namespace ucdtest {

struct Failing {
    bool packs = false, unpacks = false;
    bool memory = false; // none on devices, none that is pinned, and none of the heap's
};
extern Failing failing;

// The devices whose memory, or pinned memory, libucd-mpi-preload has allocated, a name for each
// block.
extern std::vector<std::string> allocated;

} // namespace ucdtest
