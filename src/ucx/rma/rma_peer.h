// What a target keeps of one endpoint: what its origin may name shortly, and what it costs.
#pragma once

#include "rma/rma_types.h"

#include <memory>
#include <ucd_ucx_rma.h>
#include <vector>

namespace ucd_ucx::rma {

// Under the lock.
class Peer {
public:
    static constexpr uint32_t max_types = 4096;
    static constexpr std::size_t max_windows = 1024;

    // The type that index stands for. Null: it is not kept any more, and `id` says which it was, or
    // is all zeros if there never was one. `owner` keeps it, or is null if `types` does.
    const KnownType *type(uint32_t index, TypesOfTarget &types, ContentId &id, TypePtr &owner);
    // From now on, index stands for it. Whether there is such an index.
    bool remember(uint32_t index, const ContentId &id, const TypePtr &type);

    // The handle of a window whose key was shown here; 0: there is no room for one.
    uint64_t handle_of(ucd_ucx_window &window);
    ucd_ucx_window *window(uint64_t handle) const; // null: there is none
    void forget(const ucd_ucx_window &window);

    uint64_t operations = 0; // that have come and are not done
    uint64_t bytes = 0;      // of their data, and of answers that are not sent
    bool barred = false;
    // Segments that may be looked at for overlap: it grows with what has come.
    uint64_t work = uint64_t{1} << 20;
    void earn(uint64_t received) {
        constexpr uint64_t max_work = uint64_t{1} << 22;
        work = work + received < max_work ? work + received : max_work;
    }

private:
    struct NamedType {
        ContentId id = {};
        std::weak_ptr<const KnownType> type;
        // In the target's types, until those have forgotten one more.
        const KnownType *kept = nullptr;
        uint64_t forgotten = 0;
    };
    struct NamedWindow {
        uint64_t handle; // unpredictable but for its lowest bits, which are the place
        ucd_ucx_window *window;
    };
    std::vector<NamedType> types_;
    std::vector<NamedWindow> windows_;
};

} // namespace ucd_ucx::rma
