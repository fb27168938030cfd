// Device memory of this process that file descriptors identify, which readers have been passed.
#pragma once

#include "direct/links.h"

#include <cstdint>
#include <span>
#include <ucd_memory.h>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

// The numbers of the descriptors, at the reader.
struct PassedRange {
    uint64_t first = 0;
    uint32_t count = 0; // 0: the handle needs none
};

class PassedMemory {
public:
    // Exports a range, and passes its descriptors over the link, unless the reader has had those of
    // the same memory. Returns false if the memory is not shared, or cannot be passed at present.
    bool offer(Link &to_reader, const void *address, uint64_t bytes, ucd_ipc_handle_t &handle,
               PassedRange &range);
    // Same for host memory that the reader can map; the handle names it.
    bool offer_attachable(Link &to_reader, const ucd_ipc_handle_t &handle, PassedRange &range);
    // The reader does not have the memory (any more): it is passed again, a few times.
    void pass_again(ucp_ep_h ep, const ucd_ipc_handle_t &handle);
    void close(ucp_ep_h ep) { readers_.erase(ep); }

private:
    static constexpr std::size_t max_ranges = 64; // as many as a reader keeps open
    static constexpr unsigned max_again = 100;
    struct KnownRange {
        ucd_ipc_handle_t handle;
        PassedRange range;
    };
    struct Reader {
        std::vector<KnownRange> ranges; // the oldest first
        unsigned again = 0;
    };
    // What the reader has had, and has still.
    bool find(const Link &to_reader, const ucd_ipc_handle_t &handle, PassedRange &range);
    bool pass(Link &to_reader, const ucd_ipc_handle_t &handle, std::span<const int> numbers,
              PassedRange &range);

    std::unordered_map<ucp_ep_h, Reader> readers_;
};

} // namespace ucd_ucx
