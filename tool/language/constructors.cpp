#include "language/constructors.hpp"

#include "language/own_constructors.hpp"
#include "language_lists.h"

#include <algorithm>

namespace ucdtool {

std::span<const Constructor> constructors() {
    static const std::vector<Constructor> all = [] {
        std::vector<Constructor> made(std::begin(constructors_of_ucd_h),
                                      std::end(constructors_of_ucd_h));
        made.insert(made.end(), own_constructors().begin(), own_constructors().end());
        return made;
    }();
    return all;
}

const Constructor *constructor_named(std::string_view name) {
    const auto all = constructors();
    const auto found =
        std::ranges::find_if(all, [&](const Constructor &c) { return c.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::span<const PredefinedName> predefined_names() {
    return predefined_of_ucd_h;
}

std::span<const OperationName> operation_names() {
    return operations_of_ucd_h;
}

const PredefinedName *predefined_named(std::string_view name) {
    const auto all = predefined_names();
    const auto found =
        std::ranges::find_if(all, [&](const PredefinedName &p) { return p.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const char *name_of(ucd_type_t predefined) {
    return predefined_names()[reinterpret_cast<uintptr_t>(predefined) - 1].name;
}

std::vector<std::string> words_of_the_language() {
    std::vector<std::string> words;
    for (const Constructor &c : constructors()) words.emplace_back(c.name);
    for (const PredefinedName &p : predefined_names()) words.emplace_back(p.name);
    return words;
}

} // namespace ucdtool
