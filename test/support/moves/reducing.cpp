#include "support/moves/reducing.hpp"

#include "support/moves/calls.hpp"

#include <algorithm>
#include <string>

namespace ucdtest {
namespace {

// A packed buffer seen as the layout of its own stream.
MemoryLocation packed_place(const ReducedSubject &what, std::size_t first, ImageBuffer &packed,
                            ByteMap &bytes) {
    bytes.resize(what.subject.size());
    const auto start = static_cast<std::intptr_t>(what.offset_of(first));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::intptr_t>(i) - start;
    return {&packed, packed.base(), UCD_TYPE__BYTE, bytes.size(), &bytes};
}

std::string range_text(ucd_op_t op, const ReducedSubject &what, std::size_t first,
                       std::size_t last) {
    return std::string(" (") + op_name(op) + " of elements " + std::to_string(first) + " to " +
           std::to_string(last) + " of " + std::to_string(what.elements.size()) + ")";
}

void check_result(const Case &one, int rc, std::uintptr_t actual, std::size_t moved,
                  const ImageBuffer &changed, const ImageBuffer &unchanged,
                  const std::string &where) {
    if (rc == UCD_SUCCESS && actual == moved && !changed.first_difference() &&
        !unchanged.first_difference()) {
        return;
    }
    one.succeed(rc, ("reduction" + where).c_str());
    if (actual != moved) one.fail("reduced ", actual, " bytes, not ", moved, where);
    require_intact(one, changed, ("result" + where).c_str());
    require_intact(one, unchanged, ("input" + where).c_str());
}

} // namespace

ReducedSubject with_elements(Subject subject) {
    std::vector<StreamElement> elements = stream_elements(*subject.map, subject.count);
    return {std::move(subject), std::move(elements)};
}

bool has_consistent_overlap(const TypeMap &map, std::size_t count) {
    // Also what lies in the padding of a pair.
    if (!overlaps(map, count)) return true;
    std::vector<Entry> entries;
    for (std::size_t n = 0; n < count; ++n) {
        const std::intptr_t at = static_cast<std::intptr_t>(n) * map.extent;
        for (const Entry &entry : map.entries) entries.push_back({entry.type, entry.displ + at});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.displ < b.displ; });
    for (std::size_t i = 1; i < entries.size(); ++i) {
        const Entry &before = entries[i - 1], &entry = entries[i];
        if (entry.displ >= before.displ + before.type->true_end()) continue;
        if (entry.displ != before.displ || entry.type != before.type) return false;
    }
    return true;
}

void set_typed_values(Rng &rng, const ReducedSubject &what, const MemoryLocation &where) {
    const std::vector<std::byte> stream = random_values(rng, what.elements);
    for (std::size_t i = 0; i < stream.size(); ++i) where.memory->set((*where.bytes)[i], stream[i]);
    where.memory->accept();
}

void set_packed_values(Rng &rng, const ReducedSubject &what, std::size_t first, std::size_t last,
                       ImageBuffer &packed) {
    packed.randomise(rng);
    const std::size_t start = what.offset_of(first);
    for (std::size_t i = first; i < last; ++i) {
        const StreamElement &element = what.elements[i];
        const auto at = static_cast<std::intptr_t>(element.offset - start);
        random_value(rng, *element.type, packed.actual(at));
    }
    packed.accept();
}

std::vector<std::byte> gathered(const MemoryLocation &where, std::size_t from, std::size_t to) {
    std::vector<std::byte> stream;
    stream.reserve(to - from);
    for (std::size_t i = from; i < to; ++i) {
        stream.push_back(*where.memory->actual((*where.bytes)[i]));
    }
    return stream;
}

void expect_reduced(const ReducedSubject &what, const MemoryLocation &where, std::size_t first,
                    std::size_t last, std::vector<std::byte> stream) {
    const std::size_t start = what.offset_of(first), end = what.offset_of(last);
    const std::vector<std::byte> found = gathered(where, start, end);
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = what.elements[i].offset - start;
        forgive_spare_bytes(*what.elements[i].type, stream.data() + at, found.data() + at);
    }
    for (std::size_t i = start; i < end; ++i) {
        *where.memory->expected((*where.bytes)[i]) = stream[i - start];
    }
}

void check_reducing_move(Case &one, bool packs, ucd_op_t op, const ReducedSubject &what,
                         const MemoryLocation &typed, std::size_t first, std::size_t last,
                         std::size_t room, ImageBuffer &packed) {
    const std::size_t start = what.offset_of(first), end = what.offset_of(last);
    ByteMap packed_bytes;
    const MemoryLocation stream = packed_place(what, first, packed, packed_bytes);
    const MemoryLocation &from = packs ? typed : stream, &to = packs ? stream : typed;
    const std::vector<std::byte> in = gathered(from, start, end);
    std::vector<std::byte> out = gathered(to, start, end);
    reduce_stream(op, what.elements, first, last, out.data(), in.data());
    std::uintptr_t actual = untouched;
    const int rc = packs ? call_pack(one.rng(), typed.address, typed.count, typed.type, start,
                                     packed.base(), room, &actual, op)
                         : call_unpack(one.rng(), packed.base(), room, typed.address, typed.count,
                                       typed.type, start, &actual, op);
    expect_reduced(what, to, first, last, std::move(out));
    check_result(one, rc, actual, end - start, *to.memory, *from.memory,
                 (packs ? " packing" : " unpacking") + range_text(op, what, first, last));
}

void check_reductions(Case &one, ucd_op_t op, const ReducedSubject &what,
                      const MemoryLocation &typed, std::size_t first, std::size_t last,
                      ImageBuffer &packed, std::size_t excess) {
    const std::size_t room = what.offset_of(last) - what.offset_of(first) + excess;
    set_typed_values(one.rng(), what, typed);
    for (const bool packs : {true, false}) {
        if (!packs && overlaps(*what.subject.map, what.subject.count)) return;
        set_packed_values(one.rng(), what, first, last, packed);
        check_reducing_move(one, packs, op, what, typed, first, last, room, packed);
    }
}

} // namespace ucdtest
