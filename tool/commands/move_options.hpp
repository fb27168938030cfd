// Options that pack, unpack and copy have in common.
#pragma once

#include "commands/command.hpp"
#include "files/typed_file.hpp"

#include <ucd.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace ucdtool {

struct MoveOptions {
    std::string op = "replace", progress = "auto";
    unsigned threads = 1;
    bool verbose = false, sync = false;

    void add_to(Command &command);
    ucd_op_t operation() const;
    ucd::Info hints() const;
};

// Adds --type, --slice, --count and --origin, with `prefix` before the names.
void add_layout_options(Command &command, LayoutOptions &options, const std::string &prefix,
                        const std::string &of);

// A range of the packed stream.
struct StreamPart {
    uint64_t offset = 0;
    std::optional<uint64_t> bytes;

    void add_to(Command &command);
};

// The bytes that one call moves; then the progress bar is updated.
inline constexpr uint64_t chunk_bytes = uint64_t{32} << 20;

} // namespace ucdtool
