// Conversions between two layouts that are nested loops over the same elements, which are not
// packed first: run by run, or in tiles that stay in the first-level cache.
#include "axes_range.h"
#include "common_axes.h"
#include "float_environment.h"
#include "kernel_tables.h"
#include "loop_order.h"
#include "useful_threads.h"

#include "host_functions.h"
#include "in_threads.h"

#include <algorithm>
#include <cstring>

namespace ucd {
namespace seq {
namespace {

constexpr uint64_t run_elements = 64; // so many are converted without a buffer
constexpr uint64_t tile_bytes = 32768;
constexpr uint64_t max_lines = 256; // of a tile, on either side
constexpr uint64_t converted_bytes = 4096;

char *pointer(uintptr_t at) {
    return reinterpret_cast<char *>(at);
}

struct Conversion {
    ConvertKernel kernel;
    bool saturate;
    uint64_t from_size, to_size; // of an element

    explicit Conversion(const HostConversion &c)
        : kernel(convert_kernel(c.from, c.to)), saturate(c.saturate),
          from_size(packed_size(c.from)), to_size(packed_size(c.to)) {}

    LoopOrder order(const Axes &axes) const { return {axes, from_size, to_size}; }
    // The elements that are consecutive on both sides.
    uint64_t run(const LoopOrder &loops) const { return loops.block / from_size; }
    void convert(uintptr_t from, uintptr_t to, uint64_t elements) const {
        kernel(pointer(to), pointer(from), elements, saturate);
    }

    // Whether this is faster for so many elements than packing, converting and unpacking as many at
    // a time as stay in the cache.
    bool pays(const Axes &axes, uint64_t elements) const {
        const LoopOrder loops = order(axes);
        if (run(loops) >= run_elements) return true;
        if (elements * std::max(from_size, to_size) <= tile_bytes / 2) return false;
        constexpr uint64_t side = 8;
        return loops.columns.count > 0 && loops.rows.count > 0 &&
               distance(loops.columns.axis[0]->from) < line && loops.columns.total >= side &&
               loops.is_contiguous(loops.rows, &Axis::to) &&
               loops.rows.total * run(loops) >= run_elements;
    }
};

// The matrix of a loop nest, in tiles: runs are brought into the order of the target in a buffer,
// and converted from there.
class ConvertedMatrix {
public:
    ConvertedMatrix(const Conversion &conversion, const LoopOrder &loops)
        : conversion_(conversion), loops_(loops), run_(conversion.run(loops)),
          from_step_(loops.columns.count > 0 ? loops.columns.axis[0]->from.stride : 0),
          to_step_(loops.rows.count > 0 ? loops.rows.axis[0]->to.stride : 0),
          transpose_(transpose_kernel(leaf_for_block(loops.block)).function) {
        // Whole blocks of the conversion kernels, and several cache lines on either side.
        const uint64_t elements = (conversion.to_size == 1 ? 4 : 2) * run_elements;
        height_ = std::min(std::max<uint64_t>(elements / run_, 1), loops.rows.total);
        width_ = std::min({std::max<uint64_t>(tile_bytes / (height_ * loops.block), 1),
                           loops.columns.total, max_lines});
    }

    void run(uintptr_t from, uintptr_t to) {
        for (uint64_t row = 0; row < loops_.rows.total; row += rows_) {
            rows_ = std::min(height_, loops_.rows.total - row);
            loops_.rows.list(&Axis::from, row, rows_, from_lines_);
            for (uint64_t column = 0; column < loops_.columns.total; column += columns_) {
                columns_ = std::min(width_, loops_.columns.total - column);
                loops_.columns.list(&Axis::to, column, columns_, to_lines_);
                run_tile(displaced(from, displace(0, column, from_step_)),
                         displaced(to, displace(0, row, to_step_)));
            }
        }
    }

private:
    void run_tile(uintptr_t from, uintptr_t to) {
        if (run_ >= run_elements) {
            for (uint64_t t = 0; t < columns_; ++t)
                for (uint64_t f = 0; f < rows_; ++f)
                    conversion_.convert(displaced(from, displace(from_lines_[f], t, from_step_)),
                                        displaced(to, displace(to_lines_[t], f, to_step_)), run_);
            return;
        }
        const uint64_t elements = rows_ * run_;
        const auto buffer = reinterpret_cast<uintptr_t>(buffer_);
        if (elements >= run_elements && is_contiguous()) {
            prefetch_target(to);
            transpose(from, buffer);
            for (uint64_t t = 0; t < columns_; ++t) {
                prefetch_next(from, t);
                conversion_.convert(buffer + t * elements * conversion_.from_size,
                                    displaced(to, to_lines_[t]), elements);
            }
            return;
        }
        transpose(from, buffer);
        const auto converted = reinterpret_cast<uintptr_t>(converted_);
        const uint64_t line_bytes = elements * conversion_.to_size;
        const uint64_t at_once = std::max<uint64_t>(converted_bytes / line_bytes, 1);
        for (uint64_t first = 0; first < columns_; first += at_once) {
            const uint64_t lines = std::min(at_once, columns_ - first);
            conversion_.convert(buffer + first * elements * conversion_.from_size, converted,
                                lines * elements);
            for (uint64_t t = 0; t < lines; ++t)
                store(converted + t * line_bytes, displaced(to, to_lines_[first + t]));
        }
    }

