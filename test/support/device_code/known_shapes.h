// What the tests' kernels know of plans: shapes, which are numbered from 1. For kernels of GPUs and
// for threads of the CPU, after ucd_device.h with its device code.
#pragma once

#include <ucd_device.h>

#include <cstdint>

namespace ucdtest {

template <unsigned word_bytes, ucd::device::Level... levels>
struct Shape {
    static constexpr unsigned word = word_bytes;
};

template <class... All>
struct ShapeList {
    static constexpr std::uint32_t count = sizeof...(All);
};

using KnownShapes =
    ShapeList<Shape<16>, Shape<16, ucd::device::strided>, Shape<8, ucd::device::strided>,
              Shape<4, ucd::device::strided>, Shape<2, ucd::device::strided>,
              Shape<1, ucd::device::strided>, Shape<8, ucd::device::strided, ucd::device::strided>,
              Shape<4, ucd::device::strided, ucd::device::strided, ucd::device::strided>,
              Shape<2, ucd::device::strided, ucd::device::strided, ucd::device::strided>,
              Shape<1, ucd::device::strided, ucd::device::strided, ucd::device::strided,
                    ucd::device::strided>,
              Shape<8, ucd::device::indexed_block>, Shape<1, ucd::device::indexed_block>,
              Shape<4, ucd::device::indexed>, Shape<1, ucd::device::indexed>,
              Shape<1, ucd::device::strided, ucd::device::indexed_block, ucd::device::strided>,
              Shape<1, ucd::device::indexed, ucd::device::strided>>;

// Calls visitor.visit<word, levels...>() of the shape with that number.
template <class Visitor, unsigned word, ucd::device::Level... levels>
void visit_one(const Visitor &visitor, Shape<word, levels...>) {
    visitor.template visit<word, levels...>();
}
template <class Visitor, class... All>
void visit_shape(std::uint32_t number, const Visitor &visitor, ShapeList<All...>) {
    std::uint32_t at = 1;
    ((at++ == number ? visit_one(visitor, All()) : void()), ...);
}
template <class Visitor>
void visit_shape(std::uint32_t number, const Visitor &visitor) {
    visit_shape(number, visitor, KnownShapes());
}

// What run_on_device's program has for the test itself.
struct FitsVisitor {
    const ucd_device_plan_t &plan;
    std::uint32_t &word;
    template <unsigned width, ucd::device::Level... levels>
    void visit() const {
        word = ucd::device::fits<width, levels...>(plan) ? width : 0;
    }
};
inline std::uint32_t word_of_fitting(std::uint32_t number, const ucd_device_plan_t &plan) {
    std::uint32_t word = 0;
    visit_shape(number, FitsVisitor{plan, word});
    return word;
}

} // namespace ucdtest
