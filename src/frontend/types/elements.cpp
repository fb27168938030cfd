#include "types/elements.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ucd {
namespace {

// Between two places, and before the first.
constexpr std::size_t members_per_place = 64;

void pass(StreamPlace &place, const StructureType &structure, std::size_t member) {
    const auto length = static_cast<uint64_t>(structure.block_length(static_cast<int64_t>(member)));
    place.bytes += length * structure.children[member]->size;
    place.elements += length * structure.children[member]->elements;
}

// The member that has byte `bytes` of a structure's stream. Sets `before` to the place where the
// member begins.
const Type *member_at(const StructureType &structure, uint64_t bytes, StreamPlace &before) {
    const std::vector<StreamPlace> &places = structure.member_places;
    const auto later =
        std::upper_bound(places.begin(), places.end(), bytes,
                         [](uint64_t b, const StreamPlace &place) { return b < place.bytes; });
    before = later == places.begin() ? StreamPlace() : later[-1];
    auto member = static_cast<std::size_t>(later - places.begin()) * members_per_place;
    for (StreamPlace after = before;; before = after, ++member) {
        pass(after, structure, member);
        if (bytes < after.bytes) return structure.children[member];
    }
}

} // namespace

void keep_member_places(StructureType &structure) {
    // performance only: a structure without places is searched from its first member on
    if (structure.element != Element::none) return;
    const std::size_t places =
        (std::max<std::size_t>(structure.children.size(), 1) - 1) / members_per_place;
    structure.member_places.reserve(places);
    StreamPlace place;
    for (std::size_t i = 0; structure.member_places.size() < places;) {
        pass(place, structure, i);
        if (++i % members_per_place == 0) structure.member_places.push_back(place);
    }
}

uint64_t elements_before(const Type &type, uint64_t bytes) {
    uint64_t elements = 0;
    const Type *t = &type;
    while (bytes > 0 && t->element == Element::none) {
        elements += bytes / t->size * t->elements;
        bytes %= t->size;
        StreamPlace before;
        t = t->form == Form::structure ? member_at(as<StructureType>(*t), bytes, before) : t->child;
        bytes -= before.bytes;
        elements += before.elements;
    }
    if (bytes == 0) return elements;
    const uint32_t size = packed_size(t->element), part = first_part(t->element);
    return elements + bytes / size * elements_in(t->element) + (part > 0 && bytes % size >= part);
}

} // namespace ucd
