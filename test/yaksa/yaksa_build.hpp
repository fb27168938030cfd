// Recipes built by yaksa's constructors.
#pragma once

#include "yaksa_oracle.hpp"

#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <string>
#include <utility>

namespace ucdtest {

// The library, for the length of a test.
class YaksaSession {
public:
    explicit YaksaSession(yaksa_info_t info = nullptr);
    ~YaksaSession();
    YaksaSession(const YaksaSession &) = delete;
    YaksaSession &operator=(const YaksaSession &) = delete;
};

// Owns a handle; YAKSA_TYPE__NULL and the other predefined ones need no owner.
class YaksaType {
public:
    explicit YaksaType(yaksa_type_t handle) : handle_(handle) {}
    // Frees all types that it was built on. Throws std::runtime_error if a constructor refuses.
    explicit YaksaType(const RecipePtr &recipe);
    YaksaType(YaksaType &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
    YaksaType &operator=(YaksaType &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~YaksaType();
    yaksa_type_t get() const { return handle_; }

private:
    yaksa_type_t handle_;
};

// `count` elements of a random type, and where their bytes lie.
struct YaksaSubject {
    RecipePtr recipe;
    TypeMap map;
    std::size_t count;
    ByteMap bytes;
    std::vector<StreamElement> elements;
    YaksaType built;

    yaksa_type_t type() const { return built.get(); }
    std::size_t size() const { return bytes.size(); }
    // The last offset at which an element begins, or the end.
    std::size_t boundary(std::size_t offset) const;
};
YaksaSubject yaksa_subject(Case &one, const RecipePtr &recipe, std::size_t count);
YaksaSubject random_yaksa_subject(Case &one, std::vector<ucd_type_t> elements = yaksa_elements());

// For calls that must succeed.
void succeed(const Case &one, int rc, const char *what);

} // namespace ucdtest
