// The words of the language: constructors with their parameters, and predefined types. One table
// drives parser, builder, printer, manual and messages. It is made from ucd.h.
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
    const char *meaning; // in a sentence
    std::span<const Parameter> parameters;
    ucd::Type (*make)(const Arguments &);
};

// Those of ucd.h in its order, then the language's own.
std::span<const Constructor> constructors();
const Constructor *constructor_named(std::string_view name); // null if there is none

struct PredefinedName {
    const char *name; // that of the constant without UCD_TYPE__, in small letters
    ucd_type_t type;
};

// In the order of the values.
std::span<const PredefinedName> predefined_names();
const PredefinedName *predefined_named(std::string_view name); // null if there is none
const char *name_of(ucd_type_t predefined);

// The names of constructors and predefined types.
std::vector<std::string> words_of_the_language();

} // namespace ucdtool
