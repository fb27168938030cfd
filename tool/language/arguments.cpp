#include "language/arguments.hpp"

#include "failure.hpp"
#include "filled.hpp"

#include <climits>

namespace ucdtool {
namespace {

bool is_int(intptr_t value) {
    return value >= INT_MIN && value <= INT_MAX;
}

} // namespace

void Arguments::refuse(const std::string &why) const {
    throw SyntaxError(node_.at, why);
}

std::vector<ucd_type_t> Arguments::types(std::size_t i) const {
    std::vector<ucd_type_t> handles;
    for (const NodeId id : std::get<std::vector<NodeId>>(node_.arguments[i]))
        handles.push_back(built_[id]);
    return handles;
}

int Arguments::small_number(std::size_t i) const {
    const intptr_t v = number(i);
    if (!is_int(v))
        refuse(filled("{} of {} is {}, which is no int", name(i), node_.constructor->name, v));
    return static_cast<int>(v);
}

std::vector<int> Arguments::small_list(std::size_t i) const {
    std::vector<int> narrow;
    for (const intptr_t v : list(i)) {
        if (!is_int(v))
            refuse(
                filled("{} of {} holds {}, which is no int", name(i), node_.constructor->name, v));
        narrow.push_back(static_cast<int>(v));
    }
    return narrow;
}

} // namespace ucdtool
