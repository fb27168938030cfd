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

// Numbers that may take long, whatever the element is: ordinary ones, denormals, NaNs, infinities,
// zeros; of x87's, also unnormals, pseudo-denormals, pseudo-infinities and pseudo-NaNs. `one` says
// which for the first part of each element, `other` for its second part.
constexpr int patterns = 9;
std::string numbers(std::uintptr_t size, std::size_t elements, int one, int other, bool flips) {
    struct X87 {
        std::uint64_t mantissa;
        std::uint16_t exponent;
    };
    const X87 x87[patterns] = {{0xc000000000000123, 0x3fff}, {0x0000000000000123, 0},
                               {0xc000000000000001, 0x7fff}, {0x8000000000000000, 0x7fff},
                               {0, 0},                       {0x4000000000000001, 0x3fff},
                               {0x8000000000000001, 0},      {0x0000000000000000, 0x7fff},
                               {0xa000000000000001, 0x7fff}};
    const unsigned char highest[patterns] = {0x3c, 0x00, 0x7f, 0x7c, 0x80, 0x01, 0xff, 0xfc, 0x7e};
    const bool is_x87 = size == 16 || size == 20 || size == 32;
    const std::uintptr_t part = size == 32 ? 16 : size == 12 ? 8 : size == 6 ? 2 : size == 8 ? 4 : size;
    std::string all(size * elements, '\0');
    for (std::size_t e = 0; e < elements; ++e)
        for (std::uintptr_t at = 0; at < size; at += part) {
            char *const to = &all[e * size + at];
            const int pattern = at == 0 ? one : other;
            const bool negative = flips && e % 3 == 1;
            if (is_x87 && at + 16 <= size) {
                std::memcpy(to, &x87[pattern].mantissa, 8);
                std::memcpy(to + 8, &x87[pattern].exponent, 2);
                if (negative) to[9] = static_cast<char>(to[9] ^ 128);
                if (size == 20) break;
            } else {
                const std::uintptr_t bytes = std::min(part, size - at);
                to[0] = static_cast<char>(e * 7 + 1);
                to[bytes - 1] = static_cast<char>(highest[pattern] ^ (negative ? 128 : 0));
            }
        }
    return all;
}

} // namespace

TEST_CASE("what ops take for each element, in ns, and their weights", "[.]") {
    const DeviceSession session;
    visit_supported([&](ucd_type_t type, int op, bool supported) {
        if (!supported) return;
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "ucd_get_size");
        const std::size_t elements = 256;
        double most = 0;
        int slowest = 0;
        for (int n = 0; n < patterns * patterns * patterns * patterns; ++n) {
                if (size < 12 && size != 8 && n >= patterns * patterns) break;
                const int one = n % patterns, other = n / patterns % patterns;
                const std::string from = numbers(size, elements, one, n / patterns / patterns % patterns, false), to = numbers(size, elements, other, n / patterns / patterns / patterns, true);
                std::intptr_t extent, lb;
                ok(ucd_get_extent(type, &lb, &extent), "extent");
                std::vector<char> target(elements * static_cast<std::size_t>(extent));
                std::uintptr_t moved;
                double least = 1e9;
                for (int i = 0; i < 3; ++i) {
                    ok(ucd_unpack(to.data(), to.size(), target.data(), elements, type, 0, &moved, UCD_INFO__NULL, UCD_OP__REPLACE), "unpack");
                    least = std::min(least, cpu_seconds_of([&] { ok(ucd_unpack(from.data(), from.size(), target.data(), elements, type, 0, &moved, UCD_INFO__NULL, op), "unpack"); }));
                }
                if (least > most) most = least, slowest = n;
            }
        char name[64] = "";
        std::printf("%3d size %2d op %2d: %8.2f ns, weight %8.2f (%04d)\n", int(reinterpret_cast<std::uintptr_t>(type)), int(size), op, most / elements * 1e9, ucd_ucx::weight_of_op(type, op) / 1.0, slowest);
        (void)name;
    });
}

} // namespace op_steps_test
