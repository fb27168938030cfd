#include "support/moves/moving.hpp"

#include "support/moves/calls.hpp"

#include <algorithm>

namespace ucdtest {
namespace {

std::string range_text(const MemoryLocation &where, std::size_t offset, std::size_t length) {
    return " (bytes from " + std::to_string(offset) + ", room for " + std::to_string(length) +
           ", of " + std::to_string(where.bytes->size()) + ", at " +
           std::to_string(reinterpret_cast<std::uintptr_t>(where.address) % 4096) + " in its page)";
}

// A byte that several bytes of the stream were sent to may hold any of them: takes it for expected
// if it does. Quadratic only in the wrong case.
void accept_overlap(const MemoryLocation &target, const ImageBuffer &packed, std::size_t offset,
                    std::size_t moved) {
    const ByteMap &bytes = *target.bytes;
    for (std::size_t i = 0; i < moved; ++i) {
        const std::intptr_t displ = bytes[offset + i];
        const std::byte found = *target.memory->actual(displ);
        if (found == *packed.expected(static_cast<std::intptr_t>(i))) {
            *target.memory->expected(displ) = found;
        }
    }
}

} // namespace

void require_intact(const Case &one, const ImageBuffer &buffer, const char *what) {
    if (buffer.first_difference()) one.fail(what, ": ", buffer.difference());
}

void check_move(Case &one, bool packs, const MemoryLocation &typed, std::size_t offset,
                std::size_t room, ImageBuffer &packed) {
    const std::size_t moved = std::min(room, typed.bytes->size() - offset);
    for (std::size_t i = 0; i < moved; ++i) {
        const std::intptr_t at = static_cast<std::intptr_t>(i), displ = (*typed.bytes)[offset + i];
        if (packs)
            *packed.expected(at) = *typed.memory->actual(displ);
        else
            *typed.memory->expected(displ) = *packed.expected(at);
    }
    std::uintptr_t actual = untouched;
    const int rc = packs ? call_pack(one.rng(), typed.address, typed.count, typed.type, offset,
                                     packed.base(), room, &actual)
                         : call_unpack(one.rng(), packed.base(), room, typed.address, typed.count,
                                       typed.type, offset, &actual);
    if (!packs && rc == UCD_SUCCESS && typed.memory->first_difference())
        accept_overlap(typed, packed, offset, moved);
    if (rc == UCD_SUCCESS && actual == moved && !packed.first_difference() &&
        !typed.memory->first_difference())
        return;
    const std::string where = (packs ? "pack" : "unpack") + range_text(typed, offset, room);
    one.succeed(rc, where.c_str());
    if (actual != moved) one.fail("moved ", actual, " bytes, not ", moved, ": ", where);
    require_intact(one, packed, ("packed buffer of the " + where).c_str());
    require_intact(one, *typed.memory, ("layout of the " + where).c_str());
}

// At most 20 pieces.
void check_in_pieces(Case &one, bool packs, const MemoryLocation &typed, ImageBuffer &packed) {
    const std::size_t total = typed.bytes->size();
    const std::size_t piece = 1 + total / 20 + one.rng().mostly_small(total / 2);
    for (std::size_t from = 0; from < total; from += piece) {
        if (!packs) packed.randomise(one.rng());
        check_move(one, packs, typed, from, piece, packed);
    }
}

} // namespace ucdtest
