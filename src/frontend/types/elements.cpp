#include "types/elements.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace ucd {
namespace {

constexpr std::size_t members_per_place = 64;

// Before each that many members, but not before the first ones.
std::span<const StreamPlace> places_of(const Type &structure) {
    return {structure.member_places.get(), count_member_places(structure)};
}

void pass(StreamPlace &place, const Type &structure, std::size_t member) {
    const auto length = static_cast<uint64_t>(structure.block_length(static_cast<int64_t>(member)));
    place.bytes += length * structure.children[member]->size;
    place.elements += length * structure.children[member]->elements;
}

// The member that has byte `bytes` of a structure's stream. Sets `before` to the place where the
// member begins.
const Type *member_at(const Type &structure, uint64_t bytes, StreamPlace &before) {
    const std::span<const StreamPlace> places = places_of(structure);
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

std::size_t count_member_places(const Type &t) {
    if (t.form != Form::structure || t.element != Element::none || t.count == 0) return 0;
    return static_cast<std::size_t>(t.count - 1) / members_per_place;
}

void keep_member_places(Type &structure) {
    const std::size_t count = count_member_places(structure);
    if (count == 0) return;
    auto places = std::make_unique_for_overwrite<StreamPlace[]>(count);
    StreamPlace place;
    for (std::size_t i = 0; i < count * members_per_place;) {
        pass(place, structure, i);
        if (++i % members_per_place == 0) places[i / members_per_place - 1] = place;
    }
    structure.member_places = std::move(places);
}

uint64_t elements_before(const Type &type, uint64_t bytes) {
    uint64_t elements = 0;
    const Type *t = &type;
    while (bytes > 0 && t->element == Element::none) {
        elements += bytes / t->size * t->elements;
        bytes %= t->size;
        StreamPlace before;
        t = t->form == Form::structure ? member_at(*t, bytes, before) : t->child;
        bytes -= before.bytes;
        elements += before.elements;
    }
    if (bytes == 0) return elements;
    const uint32_t size = packed_size(t->element), part = first_part(t->element);
    return elements + bytes / size * elements_in(t->element) + (part > 0 && bytes % size >= part);
}

} // namespace ucd
