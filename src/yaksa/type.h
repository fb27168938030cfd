// Handles of types and what they stand for.
#pragma once

#include <cstdint>
#include <ucd-yaksa/yaksa.h>
#include <ucd.h>
#include <utility>

namespace ucd_yaksa {

// Owns a type handle of libucd.
class LibucdType {
public:
    LibucdType() = default;
    explicit LibucdType(ucd_type_t type) : type_(type) {}
    LibucdType(LibucdType &&other) noexcept : type_(std::exchange(other.type_, UCD_TYPE__NULL)) {}
    LibucdType &operator=(LibucdType &&other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~LibucdType() {
        if (type_ != UCD_TYPE__NULL) ucd_free(&type_);
    }

    ucd_type_t get() const { return type_; }
    // The output argument for a constructor of ucd.h. Must not be used while this owns a type.
    ucd_type_t *out() { return &type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

// Properties that libucd does not keep, or for which yaksa has other rules.
struct Traits {
    // Equal for types that yaksa treats as the same: predefined types of one representation, and
    // duplicates.
    std::uint64_t identity = 0;
    std::uint64_t element_bytes = 0; // packed size of its predefined types; 0 if sizes differ
    std::intptr_t alignment = 1;
    bool has_pairs = false;
};

// `layout` has the same bounds.
struct Type {
    ucd_type_t layout = UCD_TYPE__NULL;
    Traits traits;
    std::uintptr_t size = 0;
    std::intptr_t lb = 0, extent = 0;
};

// A pair type of libucd, and its packed form as a struct of its two members, on which an op
// combines each member separately.
struct PairMembers {
    ucd_type_t pair = UCD_TYPE__NULL;
    ucd_type_t packed_members = UCD_TYPE__NULL;
};

// Finds the type of a handle, predefined or not. `name` is the argument's name for the message.
int find_type(yaksa_type_t handle, const char *name, const Type *&type);
int find_type(yaksa_type_t handle, const Type *&type);

// Adds a type and sets its handle. The caller has set the bounds of `layout`.
int add_type(LibucdType &&layout, const Traits &traits, yaksa_type_t *handle);
std::uint64_t new_identity();

int remove_type(yaksa_type_t handle);

// To be called between ucd_init and the last ucd_finalize.
int create_predefined_types();
void free_all_types();
// Null if `element` is not a pair.
const PairMembers *members_of_pair(ucd_type_t element);

} // namespace ucd_yaksa
