#include "common/keys.h"

#include "edit_distance.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace ucd_ucx {
namespace {

using ucd_base::edit_distance;

constexpr std::string_view key_prefix = "ucd.ucx.";

constexpr std::string_view known_keys[] = {
    "ucd.ucx.chunk",
    "ucd.ucx.depth",
    "ucd.ucx.direct",
    "ucd.ucx.direct_bytes",
    "ucd.ucx.eager",
    "ucd.ucx.form",
    "ucd.ucx.iov_entries",
    "ucd.ucx.iov_segment",
    "ucd.ucx.pack",
    "ucd.ucx.peer_memory",
    "ucd.ucx.peers_memory",
    "ucd.ucx.ring",
    "ucd.ucx.ring_chunk",
    "ucd.ucx.ring_depth",
    "ucd.ucx.ring_expose",
    "ucd.ucx.ring_staging",
    "ucd.ucx.rma.peer_operations",
    "ucd.ucx.rma.types",
    "ucd.ucx.staging",
    "ucd.ucx.timeout",
};

Status fail_key(std::string_view key) {
    const auto *nearest =
        std::min_element(std::begin(known_keys), std::end(known_keys), [key](auto a, auto b) {
            return edit_distance(key, a) < edit_distance(key, b);
        });
    return fail(UCD_ERR__INVALID_ARG, "info has \"%.100s\", which is no key; the nearest is %s",
                key.data(), nearest->data());
}

} // namespace

Status check_keys(ucd_info_t info, KeyFound found, void *argument) {
    if (info == UCD_INFO__NULL) return success;
    for (uintptr_t n = 0;; ++n) {
        char key[64]; // all keys of libucd-ucx are shorter
        uintptr_t needed;
        const int rc = ucd_info_get_nthkey(info, n, key, sizeof key, &needed);
        if (rc == UCD_SUCCESS && needed == 0) return success;
        if (rc == UCD_ERR__TRUNCATED) {
            // own: the program's info
            std::vector<char> whole(needed);
            UCD_TRY(ucd_ok(ucd_info_get_nthkey(info, n, whole.data(), whole.size(), &needed)));
            if (std::string_view(whole.data()).starts_with(key_prefix))
                return fail_key(whole.data());
            continue;
        }
        UCD_TRY(ucd_ok(rc));
        if (!std::string_view(key).starts_with(key_prefix)) continue;
        if (std::find(std::begin(known_keys), std::end(known_keys), key) == std::end(known_keys))
            return fail_key(key);
        if (found != nullptr) UCD_TRY(found(info, key, argument));
    }
}

} // namespace ucd_ucx
