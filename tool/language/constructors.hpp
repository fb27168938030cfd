// The words of the language: constructors with their parameters, and predefined types. The parser,
// the printer and the messages use the same table.
#pragma once

#include <ucd.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ucdtool {

enum class Kind : uint8_t {
    contig,
    dup,
    vector,
    hvector,
    indexed_block,
    hindexed_block,
    indexed,
    hindexed,
    structure,
    subarray,
    darray,
    ndarray,
    resized,
    bounds,    // like resized, but not explicit
    aligned,   // another alignment
    element,   // an element representation that no predefined type has on this machine
    flattened, // a file written by ucd_flatten
};

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
    Kind kind;
    const char *name;
    std::span<const Parameter> parameters;
};

const Constructor *constructor_named(std::string_view name); // null if there is none
const Constructor &constructor_of(Kind kind);

struct PredefinedName {
    const char *name; // the constant's name without UCD_TYPE__, in lower case
    ucd_type_t type;
};

std::span<const PredefinedName> predefined_names();
const PredefinedName *predefined_named(std::string_view name); // null if there is none
const char *name_of(ucd_type_t predefined);

// All names of constructors and predefined types.
std::vector<std::string> words_of_the_language();

} // namespace ucdtool
