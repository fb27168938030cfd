// Memory in which every page without a touched byte faults. Loads are allowed only between the
// first and the last byte touched and in aligned 64-byte lines that hold a touched byte, so the
// placement puts either the first byte right behind a forbidden page, or the last right before one.
#pragma once

#include "support/buffers/image_buffer.hpp"
#include "support/oracle/byte_map.hpp"

namespace ucdtest {

enum class Placement { first_byte_begins_page, last_byte_ends_page };

class PageGuardedBuffer : public ImageBuffer {
public:
    // `bytes[from]` to `bytes[to - 1]` are the bytes that the call will touch; from < to.
    PageGuardedBuffer(Rng &rng, const ByteMap &bytes, std::size_t from, std::size_t to,
                      Placement placement);
    ~PageGuardedBuffer() override;

private:
    void *mapping_ = nullptr;
    std::size_t mapped_bytes_ = 0;
};

// The map of a packed buffer, for guarding that side.
ByteMap contiguous_bytes(std::size_t bytes);

} // namespace ucdtest
