// The program's arguments, read as its commands say.
#pragma once

#include "commands/command.hpp"

#include <string>
#include <vector>

namespace ucdtool {

struct Program {
    std::string name, version, description, footer;
    std::vector<Command> commands;
};

// Reads the arguments into the targets of the command that they name, and returns the command; null
// if help or the version was asked for, which is printed. Throws Failure with Exit::usage.
const Command *read_command_line(int argc, const char *const *argv, const Program &program);

} // namespace ucdtool
