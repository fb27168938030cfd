// Builds recipes through the public C interface.
#pragma once

#include "support/oracle/recipe.hpp"

#include <utility>

namespace ucdtest {

// Builds the recipe and frees all intermediate types. A predefined root is returned as it is.
// Throws std::runtime_error, worded by ucd_last_error, if any constructor refuses.
ucd_type_t build(const Recipe &recipe);

// Owns a type for the length of a test; predefined types are owned by nobody.
class BuiltType {
public:
    BuiltType() = default;
    explicit BuiltType(ucd_type_t type) : type_(type) {}
    explicit BuiltType(const RecipePtr &recipe) : type_(build(*recipe)) {}
    BuiltType(BuiltType &&other) noexcept : type_(std::exchange(other.type_, UCD_TYPE__NULL)) {}
    BuiltType &operator=(BuiltType &&other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~BuiltType();

    ucd_type_t get() const { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

} // namespace ucdtest
