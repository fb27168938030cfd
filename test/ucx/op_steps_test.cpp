// The weights by which the ledger counts the steps of reductions.

#include "common/ledger.h"
#include "datatype/op_steps.h"
#include "support/device_test.hpp"
#include "ucx/attacker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

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
    const X87 x87[patterns] = {{0xc000000000000123, 0x3fff},
                               {0x0000000000000123, 0},
                               {0xc000000000000001, 0x7fff},
                               {0x8000000000000000, 0x7fff},
                               {0, 0},
                               {0x4000000000000001, 0x3fff},
                               {0x8000000000000001, 0},
                               {0x0000000000000000, 0x7fff},
                               {0xa000000000000001, 0x7fff}};
    const unsigned char highest[patterns] = {0x3c, 0x00, 0x7f, 0x7c, 0x80, 0x01, 0xff, 0xfc, 0x7e};
    const bool is_x87 = size == 16 || size == 20 || size == 32;
    const std::uintptr_t part = size == 32   ? 16
                                : size == 12 ? 8
                                : size == 6  ? 2
                                : size == 8  ? 4
                                             : size;
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

DEVICE_TEST("each element and op has a weight, by which its steps are counted") {
    using ucd_ucx::steps_of_op, ucd_ucx::weight_of_op;
    int pairs = 0;
    visit_supported([&](ucd_type_t type, int op, bool supported) {
        INFO("type " << reinterpret_cast<std::uintptr_t>(type) << ", op " << op);
        const std::uint64_t weight = weight_of_op(type, op);
        pairs += supported;
        CHECK((weight > 0 || !supported));
        CHECK(steps_of_op(type, 4, op, 4000) == 1000 * weight / 8);
        CHECK(weight_of_op(type, UCD_OP__REPLACE) == 0);
    });
    CHECK(pairs > 300);
    const ucd_type_t slow = UCD_TYPE__C_LONG_DOUBLE_COMPLEX;
    CHECK(weight_of_op(UCD_TYPE__NULL, UCD_OP__SUM) == 0);
    CHECK(weight_of_op(slow, UCD_OP__PROD) > 10 * weight_of_op(UCD_TYPE__DOUBLE, UCD_OP__PROD));
    CHECK(steps_of_op(slow, 0, UCD_OP__PROD, 1000) == 0);
    CHECK(steps_of_op(slow, 32, UCD_OP__PROD, UINT64_MAX) > uint64_t{1} << 48);
}

// Run this by its name after a kernel has changed.
DEVICE_TEST("what an op takes for each element, in nanoseconds, beside its weight", "[.]") {
    visit_supported([&](ucd_type_t type, int op, bool supported) {
        if (!supported) return;
        std::uintptr_t size, moved;
        std::intptr_t lowest, extent;
        ok(ucd_get_size(type, &size), "ucd_get_size");
        ok(ucd_get_extent(type, &lowest, &extent), "ucd_get_extent");
        // The parts of long double complex numbers are of all kinds.
        const bool has_parts = size == 32;
        const std::size_t elements = has_parts ? 256 : 2048;
        std::vector<char> target(elements * static_cast<std::size_t>(extent));
        double most = 0;
        for (int n = 0; n < patterns * patterns * (has_parts ? patterns * patterns : 1); ++n) {
            const int a = n % patterns, b = n / patterns % patterns;
            const int c = has_parts ? n / patterns / patterns % patterns : a;
            const int d = has_parts ? n / patterns / patterns / patterns : b;
            const std::string from = numbers(size, elements, a, c, false);
            const std::string to = numbers(size, elements, b, d, true);
            const auto combine = [&](const std::string &data, ucd_op_t by) {
                ok(ucd_unpack(data.data(), data.size(), target.data(), elements, type, 0, &moved,
                              UCD_INFO__NULL, by),
                   "ucd_unpack");
            };
            double least = 1;
            for (int i = 0; i < 3; ++i) {
                combine(to, UCD_OP__REPLACE);
                least = std::min(least, cpu_seconds_of([&] { combine(from, op); }));
            }
            most = std::max(most, least);
        }
        std::printf("type %2d op %2d: %7.1f ns, weight %4u\n",
                    static_cast<int>(reinterpret_cast<std::uintptr_t>(type)), op,
                    1e9 * most / static_cast<double>(elements), ucd_ucx::weight_of_op(type, op));
    });
}

} // namespace op_steps_test
