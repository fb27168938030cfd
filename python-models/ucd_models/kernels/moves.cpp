#include "moves.h"

#include "pairs.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>

namespace ucd_models {

namespace {

constexpr int64_t most = int64_t{1} << 31;

Divisor divisor_of(int64_t by) {
    if (by < 1 || by >= most)
        throw std::invalid_argument("a dimension has no index, or 2^31 and more");
    const auto shift = static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(by) - 1));
    const uint64_t rest = ((uint64_t{1} << shift) - static_cast<uint64_t>(by)) << 32;
    return {static_cast<uint32_t>(by), static_cast<uint32_t>(rest / static_cast<uint64_t>(by) + 1),
            shift};
}

// A dimension that is not yet in the form of kernels.
struct Dimension {
    int64_t size, stride[2], block, phase, scale;
    bool is_token;
    // The longest in the target are the outermost.
    int64_t order() const { return std::llabs(stride[1]); }
};

struct Widths {
    int64_t of[2] = {0, 0};
    template <class From, class To>
    void convert() const {
        *out = {{sizeof(typename From::Bits), sizeof(typename To::Bits)}, nullptr};
    }
    template <class Bits>
    void copy() const {
        *out = {{sizeof(Bits), sizeof(Bits)}, nullptr};
    }
    Widths *out = nullptr;
};

Widths widths_of(Kind kind) {
    Widths found;
    if (!for_kind(kind.from, kind.to, Widths{{0, 0}, &found}))
        throw std::invalid_argument("there is no kernel for these elements");
    return found;
}

bool continues(const Dimension &outer, const Dimension &inner) {
    if (outer.is_token || inner.is_token || outer.size * inner.size >= most) return false;
    if (inner.scale == 0 && outer.block * inner.size >= most) return false;
    for (const int side : {0, 1})
        if (outer.stride[side] != inner.size * inner.stride[side]) return false;
    const bool whole_blocks = outer.block == 1 && inner.phase == 0 &&
                              inner.size % inner.block == 0 &&
                              outer.scale == inner.size / inner.block * inner.scale;
    return inner.scale == 0 || whole_blocks;
}

// Two dimensions as one.
Dimension joined(const Dimension &outer, const Dimension &inner) {
    Dimension made = inner;
    made.size *= outer.size;
    if (inner.scale == 0) {
        made.block = outer.block * inner.size;
        made.phase = outer.phase * inner.size;
        made.scale = outer.scale;
    }
    return made;
}

// count: of the tokens that are moved. Kernels have the numbers of tokens in 32 bits.
Paged paged_of(const PagedText &text, int64_t count) {
    const auto &[table, wide, dense, page, inner, start, step, page_stride, outer_stride,
                 inner_stride] = text;
    if (start < 0 || step < 1) throw std::invalid_argument("tokens are before the first page");
    if (count < 1 || start >= most || count > (most - 1 - start) / step)
        throw std::invalid_argument("there are too many tokens");
    return {table, wide, dense,       divisor_of(page), divisor_of(inner),
            start, step, page_stride, outer_stride,     inner_stride};
}

// Sorted, without those of one index, and joined where that can be.
std::vector<Dimension> dimensions_of(const MemberText &text, Member &member) {
    const auto &[source, target, digits, scale, constant, tokens] = text;
    std::vector<Dimension> found;
    for (const auto &[size, from, to, block, phase, step] : digits) {
        if (size < 1 || size >= most || block < 1 || phase < 0)
            throw std::invalid_argument("a dimension has no index, or 2^31 and more");
        member.scale += scale ? static_cast<uint64_t>(phase / block * step) : 0;
        const int64_t within = phase % block;
        const bool varies = scale != 0 && step != 0 && within + size > block;
        if (size > 1)
            found.push_back({size,
                             {from, to},
                             varies ? block : 1,
                             varies ? within : 0,
                             varies ? step : 0,
                             false});
    }
    if (tokens) {
        const auto &[count, a, b, side, page, token] = *tokens;
        member.paged[0] = paged_of(a, count);
        member.paged[1] = paged_of(b, count);
        member.scale_side = scale ? side : -1;
        member.scale_page = page;
        member.scale_token = token;
        const Paged &last = member.paged[1];
        found.push_back(
            {count, {0, last.page.by > 1 ? last.inner_stride : last.page_stride}, 1, 0, 0, true});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto &x, const auto &y) { return x.order() > y.order(); });
    for (std::size_t i = 1; i < found.size();) {
        if (continues(found[i - 1], found[i])) {
            found[i - 1] = joined(found[i - 1], found[i]);
            found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
            i = std::max<std::size_t>(i - 1, 1);
        } else {
            ++i;
        }
    }
    if (found.empty()) found.push_back({1, {0, 0}, 1, 0, 0, false});
    if (found.size() > max_digits) throw std::invalid_argument("there are too many dimensions");
    return found;
}

