// What a handle of a type stands for.
#pragma once

#include <cstdint>
#include <ucd-yaksa/yaksa.h>
#include <ucd.h>
#include <utility>

namespace ucd_yaksa {

// Owns a handle of libucd.
class Layout {
public:
    Layout() = default;
    explicit Layout(ucd_type_t type) : type_(type) {}
    Layout(Layout &&other) noexcept : type_(std::exchange(other.type_, UCD_TYPE__NULL)) {}
    Layout &operator=(Layout &&other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~Layout() {
        if (type_ != UCD_TYPE__NULL) ucd_free(&type_);
    }

    ucd_type_t get() const { return type_; }
    // For a constructor of ucd.h. There must be no type yet.
    ucd_type_t *out() { return &type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

// What libucd does not keep, or keeps by other rules.
struct Traits {
    // Equal for what yaksa takes for one type: predefined types of one representation, duplicates.
    std::uint64_t identity = 0;
    std::uint64_t element_bytes = 0; // packed bytes of a predefined type in it; 0: they differ
    std::intptr_t alignment = 1;
    bool has_pairs = false;
};

// `layout` has the bounds, too.
struct Type {
    ucd_type_t layout = UCD_TYPE__NULL;
    Traits traits;
    std::uintptr_t size = 0;
    std::intptr_t lb = 0, extent = 0;
};

// A pair type of libucd, and its packed form as a struct of its two members: ops on that combine
// each member on its own.
struct PairMembers {
    ucd_type_t pair = UCD_TYPE__NULL;
    ucd_type_t packed_members = UCD_TYPE__NULL;
};

// The type of a handle, predefined or not. `name` is the argument's.
int find_type(yaksa_type_t handle, const char *name, const Type *&type);
int find_type(yaksa_type_t handle, const Type *&type);

// A new handle. The bounds of `layout` must be those wanted.
int add_type(Layout &&layout, const Traits &traits, yaksa_type_t *handle);
std::uint64_t new_identity();

int remove_type(yaksa_type_t handle);

// After ucd_init and before the last ucd_finalize.
int create_predefined_types();
void free_all_types();
// Null if `element` is no pair.
const PairMembers *members_of_pair(ucd_type_t element);

} // namespace ucd_yaksa
