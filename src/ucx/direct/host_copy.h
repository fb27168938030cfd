// Copies data from another process's memory on this host into a buffer of this one, layout to
// layout.
#pragma once

#include "datatype/typed_buffer.h"
#include "direct/links.h"
#include "memory/staging.h"
#include "types/known_types.h"

#include <cstdint>
#include <span>
#include <sys/uio.h>
#include <vector>

namespace ucd_ucx {

// Data in the other process's memory, as its owner describes it.
struct RemoteData {
    // Finds the layout. Returns false if it does not have exactly these bytes and bounds, or if its
    // displacements are only known when data moves.
    bool set(TypePtr of, uint64_t elements, uint64_t total, int64_t low, int64_t high);

    TypePtr type;
    uint64_t count = 0;
    ucd_layout_t layout = {};
};

// How the data is read. The kernel takes longer for each segment of the other process's memory than
// for each of this one's.
enum class CopyMethod : uint8_t {
    lists,  // segments to segments
    packed, // segments to packed data here, which is then unpacked
    mapped, // from layout to layout, in memory that this process has mapped
    window, // the memory around some segments, with what is between them; from there it is copied.
            // Where that is not all memory, `packed` follows.
};
// Whether segments of this mean length, in the owner's layout, are read faster than they are sent
// by other routes, by measurement (docs/guide/direct.md).
bool has_long_segments(uint64_t mean_segment);
// The fastest method.
CopyMethod method_for(const ucd_layout_t &from, uint64_t mean_segment_to);

enum class ReadResult : uint8_t {
    ok,
    denied, // the kernel does not let this process read the other
    ended,  // the other process has ended
    fault,  // there is no such memory
};
// Reads exactly `bytes`.
ReadResult read_memory(const Link &link, std::span<const iovec> to, std::span<const iovec> from,
                       uint64_t bytes);

class HostCopy {
public:
    // The most bytes that one step copies, which takes less than a millisecond; and the staging
    // memory for the methods `packed` and `window`.
    static constexpr uint64_t bytes_of_step = 2 << 20, page = 4096,
                              bytes_of_staging = (256 << 10) + page;

    // `base` is the address of the buffer in the other process, or where it is mapped here. `to`
    // and `hints` outlive the copy.
    HostCopy(CopyMethod method, RemoteData from, uint64_t base, const TypedBuffer &to,
             Block staging);

    bool is_done() const { return done_ == from_.layout.bytes; }
    // Copies some bytes. If moving them within this process fails, *moved says so.
    ReadResult step(const Link &link, Status *moved);

private:
    Status list(const void *buf, uint64_t count, ucd_type_t type, uint64_t max_bytes,
                std::vector<iovec> &segments, uint64_t *bytes) const;
    ReadResult step_mapped(Status *moved);
    ReadResult step_lists(const Link &link, Status *moved);
    ReadResult step_packed(const Link &link, Status *moved);
    ReadResult step_window(const Link &link, Status *moved);

    static constexpr uint64_t max_staged = bytes_of_staging - page;

    CopyMethod method_;
    const RemoteData from_;
    const uint64_t base_;
    const TypedBuffer &to_;
    const Block staging_;
    uint64_t done_ = 0;
    std::vector<iovec> remote_, local_;
};

} // namespace ucd_ucx
