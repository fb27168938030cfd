// Text for man pages.
#pragma once

#include <string>

namespace ucdtool {

// Escapes plain text for the source of a man page.
std::string roff(const std::string &text);

} // namespace ucdtool
