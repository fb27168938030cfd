// Which library an object's class is from, by its ancestry: programs derive their own classes. No
// library is imported for that.
#pragma once

#include "core/errors.h"

namespace ucdpy {

// A module that is imported; None for others.
nb::object loaded_module(const char *name);

// Whether an object's class is a class of a module that is imported, or derives from it.
bool is_of(nb::handle object, const char *module, const char *class_name);

// Whether an object's class, or one that it derives from, is from a package, whatever its name is.
bool derives_from_package(nb::handle object, const char *package);

// A tensor of PyTorch that requires a gradient, where PyTorch records none: without that, in the
// same memory. Else the array itself.
nb::object without_gradient(nb::handle array);

// Whether PyTorch records gradients in this thread, or is not there.
bool records_gradients();

} // namespace ucdpy
