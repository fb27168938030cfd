#include "unit/disguise.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace ucdtest {

using namespace recipes;
using Kind = Shape::Kind;

namespace {

// Types without padding, by size.
RecipePtr element_of(Rng &rng, std::intptr_t bytes) {
    static const std::vector<std::vector<ucd_type_t>> by_size = {
        {UCD_TYPE__BYTE, UCD_TYPE__CHAR, UCD_TYPE__INT8_T, UCD_TYPE___BOOL},
        {UCD_TYPE__SHORT, UCD_TYPE__FLOAT16, UCD_TYPE__UINT16_T},
        {UCD_TYPE__INT, UCD_TYPE__FLOAT, UCD_TYPE__WCHAR_T},
        {UCD_TYPE__DOUBLE, UCD_TYPE__INT64_T, UCD_TYPE__C_COMPLEX, UCD_TYPE__2INT},
        {UCD_TYPE__C_DOUBLE_COMPLEX, UCD_TYPE__2DOUBLE, UCD_TYPE__LONG_DOUBLE},
    };
    std::size_t i = 0;
    while ((std::intptr_t{1} << i) < bytes) ++i;
    return leaf(rng.pick(by_size[i]));
}

// A power of two up to 16 that divides all of them.
std::intptr_t random_unit(Rng &rng, std::span<const std::intptr_t> values) {
    std::intptr_t bits = std::intptr_t{1} << rng.below(5);
    for (const std::intptr_t v : values) bits |= v;
    return bits & -bits;
}

std::intptr_t gcd_of(std::span<const std::intptr_t> values) {
    std::intptr_t g = 0;
    for (const std::intptr_t v : values) g = std::gcd(g, v);
    return g;
}

std::intptr_t random_divisor(Rng &rng, std::intptr_t n) {
    n = std::abs(n);
    std::vector<std::intptr_t> divisors;
    for (std::intptr_t d = 1; d <= 64 && d <= n; ++d)
        if (n % d == 0) divisors.push_back(d);
    if (divisors.empty()) return 1;
    const std::intptr_t d = rng.pick(divisors);
    return rng.chance(50) ? d : n / d;
}

Ints divided(Ints values, std::intptr_t by) {
    for (std::intptr_t &v : values) v /= by;
    return values;
}

RecipePtr struct_of(Ints displs, std::vector<RecipePtr> members) {
    Ints ones(members.size(), 1);
    return structure(std::move(ones), std::move(displs), std::move(members));
}

class Disguiser {
public:
    Disguiser(Rng &rng, const DisguiseOptions &options) : rng_(rng), options_(options) {}

    RecipePtr of(const Shape &s) {
        RecipePtr r = bare(s);
        while (rng_.chance(25)) r = wrapped(std::move(r));
        return r;
    }

private:
    RecipePtr bare(const Shape &s) {
        switch (s.kind) {
        case Kind::block: return of_block(s.count);
        case Kind::strided: return of_strided(s);
        case Kind::list: return of_list(s);
        case Kind::pieces: return of_pieces(s);
        case Kind::runs: return of_runs(s);
        case Kind::fields: return of_fields(s);
        }
        return nullptr;
    }

    std::intptr_t any() { return rng_.between(-100, 100); }
    RecipePtr empty() { return contig(0, leaf(UCD_TYPE__INT)); }

    // The same bytes with the extent that the caller needs.
    RecipePtr sized(RecipePtr r, std::intptr_t extent) {
        return resized(std::move(r), any(), extent);
    }
    RecipePtr displaced(RecipePtr r, std::intptr_t by) {
        switch (rng_.below(4)) {
        case 0: return hindexed_block(1, {by}, std::move(r));
        case 1: return structure({1}, {by}, {std::move(r)});
        case 2: return indexed({1}, {1}, sized(std::move(r), by));
        default: return hindexed({1, 0}, {by, any()}, std::move(r));
        }
    }
    RecipePtr wrapped(RecipePtr r) {
        switch (rng_.below(10)) {
        case 0: return contig(1, std::move(r));
        case 1: return dup(std::move(r));
        case 2: return sized(std::move(r), any());
        case 3: return hvector(1, 1, any(), std::move(r));
        case 4: return vector(1, 1, any(), std::move(r));
        case 5:
            return structure({1, 0, 3}, {0, any(), any()},
                             {std::move(r), leaf(UCD_TYPE__INT), empty()});
        case 6: return ndarray({1, 1}, {any(), any()}, std::move(r));
        case 7: return indexed_block(1, {0}, std::move(r));
        case 8: return subarray({1}, {1}, {0}, UCD_ORDER__FORTRAN, std::move(r));
        default: return darray(1, 0, 1, {UCD_DISTRIBUTE__CYCLIC}, std::move(r));
        }
    }
    static RecipePtr darray(int size, int rank, std::intptr_t gsize, std::vector<int> distribs,
                            RecipePtr r) {
        return recipes::darray(size, rank, {gsize}, std::move(distribs),
                               {UCD_DISTRIBUTE__DFLT_DARG}, {size}, UCD_ORDER__C, std::move(r));
    }

