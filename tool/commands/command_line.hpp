// Parses the program's arguments according to its commands.
#pragma once

#include "commands/command.hpp"

#include <string>
#include <vector>

namespace ucdtool {

struct Program {
    std::string name, version, description, footer;
    std::vector<Command> commands;
};

// Stores the arguments in the targets of the command that they name, and returns the command. If
// they ask for help or the version, prints that and returns null. Throws Failure with Exit::usage.
const Command *read_command_line(int argc, const char *const *argv, const Program &program);

} // namespace ucdtool
