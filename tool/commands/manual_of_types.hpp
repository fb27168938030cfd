// The man page ucd-type(7), made from the words of the language.
#pragma once

#include <string>

namespace ucdtool {

std::string manual_of_types();

} // namespace ucdtool
