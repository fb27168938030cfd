// From a type to its canonical layouts.
#pragma once

#include "layout.h"
#include "type.h"

#include <vector>

namespace ucd {

// Where the type's bytes lie in memory, whatever they are. `trace`, if given, receives the names of
// the rewrites that led there.
Layout lower_to_layout(const Type &type, std::vector<const char *> *trace = nullptr);

// What the type's packed stream is made of: the layout of that stream over itself, its blocks
// marked with their element.
Layout lower_to_elements(const Type &type);

} // namespace ucd
