// Which reductions the GPU backends have kernels for. What the kernels do:
// device_reductions_test.cpp.
#include "kernels/reduce_kernels.h"

#include "support/catch.hpp"

namespace gpu_reduce_kernels_test {

using namespace ucd;
using namespace ucd::hostgpu;

TEST_CASE("devices reduce what the contract defines, but for long double") {
    const Element long_doubles[] = {Element::x87_80,         Element::binary128,
                                    Element::complex_x87_80, Element::complex_binary128,
                                    Element::x87_80_int32,   Element::binary128_int32};
    for (int o = 1; o < static_cast<int>(Op::count_); ++o)
        for (int e = 0; e < static_cast<int>(Element::count_); ++e) {
            const auto op = static_cast<Op>(o);
            const auto element = static_cast<Element>(e);
            INFO("op " << o << ", element " << e);
            bool expected = is_reduction(op) && (defined_ops(element) & op_bit(op)) != 0;
            for (const Element long_double : long_doubles)
                expected = expected && element != long_double;
            CHECK((reduce_kernel(op, element) != nullptr) == expected);
        }
}

} // namespace gpu_reduce_kernels_test