Member member_of(const MemberText &text) {
    Member made{};
    made.source = std::get<0>(text);
    made.target = std::get<1>(text);
    made.scale = std::get<3>(text);
    made.constant = static_cast<float>(std::get<4>(text));
    made.token = made.scale_side = -1;
    const std::vector<Dimension> found = dimensions_of(text, made);
    made.digits = static_cast<uint32_t>(found.size());
    for (uint32_t i = 0; i < made.digits; ++i) {
        const Dimension &d = found[i];
        if (d.is_token) made.token = static_cast<int32_t>(i);
        made.digit[i] = {divisor_of(d.size),
                         divisor_of(d.block),
                         static_cast<uint32_t>(d.phase),
                         0,
                         {d.is_token ? 0 : d.stride[0], d.is_token ? 0 : d.stride[1]},
                         d.scale};
    }
    return made;
}

// Whether so many elements of the last dimension lie side by side, have one scale, and are aligned.
bool fits(const Member &member, const Widths &widths, uint32_t vector) {
    if (vector == 1) return true;
    const auto last = member.digits - 1;
    const Digit &digit = member.digit[last];
    if (static_cast<int32_t>(last) == member.token || digit.size.by % vector != 0) return false;
    if (digit.scale != 0 && (digit.block.by % vector != 0 || digit.phase % vector != 0))
        return false;
    for (const int side : {0, 1}) {
        if (digit.stride[side] != widths.of[side]) return false;
        uint64_t all = side == 0 ? member.source : member.target;
        for (uint32_t i = 0; i < last; ++i)
            all |= static_cast<uint64_t>(member.digit[i].stride[side]);
        const Paged &paged = member.paged[side];
        if (member.token >= 0)
            all |=
                static_cast<uint64_t>(paged.page_stride | paged.outer_stride | paged.inner_stride);
        if (all % static_cast<uint64_t>(std::min<int64_t>(16, vector * widths.of[side])) != 0)
            return false;
    }
    return true;
}

// Shares the member among threads. A thread's chunks have one scale, and one token.
void share(Member &member, uint32_t vector) {
    const Digit &last = member.digit[member.digits - 1];
    const bool is_token = static_cast<uint32_t>(member.token) + 1 == member.digits;
    uint32_t shift = 5, chunks = is_token ? 1 : most_at_once;
    member.row = last.size.by / vector;
    const auto fits_the_row = [&] {
        const uint32_t elements = vector * chunks << shift;
        const bool is_one =
            last.scale == 0 || (last.block.by % elements == 0 && last.phase % elements == 0);
        return is_one && chunks << shift < 2 * member.row;
    };
    // Where four threads are side by side, they store whole sectors of memory.
    while (!fits_the_row() && (shift > 0 || chunks > 1)) {
        if (shift > 2 || chunks == 1)
            --shift;
        else
            chunks /= 2;
    }
    member.shift = shift;
    member.span = chunks << shift;
    const int64_t rows = (member.row + member.span - 1) / member.span;
    member.of_row = divisor_of(rows << shift);
    int64_t units = rows << shift;
    for (uint32_t i = 0; i + 1 < member.digits; ++i) {
        units *= member.digit[i].size.by;
        if (units >= most)
            throw std::invalid_argument("an array has too many elements for one launch");
    }
    member.units = static_cast<uint32_t>(units);
    for (const int side : {0, 1})
        member.apart[side] = (int64_t{vector} << shift) * last.stride[side];
}

} // namespace

Moves moves_of(Kind kind, const std::vector<MemberText> &members) {
    Moves made{kind, {}, 1};
    const Widths widths = widths_of(kind);
    for (const MemberText &text : members) made.members.push_back(member_of(text));
    const auto widest = static_cast<uint32_t>(vector_of(widths.of[0], widths.of[1]));
    for (const uint32_t vector : {widest, 4u, 1u}) {
        made.vector = vector;
        if (vector <= widest &&
            std::all_of(made.members.begin(), made.members.end(),
                        [&](const Member &member) { return fits(member, widths, vector); }))
            break;
    }
    for (Member &member : made.members) share(member, made.vector);
    return made;
}

namespace {

struct Set {
    const char *name;
    decltype(&plain::run) run;
};

const std::vector<Set> &sets() {
    static const std::vector<Set> found = [] {
        std::vector<Set> all{{"plain", plain::run}};
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            all.push_back({"avx2", with_avx2::run});
        if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq"))
            all.push_back({"avx512", with_avx512::run});
#endif
        return all;
    }();
    return found;
}

} // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Set &set : sets()) names.emplace_back(set.name);
    return names;
}

void run_on_host(const Moves &moves, const std::string &set) {
    const auto chosen =
        std::find_if(sets().begin(), sets().end(), [&](const Set &one) { return set == one.name; });
    const Set &one = set.empty()              ? sets().back()
                     : chosen == sets().end() ? throw std::invalid_argument(set)
                                              : *chosen;
    one.run(moves.members.data(), moves.members.size(), moves.kind);
}

} // namespace ucd_models
