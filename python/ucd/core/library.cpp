#include "core/library.h"

#include <string_view>

namespace ucdpy {

nb::object loaded_module(const char *name) {
    PyObject *found = PyDict_GetItemString(PyImport_GetModuleDict(), name);
    return found ? nb::borrow(found) : nb::none();
}

bool is_of(nb::handle object, const char *module, const char *class_name) {
    const nb::object loaded = loaded_module(module);
    if (loaded.is_none()) return false;
    const nb::object wanted = nb::getattr(loaded, class_name, nb::none());
    return PyType_Check(wanted.ptr()) &&
           PyType_IsSubtype(Py_TYPE(object.ptr()), reinterpret_cast<PyTypeObject *>(wanted.ptr()));
}

bool derives_from_package(nb::handle object, const char *package) {
    for (nb::handle base : object.type().attr("__mro__")) {
        const nb::object module = nb::getattr(base, "__module__", nb::none());
        if (!PyUnicode_Check(module.ptr())) continue;
        const std::string_view name = nb::cast<const char *>(module);
        if (name.substr(0, name.find('.')) == package) return true;
    }
    return false;
}

nb::object without_gradient(nb::handle array) {
    const bool requires_grad =
        is_of(array, "torch", "Tensor") && array.attr("requires_grad").is(nb::handle(Py_True));
    return requires_grad && !records_gradients() ? array.attr("detach")() : nb::borrow(array);
}

bool records_gradients() {
    const nb::object torch = loaded_module("torch");
    return torch.is_none() || !torch.attr("is_grad_enabled")().is(nb::handle(Py_False));
}

} // namespace ucdpy
