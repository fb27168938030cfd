// One pack or unpack, checked against the oracle: what moved, what actual_* says, and that not one
// other byte was stored. `one` is told of failures.
#pragma once

#include "support/moves/subject.hpp"

#include <cstddef>

namespace ucdtest {

// A pack: bytes [offset, …) of the stream of `typed` go to the start of `packed`, which is told to
// have `room` bytes. An unpack: `room` bytes at the start of `packed` go to bytes [offset, …) of
// the stream. Where bytes of the target overlap, any of the values that were sent there will do.
void check_move(Case &one, bool packs, const MemoryLocation &typed, std::size_t offset,
                std::size_t room, ImageBuffer &packed);
inline void check_pack(Case &one, const MemoryLocation &source, std::size_t offset,
                       std::size_t room, ImageBuffer &packed) {
    check_move(one, true, source, offset, room, packed);
}
inline void check_unpack(Case &one, ImageBuffer &packed, std::size_t size,
                         const MemoryLocation &target, std::size_t offset) {
    check_move(one, false, target, offset, size, packed);
}

// Packs or unpacks all of the stream in pieces of a random length, each from where the one before
// ended.
void check_in_pieces(Case &one, bool packs, const MemoryLocation &typed, ImageBuffer &packed);

// Whether some buffer no longer is what it should be, as a failure of the case.
void require_intact(const Case &one, const ImageBuffer &buffer, const char *what);

} // namespace ucdtest
