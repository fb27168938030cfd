// Hints: parsed and checked when they are set.
#pragma once

#include "memory.h"
#include "move.h"
#include "status.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ucd {

// Where a hint says that a buffer is. Which backend that means is looked up per call.
struct LocationHint {
    MemoryKind kind = MemoryKind::host;
    std::string backend; // of device memory
    int32_t device = 0;
};

struct Info {
    std::optional<std::vector<std::string>> backends; // ucd.backends
    std::optional<bool> host_only;                    // ucd.gpu=none
    std::optional<bool> peers;                        // ucd.peers
    std::optional<LocationHint> inbuf, outbuf;
    std::optional<Engine> engine;
    std::optional<uint32_t> max_blocks, threads;
    std::optional<uint64_t> list_memory; // ucd.list_memory
    std::optional<uint64_t> ze_context;
    // Every key as it was set, known or not, in ascending order.
    std::vector<std::pair<std::string, std::string>> texts;
};

// Sets a key: the hint that it is, if it is one of libucd's (set_hint), and its text.
Status set_text(Info &info, std::string_view key, std::string_view value);
// The text that a key was set to, or null.
const std::string *find_text(const Info &info, std::string_view key);

// What a call goes by: its own info, and the environment's hints for what that leaves open.
struct Hints {
    bool host_only = false;
    bool peers = true; // devices may use each other's memory
    const LocationHint *inbuf = nullptr, *outbuf = nullptr;
    Limits limits;
};

// Replaces what `info` sets, and leaves the rest.
inline void apply(const Info &info, Hints &hints) {
    if (info.host_only) hints.host_only = *info.host_only;
    if (info.peers) hints.peers = *info.peers;
    if (info.inbuf) hints.inbuf = &*info.inbuf;
    if (info.outbuf) hints.outbuf = &*info.outbuf;
    if (info.threads) hints.limits.threads = *info.threads;
    if (info.max_blocks) hints.limits.max_blocks = *info.max_blocks;
    if (info.engine) hints.limits.engine = *info.engine;
}

} // namespace ucd
