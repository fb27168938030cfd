// Bytes as a small program of constructors: an instruction takes types from a stack and puts one
// there. So an engine that changes a byte changes an argument, and what it finds is guided by the
// code that the argument reaches.
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/oracle/type_map.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ucdtest::fuzz {

// The bytes that are left; zeros behind the end.
class Input {
public:
    Input(const std::uint8_t *data, std::size_t size) : at_(data), end_(data + size) {}

    bool more() const { return at_ < end_; }
    std::uint8_t byte() { return more() ? *at_++ : 0; }
    // At most 32, mostly at most 16; now and then up to 255.
    std::intptr_t count();
    // Of either sign, mostly below 64; now and then up to 8,000.
    std::intptr_t distance();
    // Of 0 to limit.
    std::size_t up_to(std::size_t limit);

private:
    const std::uint8_t *at_, *end_;
};

struct ProgramType {
    RecipePtr recipe;
    std::shared_ptr<const TypeMap> map;
};

// So much that walking it byte by byte is cheap, and that lists of lists have more segments than
// the library writes out as one list.
inline constexpr std::size_t max_program_bytes = 8192;
inline constexpr std::intptr_t max_program_span = 32768;

// Reads instructions up to one that ends the program, and returns what lies on the stack, the last
// on top: at least one type. Instructions whose type would be too large do nothing.
std::vector<ProgramType> read_program(Input &input);

} // namespace ucdtest::fuzz
