#include "language/build.hpp"

#include "failure.hpp"
#include "files/mapped_file.hpp"
#include "filled.hpp"
#include "language/flat_form.hpp"

#include <bit>
#include <climits>

namespace ucdtool {
namespace {

constexpr intptr_t max_alignment = 1 << 15; // the limit of the flattened form

uint8_t log_of_alignment(const Node &node, std::size_t i) {
    const intptr_t value = node.number(i);
    if (value < 1 || value > max_alignment || (value & (value - 1)) != 0)
        throw SyntaxError(node.at, filled("alignment is {}; it must be a power of two from 1 "
                                          "to {}",
                                          value, max_alignment));
    return static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(value)));
}

std::vector<int> ints(const Node &node, std::size_t i) {
    std::vector<int> narrow;
    for (const intptr_t v : node.list(i)) {
        if (v < INT_MIN || v > INT_MAX)
            throw SyntaxError(node.at, filled("{} of {} holds {}, which is no int",
                                              node.constructor->parameters[i].name,
                                              node.constructor->name, v));
        narrow.push_back(static_cast<int>(v));
    }
    return narrow;
}

int int_of(const Node &node, std::size_t i) {
    const intptr_t v = node.number(i);
    if (v < INT_MIN || v > INT_MAX)
        throw SyntaxError(node.at,
                          filled("{} of {} is {}, which is no int",
                                 node.constructor->parameters[i].name, node.constructor->name, v));
    return static_cast<int>(v);
}

// Requires equal lengths of the lists that a constructor takes in parallel.
void require_equal_lengths(const Node &node) {
    std::size_t length = SIZE_MAX, first = 0;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
        const auto *list = std::get_if<Ints>(&node.arguments[i]);
        const auto *types = std::get_if<std::vector<NodeId>>(&node.arguments[i]);
        if (list == nullptr && types == nullptr) continue;
        const std::size_t n = list != nullptr ? list->values.size() : types->size();
        if (length == SIZE_MAX) {
            length = n;
            first = i;
        }
        if (n != length)
            throw SyntaxError(
                node.at, filled("{}: {} has {} entries and {} has {}; expected as many",
                                node.constructor->name, node.constructor->parameters[first].name,
                                length, node.constructor->parameters[i].name, n));
    }
}

ucd::Type from_file(const std::string &path) {
    const MappedFile file(path, MappedFile::Access::read);
    return ucd::unflatten(file.bytes());
}

// A single element, in the form that ucd_flatten writes for a predefined type of this
// representation.
ucd::Type element(const Node &node) {
    for (const std::size_t i : {0, 1})
        if (node.number(i) < 0 || node.number(i) > UINT8_MAX)
            throw SyntaxError(node.at,
                              filled("{} of element is {}; it must be 0 to 255",
                                     node.constructor->parameters[i].name, node.number(i)));
    const uint8_t alignment = log_of_alignment(node, 2);
    const std::byte bytes[] = {std::byte{1}, static_cast<std::byte>(node.number(0)),
                               static_cast<std::byte>(node.number(1)),
                               static_cast<std::byte>(alignment)};
    // The true extent of the type without padding tells how much padding it needs.
    // version 2 has all element classes
    FlatHeader header{.version = 2, .alignment = alignment, .nodes = 1};
    const ucd::Type bare = ucd::unflatten(write_flat(header, bytes));
    const intptr_t mask = node.number(2) - 1;
    header.extent = (bare.true_extent().extent + mask) & ~mask;
    return ucd::unflatten(write_flat(header, bytes));
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

} // namespace

ucd_type_t TypeBuilder::add(const Node &node) {
    if (node.constructor == nullptr) {
        handles_.push_back(node.predefined);
        return node.predefined;
    }
    try {
        owned_.push_back(make(node));
    } catch (const ucd::Error &e) {
        throw SyntaxError(node.at, e.what());
    } catch (const Failure &e) {
        throw SyntaxError(node.at, e.what());
    }
    handles_.push_back(owned_.back().get());
    return handles_.back();
}

ucd::Type TypeBuilder::make(const Node &n) const {
    using ucd::Type;
    require_equal_lengths(n);
    const auto old = [&](std::size_t i) { return ucd::TypeRef(handles_[n.type(i)]); };
    const auto number = [&](std::size_t i) { return n.number(i); };
    const auto list = [&](std::size_t i) { return n.list(i); };
    switch (n.constructor->kind) {
    case Kind::contig: return Type::contig(number(0), old(1));
    case Kind::dup: return Type::dup(old(0));
    case Kind::vector: return Type::vector(number(0), number(1), number(2), old(3));
    case Kind::hvector: return Type::hvector(number(0), number(1), number(2), old(3));
    case Kind::indexed_block: return Type::indexed_block(number(0), list(1), old(2));
    case Kind::hindexed_block: return Type::hindexed_block(number(0), list(1), old(2));
    case Kind::indexed: return Type::indexed(list(0), list(1), old(2));
    case Kind::hindexed: return Type::hindexed(list(0), list(1), old(2));
    case Kind::structure: {
        std::vector<ucd_type_t> types;
        for (const NodeId id : std::get<std::vector<NodeId>>(n.arguments[2]))
            types.push_back(handles_[id]);
        return Type::structure(list(0), list(1), types);
    }
    case Kind::subarray:
        return Type::subarray(list(0), list(1), list(2), static_cast<int>(number(3)), old(4));
    case Kind::darray:
        return Type::darray(int_of(n, 0), int_of(n, 1), list(2), ints(n, 3), list(4), ints(n, 5),
                            static_cast<int>(number(6)), old(7));
    case Kind::ndarray: return Type::ndarray(list(0), list(1), old(2));
    case Kind::resized: return Type::resized(old(0), number(1), number(2));
    case Kind::bounds:
        return with_header(old(0), [&](FlatHeader &h) {
            h.explicit_bounds = false;
            h.lb = number(1);
            h.extent = number(2);
        });
    case Kind::aligned:
        return with_header(old(0), [&](FlatHeader &h) { h.alignment = log_of_alignment(n, 1); });
    case Kind::element: return element(n);
    case Kind::flattened: break;
    }
    return from_file(std::get<std::string>(n.arguments[0]));
}

ucd::Type TypeBuilder::take_last() {
    const ucd_type_t last = handles_.back();
    if (!owned_.empty() && owned_.back().get() == last) return std::move(owned_.back());
    return ucd::Type::dup(last);
}

ucd::Type build(const Expression &expression) {
    TypeBuilder builder;
    for (const Node &node : expression.nodes) builder.add(node);
    return builder.take_last();
}

} // namespace ucdtool
