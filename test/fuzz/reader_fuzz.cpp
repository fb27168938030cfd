// ucd_unflatten on any bytes, and nothing else: for speed. What it takes is freed; its bounds must
// be in order.
#include "target.hpp"

#include <stdexcept>
#include <string>

using namespace ucdtest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::start_library();
    static FlatBytes bytes;
    bytes.assign(data, data + size);
    seal(bytes);
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, bytes.data(), bytes.size());
    if (rc == UCD_ERR__CORRUPT || rc == UCD_ERR__NOT_SUPPORTED) {
        if (type != UCD_TYPE__NULL) throw std::logic_error("a refused type was set");
        return 0;
    }
    std::uintptr_t packed = 0;
    std::intptr_t low = 0, extent = -1;
    if (rc != UCD_SUCCESS || ucd_get_size(type, &packed) != UCD_SUCCESS ||
        ucd_get_true_extent(type, &low, &extent) != UCD_SUCCESS || extent < 0 ||
        packed > INTPTR_MAX || (packed > 0 && extent == 0) || ucd_free(&type) != UCD_SUCCESS)
        throw std::logic_error("ucd_unflatten returned " + std::to_string(rc) + ": " +
                               ucd_last_error());
    ++fuzz::accepted;
    return 0;
}
