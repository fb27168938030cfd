// Standard output, and files written whole.
#pragma once

#include <string>
#include <string_view>

namespace ucdtool {

// Writes to standard output; throws Failure if that is closed or full.
void print(std::string_view text);

// Writes the file, or standard output for "-".
void write_output(const std::string &path, std::string_view bytes);

// Whether to colour standard output, by auto, always or never: auto means a terminal that wants it.
bool wants_color(const std::string &choice);

} // namespace ucdtool
