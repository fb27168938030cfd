#include "language/build.hpp"

#include "failure.hpp"
#include "filled.hpp"
#include "language/arguments.hpp"

namespace ucdtool {
namespace {

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

ucd::Type TypeBuilder::make(const Node &node) const {
    require_equal_lengths(node);
    return node.constructor->make(Arguments(node, handles_));
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
