// ucd_unflatten on any bytes: a type or CORRUPT or NOT_SUPPORTED, and a type works in every way.
// Total size and checksum are set right first, since nothing gets behind them by chance.
#include "subjects.hpp"
#include "target.hpp"

#include "support/moves/exercise.hpp"
#include "support/moves/listings.hpp"

#include <stdexcept>
#include <string>

using namespace ucdtest;

namespace {

// Where packing finds each byte: memory holds the low, then the high bytes of its own
// displacements.
ByteMap packed_places(Case &one, ucd_type_t type, std::intptr_t low, std::size_t extent,
                      std::size_t size) {
    ByteMap bytes(size, low);
    FlatBytes memory(extent + 1), packed(size + 1);
    for (const unsigned shift : {0u, 8u}) {
        for (std::size_t i = 0; i < extent; ++i) memory[i] = static_cast<std::uint8_t>(i >> shift);
        std::uintptr_t moved = 0;
        void *const buffer = reinterpret_cast<void *>(
            reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(low));
        one.succeed(ucd_pack(buffer, 1, type, 0, packed.data(), size, &moved, UCD_INFO__NULL,
                             UCD_OP__REPLACE),
                    "ucd_pack");
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] += static_cast<std::intptr_t>(packed[i]) << shift;
    }
    return bytes;
}

// All that is listed of a small type is what packing has, and one list of runs.
void check_listed(Case &one, ucd_type_t type) {
    std::uintptr_t size = 0, listed = 0, total = 0;
    std::intptr_t low = 0, extent = 0;
    one.succeed(ucd_get_size(type, &size), "ucd_get_size");
    one.succeed(ucd_get_true_extent(type, &low, &extent), "ucd_get_true_extent");
    if (size > fuzz::max_program_bytes || extent > 65536) return;
    Listed what{1, type, packed_places(one, type, low, static_cast<std::size_t>(extent), size), {}};
    one.succeed(ucd_get_element_runs(1, type, 0, nullptr, 0, &listed, &total),
                "ucd_get_element_runs");
    what.runs.resize(total);
    one.succeed(ucd_get_element_runs(1, type, 0, what.runs.data(), total, &listed, &total),
                "ucd_get_element_runs");
    check_listings(one, what);
}

} // namespace

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
    Case one = fuzz::case_of("unflatten", data, size);
    check_listed(one, made.type);
    exercise(made.type, size * 0x9e3779b97f4a7c15u >> 8);
    return 0;
}
