// ucd_unflatten on any bytes: a type or CORRUPT or NOT_SUPPORTED, and a type works. Total size and
// checksum are set right first, since nothing gets behind them by chance.
//
// With libFuzzer, compile it and the library with clang++ -fsanitize=fuzzer,address,undefined;
// without, replay_main.cpp makes the inputs.
#include "support/moves/exercise.hpp"
#include "support/moves/flat_bytes.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// For replay_main.cpp: the inputs that became types.
std::size_t accepted_inputs = 0;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const int initialised = ucd_init(UCD_INFO__NULL);
    ucdtest::FlatBytes bytes(data, data + size);
    ucdtest::seal(bytes);
    ucdtest::detail::Handle made;
    const int rc = ucd_unflatten(&made.type, bytes.data(), bytes.size());
    const bool refused = rc == UCD_ERR__CORRUPT || rc == UCD_ERR__NOT_SUPPORTED;
    if (initialised != UCD_SUCCESS || (rc == UCD_SUCCESS) == (made.type == UCD_TYPE__NULL) ||
        (rc != UCD_SUCCESS && !refused)) {
        std::fprintf(stderr, "ucd_unflatten returned %d: %s\n", rc, ucd_last_error());
        std::abort();
    }
    if (rc != UCD_SUCCESS) return 0;
    ++accepted_inputs;
    // What it throws ends the process, as a fuzzer wants it.
    ucdtest::exercise(made.type, size * 0x9e3779b97f4a7c15u >> 8);
    return 0;
}
