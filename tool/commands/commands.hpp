// The commands of the tool.
#pragma once

#include "commands/command.hpp"

#include <vector>

namespace ucdtool {

Command describe_command();
Command pack_command();
Command unpack_command();
Command copy_command();
Command info_command();
Command flatten_command();
Command unflatten_command();
// These two print data of all commands. `all` must be complete when they run.
Command completion_command(const std::vector<Command> &all);
Command manual_command(const std::vector<Command> &all);

} // namespace ucdtool
