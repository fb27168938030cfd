// One reducing pack or unpack, checked against the oracle.
#pragma once

#include "support/moves/moving.hpp"
#include "support/random/reduction_values.hpp"

#include <cstddef>
#include <vector>

namespace ucdtest {

// A subject with the elements of its packed stream.
struct ReducedSubject {
    Subject subject;
    std::vector<StreamElement> elements;

    // Of element number i, where i may be the number of elements.
    std::size_t offset_of(std::size_t i) const {
        return i < elements.size() ? elements[i].offset : subject.size();
    }
};
ReducedSubject with_elements(Subject subject);

// Whether elements that share bytes are the same element of the same type, so that values written
// to memory are good values wherever they are read.
bool has_consistent_overlap(const TypeMap &map, std::size_t count);

// Writes good values of every element to the memory (and its image), and to a packed buffer.
void set_typed_values(Rng &rng, const ReducedSubject &what, const MemoryLocation &where);
void set_packed_values(Rng &rng, const ReducedSubject &what, std::size_t first, std::size_t last,
                       ImageBuffer &packed);

// Reduces elements [first, last) into the packed buffer, or from it; it holds as many. `room` is
// what the call is told, and less than one element more.
void check_reducing_move(Case &one, bool packs, ucd_op_t op, const ReducedSubject &what,
                         const MemoryLocation &typed, std::size_t first, std::size_t last,
                         std::size_t room, ImageBuffer &packed);
// Both, of new values; no unpack if elements overlap. The room is `excess` bytes more.
void check_reductions(Case &one, ucd_op_t op, const ReducedSubject &what,
                      const MemoryLocation &typed, std::size_t first, std::size_t last,
                      ImageBuffer &packed, std::size_t excess = 0);

// Copies of bytes [from, to) of the stream, out of memory.
std::vector<std::byte> gathered(const MemoryLocation &where, std::size_t from, std::size_t to);
// Makes `stream` what memory is expected to hold in bytes [from, …) of the stream, but for bytes
// that hold no value, which may be anything.
void expect_reduced(const ReducedSubject &what, const MemoryLocation &where, std::size_t first,
                    std::size_t last, std::vector<std::byte> stream);

} // namespace ucdtest
