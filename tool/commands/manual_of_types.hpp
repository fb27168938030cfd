// The man page ucd-type(7), generated from the constructors and predefined types of the language.
#pragma once

#include <string>

namespace ucdtool {

std::string manual_of_types();

} // namespace ucdtool
