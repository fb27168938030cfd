#include "launch/launch.h"

#include "kernels/convert_kernels.h"
#include "kernels/copy_kernels.h"
#include "launch/copy_places.h"
#include "launch/launch_context.h"
#include "launch/member_tables.h"
#include "params/convert.h"
#include "plan/copy_nest.h"
#include "plan/make_divisor.h"
#include "plan/tiles.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

// A side of a conversion, whose stream is counted in elements.
class InElements {
public:
    InElements(const Side &side, uint32_t element, uint64_t count) : element_(element) {
        if (side.plan == nullptr) {
            base = reinterpret_cast<uintptr_t>(side.first());
            top_.kind = NodeKind::block;
            top_.bytes = count * element;
        } else {
            const PlannedSide planned{side};
            base = planned.typed();
            layout_ = &planned.plan().layout;
            top_ = planned.top();
            offset_ = side.offset / element;
        }
    }

    uintptr_t base;
    CopySide side() const { return {*layout_, top_, offset_, element_}; }

private:
    static inline const Layout no_nodes;

    const Layout *layout_ = &no_nodes;
    Node top_;
    uint64_t offset_ = 0;
    const uint32_t element_;
};

// A conversion of real numbers in elements.
struct Conversion {
    const Move &move;
    Element source, target;
    uint32_t from_bytes, to_bytes; // of an element
    uint64_t count;
    InElements from, to;

    explicit Conversion(const Move &m)
        : move(m), source(converted_part(m.from_element)), target(converted_part(m.to_element)),
          from_bytes(static_cast<uint32_t>(packed_size(source))),
          to_bytes(static_cast<uint32_t>(packed_size(target))), count(m.length / from_bytes),
          from(m.from, from_bytes, count), to(m.to, to_bytes, count) {}

    // The elements of a vector.
    uint32_t vector() const { return vector_bytes / std::max(from_bytes, to_bytes); }
    bool saturates() const { return move.op == Op::convert_sat; }

    bool is_small_nest(CopyNests &nests) const {
        return join_strides(from.side(), to.side(), count, nests) &&
               std::all_of(nests.begin(), nests.end(), [](const PlacedCopyNest &placed) {
                   return placed.nest.levels.size() < max_copy_levels; // a block becomes one more
               });
    }
};

// A conversion whose sides are both strided.
struct ConvertLaunch {
    LaunchTarget &target;
    const Conversion &c;

    // Launches a nest whose innermost level is the last one.
    Status launch(const CopyNest::Levels &levels, uintptr_t from, uintptr_t to,
                  bool in_vectors) const {
        uint64_t words = 1;
        for (const CopyNest::Level &level : levels) words *= level.count;
        ConvertParams params{};
        params.from = from;
        params.to = to;
        params.levels = static_cast<uint32_t>(levels.size());
        put_levels(levels, 1, params.level);
        share_words(words, words >= tuning.many_threads, params);
        params.in_vectors = in_vectors;
        params.aligned = is_aligned(levels, from, to, 1, levels.size());
        params.saturate = c.saturates();
        params.source = static_cast<uint32_t>(c.source);
        params.target = static_cast<uint32_t>(c.target);
        const void *const own = convert_kernels(c.source, c.target).rows;
        const void *const kernel =
            params.aligned != 0 && own != nullptr ? own : convert_any_kernel();
        return target.launch(kernel, params.tiles, c.move.limits.max_blocks, params);
    }

    // Whether addresses and the strides of the first levels are multiples of so many elements.
    bool is_aligned(const CopyNest::Levels &levels, uintptr_t from, uintptr_t to, uint64_t elements,
                    std::size_t first) const {
        uint64_t from_bits = from, to_bits = to;
        for (std::size_t k = 0; k < first; ++k) {
            from_bits |= static_cast<uint64_t>(levels[k].from);
            to_bits |= static_cast<uint64_t>(levels[k].to);
        }
        return from_bits % (elements * c.from_bytes) == 0 && to_bits % (elements * c.to_bytes) == 0;
    }

