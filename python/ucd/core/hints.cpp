#include "core/hints.h"

#include "language/operations.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

namespace ucdpy {

namespace {

std::string full_key(const std::string &key) {
    return key.starts_with("ucd.") ? key : "ucd." + key;
}

ucd_info_t host_only() {
    static const ucd_info_t info = [] {
        ucd_info_t made = UCD_INFO__NULL;
        check(ucd_info_create(&made));
        check(ucd_info_set(made, "ucd.gpu", "none"));
        return made;
    }();
    return info;
}

} // namespace

Hints::Hints(const nb::dict &values) {
    for (auto [key, value] : values)
        values_[full_key(nb::cast<std::string>(key))] = nb::str(value).c_str();
    check(ucd_info_create(&info_));
    try {
        for (const auto &[key, value] : values_)
            check(ucd_info_set(info_, key.c_str(), value.c_str()));
    } catch (...) {
        (void)ucd_info_free(&info_);
        throw;
    }
}

ucd_info_t info_of(nb::handle hints, bool plain_host) {
    if (!hints.is_none()) {
        if (!nb::isinstance<Hints>(hints)) raise(PyExc_TypeError, "hints must be ucd.Hints");
        return nb::cast<const Hints &>(hints).get();
    }
    return plain_host ? host_only() : UCD_INFO__NULL;
}

ucd_op_t op_of(nb::handle op) {
    if (op.is_none()) return UCD_OP__REPLACE;
    if (PyUnicode_Check(op.ptr())) {
        std::string names;
        for (const ucdtool::OperationName &known : ucdtool::operation_names()) {
            if (PyUnicode_CompareWithASCIIString(op.ptr(), known.name) == 0) return known.op;
            names += std::string(" ") + known.name;
        }
        raise(PyExc_ValueError, "op must be one of%s", names.c_str());
    }
    if (!PyLong_Check(op.ptr())) raise(PyExc_TypeError, "op must be a name or None");
    return nb::cast<int>(op);
}

ucd_op_t op_of(nb::handle op, nb::handle convert) {
    if (convert.is(Py_False)) return op_of(op);
    const bool saturate = PyUnicode_Check(convert.ptr()) &&
                          PyUnicode_CompareWithASCIIString(convert.ptr(), "saturate") == 0;
    if (!saturate && !convert.is(Py_True))
        raise(PyExc_ValueError, "convert must be True, False or 'saturate'");
    if (!op.is_none()) raise(PyExc_ValueError, "op and convert exclude each other");
    return saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT;
}

void bind_hints(nb::module_ &m) {
    nb::class_<Hints>(m, "Hints",
                      R"(Hints for calls: keys of libucd, with or without the prefix "ucd.".

    ucd.Hints({'threads': 4, 'gpu': 'none'})

Make them once and use them often. Raises InvalidArgument for a bad value and for an unknown key,
and names the nearest known one. A hint that is not true of a buffer is undefined behaviour.)")
        .def(nb::init<const nb::dict &>(), nb::arg("values"))
        .def("__repr__", [](const Hints &h) {
            nb::dict all;
            for (const auto &[key, value] : h.values()) all[key.c_str()] = nb::str(value.c_str());
            return "ucd.Hints(" + std::string(nb::repr(all).c_str()) + ")";
        });
}

} // namespace ucdpy
