// A libucd that fails for libucd-mpi-preload, as with a device that fails or has no memory.
#pragma once

namespace ucdtest {

struct Failing {
    bool packs = false, unpacks = false;
    bool memory = false; // none on devices, none that is pinned, and none of the heap's
};
extern Failing failing;

} // namespace ucdtest
