// ucd_unflatten on any bytes: a type or CORRUPT or NOT_SUPPORTED, and a type works in every way.
// Total size and checksum are set right first, since nothing gets behind them by chance.
#include "target.hpp"

#include "support/moves/exercise.hpp"

#include <stdexcept>
#include <string>

using namespace ucdtest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::start_library();
    FlatBytes bytes(data, data + size);
    seal(bytes);
    detail::Handle made;
    const int rc = ucd_unflatten(&made.type, bytes.data(), bytes.size());
    const bool refused = rc == UCD_ERR__CORRUPT || rc == UCD_ERR__NOT_SUPPORTED;
    if ((rc == UCD_SUCCESS) == (made.type == UCD_TYPE__NULL) || (rc != UCD_SUCCESS && !refused))
        throw std::logic_error("ucd_unflatten returned " + std::to_string(rc) + ": " +
                               ucd_last_error());
    if (rc != UCD_SUCCESS) return 0;
    ++fuzz::accepted;
    exercise(made.type, size * 0x9e3779b97f4a7c15u >> 8);
    return 0;
}
