// The class Type: a handle of libucd, and what must live as long as it.
#pragma once

#include "core/errors.h"

#include <memory>
#include <utility>
#include <vector>

namespace ucdpy {

// A handle that is freed with its last owner, in any thread and without the GIL.
class TypeHandle {
public:
    TypeHandle(ucd_type_t type, bool owned) noexcept : type_(type), owned_(owned) {}
    ~TypeHandle() {
        if (owned_) (void)ucd_free(&type_);
    }
    TypeHandle(const TypeHandle &) = delete;
    TypeHandle &operator=(const TypeHandle &) = delete;
    ucd_type_t get() const noexcept { return type_; }

private:
    ucd_type_t type_;
    bool owned_;
};
using SharedType = std::shared_ptr<const TypeHandle>;

// The arrays of indices that a type by reference reads when data moves. Destroyed with the GIL
// held.
class View;
using IndexLists = std::vector<std::shared_ptr<const View>>;

class Type {
public:
    explicit Type(SharedType handle, IndexLists indices = {})
        : handle_(std::move(handle)), indices_(std::move(indices)) {}
    // Takes over a handle that is the caller's to free.
    static Type own(ucd_type_t type, IndexLists indices = {}) {
        return Type(std::make_shared<const TypeHandle>(type, true), std::move(indices));
    }
    ucd_type_t get() const noexcept { return handle_->get(); }
    const SharedType &handle() const noexcept { return handle_; }
    const IndexLists &indices() const noexcept { return indices_; }

private:
    SharedType handle_;
    IndexLists indices_;
};

// Type, or what ucd._dtypes.of makes of anything that names a type of elements.
Type to_type(nb::handle object);

// The one object of a predefined type, no object for a derived one.
nb::object predefined_object(ucd_type_t type);

// The bytes of ucd_flatten.
std::vector<char> flattened(ucd_type_t type);

void bind_type(nb::module_ &m);
void bind_type_constructors(nb::class_<Type> &type);
void bind_type_text(nb::module_ &m, nb::class_<Type> &type);

} // namespace ucdpy
