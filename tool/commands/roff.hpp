// Text in man pages.
#pragma once

#include <string>

namespace ucdtool {

// Plain text, whatever is in it, for the source of a man page.
std::string roff(const std::string &text);

} // namespace ucdtool
