// The words of the language: constructors with their parameters, and predefined types. The parser,
// the builder, the printer, the manual and the messages use the same table, which is generated from
// ucd.h.
#pragma once

#include <ucd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ucdtool {

class Arguments;

enum class Part : uint8_t {
    number,
    list,
    type,
    types,
    order,
    distributions,
    distribution_args,
    path
};

struct Parameter {
    const char *name;
    Part part;
};

struct Constructor {
    const char *name;
    const char *meaning; // a sentence that says what it makes
    std::span<const Parameter> parameters;
    ucd::Type (*make)(const Arguments &);
};

// Those of ucd.h in its order, then the language's own.
std::span<const Constructor> constructors();
const Constructor *constructor_named(std::string_view name); // null if there is none

struct PredefinedName {
    const char *name; // the constant's name without UCD_TYPE__, in lower case
    ucd_type_t type;
};

// Ordered by value.
std::span<const PredefinedName> predefined_names();
const PredefinedName *predefined_named(std::string_view name); // null if there is none
const char *name_of(ucd_type_t predefined);

// All names of constructors and predefined types.
std::vector<std::string> words_of_the_language();

} // namespace ucdtool
