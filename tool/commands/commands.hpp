// The subcommands: each adds its arguments and what they do.
#pragma once

#include <CLI/CLI.hpp>

namespace ucdtool {

void add_describe(CLI::App &app);
void add_pack(CLI::App &app);
void add_unpack(CLI::App &app);
void add_copy(CLI::App &app);
void add_info(CLI::App &app);
void add_flatten(CLI::App &app);
void add_unflatten(CLI::App &app);
void add_completion(CLI::App &app);
void add_manual(CLI::App &app);

} // namespace ucdtool
