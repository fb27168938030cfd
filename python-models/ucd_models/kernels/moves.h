// Members as kernels want them, made of what the Python side says.
#pragma once

#include "host.h"

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ucd_models {

// size, stride of the source, stride of the target, block, phase, stride of the scales.
using DigitText = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
// table, whether it has 64 bits, whether pages are dense, page, inner, start, step, page_stride,
// outer_stride, inner_stride.
using PagedText =
    std::tuple<uint64_t, bool, bool, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
// tokens, source, target, whose pages have the scales (-1: none), bytes from page to page and from
// token to token there.
using TokensText = std::tuple<int64_t, PagedText, PagedText, int32_t, int64_t, int64_t>;
// source, target, dimensions, address of the scales or 0, the scale if that is 0, tokens.
using MemberText = std::tuple<uint64_t, uint64_t, std::vector<DigitText>, uint64_t, double,
                              std::optional<TokensText>>;

struct Moves {
    Kind kind;
    std::vector<Member> members;
    uint32_t vector = 1; // elements that a thread moves at once
};

// Raises std::invalid_argument for what has no kernel.
Moves moves_of(Kind kind, const std::vector<MemberText> &members);

// The instruction sets that the processor has, the best one last.
std::vector<std::string> instruction_sets();

// set: one of them; empty: the best one.
void run_on_host(const Moves &moves, const std::string &set);

} // namespace ucd_models