    // Returns false if it is better converted in rows, or if there is no kernel for tiles.
    bool tile(const CopyNest::Levels &levels, uintptr_t from, uintptr_t to,
              TilesParams &params) const {
        const ElementBytes bytes{c.from_bytes, c.to_bytes};
        if (convert_kernels(c.source, c.target).tiles == nullptr ||
            !is_aligned(levels, from, to, 1, levels.size()) ||
            !make_tiles(levels, bytes, tuning, params))
            return false;
        place_tiles({from, to}, bytes, params);
        params.saturate = c.saturates();
        return true;
    }
    Status launch_tiles(TilesParams &params) const {
        return target.launch(convert_kernels(c.source, c.target).tiles, params.tiles,
                             c.move.limits.max_blocks, params);
    }

    // Converts as much of the rows as whole vectors hold, and then the ends of the rows.
    Status launch_rows(CopyNest::Levels levels, uintptr_t from, uintptr_t to) const {
        if (TilesParams params; tile(levels, from, to, params)) return launch_tiles(params);
        if (levels.size() == 0) levels.push_back({1, 0, 0});
        const CopyNest::Level row = levels.back();
        const bool consecutive = row.from == int64_t{c.from_bytes} && row.to == int64_t{c.to_bytes};
        const bool has_vectors = convert_kernels(c.source, c.target).rows != nullptr;
        // performance only: elements are converted alike one by one
        if (!has_vectors || !consecutive || row.count < uint64_t{4} * c.vector() ||
            !is_aligned(levels, from, to, c.vector(), levels.size() - 1))
            return launch(levels, from, to, false);
        const uint64_t vectors = row.count / c.vector(), rest = row.count % c.vector();
        const uint64_t done = row.count - rest;
        levels.pop_back();
        levels.push_back(
            {vectors, int64_t{c.vector()} * c.from_bytes, int64_t{c.vector()} * c.to_bytes});
        UCD_TRY(launch(levels, from, to, true));
        if (rest == 0) return success;
        levels.pop_back();
        levels.push_back({rest, row.from, row.to});
        return launch(levels, from + done * c.from_bytes, to + done * c.to_bytes, false);
    }

    // With the levels in the order of the target.
    PlacedNest sorted(const PlacedCopyNest &placed) const {
        CopyNest nest = placed.nest;
        if (nest.block > 1) nest.levels.push_back({nest.block, c.from_bytes, c.to_bytes});
        nest.block = 1;
        sort_levels(nest, &CopyNest::Level::to);
        return {nest, c.from.base + static_cast<uintptr_t>(placed.from),
                c.to.base + static_cast<uintptr_t>(placed.to)};
    }
    Status launch_placed(const PlacedCopyNest &placed) const {
        const PlacedNest nest = sorted(placed);
        for (NestParts parts(nest.nest, nest.from, nest.to); !parts.is_over(); parts.next()) {
            const PlacedNest &part = parts.part();
            UCD_TRY(launch_rows(part.nest.levels, part.from, part.to));
        }
        return success;
    }
    bool has_tiles(const CopyNests &nests) const {
        return std::any_of(nests.begin(), nests.end(), [this](const PlacedCopyNest &placed) {
            TilesParams params;
            const PlacedNest nest = sorted(placed);
            return tile(nest.nest.levels, nest.from, nest.to, params);
        });
    }
};

// A conversion between any two nests. Elements are converted in the order of the packed streams,
// and many conversions are one launch.
class PlacesConversion {
public:
    explicit PlacesConversion(const Conversion &conversion)
        : c_(conversion), from_{c_.move.from}, to_{c_.move.to} {}

    const void *kernel() const { return convert_kernels(c_.source, c_.target).places_batch; }

    // Sides without a plan are left out.
    bool fits() const {
        return kernel() != nullptr && c_.move.from.plan != nullptr && c_.move.to.plan != nullptr &&
               has_whole_elements(from_, c_.from_bytes) && has_whole_elements(to_, c_.to_bytes) &&
               fits_places(from_, {c_.move.from.offset, c_.move.length}, c_.from_bytes) &&
               fits_places(to_, {c_.move.to.offset, c_.count * c_.to_bytes}, c_.to_bytes);
    }

