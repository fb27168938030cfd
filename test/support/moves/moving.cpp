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

// At most 20 pieces.
template <class Check>
void in_pieces(Rng &rng, std::size_t total, const Check &check) {
    const std::size_t piece = 1 + total / 20 + rng.mostly_small(total / 2);
    for (std::size_t from = 0; from < total; from += piece) check(from, piece);
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

void check_pack(Case &one, const MemoryLocation &source, std::size_t offset, std::size_t room,
                ImageBuffer &packed) {
    const std::size_t moved = std::min(room, source.bytes->size() - offset);
    for (std::size_t i = 0; i < moved; ++i) {
        *packed.expected(static_cast<std::intptr_t>(i)) =
            *source.memory->actual((*source.bytes)[offset + i]);
    }
    std::uintptr_t actual = untouched;
    const int rc = call_pack(one.rng(), source.address, source.count, source.type, offset,
                             packed.base(), room, &actual);
    if (rc != UCD_SUCCESS || actual != moved || packed.first_difference() ||
        source.memory->first_difference()) {
        const std::string where = range_text(source, offset, room);
        one.succeed(rc, ("pack" + where).c_str());
        if (actual != moved) one.fail("packed ", actual, " bytes, not ", moved, where);
        require_intact(one, packed, ("packed buffer" + where).c_str());
        require_intact(one, *source.memory, ("source of the pack" + where).c_str());
    }
}

void check_unpack(Case &one, ImageBuffer &packed, std::size_t size, const MemoryLocation &target,
                  std::size_t offset) {
    const std::size_t moved = std::min(size, target.bytes->size() - offset);
    for (std::size_t i = 0; i < moved; ++i) {
        *target.memory->expected((*target.bytes)[offset + i]) =
            *packed.expected(static_cast<std::intptr_t>(i));
    }
    std::uintptr_t actual = untouched;
    const int rc = call_unpack(one.rng(), packed.base(), size, target.address, target.count,
                               target.type, offset, &actual);
    if (rc == UCD_SUCCESS && target.memory->first_difference()) {
        accept_overlap(target, packed, offset, moved);
    }
    if (rc != UCD_SUCCESS || actual != moved || target.memory->first_difference() ||
        packed.first_difference()) {
        const std::string where = range_text(target, offset, size);
        one.succeed(rc, ("unpack" + where).c_str());
        if (actual != moved) one.fail("unpacked ", actual, " bytes, not ", moved, where);
        require_intact(one, *target.memory, ("target of the unpack" + where).c_str());
        require_intact(one, packed, ("packed buffer" + where).c_str());
    }
}

void check_pack_in_pieces(Case &one, const MemoryLocation &source, ImageBuffer &packed) {
    in_pieces(one.rng(), source.bytes->size(), [&](std::size_t from, std::size_t piece) {
        check_pack(one, source, from, piece, packed);
    });
}

void check_unpack_in_pieces(Case &one, ImageBuffer &packed, const MemoryLocation &target) {
    in_pieces(one.rng(), target.bytes->size(), [&](std::size_t from, std::size_t piece) {
        packed.randomise(one.rng());
        check_unpack(one, packed, piece, target, from);
    });
}

} // namespace ucdtest
