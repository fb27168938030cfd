// The subcommands: each adds its arguments and what they do.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>

namespace ucdtool {

// What a number of bytes or types may be. Not CLI::NonNegativeNumber, whose message has the digits
// of the largest double.
inline CLI::Range any_number() {
    return {uint64_t{0}, uint64_t{INT64_MAX}, "NONNEGATIVE"};
}

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