    // All lines of the target together: their cache lines come while the tile is transposed.
    void prefetch_target(uintptr_t to) const {
        for (uint64_t t = 0; t < columns_; ++t)
            for (uint64_t byte = 0; byte < rows_ * loops_.to_block; byte += line)
                __builtin_prefetch(pointer(displaced(to, to_lines_[t]) + byte), 1);
    }

    // What the tile beside this one reads, in as many parts as this one has lines.
    void prefetch_next(uintptr_t from, uint64_t part) const {
        const uint64_t bytes = columns_ * loops_.block;
        for (uint64_t f = part * rows_ / columns_; f < (part + 1) * rows_ / columns_; ++f)
            for (uint64_t byte = 0; byte < bytes; byte += line)
                __builtin_prefetch(pointer(displaced(from, from_lines_[f]) + bytes + byte));
    }

    // Moves the entries of the tile into the buffer, a line of the target after the other.
    void transpose(uintptr_t from, uintptr_t buffer) {
        int64_t lines[max_lines];
        for (uint64_t t = 0; t < columns_; ++t)
            lines[t] = static_cast<int64_t>(t * rows_ * loops_.block);
        Matrix m{};
        m.from = from;
        m.to = buffer;
        m.from_lines = from_lines_;
        m.to_lines = lines;
        m.from_count = rows_;
        m.to_count = columns_;
        m.from_step = from_step_;
        m.to_step = static_cast<int64_t>(loops_.block);
        m.block = loops_.block;
        transpose_(m);
    }

    bool is_contiguous() const {
        return rows_ == 1 || to_step_ == static_cast<int64_t>(loops_.to_block);
    }

    // Stores a converted line.
    void store(uintptr_t converted, uintptr_t to) const {
        const uint64_t each = is_contiguous() ? rows_ : 1, bytes = each * loops_.to_block;
        for (uint64_t f = 0; f < rows_; f += each)
            std::memcpy(pointer(displaced(to, displace(0, f, to_step_))),
                        pointer(converted + f * loops_.to_block), bytes);
    }

    const Conversion &conversion_;
    const LoopOrder &loops_;
    const uint64_t run_;                // elements of an entry
    const int64_t from_step_, to_step_; // from one entry of a line to the next
    const TransposeKernel transpose_;
    uint64_t height_, width_;         // of a tile: lines of the source and of the target
    uint64_t rows_ = 0, columns_ = 0; // of this tile
    int64_t from_lines_[max_lines];   // where the lines of this tile are
    int64_t to_lines_[max_lines];
    alignas(line) char buffer_[tile_bytes];
    alignas(line) char converted_[converted_bytes];
};

void convert_whole(const Conversion &conversion, const Axes &axes, uintptr_t from, uintptr_t to) {
    const LoopOrder loops = conversion.order(axes);
    ConvertedMatrix matrix(conversion, loops);
    uint64_t index[max_axes] = {};
    do {
        matrix.run(displaced(from, place_of(loops, index, &Axis::from)),
                   displaced(to, place_of(loops, index, &Axis::to)));
    } while (advance(loops, index));
}

} // namespace
} // namespace seq

bool convert_in_one_pass(const HostStream &from, const HostStream &to, uint64_t begin, uint64_t end,
                         const HostConversion &c) {
    using namespace seq;
    const Conversion conversion(c);
    Axes from_axes, to_axes, common;
    common.block = 1; // an element
    if (conversion.kernel == nullptr || !find_axes(from, from_axes) || !find_axes(to, to_axes) ||
        !find_common_axes(from_axes, conversion.from_size, to_axes, conversion.to_size, end,
                          common) ||
        !conversion.pays(common, end - begin))
        return false;
    const uint64_t bytes = (end - begin) * (conversion.from_size + conversion.to_size) / 2;
    const unsigned threads = useful_threads(bytes, c.threads);
    in_threads(threads, [&](unsigned i) {
        const auto first_of = [&](unsigned share) {
            return share == threads ? end : begin + (end - begin) / threads * share;
        };
        const DefaultFloatEnvironment environment;
        const auto convert_part = [&](const Axes &axes, uintptr_t part_from, uintptr_t part_to) {
            convert_whole(conversion, axes, part_from, part_to);
        };
        const auto no_rest = [](uintptr_t, uintptr_t, uint64_t) {}; // of a part of an element
        RangeOfAxes(common, convert_part, no_rest)
            .run(0, first_of(i), first_of(i + 1), origin_of(from), origin_of(to));
    });
    return true;
}

} // namespace ucd
