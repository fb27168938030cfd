// The normal form of a type, as text that is the same exactly if the layouts are.
#pragma once

#include "support/moves/recipe_build.hpp"

#include "layout/layout_text.h"
#include "prepared/type_cache.h"

#include <stdexcept>
#include <string>

namespace ucdtest {

inline std::string form_of(ucd_type_t handle) {
    const ucd::Type *type = nullptr;
    if (!ucd::resolve(handle, "type", type).ok()) throw std::runtime_error("no type");
    return to_text(ucd::layout_of(*type), UINT64_MAX);
}

inline std::string form_of(const RecipePtr &recipe) {
    return form_of(BuiltType(recipe).get());
}

// For messages: forms of large layouts have no end.
inline std::string shortened(const std::string &text) {
    return text.size() < 1500 ? text : text.substr(0, 1500) + " ...";
}

} // namespace ucdtest
