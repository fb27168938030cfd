// The info keys ucd.ucx.*.
#pragma once

#include "common/failure.h"

#include <chrono>
#include <cstdint>

namespace ucd_ucx {

// Whether peers are trusted, so that a receiver may read its sender's memory.
enum class Trust : uint8_t { // in the order of the key's words
    none,
    full,   // reads it where that is faster
    always, // reads it wherever that is possible: for tests and measurements
};

// Who packs and unpacks large messages of host memory.
enum class Packing : uint8_t { // in the order of the key's words
    automatic,                 // whichever is faster with the transport
    chunks,                    // the pipeline, in memory for chunks
    ucx,                       // callbacks that UCX calls for each fragment, in UCX's buffers
};

// The options of a transfer. docs/measurements/findings.md says how the defaults were measured.
struct TransferOptions {
    static constexpr uint64_t unset = UINT64_MAX, usual_depth = 4;
    uint64_t eager_or(uint64_t by_default) const { return eager == unset ? by_default : eager; }
    uint64_t eager = unset; // the default depends on memory and network
    uint64_t chunk_or(uint64_t by_default) const { return chunk == unset ? by_default : chunk; }
    uint64_t chunk = unset; // same
    Packing packing = Packing::automatic;
    constexpr uint64_t depth_or(uint64_t by_default) const {
        return depth == unset ? by_default : depth;
    }
    uint64_t depth = unset; // the default is usual_depth, or more for slow networks
    // For transfers between devices:
    bool ring = true;
    uint64_t ring_chunk = 8 << 20;
    uint64_t ring_depth = 8;
    bool ring_expose = true; // contiguous data is exposed in place
    Trust direct = Trust::none;
    uint64_t direct_or(uint64_t by_default) const {
        return direct_bytes == unset ? by_default : direct_bytes;
    }
    uint64_t direct_bytes = unset; // shorter messages take other routes
    // The transfer fails if none of its data moves for this long; 0 means never.
    std::chrono::nanoseconds timeout{0};
};
inline constexpr uint64_t max_chunk = uint64_t{1} << 30, max_depth = 1024;

class OwnedInfo;

// INVALID_ARG if `info` has a key that begins with libucd-ucx's prefix but does not exist. Other
// keys are ignored, since they belong to libucd or to other libraries.
Status check_keys(ucd_info_t info);
// Same, and reads those of TransferOptions. Options whose keys are not set do not change.
Status read_transfer_options(ucd_info_t info, TransferOptions &options);
// Copies the keys of TransferOptions.
Status copy_transfer_options(ucd_info_t from, OwnedInfo &to);
// Reads a whole number from `least` to `most`. If the key is not set, `number` does not change.
Status read_number(ucd_info_t info, const char *key, uint64_t least, uint64_t most,
                   uint64_t &number);

// In the order of the key's words.
enum class DatatypeForm : uint8_t { automatic, contiguous, iov, generic };

// UCX has no limit of its own: it cuts a list into as many operations as the transport needs. This
// bounds the memory of the list.
inline constexpr uint64_t max_iov_entries = 1 << 20;

struct PrepareOptions {
    DatatypeForm form = DatatypeForm::automatic;
    uint64_t iov_segment = 3 << 10;         // iov needs at least this mean segment length
    uint64_t iov_entries = max_iov_entries; // and has at most this many segments
};

Status read_prepare_options(ucd_info_t info, PrepareOptions &options);

} // namespace ucd_ucx