    // An atom that is repeated to make blocks: `bytes` bytes with that extent.
    RecipePtr atom(std::intptr_t bytes) {
        const std::intptr_t unit = random_unit(rng_, {&bytes, 1});
        RecipePtr e = element_of(rng_, unit);
        return bytes == unit ? e : contig(bytes / unit, std::move(e));
    }

    RecipePtr of_block(std::intptr_t bytes) {
        const std::intptr_t each = random_divisor(rng_, bytes), n = bytes / each;
        switch (rng_.below(9)) {
        case 0: return atom(bytes);
        case 1: return contig(n, atom(each));
        case 2: return hvector(n, 1, each, atom(each));
        case 3: return vector(1, n, any(), atom(each));
        case 4: {
            const std::intptr_t before = rng_.between(0, 5);
            RecipePtr r = subarray({n + before + 2}, {n}, {before}, UCD_ORDER__C, atom(each));
            return before == 0 ? r : displaced(std::move(r), -before * each);
        }
        case 5: return ndarray({n}, {each}, atom(each));
        default: return of_cut_block(bytes);
        }
    }
    // Touching parts: blocks of one element type, or fields of several.
    RecipePtr of_cut_block(std::intptr_t bytes) {
        Ints displs{0}, lengths;
        while (displs.size() < 6 && rng_.chance(75)) {
            const std::intptr_t rest = bytes - displs.back();
            if (rest < 2) break;
            lengths.push_back(rng_.between(1, rest - 1));
            displs.push_back(displs.back() + lengths.back());
        }
        lengths.push_back(bytes - displs.back());
        if (rng_.chance(50)) return hindexed(lengths, displs, element_of(rng_, 1));
        std::vector<RecipePtr> parts;
        for (const std::intptr_t n : lengths)
            parts.push_back(rng_.chance(50) ? atom(n) : of_block(n));
        return struct_of(displs, std::move(parts));
    }

    // The nest of strides that begins at s, and what is below it.
    static const Shape &nest_of(const Shape &s, std::size_t most, Ints &counts, Ints &strides) {
        const Shape *inner = &s;
        for (; inner->kind == Kind::strided && counts.size() < most; inner = inner->child.get()) {
            counts.push_back(inner->count);
            strides.push_back(inner->stride);
        }
        return *inner;
    }

    RecipePtr of_strided(const Shape &s) {
        const std::intptr_t n = s.count, stride = s.stride;
        switch (rng_.below(10)) {
        case 0: return hvector(n, 1, stride, of(*s.child));
        case 1: return contig(n, sized(of(*s.child), stride));
        case 2: {
            const std::intptr_t k = stride == 0 ? 3 : random_divisor(rng_, stride);
            return vector(n, 1, k, sized(of(*s.child), stride / k));
        }
        case 3: {
            const std::intptr_t b = random_divisor(rng_, n);
            if (b == 1 || b == n) break;
            return of(*shapes::strided(n / b, b * stride, shapes::strided(b, stride, s.child)));
        }
        case 4: {
            Ints counts, strides;
            const Shape &inner = nest_of(s, 1 + rng_.below(3), counts, strides);
            return of_list(
                *shapes::list(progression(counts, strides), std::make_shared<const Shape>(inner)));
        }
        case 5: {
            Ints counts, strides;
            const Shape &inner = nest_of(s, 4, counts, strides);
            return ndarray(counts, strides, of(inner));
        }
        case 6:
        case 7: return of_array(s);
        case 8:
            if (!options_.cut_apart || n < 3) break;
            return of_parts(s);
        case 9: {
            if (s.child->kind != Kind::block) break;
            const std::intptr_t bytes = s.child->count;
            const std::intptr_t unit = random_unit(rng_, {{bytes, stride}});
            return vector(n, bytes / unit, stride / unit, element_of(rng_, unit));
        }
        }
        return hvector(n, 1, stride, of(*s.child));
    }

    static Ints progression(const Ints &counts, const Ints &strides) {
        Ints displs{0};
        for (std::size_t k = 0; k < counts.size(); ++k) {
            Ints next;
            for (const std::intptr_t d : displs)
                for (std::intptr_t i = 0; i < counts[k]; ++i) next.push_back(d + i * strides[k]);
            displs = std::move(next);
        }
        return displs;
    }

