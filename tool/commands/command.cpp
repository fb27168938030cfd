#include "commands/command.hpp"

namespace ucdtool {

std::vector<std::string> CommandArgument::each_name() const {
    std::vector<std::string> each;
    for (std::size_t at = 0; at <= names.size();) {
        const std::size_t end = std::min(names.find(',', at), names.size());
        each.push_back(names.substr(at, end - at));
        at = end + 1;
    }
    return each;
}

std::vector<CommandArgument> Command::positionals() const {
    std::vector<CommandArgument> found;
    for (const CommandArgument &a : arguments)
        if (a.is_positional()) found.push_back(a);
    return found;
}

std::vector<CommandArgument> Command::options() const {
    std::vector<CommandArgument> found = {{"-h,--help", {}, "Print this help message and exit"}};
    for (const CommandArgument &a : arguments)
        if (!a.is_positional()) found.push_back(a);
    return found;
}

} // namespace ucdtool
