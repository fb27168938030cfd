#include "core/errors.h"

namespace ucdpy {

void raise_status(int rc, const char *sentence) {
    // Copied before Python runs: it may fail in UCD again and overwrite the sentence.
    nb::object text = nb::str(sentence);
    nb::object exception = nb::module_::import_("ucd._errors").attr("of_status")(rc);
    PyErr_SetObject(exception.ptr(), text.ptr());
    throw nb::python_error();
}

} // namespace ucdpy
