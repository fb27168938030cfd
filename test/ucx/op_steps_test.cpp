// The weights by which the ledger counts the steps of reductions.

#include "common/ledger.h"
#include "datatype/op_steps.h"
#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "ucx/attacker.hpp"

#include <cstring>
#include <iomanip>
#include <limits>

namespace op_steps_test {

using namespace ucdtest;

namespace {

constexpr std::uintptr_t last_handle = 62; // of predefined types

template <class Visit>
void visit_supported(Visit &&visit) {
    for (std::uintptr_t handle = 1; handle <= last_handle; ++handle)
        for (int op = UCD_OP__MAX; op <= UCD_OP__MINLOC; ++op) {
            const auto type = reinterpret_cast<ucd_type_t>(handle);
            int supported = 0;
            ok(ucd_op_is_supported(op, type, "seq", &supported), "ucd_op_is_supported");
            visit(type, op, supported != 0);
        }
}

// Bytes that are slow numbers, whatever the element is: `pattern` chooses ordinary ones, denormals,
// NaNs, infinities, or for an x87 number unnormals, pseudo-denormals and pseudo-NaNs.
constexpr int patterns = 10;
std::string numbers(std::uintptr_t size, std::size_t elements, int pattern, int which) {
    std::string all(size * elements, '\0');
    const std::uint64_t mantissas[patterns] = {0xc000000000000000, 1, 0xc000000000000001,
                                               0x8000000000000000, 0x4000000000000001,
                                               0x8000000000000001, 0x1234567, 0, 0xa000000000000001, 0x8000000000000000};
    const std::uint16_t exponents[patterns] = {0x3fff, 0, 0x7fff, 0x7fff, 0x3fff,
                                               0,      0x7fff, 0x3fff, 0x7fff, 0x7ffe};
    if (size == 16 || size == 20 || size == 32) { // x87 numbers, perhaps with something behind
        for (std::size_t e = 0; e < elements; ++e)
            for (std::uintptr_t at = 0; at + 16 <= size; at += 16) {
                std::memcpy(&all[e * size + at], &mantissas[pattern], 8);
                std::memcpy(&all[e * size + at + 8], &exponents[pattern], 2);
                if (e % 3 == 1 && which == 1) all[e * size + at + 9] ^= '\x80';
            }
        return all;
    }
    const char bytes[patterns] = {0x3c, 0, '\x7f', 0x7c, 1, '\xff', '\xfc', '\x80', 0x7b, 0x55};
    for (std::size_t e = 0; e < elements; ++e)
        for (std::uintptr_t at = 0; at < size; ++at)
            all[e * size + at] = (at + 1) % (size % 8 == 4 && size > 4 ? 4 : std::min<std::uintptr_t>(size, 8)) == 0 || at + 1 == size ? bytes[pattern] : static_cast<char>(e * 7 + static_cast<unsigned>(which));
    return all;
}

} // namespace

TEST_CASE("what ops take for each element, in ns, and their weights", "[.]") {
    const DeviceSession session;
    visit_supported([&](ucd_type_t type, int op, bool supported) {
        if (!supported) return;
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "ucd_get_size");
        const std::size_t elements = 2048;
        double most = 0;
        int slowest = 0;
        for (int one = 0; one < patterns; ++one)
            for (int other = 0; other < patterns; ++other) {
                const std::string from = numbers(size, elements, one, 0), to = numbers(size, elements, other, 1);
                std::intptr_t extent, lb;
                ok(ucd_get_extent(type, &lb, &extent), "extent");
                std::vector<char> target(elements * static_cast<std::size_t>(extent));
                std::uintptr_t moved;
                double least = 1e9;
                for (int i = 0; i < 3; ++i) {
                    ok(ucd_unpack(to.data(), to.size(), target.data(), elements, type, 0, &moved, UCD_INFO__NULL, UCD_OP__REPLACE), "unpack");
                    least = std::min(least, cpu_seconds_of([&] { ok(ucd_unpack(from.data(), from.size(), target.data(), elements, type, 0, &moved, UCD_INFO__NULL, op), "unpack"); }));
                }
                if (least > most) most = least, slowest = one * patterns + other;
            }
        char name[64] = "";
        std::printf("%3d size %2d op %2d: %8.2f ns, weight %8.2f (%02d)\n", int(reinterpret_cast<std::uintptr_t>(type)), int(size), op, most / elements * 1e9, ucd_ucx::weight_of_op(type, op) / 1.0, slowest);
        (void)name;
    });
}

} // namespace op_steps_test
