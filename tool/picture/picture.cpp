#include "picture/picture.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace ucdtool {
namespace {

constexpr uint64_t max_segments = 1 << 16; // with more segments, the picture is made from samples
constexpr uint64_t samples = 1 << 14;
constexpr uint64_t max_surveyed = 4096; // the number of segments that determine cells and rows
constexpr uint64_t widest_unit = 16;

struct Segment {
    int64_t at;
    uint64_t bytes;
};

// With a buffer at address 0, addresses are displacements.
Segment segment_of(const iovec &entry) {
    return {static_cast<int64_t>(reinterpret_cast<intptr_t>(entry.iov_base)), entry.iov_len};
}

std::vector<Segment> segments_of(ucd::TypeRef type, uintptr_t count, uint64_t number) {
    std::vector<iovec> entries(number);
    std::vector<Segment> segments;
    for (const iovec &e : ucd::iov(nullptr, count, type, 0, entries))
        segments.push_back(segment_of(e));
    return segments;
}

uint64_t distance(int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

class Painter {
public:
    Painter(ucd::TypeRef type, uintptr_t count, const PictureLimits &limits)
        : type_(type), count_(count), limits_(limits), layout_(type.layout(count)) {}

    Picture run() {
        p_.packed_bytes = layout_.bytes;
        set_range();
        const uint64_t span = distance(p_.low, p_.high);
        if (span == 0) return p_;
        if (layout_.segments <= max_surveyed)
            surveyed_ = segments_of(type_, count_, layout_.segments);
        choose_scale(span);
        p_.cells.resize(p_.rows * p_.columns);
        mark_bounds();
        if (layout_.segments <= max_segments)
            paint_all();
        else
            paint_samples();
        return std::move(p_);
    }

private:
    // The picture shows everything that is touched, and everything between the bounds if these do
    // not overflow.
    void set_range() {
        const ucd::Bounds b = type_.extent();
        p_.low = layout_.low;
        p_.high = layout_.high;
        if (count_ == 0) return;
        intptr_t last = 0, end = 0;
        if (__builtin_mul_overflow(static_cast<intptr_t>(count_ - 1), b.extent, &last) ||
            __builtin_add_overflow(last, b.lb, &last) ||
            __builtin_add_overflow(last, b.extent, &end))
            return;
        bounds_low_ = std::min<int64_t>({b.lb, last, end, b.lb + b.extent});
        bounds_high_ = std::max<int64_t>({b.lb, last, end, b.lb + b.extent});
        if (bounds_low_ == bounds_high_) return;
        if (layout_.bytes == 0) {
            p_.low = bounds_low_;
            p_.high = bounds_high_;
        }
        p_.low = std::min(p_.low, bounds_low_);
        p_.high = std::max(p_.high, bounds_high_);
    }

    // The greatest common divisor of all positions and lengths, and the size of an element, or a
    // power of two if there is none.
    uint64_t unit() const {
        const bool elements = layout_.element != UCD_TYPE__NULL;
        uint64_t g = elements ? ucd::TypeRef(layout_.element).size() : widest_unit;
        if (surveyed_.empty()) g = std::gcd(g, distance(p_.low, p_.high));
        for (const Segment &s : surveyed_)
            g = std::gcd(std::gcd(g, s.bytes), distance(p_.low, s.at));
        return g;
    }

    // The distance at which the layout repeats, so that rows of cells line up; 0 if it does not
    // repeat.
    uint64_t natural_row() const {
        const intptr_t extent = type_.extent().extent;
        if (count_ > 1 && extent > 0 && static_cast<uint64_t>(extent) <= limits_.columns * unit())
            return static_cast<uint64_t>(extent);
        for (uint32_t k = layout_.box_dims; k-- > 0;) {
            const int64_t s = layout_.box_stride[k];
            const uint64_t apart = s < 0 ? distance(s, 0) : static_cast<uint64_t>(s);
            if (layout_.segments > 1 && layout_.box_count[k] > 1 && apart > layout_.box_block)
                return apart;
        }
        std::map<uint64_t, std::size_t> steps;
        for (std::size_t i = 1; i < surveyed_.size(); ++i)
            if (surveyed_[i].at > surveyed_[i - 1].at)
                ++steps[distance(surveyed_[i - 1].at, surveyed_[i].at)];
        const auto most =
            std::ranges::max_element(steps, {}, [](const auto &step) { return step.second; });
        return most == steps.end() || 2 * most->second < surveyed_.size() - 1 ? 0 : most->first;
    }

    void choose_scale(uint64_t span) {
        const uint64_t u = unit();
        const auto up = [](uint64_t a, uint64_t b) { return a / b + (a % b != 0); };
        uint64_t row = limits_.row_bytes != 0 ? limits_.row_bytes : natural_row();
        // A row must be a multiple of cells, and long enough to be worth a line.
        constexpr uint64_t narrow = 8; // rows of fewer cells, if scaled, show less than no rows
        if (row < 2 * u || row > span || (row / u < narrow && span / row >= limits_.rows))
            row = limits_.row_bytes;
        if (row == 0) {
            const uint64_t cells = limits_.columns * limits_.rows;
            p_.cell_bytes = u * up(up(span, u), cells);
            p_.columns = std::min<uint64_t>(limits_.columns, up(span, p_.cell_bytes));
            p_.row_bytes = p_.cell_bytes * p_.columns;
            p_.rows = up(span, p_.row_bytes);
            return;
        }
        p_.row_bytes = row;
        p_.cell_bytes = u * up(up(row, u), limits_.columns);
        p_.columns = up(row, p_.cell_bytes);
        p_.rows_each = up(up(span, row), limits_.rows);
        p_.rows = up(span, row * p_.rows_each);
    }

    // The last row may end after the highest address that there is, so places are counted from the
    // lowest one.
    void mark_bounds() {
        const uint64_t before = bounds_low_ > p_.low ? distance(p_.low, bounds_low_) : 0;
        const uint64_t end = bounds_high_ > p_.low ? distance(p_.low, bounds_high_) : 0;
        for (std::size_t r = 0; r < p_.rows; ++r) {
            for (std::size_t c = 0; c < p_.columns; ++c) {
                const uint64_t at = r * p_.rows_each * p_.row_bytes + c * p_.cell_bytes;
                p_.cells[r * p_.columns + c].in_bounds = at >= before && at < end;
            }
        }
    }

    void paint_all() {
        std::vector<iovec> entries(std::min<uint64_t>(layout_.segments, max_surveyed));
        uint64_t packed = 0;
        for (uint64_t i = 0; i < layout_.segments;) {
            for (const iovec &e : ucd::iov(nullptr, count_, type_, i, entries)) {
                const Segment s = segment_of(e);
                paint(s, packed);
                packed += s.bytes;
                ++i;
            }
        }
    }

    // Takes one sample from each of many equal shares of the packed stream. Positions in the shares
    // are pseudo-random, since regular ones could coincide with the period of the layout.
    void paint_samples() {
        p_.sampled = true;
        const uint64_t n = std::min<uint64_t>(samples, layout_.bytes);
        const uint64_t share = layout_.bytes / n;
        uint64_t scatter = 1;
        for (uint64_t i = 0; i < n; ++i) {
            scatter = scatter * 6364136223846793005u + 1442695040888963407u;
            const uint64_t offset = i * share + (scatter >> 11) % share;
            iovec entry;
            uintptr_t found = 0, bytes = 0;
            ucd::check(ucd_iov_bytes(nullptr, count_, type_, offset, 1, &entry, 1, &found, &bytes));
            Cell &cell = cell_of(distance(p_.low, segment_of(entry).at));
            cell.bytes += static_cast<double>(share);
            cell.first = std::min(cell.first, offset);
        }
    }

    Cell &cell_of(uint64_t from_low) {
        const uint64_t row = from_low / p_.row_bytes / p_.rows_each;
        return p_.cells[row * p_.columns + from_low % p_.row_bytes / p_.cell_bytes];
    }

    // Paints a piece that lies in one row of memory.
    void paint_piece(uint64_t begin, uint64_t end, uint64_t packed) {
        while (begin < end) {
            const uint64_t in_row = begin % p_.row_bytes;
            const uint64_t next = begin - in_row + (in_row / p_.cell_bytes + 1) * p_.cell_bytes;
            const uint64_t stop = std::min(next, end);
            Cell &cell = cell_of(begin);
            cell.bytes += static_cast<double>(stop - begin);
            cell.first = std::min(cell.first, packed);
            packed += stop - begin;
            begin = stop;
        }
    }

    // Paints a segment. Adds up whole rows of memory for each row of cells, because a segment may
    // have any number of them.
    void paint(const Segment &s, uint64_t packed) {
        uint64_t begin = distance(p_.low, s.at);
        const uint64_t end = begin + s.bytes, row = p_.row_bytes;
        const auto piece = [&](uint64_t stop) {
            paint_piece(begin, stop, packed);
            packed += stop - begin;
            begin = stop;
        };
        if (begin % row != 0) piece(std::min(end, (begin / row + 1) * row));
        while (end - begin >= row) {
            const uint64_t cells_row = begin / row / p_.rows_each;
            const uint64_t rows = std::min((cells_row + 1) * p_.rows_each, end / row) - begin / row;
            for (std::size_t c = 0; c < p_.columns; ++c) {
                const uint64_t at = c * p_.cell_bytes;
                Cell &cell = p_.cells[cells_row * p_.columns + c];
                cell.bytes += static_cast<double>(rows * std::min(p_.cell_bytes, row - at));
                cell.first = std::min(cell.first, packed + at);
            }
            packed += rows * row;
            begin += rows * row;
        }
        piece(end);
    }

    ucd::TypeRef type_;
    uintptr_t count_;
    PictureLimits limits_;
    ucd_layout_t layout_;
    std::vector<Segment> surveyed_;
    int64_t bounds_low_ = 0, bounds_high_ = 0;
    Picture p_;
};

} // namespace

Picture picture_of(ucd::TypeRef type, uintptr_t count, const PictureLimits &limits) {
    return Painter(type, count, limits).run();
}

} // namespace ucdtool
