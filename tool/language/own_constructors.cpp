#include "language/own_constructors.hpp"

#include "files/mapped_file.hpp"
#include "filled.hpp"
#include "language/arguments.hpp"
#include "language/flat_form.hpp"

#include <bit>

namespace ucdtool {
namespace {

constexpr intptr_t max_alignment = 1 << 15; // the limit of the flattened form

uint8_t log_of_alignment(const Arguments &a, std::size_t i) {
    const intptr_t value = a.number(i);
    if (value < 1 || value > max_alignment || (value & (value - 1)) != 0)
        a.refuse(filled("alignment is {}; it must be a power of two from 1 to {}", value,
                        max_alignment));
    return static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(value)));
}

// Returns the same type with a header that `change` has modified.
template <class Change>
ucd::Type with_header(ucd::TypeRef old, Change change) {
    const std::vector<std::byte> flat = ucd::flatten(old);
    FlatHeader header = read_header(flat);
    const auto nodes = std::span(flat).subspan(header.bytes);
    change(header);
    return ucd::unflatten(write_flat(header, nodes));
}

ucd::Type bounds(const Arguments &a) {
    return with_header(a.type(0), [&](FlatHeader &h) {
        h.explicit_bounds = false;
        h.lb = a.number(1);
        h.extent = a.number(2);
    });
}

ucd::Type aligned(const Arguments &a) {
    return with_header(a.type(0), [&](FlatHeader &h) { h.alignment = log_of_alignment(a, 1); });
}

// A single element, in the form that ucd_flatten writes for a predefined type of this
// representation.
ucd::Type element(const Arguments &a) {
    for (const std::size_t i : {0, 1})
        if (a.number(i) < 0 || a.number(i) > UINT8_MAX)
            a.refuse(filled("{} of element is {}; it must be 0 to 255", a.name(i), a.number(i)));
    const uint8_t log = log_of_alignment(a, 2);
    const std::byte bytes[] = {std::byte{1}, static_cast<std::byte>(a.number(0)),
                               static_cast<std::byte>(a.number(1)), static_cast<std::byte>(log)};
    // The true extent of the type without padding tells how much padding it needs.
    // version 2 has all element classes
    FlatHeader header{.version = 2, .alignment = log, .nodes = 1};
    const ucd::Type bare = ucd::unflatten(write_flat(header, bytes));
    const intptr_t mask = a.number(2) - 1;
    header.extent = (bare.true_extent().extent + mask) & ~mask;
    return ucd::unflatten(write_flat(header, bytes));
}

ucd::Type flattened(const Arguments &a) {
    const MappedFile file(a.path(0), MappedFile::Access::read);
    return ucd::unflatten(file.bytes());
}

constexpr Parameter of_bounds[] = {
    {"oldtype", Part::type}, {"lb", Part::number}, {"extent", Part::number}};
constexpr Parameter of_aligned[] = {{"oldtype", Part::type}, {"alignment", Part::number}};
constexpr Parameter of_element[] = {
    {"class", Part::number}, {"bytes", Part::number}, {"alignment", Part::number}};
constexpr Parameter of_flattened[] = {{"file", Part::path}};

constexpr Constructor table[] = {
    {"bounds", "The same bytes with other bounds that stay implicit.", of_bounds, bounds},
    {"aligned", "The same type with another alignment.", of_aligned, aligned},
    {"element",
     "A data representation that no predefined type has here, by the classes of the flattened "
     "form.",
     of_element, element},
    {"flattened", "The type in a file that ucd flatten wrote.", of_flattened, flattened},
};

} // namespace

std::span<const Constructor> own_constructors() {
    return table;
}

} // namespace ucdtool
