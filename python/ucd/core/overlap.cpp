#include "core/overlap.h"

#include <algorithm>
#include <utility>

namespace ucdpy {

namespace {

__extension__ using Wide = __int128; // sums of products of two numbers

constexpr int max_steps = 100'000;

// A term of which the number is from 0 to count and the stride is positive, and what all terms from
// this one on have in common.
struct Level {
    Wide count, stride;
    Wide reach = 0;  // the largest sum
    Wide common = 0; // the greatest common divisor of the strides
};

Wide common_divisor(Wide a, Wide b) {
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

Wide rounded_up(Wide number, Wide unit) {
    return (number + unit - 1) / unit;
}

// The longest strides first: what is left after one of them has a short range.
class Search {
public:
    explicit Search(const std::vector<Term> &terms) {
        for (const Term &term : terms) {
            if (term.stride == 0) continue;
            const Wide low = term.low, high = term.high, stride = term.stride;
            start_ += (stride > 0 ? low : high) * stride;
            levels_.push_back({high - low, stride > 0 ? stride : -stride});
        }
        std::sort(levels_.begin(), levels_.end(),
                  [](const Level &a, const Level &b) { return a.stride > b.stride; });
        join();
        Wide reach = 0, common = 0;
        for (std::size_t k = levels_.size(); k-- > 0;) {
            Level &level = levels_[k];
            level.reach = reach += level.count * level.stride;
            level.common = common = common_divisor(level.stride, common);
        }
    }

    Reached between(Wide first, Wide last) { return from(0, first - start_, last - start_); }

private:
    // Terms of one stride are one term.
    void join() {
        std::size_t kept = 0;
        for (const Level &level : levels_) {
            if (kept > 0 && levels_[kept - 1].stride == level.stride)
                levels_[kept - 1].count += level.count;
            else
                levels_[kept++] = level;
        }
        levels_.resize(kept);
    }

    // Whether the terms from number k on give a sum between first and last. As deep as there are
    // terms: two for each dimension of an array.
    Reached from(std::size_t k, Wide first, Wide last) {
        const Wide reach = k < levels_.size() ? levels_[k].reach : 0;
        if (first > last || last < 0 || first > reach) return Reached::no;
        if (first <= 0 || last >= reach) return Reached::yes;
        const Level &level = levels_[k];
        if (rounded_up(first, level.common) * level.common > last) return Reached::no;
        if (k + 1 == levels_.size()) return Reached::yes;
        const Wide rest = levels_[k + 1].reach;
        const Wide begin = first > rest ? rounded_up(first - rest, level.stride) : 0;
        const Wide end = std::min<Wide>(level.count, last / level.stride);
        Reached found = Reached::no;
        for (Wide x = begin; x <= end; ++x) {
            if (++steps_ > max_steps) return Reached::unknown;
            found = from(k + 1, first - x * level.stride, last - x * level.stride);
            if (found != Reached::no) break;
        }
        return found;
    }

    std::vector<Level> levels_;
    Wide start_ = 0;
    int steps_ = 0;
};

// Whether blocks of so many bytes overlap that lie at the sums of the terms, each of which counts
// from 0. Of two blocks, the first index that differs is larger in the one than in the other.
bool blocks_overlap(std::vector<Term> terms, intptr_t block) {
    if (block <= 0) return false;
    std::sort(terms.begin(), terms.end(),
              [](const Term &a, const Term &b) { return std::abs(a.stride) < std::abs(b.stride); });
    Wide reach = block;
    bool nested = true; // each stride is beyond what the shorter ones reach: the usual case
    for (const Term &term : terms) {
        if (term.high > 0 && std::abs(term.stride) < reach) nested = false;
        reach += static_cast<Wide>(term.high) * std::abs(term.stride);
    }
    if (nested) return false;
    for (std::size_t k = 0; k < terms.size(); ++k) {
        if (terms[k].high < 1) continue;
        std::vector<Term> differences(terms.begin() + static_cast<std::ptrdiff_t>(k), terms.end());
        for (Term &term : differences) term.low = -term.high;
        differences[0].low = 1;
        if (reaches(differences, 1 - block, block - 1) != Reached::no) return true;
    }
    return false;
}

// Whether segments overlap.
bool segments_overlap(ucd_type_t type, uintptr_t count) {
    uintptr_t segments = 0;
    check(ucd_iov_len(count, type, &segments));
    std::vector<iovec> list(segments);
    check(ucd_iov(nullptr, count, type, 0, list.data(), segments, &segments));
    const auto start = [](const iovec &s) { return reinterpret_cast<intptr_t>(s.iov_base); };
    std::sort(list.begin(), list.end(),
              [&](const iovec &a, const iovec &b) { return start(a) < start(b); });
    for (std::size_t i = 1; i < list.size(); ++i)
        if (start(list[i - 1]) + static_cast<intptr_t>(list[i - 1].iov_len) > start(list[i]))
            return true;
    return false;
}

template <class T>
bool repeats(const T *list, intptr_t count) {
    std::vector<T> sorted(list, list + count);
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

nb::object reached(nb::handle given, intptr_t first, intptr_t last) {
    std::vector<Term> terms;
    for (nb::handle entry : nb::iter(given)) {
        const nb::tuple term(nb::borrow(entry));
        if (nb::len(term) != 3) raise(PyExc_ValueError, "a term is (low, high, stride)");
        terms.push_back({nb::cast<intptr_t>(term[0]), nb::cast<intptr_t>(term[1]),
                         nb::cast<intptr_t>(term[2])});
        if (terms.back().low > terms.back().high)
            raise(PyExc_ValueError, "a term has no number between low and high");
    }
    const Reached found = reaches(terms, first, last);
    if (found == Reached::unknown) return nb::none();
    return nb::bool_(found == Reached::yes);
}

} // namespace

Reached reaches(const std::vector<Term> &terms, intptr_t first, intptr_t last) {
    return Search(terms).between(first, last);
}

bool overlaps_itself(const View &view) {
    if (view.size() == 0) return false;
    std::vector<Term> terms;
    for (int k = 0; k < view.ndim; ++k) terms.push_back({0, view.shape[k] - 1, view.strides[k]});
    return blocks_overlap(std::move(terms), view.itemsize);
}

bool overlaps_itself(ucd_type_t type, uintptr_t count) {
    ucd_box_t box{};
    uintptr_t written = 0, total = 0;
    check(ucd_get_boxes(count, type, 0, &box, 1, &written, &total));
    if (total == 0) return false;
    if (total > 1) return segments_overlap(type, count);
    std::vector<Term> terms;
    for (uint32_t k = 0; k < box.dims; ++k)
        terms.push_back({0, static_cast<intptr_t>(box.count[k]) - 1, box.stride[k]});
    return blocks_overlap(std::move(terms), static_cast<intptr_t>(box.block));
}

bool repeats(const View &indices) {
    const intptr_t count = indices.shape[0];
    if (indices.itemsize == 4)
        return repeats(reinterpret_cast<const int32_t *>(indices.data), count);
    return repeats(reinterpret_cast<const int64_t *>(indices.data), count);
}

void bind_overlap(nb::module_ &m) {
    m.def("reaches", &reached, nb::arg("terms"), nb::arg("first"), nb::arg("last"),
          "Whether a sum of terms (low, high, stride), each an integer from low to high times "
          "stride, "
          "lies\nfrom first to last. None: that is unknown.");
}

} // namespace ucdpy
