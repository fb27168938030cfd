// Kernels are given these structs, one for each part of a move: they say where its elements lie on
// both sides, and where their scales are. They are plain bytes, which are copied to devices.
#pragma once

#include "numbers.h"

namespace ucd_models {

constexpr uint32_t max_digits = 8;

// Divides numbers below 2^31.
struct Divisor {
    uint32_t by, magic, shift;
    UCD_MODELS_FUNCTION uint32_t operator()(uint32_t n) const {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
        return (static_cast<uint32_t>(uint64_t{n} * magic >> 32) + n) >> shift;
#else
        return n / by;
#endif
    }
};

// A dimension: of its index and those of all other dimensions, offsets are sums.
struct Digit {
    Divisor size;
    Divisor block;  // so many indices in a row have one scale
    uint32_t phase; // the index 0 is so far in its block
    uint32_t unused;
    int64_t stride[2]; // in bytes: source, target
    int64_t scale;     // bytes from a block's scale to the next one's
};

// The tokens of one side: token j is at start + j step of the pages that are listed.
struct Paged {
    uint64_t table; // of pages; those below 0 are left out
    uint32_t wide;  // whether its numbers have 64 bits
    uint32_t dense; // whether the pages lie in the order of the table, and its numbers only say
                    // which are there
    Divisor page;   // tokens of a page
    Divisor inner;  // of these so many are inner_stride apart
    int64_t start, step;
    int64_t page_stride, outer_stride, inner_stride;
};

struct Member {
    uint64_t source, target;
    uint64_t scale; // 0: `constant` is it
    float constant;
    uint32_t digits;
    int32_t token;      // which digit has the tokens; -1: there are no pages
    int32_t scale_side; // whose pages the scales are in; -1: in none
    int64_t scale_page, scale_token;
    // A thread of a device moves a unit: chunks of the last digit, each of as many elements as it
    // moves at once. 2^shift threads in a row move `span` chunks in a row, each as many as the
    // others, which are that many chunks apart.
    uint32_t units; // threads
    Divisor of_row; // threads that move the last digit
    uint32_t row;   // chunks in the last digit
    uint32_t shift, span;
    uint32_t unused;
    int64_t apart[2]; // bytes from a thread's chunk to its next one
    Digit digit[max_digits];
    Paged paged[2];
};

// A thread moves at most so many chunks, with one scale for all of them.
constexpr uint32_t most_at_once = 4;

// A kernel takes so many members as parameters, and reads more of them from the device's memory.
constexpr uint32_t max_few = 4;

struct Token {
    bool is_there;
    int64_t page;
    uint32_t within;
};

UCD_MODELS_FUNCTION Token token_at(const Paged &side, uint32_t j) {
    const auto at = static_cast<uint32_t>(side.start + j * side.step);
    const uint32_t number = side.page(at);
    const int64_t page = side.wide ? reinterpret_cast<const int64_t *>(side.table)[number]
                                   : reinterpret_cast<const int32_t *>(side.table)[number];
    return {page >= 0, side.dense ? number : page, at - number * side.page.by};
}

UCD_MODELS_FUNCTION int64_t offset_of(const Paged &side, const Token &token) {
    const uint32_t outer = side.inner(token.within);
    return token.page * side.page_stride + outer * side.outer_stride +
           (token.within - outer * side.inner.by) * side.inner_stride;
}

// Offsets of an element: on both sides, and of its scale.
struct Offsets {
    int64_t side[2];
    int64_t scale;
};

// Adds the tokens' part. False: the token is in no page of either side.
UCD_MODELS_FUNCTION bool add_token(const Member &of, uint32_t j, Offsets &offsets) {
    const Token tokens[2] = {token_at(of.paged[0], j), token_at(of.paged[1], j)};
    if (!tokens[0].is_there || !tokens[1].is_there) return false;
    for (int side = 0; side < 2; ++side)
        offsets.side[side] += offset_of(of.paged[side], tokens[side]);
    if (of.scale_side >= 0) {
        const Token &token = of.scale_side == 0 ? tokens[0] : tokens[1];
        offsets.scale += token.page * of.scale_page + token.within * of.scale_token;
    }
    return true;
}

} // namespace ucd_models
