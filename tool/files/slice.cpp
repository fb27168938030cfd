#include "files/slice.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace ucdtool {
namespace {

// An entry of the comma-separated list.
struct Entry {
    std::size_t at = 0;
    bool ellipsis = false, range = false;
    std::optional<intptr_t> start, stop, step; // an index has only a start
};

class SliceParser {
public:
    explicit SliceParser(std::string_view text) : text_(text) {}

    std::vector<Entry> run() {
        std::vector<Entry> entries;
        do {
            skip_space();
            // As in Python, the list may end with a comma.
            if (at_ == text_.size() && !entries.empty()) break;
            entries.push_back(entry());
            skip_space();
        } while (take(','));
        if (at_ < text_.size()) expected("',' or the end");
        return entries;
    }

private:
    [[noreturn]] void expected(const std::string &what) const {
        throw SyntaxError(
            at_, fmt::format("expected {}, found {}", what,
                             at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end"));
    }
    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::optional<intptr_t> number() {
        skip_space();
        intptr_t value = 0;
        const char *const begin = text_.data() + at_;
        const auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range)
            throw SyntaxError(at_, "the number does not fit 64 bits");
        at_ += static_cast<std::size_t>(rest - begin);
        skip_space();
        return error == std::errc() ? std::optional(value) : std::nullopt;
    }
    Entry entry() {
        Entry e;
        e.at = at_;
        if (text_.substr(at_, 3) == "...") {
            at_ += 3;
            e.ellipsis = true;
            return e;
        }
        e.start = number();
        e.range = take(':');
        if (e.range) {
            e.stop = number();
            if (take(':')) e.step = number();
        } else if (!e.start) {
            expected("an index, a slice or '...'");
        }
        return e;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// As Python's slice.indices(): start and number of steps. Bounds beyond the ends are clamped.
struct Indices {
    intptr_t start, count, step;
};
Indices indices_of(const Entry &e, intptr_t length) {
    const intptr_t step = e.step.value_or(1);
    if (step == 0) throw SyntaxError(e.at, "the step of the slice is 0");
    const intptr_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? length : length - 1;
    const auto bound = [&](const std::optional<intptr_t> &given, intptr_t otherwise) {
        if (!given) return otherwise;
        const intptr_t from_start = *given < 0 ? *given + length : *given;
        return std::clamp(from_start, lowest, highest);
    };
    const intptr_t start = bound(e.start, step > 0 ? lowest : highest);
    const intptr_t stop = bound(e.stop, step > 0 ? highest : lowest);
    const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    const intptr_t span = step > 0 ? stop - start : start - stop;
    const intptr_t count =
        span <= 0 ? 0 : static_cast<intptr_t>((static_cast<uint64_t>(span) - 1) / by) + 1;
    return {start, count, step};
}

} // namespace

ArrayPart slice_of(const Npy &array, std::string_view text) {
    std::vector<Entry> entries = SliceParser(text).run();
    const auto dims = array.shape.size();
    const auto ellipses = std::ranges::count_if(entries, &Entry::ellipsis);
    if (ellipses > 1) throw SyntaxError(0, "'...' stands more than once");
    const std::size_t named = entries.size() - static_cast<std::size_t>(ellipses);
    if (named > dims)
        throw SyntaxError(entries.back().at, fmt::format("there are {} indices; the array has {} "
                                                         "dimensions",
                                                         named, dims));
    // Dimensions that are not listed are whole; their place is the ellipsis, or the end.
    const Entry whole{.range = true};
    const auto dots = std::ranges::find_if(entries, &Entry::ellipsis);
    const auto at = dots == entries.end() ? dots : entries.erase(dots);
    entries.insert(at, dims - named, whole);

    ArrayPart part;
    const std::vector<intptr_t> strides = array.strides();
    bool empty = false;
    for (std::size_t i = 0; i < dims; ++i) {
        const Entry &e = entries[i];
        const intptr_t length = array.shape[i];
        if (e.range) {
            const Indices in = indices_of(e, length);
            part.shape.push_back(in.count);
            // Multiply only if the stride is used, because an unused one might overflow.
            part.strides.push_back(in.count > 1 ? in.step * strides[i] : strides[i]);
            empty = empty || in.count == 0;
            if (in.count > 0) part.start += in.start * strides[i];
            continue;
        }
        const intptr_t index = *e.start < 0 ? *e.start + length : *e.start;
        if (index < 0 || index >= length)
            throw SyntaxError(e.at, fmt::format("index {} is outside dimension {}, which has {}",
                                                *e.start, i, length));
        part.start += index * strides[i];
    }
    if (empty) part.start = 0;
    return part;
}

} // namespace ucdtool