    // As a part of an array, where the strides divide each other.
    RecipePtr of_array(const Shape &s) {
        Ints counts, strides;
        const Shape *inner = &nest_of(s, 1, counts, strides);
        if (strides[0] <= 0) return hvector(s.count, 1, s.stride, of(*s.child));
        while (inner->kind == Kind::strided && inner->stride > 0 &&
               strides.back() % inner->stride == 0 &&
               strides.back() / inner->stride >= inner->count) {
            counts.push_back(inner->count);
            strides.push_back(inner->stride);
            inner = inner->child.get();
        }
        std::intptr_t extent = strides.back();
        RecipePtr old;
        if (inner->kind == Kind::block && extent % inner->count == 0) {
            // The block is the innermost dimension.
            const std::intptr_t unit = random_unit(rng_, {&inner->count, 1});
            if (extent / unit >= inner->count / unit) {
                counts.push_back(inner->count / unit);
                strides.push_back(unit);
                old = element_of(rng_, unit);
                extent = unit;
            }
        }
        if (!old) old = sized(of(*inner), extent);
        Ints sizes(counts.size()), starts(counts.size());
        std::intptr_t shift = 0;
        for (std::size_t k = 0; k < counts.size(); ++k) {
            sizes[k] = k == 0 ? counts[0] + rng_.between(0, 5) : strides[k - 1] / strides[k];
            starts[k] = rng_.between(0, std::min<std::intptr_t>(5, sizes[k] - counts[k]));
            shift += starts[k] * strides[k];
        }
        int order = UCD_ORDER__C;
        if (rng_.chance(50)) {
            order = UCD_ORDER__FORTRAN;
            for (Ints *a : {&sizes, &counts, &starts}) std::reverse(a->begin(), a->end());
        }
        RecipePtr r = subarray(sizes, counts, starts, order, std::move(old));
        return shift == 0 ? r : displaced(std::move(r), -shift);
    }

    // Touching runs of the iterations.
    RecipePtr of_parts(const Shape &s) {
        Ints displs, lengths;
        for (std::intptr_t i = 0; i < s.count;) {
            const std::intptr_t n = displs.size() < 20 ? rng_.between(1, s.count - i) : s.count - i;
            displs.push_back(i * s.stride);
            lengths.push_back(n);
            i += n;
        }
        return of_runs(*shapes::runs(lengths, displs, s.stride, s.child));
    }

    // Entries without length between the others.
    void sprinkle(Ints &lengths, Ints &displs) {
        if (!rng_.chance(20)) return;
        for (int i = 0; i < 3; ++i) {
            const std::size_t at = rng_.below(displs.size() + 1);
            lengths.insert(lengths.begin() + static_cast<std::ptrdiff_t>(at), 0);
            displs.insert(displs.begin() + static_cast<std::ptrdiff_t>(at), any());
        }
    }
    // lengths[i] of `old`, which is `extent` bytes long, at displs[i].
    RecipePtr runs_of(Ints lengths, Ints displs, std::intptr_t extent, const Shape *child) {
        sprinkle(lengths, displs);
        const auto old = [&](std::intptr_t e) { return child ? sized(of(*child), e) : atom(e); };
        const std::intptr_t g = gcd_of(displs);
        if (g != 0 && rng_.chance(30) && (extent == 0 || g % extent == 0) && extent != 0)
            return indexed(lengths, divided(displs, extent), old(extent));
        return hindexed(std::move(lengths), std::move(displs), old(extent));
    }

