// Hints are parsed and checked when they are set.
#pragma once

#include "memory.h"
#include "move.h"
#include "status.h"
#include "support/handles.h"

#include <ucd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ucd {

// A buffer's memory as a hint gives it. The backend is looked up by its name in each call, except
// that a thread remembers what its last hints meant.
struct LocationHint {
    MemoryKind kind = MemoryKind::host;
    std::string backend; // for device memory
    int32_t device = 0;
    uint64_t number = 0; // unique for each text that was parsed; 0: none was

    friend bool operator==(const LocationHint &a, const LocationHint &b) {
        return a.kind == b.kind && a.backend == b.backend && a.device == b.device;
    }
};

struct Info {
    std::optional<std::vector<std::string>> backends; // ucd.backends
    std::optional<bool> host_only;                    // ucd.gpu=none
    std::optional<bool> peers;                        // ucd.peers
    std::optional<LocationHint> inbuf, outbuf;
    std::optional<Engine> engine;
    std::optional<uint32_t> max_blocks, threads;
    std::optional<uint64_t> list_memory;   // ucd.list_memory
    std::optional<bool> checks_handles;    // ucd.check
    std::optional<bool> reads_environment; // ucd.environment
    std::optional<uint64_t> ze_context;
    // Both buffers are in the host's memory, and no other hint says how the host moves data.
    bool names_host_only = false;
    // The values of all keys as they were set, known keys or not, sorted by key.
    std::vector<std::pair<std::string, std::string>> texts;
};

// What a user's handle points to.
struct UserInfo : Info {
    HandleEntry entry;
};
inline UserInfo *info_of(ucd_info_t handle) {
    return reinterpret_cast<UserInfo *>(handle);
}

// Sets the text of a key and, if it is a key of libucd, its hint (set_hint).
Status set_text(Info &info, std::string_view key, std::string_view value);
// The value that a key was set to, or null.
const std::string *find_text(const Info &info, std::string_view key);

// The hints that apply to a call: those of its info, and the environment's for keys that the info
// does not set.
struct Hints {
    bool host_only = false;
    bool peers = true; // devices may use each other's memory
    const LocationHint *inbuf = nullptr, *outbuf = nullptr;
    Limits limits;
};

// Overrides the hints that `info` sets and keeps the others.
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
