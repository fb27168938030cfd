// Hints and operations as arguments.
#pragma once

#include "core/view.h"

#include <map>
#include <string>

namespace ucdpy {

// A set of hints of libucd.
class Hints {
public:
    explicit Hints(const nb::dict &values);
    ~Hints() { (void)ucd_info_free(&info_); }
    Hints(const Hints &) = delete;
    Hints &operator=(const Hints &) = delete;
    ucd_info_t get() const noexcept { return info_; }
    // With whole keys, in their order.
    const std::map<std::string, std::string> &values() const noexcept { return values_; }

private:
    std::map<std::string, std::string> values_;
    ucd_info_t info_ = UCD_INFO__NULL;
};

// The hints of a call: those given, else that no pointer need be looked up if all arrays are plain
// host memory.
ucd_info_t info_of(nb::handle hints, bool plain_host);

// None, a name ("sum") or a number of ucd_op_t.
ucd_op_t op_of(nb::handle op);
// Same, for a copy that may convert: False, True or "saturate".
ucd_op_t op_of(nb::handle op, nb::handle convert);

void bind_hints(nb::module_ &m);

} // namespace ucdpy
