#include "commands/roff.hpp"

namespace ucdtool {

// In roff, backslashes and a leading . or ' are commands, and - is a hyphen.
std::string roff(const std::string &text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
    return out;
}

} // namespace ucdtool