    RecipePtr of_list(const Shape &s) {
        const std::size_t n = s.displs.size();
        const Shape &c = *s.child;
        switch (rng_.below(7)) {
        case 0: {
            Ints lengths(n, 1), displs = s.displs;
            sprinkle(lengths, displs);
            return hindexed(lengths, displs, of(c));
        }
        case 1: {
            const std::intptr_t g = gcd_of(s.displs);
            if (g == 0) break;
            const std::intptr_t d = random_divisor(rng_, g);
            if (rng_.chance(50)) return indexed_block(1, divided(s.displs, d), sized(of(c), d));
            return indexed(Ints(n, 1), divided(s.displs, d), sized(of(c), d));
        }
        case 2: {
            if (n > options_.max_members) break;
            std::vector<RecipePtr> some, members;
            for (int i = 0; i < 3; ++i) some.push_back(of(c));
            for (std::size_t i = 0; i < n; ++i) members.push_back(rng_.pick(some));
            return struct_of(s.displs, std::move(members));
        }
        case 3:
        case 4: {
            // The child's own repetition as the length of the entries.
            if (c.kind == Kind::strided) {
                if (rng_.chance(50))
                    return hindexed_block(c.count, s.displs, sized(of(*c.child), c.stride));
                return runs_of(Ints(n, c.count), s.displs, c.stride, c.child.get());
            }
            if (c.kind != Kind::block) break;
            const std::intptr_t each = random_divisor(rng_, c.count);
            if (rng_.chance(50)) return hindexed_block(c.count / each, s.displs, atom(each));
            return runs_of(Ints(n, c.count / each), s.displs, each, nullptr);
        }
        case 5: {
            if (!options_.cut_apart || n < 2) break;
            const auto at = static_cast<std::ptrdiff_t>(1 + rng_.below(n - 1));
            const Shape head =
                *shapes::list(Ints(s.displs.begin(), s.displs.begin() + at), s.child);
            const Shape tail = *shapes::list(Ints(s.displs.begin() + at, s.displs.end()), s.child);
            return structure({1, 1}, {0, 0}, {of(head), of(tail)});
        }
        }
        return hindexed_block(1, s.displs, of(c));
    }

    RecipePtr of_pieces(const Shape &s) {
        Ints lengths = s.lengths, displs = s.displs;
        if (rng_.chance(30)) cut(lengths, displs);
        if (displs.size() <= options_.max_members && rng_.chance(30)) {
            std::vector<RecipePtr> members;
            for (const std::intptr_t n : lengths)
                members.push_back(rng_.chance(50) ? atom(n) : of_block(n));
            return struct_of(displs, std::move(members));
        }
        const std::intptr_t each = random_unit(rng_, lengths);
        return runs_of(divided(std::move(lengths), each), std::move(displs), each, nullptr);
    }
    // Some pieces become two that touch.
    void cut(Ints &lengths, Ints &displs) {
        Ints new_lengths, new_displs;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            std::intptr_t left = lengths[i], at = displs[i];
            if (left > 1 && rng_.chance(30)) {
                const std::intptr_t first = rng_.between(1, left - 1);
                new_lengths.push_back(first);
                new_displs.push_back(at);
                left -= first;
                at += first;
            }
            new_lengths.push_back(left);
            new_displs.push_back(at);
        }
        lengths = std::move(new_lengths);
        displs = std::move(new_displs);
    }

    RecipePtr of_runs(const Shape &s) {
        const std::size_t n = s.displs.size();
        switch (rng_.below(3)) {
        case 0: { // every child for itself
            Ints displs;
            for (std::size_t i = 0; i < n; ++i)
                for (std::intptr_t j = 0; j < s.lengths[i]; ++j)
                    displs.push_back(s.displs[i] + j * s.stride);
            return of_list(*shapes::list(std::move(displs), s.child));
        }
        case 1: { // every run for itself
            if (!options_.cut_apart || n > options_.max_members) break;
            std::vector<RecipePtr> members;
            for (const std::intptr_t length : s.lengths)
                members.push_back(of(*shapes::strided(length, s.stride, s.child)));
            return struct_of(s.displs, std::move(members));
        }
        }
        return runs_of(s.lengths, s.displs, s.stride, s.child.get());
    }

    RecipePtr of_fields(const Shape &s) {
        Ints displs = s.displs, lengths;
        std::vector<RecipePtr> members;
        for (std::size_t i = 0; i < displs.size(); ++i) {
            const Shape &c = *s.children[i];
            const bool repeated = c.kind == Kind::strided && rng_.chance(30);
            lengths.push_back(repeated ? c.count : 1);
            members.push_back(repeated ? sized(of(*c.child), c.stride) : of(c));
        }
        if (options_.nest_fields && members.size() > 2 &&
            rng_.chance(30)) { // the rest as a struct of its own
            const auto at = static_cast<std::ptrdiff_t>(1 + rng_.below(members.size() - 1));
            RecipePtr rest = structure(Ints(lengths.begin() + at, lengths.end()),
                                       Ints(displs.begin() + at, displs.end()),
                                       {members.begin() + at, members.end()});
            for (Ints *a : {&lengths, &displs}) a->resize(static_cast<std::size_t>(at) + 1);
            members.resize(static_cast<std::size_t>(at) + 1);
            lengths.back() = 1;
            displs.back() = 0;
            members.back() = std::move(rest);
        }
        return structure(std::move(lengths), std::move(displs), std::move(members));
    }

    Rng &rng_;
    const DisguiseOptions &options_;
};

} // namespace

RecipePtr disguised(Rng &rng, const Shape &shape, const DisguiseOptions &options) {
    return Disguiser(rng, options).of(shape);
}

} // namespace ucdtest