    Status describe(LaunchTarget &target, ConvertPlacesParams &params) const {
        CopyPlacesParams &places = params.places;
        UCD_TRY(describe_rows(target, from_, to_,
                              {c_.move.from.offset, c_.move.to.offset, c_.move.length},
                              {c_.from_bytes, c_.to_bytes}, places));
        params.aligned = is_aligned(places, 1);
        params.saturate = c_.saturates();
        const uint32_t vector = c_.vector();
        const uint64_t parts = places.row.value | places.before | c_.count;
        // performance only: elements are converted alike one by one
        params.in_vectors = parts % vector == 0 && is_aligned(places, vector);
        const uint32_t word = params.in_vectors != 0 ? vector : 1;
        places.row = make_divisor(places.row.value / word);
        places.before /= word;
        share_words(c_.count / word, c_.count / word >= several_words, places);
        return success;
    }
    // performance only: large rows that are not whole vectors are converted faster in two launches
    static bool is_worth_joining(const ConvertPlacesParams &params) {
        return params.in_vectors != 0 || params.places.words < several_words;
    }
    Status add_to(MemberTables &tables, const ConvertPlacesParams &params) const {
        if (tables.add(kernel(), params, params.places.tiles)) return success;
        // The tables are full. Empty ones have room for every conversion that fits.
        UCD_TRY(tables.launch(c_.move.limits.max_blocks));
        (void)tables.add(kernel(), params, params.places.tiles);
        return success;
    }

private:
    static constexpr uint32_t several_words = 8 * threads_per_block * copy_words_per_thread;

    static bool has_whole_elements(const PlannedSide &side, uint32_t element) {
        return side.plan().contiguous || side.plan().word % element == 0;
    }
    // Whether so many elements are aligned wherever a row begins.
    bool is_aligned(const CopyPlacesParams &places, uint32_t elements) const {
        const auto is_multiple = [elements](const PlannedSide &side, uint64_t address,
                                            uint32_t element) {
            const uint64_t strides = side.plan().contiguous ? 0 : side.plan().word;
            return (address | strides) % (uint64_t{elements} * element) == 0;
        };
        return is_multiple(from_, places.from, c_.from_bytes) &&
               is_multiple(to_, places.to, c_.to_bytes);
    }

    const Conversion &c_;
    const PlannedSide from_, to_;
};

} // namespace

bool can_convert(const Move &move) {
    CopyNests nests;
    const Conversion conversion(move);
    return conversion.is_small_nest(nests) || PlacesConversion(conversion).fits();
}

Status launch_conversions(LaunchTarget &to, std::span<const Move> moves) {
    MemberTables tables(to, moves.size());
    for (const Move &move : moves) {
        const Conversion conversion(move);
        const PlacesConversion places(conversion);
        const ConvertLaunch launch{to, conversion};
        CopyNests nests;
        const bool is_strided = conversion.is_small_nest(nests);
        // performance only: strided ones are converted faster in rows or tiles, but in a launch
        // each
        if (!is_strided || (tables.pay() && places.fits() && !launch.has_tiles(nests))) {
            if (!places.fits())
                return fail(UCD_ERR__INTERNAL, "a conversion that no kernel can do");
            ConvertPlacesParams params{};
            UCD_TRY(places.describe(to, params));
            if (!is_strided || PlacesConversion::is_worth_joining(params)) {
                UCD_TRY(places.add_to(tables, params));
                continue;
            }
        }
        for (const PlacedCopyNest &placed : nests) UCD_TRY(launch.launch_placed(placed));
    }
    return moves.empty() ? success : tables.launch(moves.front().limits.max_blocks);
}

Status prepare_conversions() {
    if constexpr (!captures_streams) return success;
    for (int from = 0; from < static_cast<int>(Element::count_); ++from)
        for (int to = 0; to < static_cast<int>(Element::count_); ++to) {
            const auto source = static_cast<Element>(from), target = static_cast<Element>(to);
            const ConvertKernels kernels = convert_kernels(source, target);
            UCD_TRY(load_kernels({kernels.rows, kernels.tiles, kernels.places_batch}));
        }
    return load_kernels({convert_any_kernel()});
}

} // namespace ucd::UCD_GPU
