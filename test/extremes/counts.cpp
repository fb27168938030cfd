// Counts at the ends of 31, 32 and 63 bits, and many calls.
#include "arena.hpp"
#include "extremes.hpp"

#include "c_api/allocations.hpp"
#include "soak/memory_use.hpp"
#include "support/keys.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include <cstdio>

using namespace ucdtest;

namespace extremes {
namespace {

constexpr std::uint64_t two_31 = std::uint64_t{1} << 31, two_32 = std::uint64_t{1} << 32,
                        two_63 = std::uint64_t{1} << 63;

// That both buffers are on the device: what it is told by is the first byte of a type, which is in
// no memory here.
struct OnDevice : Keys {
    explicit OnDevice(bool on_device) {
        if (!on_device) return;
        for (const char *key : {"ucd.inbuf", "ucd.outbuf"})
            set(key, mock::backend.name + std::string(":0"));
    }
};

// Bytes so far from each other that the last ones alone are looked at: the buffer begins far in
// front of them.
void check_last_bytes(ucd_type_t type, std::uint64_t count, std::uint64_t bytes,
                      std::uint64_t distance, bool on_device) {
    Arena last(64, on_device), packed(8, on_device);
    last.fill<std::uint8_t>([](std::uint64_t i) { return byte(i, 1); });
    const std::uint64_t first =
        bytes - 8; // of the stream; it lies at displacement first * distance
    const auto address = reinterpret_cast<std::uintptr_t>(last.address()) - first * distance;
    must(pack_now(reinterpret_cast<const void *>(address), count, type, first, packed.address(),
                  100, OnDevice(on_device)) == 8,
         "a pack of the last bytes");
    packed.check<std::uint8_t>("the last bytes",
                               [&](std::uint64_t i) { return byte(i * distance, 1); });
    // The same by their segments.
    const std::uint64_t all = distance == 1 ? 1 : bytes, some = distance == 1 ? 1 : 8;
    const auto *const buffer = reinterpret_cast<const void *>(address);
    std::uintptr_t segments = 0, listed = 0, covered = 0;
    iovec entries[9];
    must(ucd_iov_len(count, type, &segments) == UCD_SUCCESS && segments == all, "ucd_iov_len");
    must(ucd_iov_bytes(buffer, count, type, first, 100, entries, 9, &listed, &covered) ==
                 UCD_SUCCESS &&
             listed == some && covered == 8 && entries[0].iov_base == last.address(),
         "ucd_iov_bytes");
    must(ucd_iov(buffer, count, type, all - some, entries, 9, &listed) == UCD_SUCCESS &&
             listed == some && (distance == 1 || entries[0].iov_base == last.address()),
         "ucd_iov");
}

void check_refused(ucd_type_t type, std::uint64_t count) {
    std::uintptr_t n = 0;
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    std::uint8_t nothing[1];
    must(ucd_iov_len(count, type, &n) == UCD_ERR__OVERFLOW, "ucd_iov_len of too many");
    must(ucd_get_layout(count, type, &layout) == UCD_ERR__OVERFLOW, "ucd_get_layout of too many");
    must(ucd_pack(nothing, count, type, 0, nothing, 1, &n, UCD_INFO__NULL, UCD_OP__REPLACE) ==
             UCD_ERR__OVERFLOW,
         "ucd_pack of too many");
    must(ucd_unpack(nothing, 1, nothing, count, type, 0, &n, UCD_INFO__NULL, UCD_OP__REPLACE) ==
             UCD_ERR__OVERFLOW,
         "ucd_unpack of too many");
}

} // namespace

void large_counts(std::uint64_t, bool on_device) {
    const BuiltType spread(recipes::resized(recipes::leaf(UCD_TYPE__BYTE), 0, 3));
    for (const std::uint64_t count :
         {two_31 - 1, two_31, two_31 + 1, two_32 - 1, two_32, two_32 + 1}) {
        check_last_bytes(UCD_TYPE__BYTE, count, count, 1, on_device);
        check_last_bytes(spread.get(), count, count, 3, on_device);
        const BuiltType contig(
            recipes::contig(static_cast<std::intptr_t>(count), recipes::leaf(UCD_TYPE__BYTE)));
        check_last_bytes(contig.get(), 1, count, 1, on_device);
        const BuiltType vector(recipes::vector(static_cast<std::intptr_t>(count), 1, 5,
                                               recipes::leaf(UCD_TYPE__BYTE)));
        check_last_bytes(vector.get(), 1, count, 5, on_device);
    }
    // Addresses of devices are not so far apart.
    if (!on_device) check_last_bytes(UCD_TYPE__BYTE, two_63 - 1, two_63 - 1, 1, false);
    for (const std::uint64_t count : {two_63, two_63 + 1, UINT64_MAX}) {
        check_refused(UCD_TYPE__BYTE, count);
        check_refused(spread.get(), count);
    }
    check_refused(spread.get(), two_63 - 1);
    // Of nothing, any number.
    const BuiltType nothing(recipes::contig(0, recipes::leaf(UCD_TYPE__INT)));
    std::uintptr_t segments = 1;
    for (const std::uint64_t count : {two_31, two_32, two_63 - 1, two_63, two_63 + 1, UINT64_MAX}) {
        must(ucd_iov_len(count, nothing.get(), &segments) == UCD_SUCCESS && segments == 0,
             "ucd_iov_len of nothing");
        must(pack_now(nullptr, count, nothing.get(), 0, nullptr, 0) == 0, "ucd_pack of nothing");
    }
    std::printf("counts at 2^31, 2^32 and 2^63\n");
}

void many_calls(std::uint64_t calls, bool on_device) {
    constexpr std::uint64_t elements = 512;
    const BuiltType type(recipes::vector(elements, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    Arena typed(2 * elements * 4, on_device), packed(elements * 4, on_device);
    typed.fill<std::uint32_t>(
        [](std::uint64_t i) { return static_cast<std::uint32_t>(word(i, 1)); });
    std::uint64_t allocations = 0, device = 0;
    for (std::uint64_t i = 0; i < calls; ++i) {
        if (i == calls / 10) {
            allocations = static_cast<std::uint64_t>(live_allocations());
            device = soak::device_memory_in_use();
        }
        ucd_request_t request = UCD_REQUEST__NULL;
        std::uintptr_t moved = 0;
        const int rc = ucd_ipack(typed.address(), 1, type.get(), 0, packed.address(), elements * 4,
                                 &moved, UCD_INFO__NULL, UCD_OP__REPLACE, &request);
        must(rc == UCD_SUCCESS && moved == elements * 4 && ucd_wait(&request) == UCD_SUCCESS,
             "a call");
    }
    packed.check<std::uint32_t>(
        "packed", [](std::uint64_t i) { return static_cast<std::uint32_t>(word(2 * i, 1)); });
    const auto grown =
        static_cast<std::int64_t>(live_allocations()) - static_cast<std::int64_t>(allocations);
    const auto grown_device =
        static_cast<std::int64_t>(soak::device_memory_in_use()) - static_cast<std::int64_t>(device);
    std::printf("%llu calls: %lld allocations and %lld of device memory more at the end than after "
                "a tenth of them\n",
                static_cast<unsigned long long>(calls), static_cast<long long>(grown),
                static_cast<long long>(grown_device));
    if (grown > 64 || grown_device > 2 << 20) throw std::runtime_error("calls leave memory behind");
}

} // namespace extremes
