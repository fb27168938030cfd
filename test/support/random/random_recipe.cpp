#include "support/random/random_recipe.hpp"

#include "support/oracle/byte_map.hpp"
#include "support/random/random_arrays.hpp"
#include "support/random/random_placement.hpp"

#include <algorithm>
#include <cstdlib>

namespace ucdtest {
namespace {

// Grows a recipe from a predefined type outwards. Each constructor's arguments are drawn in view of
// the old type's map, and drawn again when the result breaks a limit.
class Generator {
public:
    Generator(Rng &rng, const RecipeOptions &options, Pool &pool)
        : rng_(rng), options_(options), pool_(pool) {}

    // Two lists with equal displacements and lengths, or with all but one equal, one below the
    // other or side by side. They have so many segments, and blocks so long, or neighbours that
    // touch in one of them only, that a library does not write them out as one list of blocks.
    // Nothing if a limit is broken.
    RandomType alike() {
        const bool nested = !options_.unpack_safe && rng_.chance(40);
        const bool touching = !nested && rng_.chance(50);
        const RandomType byte = with_map(recipes::leaf(UCD_TYPE__BYTE), {});
        const auto row = [&] {
            return with_map(
                recipes::vector(rng_.between(26, 36), 1, rng_.between(2, 3), byte.recipe), {byte});
        };
        const RandomType a = nested ? byte : row(), b = nested ? byte : row();
        const std::intptr_t longer = std::max(a.map->extent, b.map->extent);
        std::intptr_t blocks = rng_.between(8, 10);
        if (nested) blocks += 9;
        if (touching) blocks *= 4;
        Ints lengths, displs;
        for (std::intptr_t at = 0; blocks > 0; --blocks) {
            lengths.push_back(touching ? 1 : rng_.between(4, 5));
            displs.push_back(at);
            at += lengths.back() * longer + (touching && rng_.chance(50) ? 0 : rng_.between(1, 9));
        }
        const RandomType lower = list_of(lengths, displs, a);
        if (nested)
            return accepted(recipes::hindexed(lengths, displs, lower.recipe), {lower},
                            options_.max_alike);
        if (rng_.chance(20)) displs[rng_.below(displs.size())] += rng_.between(-1, 1);
        if (rng_.chance(20)) lengths[rng_.below(displs.size())] = rng_.between(0, 2);
        const RandomType upper = list_of(lengths, displs, b);
        const std::intptr_t behind = lower.map->true_ub() - upper.map->true_lb + random_gap(rng_);
        return accepted(recipes::structure({1, 1}, {0, behind}, {lower.recipe, upper.recipe}),
                        {lower, upper}, options_.max_alike);
    }

    RandomType grow(int depth, std::size_t budget) {
        if (depth <= 0) return leaf();
        const auto fits = [&](const RandomType &known) {
            return known.depth <= depth && known.map->size <= budget;
        };
        if (const RandomType *again = pool_.find(rng_, pool_.types, 30, fits)) return *again;
        RandomType made = grow_new(depth, budget);
        pool_.keep(rng_, pool_.types, made);
        return made;
    }

private:
    static RandomType list_of(const Ints &lengths, const Ints &displs, const RandomType &old) {
        return with_map(recipes::hindexed(lengths, displs, old.recipe), {old});
    }

    RandomType grow_new(int depth, std::size_t budget) {
        if (depth == 1 && pool_.is_used() && rng_.chance(25)) return mixed();
        if (depth >= 3 && rng_.chance(6)) return transpose(grow(depth - 3, budget / 8), budget);
        if (rng_.chance(pool_.is_used() ? 30 : 10)) return structure(depth, budget);
        const RandomType old =
            grow(depth - 1, std::max<std::size_t>(32, budget >> rng_.between(0, 4)));
        for (int attempt = 0; attempt < 8; ++attempt) {
            RandomType made = accepted(derive(old, budget), {old}, budget);
            if (made.recipe) return made;
        }
        return with_map(recipes::dup(old.recipe), {old});
    }

    static RandomType with_map(RecipePtr recipe, const std::vector<RandomType> &old) {
        std::vector<const TypeMap *> maps;
        int depth = 0;
        for (const RandomType &child : old) {
            maps.push_back(child.map.get());
            depth = std::max(depth, child.depth + 1);
        }
        auto map = std::make_shared<const TypeMap>(type_map(*recipe, maps));
        return {std::move(recipe), std::move(map), depth};
    }

    // Nothing if the recipe breaks a limit.
    RandomType accepted(RecipePtr recipe, const std::vector<RandomType> &old, std::size_t budget) {
        if (!recipe) return {};
        RandomType made = with_map(std::move(recipe), old);
        const TypeMap &map = *made.map;
        const auto within = [&](std::intptr_t value) {
            return std::abs(value) <= options_.max_span;
        };
        if (map.size > budget) return {};
        if (!within(map.lb) || !within(map.ub()) || !within(map.extent)) return {};
        if (!within(map.true_lb) || !within(map.true_ub()) || !within(map.true_extent)) return {};
        if (options_.unpack_safe && overlaps(map, 1)) return {};
        return made;
    }

    RandomType leaf() {
        const auto any = [](ucd_type_t) { return true; };
        const ucd_type_t type =
            pool_.draw(rng_, pool_.elements, any, [&] { return new_element(); });
        return with_map(recipes::leaf(type), {});
    }

    ucd_type_t new_element() {
        const auto &all = options_.elements;
        return all.empty() ? all_predefined()[rng_.below(all_predefined().size())].handle
                           : rng_.pick(all);
    }

    // Two elements, mostly of different predefined types.
    RandomType mixed() {
        const RandomType a = leaf(), b = with_map(recipes::leaf(new_element()), {});
        return with_map(
            recipes::structure({1, 1}, {0, distance_from(a.map->extent)}, {a.recipe, b.recipe}),
            {a, b});
    }

    // How many copies of the old type the budget has room for. An empty one is placed a few times,
    // for its bounds.
    static std::size_t capacity(const TypeMap &old, std::size_t budget) {
        return old.size == 0 ? 12 : budget / old.size;
    }

    // Mostly without overlap, so that regular layouts and types to unpack into are common.
    bool orderly() { return rng_.chance(options_.unpack_safe ? 95 : 60); }

    std::intptr_t wild_reach() {
        return rng_.chance(90) ? 200 : std::max<std::intptr_t>(200, options_.max_span / 3);
    }

    std::intptr_t random_number(std::size_t most) {
        if (most == 0 || rng_.chance(3)) return 0;
        // Short ones have room at two levels.
        if (pool_.is_used() && rng_.chance(60)) most = std::min<std::size_t>(most, 9);
        return pool_.positive(rng_, most);
    }

    RecipePtr derive(const RandomType &old, std::size_t budget) {
        const std::size_t room = capacity(*old.map, budget);
        if (options_.index_memory && !old.map->by_reference && rng_.chance(30))
            return by_reference(old, room);
        if (!pool_.lists.empty() && rng_.chance(50)) return listed_again(old, room);
        switch (rng_.below(13)) {
        case 0: return recipes::contig(random_number(room), old.recipe);
        case 1: return recipes::dup(old.recipe);
        case 2: return vector(old, room, true);
        case 3: return vector(old, room, false);
        case 4:
        case 5:
        case 6:
        case 7: return indexed(old, room);
        case 8: return random_subarray(rng_, pool_, old.recipe, room);
        case 9: return random_darray(rng_, pool_, old.recipe, room);
        case 10: return random_ndarray(rng_, pool_, old.recipe, *old.map, room, orderly());
        default: return resized(old);
        }
    }

    // A block length that is safe to repeat at the old type's extent, when that is asked for.
    std::intptr_t random_blocklength(const TypeMap &old, std::size_t room, bool safe) {
        if (rng_.chance(2)) return 0;
        const bool spaced = std::abs(old.extent) >= old.true_extent;
        if ((safe && !spaced) || room < 2 || rng_.chance(30)) return 1;
        return pool_.positive(rng_, std::min<std::size_t>(room, 16));
    }

    RecipePtr vector(const RandomType &old, std::size_t room, bool in_elements) {
        const bool safe = orderly();
        const std::intptr_t blocklength = random_blocklength(*old.map, room, safe);
        const auto per_block = static_cast<std::size_t>(std::max<std::intptr_t>(1, blocklength));
        const std::intptr_t count = random_number(room / per_block);
        std::intptr_t stride = 0;
        if (safe) {
            const std::intptr_t bytes = block_range(*old.map, blocklength).length();
            stride = in_elements ? units_for(bytes, old.map->extent) : bytes;
            stride = distance_from(stride);
            if (rng_.chance(25)) stride = -stride;
        } else {
            stride = in_elements ? pool_.distance(rng_, -5, 5) : pool_.distance(rng_, -100, 100);
        }
        return in_elements ? recipes::vector(count, blocklength, stride, old.recipe)
                           : recipes::hvector(count, blocklength, stride, old.recipe);
    }

    // At least `least`.
    std::intptr_t distance_from(std::intptr_t least) {
        const auto fits = [&](std::intptr_t known) { return known >= least; };
        return pool_.draw(rng_, pool_.distances, fits, [&] { return least + random_gap(rng_); });
    }

    // indexed_block, hindexed_block, indexed and hindexed.
    RecipePtr indexed(const RandomType &old, std::size_t room) {
        const bool safe = orderly();
        const bool in_elements = rng_.chance(50);
        const bool uniform = rng_.chance(50);
        Ints blocklengths;
        if (uniform) {
            const std::intptr_t blocklength = random_blocklength(*old.map, room, safe);
            const auto per_block =
                static_cast<std::size_t>(std::max<std::intptr_t>(1, blocklength));
            const auto blocks = static_cast<std::size_t>(random_number(room / per_block));
            blocklengths.assign(blocks, blocklength);
        } else {
            // Equal lengths are common: they should be recognised as uniform.
            const std::intptr_t usual = random_blocklength(*old.map, room / 2, safe);
            std::size_t left = room;
            for (auto blocks = random_number(room); blocks > 0; --blocks) {
                std::intptr_t length = usual;
                if (rng_.chance(40)) length = random_blocklength(*old.map, left, safe);
                if (rng_.chance(8)) length = 0;
                if (static_cast<std::size_t>(length) > left) break;
                left -= static_cast<std::size_t>(length);
                blocklengths.push_back(length);
            }
        }
        // Byte displacements keep some alignment more often than not.
        const std::intptr_t grain = std::intptr_t{1} << rng_.between(0, 4);
        const std::intptr_t unit = in_elements ? old.map->extent : grain;
        const Ints displs = displacements(blocklengths, {old.map.get()}, unit, safe);
        keep_lists(blocklengths, displs, unit);
        return of_lists(blocklengths, displs, in_elements ? 1 : grain, in_elements, uniform,
                        old.recipe);
    }

    void keep_lists(const Ints &blocklengths, Ints displs, std::intptr_t unit) {
        if (displs.size() < 2) return;
        for (std::intptr_t &displ : displs) displ *= unit;
        pool_.keep(rng_, pool_.lists, {std::move(displs), blocklengths});
    }

    static RecipePtr of_lists(const Ints &blocklengths, Ints displs, std::intptr_t factor,
                              bool in_elements, bool uniform, const RecipePtr &old) {
        for (std::intptr_t &displ : displs) displ *= factor;
        if (uniform) {
            const std::intptr_t blocklength = blocklengths.empty() ? 1 : blocklengths[0];
            return in_elements ? recipes::indexed_block(blocklength, displs, old)
                               : recipes::hindexed_block(blocklength, displs, old);
        }
        return in_elements ? recipes::indexed(blocklengths, displs, old)
                           : recipes::hindexed(blocklengths, displs, old);
    }

    // Displacements and lengths of blocks that were drawn before, together or not, the former now
    // and then with another number in one place.
    RecipePtr listed_again(const RandomType &old, std::size_t room) {
        auto [displs, blocklengths] = rng_.pick(pool_.lists);
        const bool uniform = rng_.chance(25);
        if (uniform)
            blocklengths.assign(displs.size(), random_blocklength(*old.map, room, true));
        else if (rng_.chance(30))
            blocklengths = rng_.pick(pool_.lists).lengths;
        std::size_t blocks = 0;
        for (std::size_t left = room; blocks < std::min(displs.size(), blocklengths.size());) {
            const auto length = static_cast<std::size_t>(blocklengths[blocks]);
            if (length > left) break;
            left -= length;
            ++blocks;
        }
        displs.resize(blocks);
        blocklengths.resize(blocks);
        if (blocks == 0) return nullptr;
        if (rng_.chance(15)) displs[rng_.below(blocks)] += rng_.between(-8, 8);
        if (rng_.chance(15)) blocklengths[rng_.below(blocks)] = 1;
        const std::intptr_t extent = old.map->extent;
        const bool in_elements =
            extent != 0 && rng_.chance(50) &&
            std::ranges::all_of(displs, [&](std::intptr_t d) { return d % extent == 0; });
        if (in_elements)
            for (std::intptr_t &displ : displs) displ /= extent;
        return of_lists(blocklengths, displs, 1, in_elements, uniform, old.recipe);
    }

    // Blocks at indices in memory, which wrap now and then.
    RecipePtr by_reference(const RandomType &old, std::size_t room) {
        const std::intptr_t blocklength = random_blocklength(*old.map, room, orderly());
        const auto per_block = static_cast<std::size_t>(std::max<std::intptr_t>(1, blocklength));
        const int shift = static_cast<int>(rng_.between(0, 6));
        const std::intptr_t unit = (std::intptr_t{1} << shift) * (rng_.chance(20) ? -1 : 1);
        // The same memory again, if its indices do not wrap at this unit.
        const auto fits = [&](const IndexMemory &known) {
            return known.indices.size() <= room / per_block &&
                   std::ranges::all_of(known.indices, [&](std::int64_t i) {
                       return std::abs(i) <= options_.max_span;
                   });
        };
        const IndexMemory list = pool_.draw(rng_, pool_.indices, fits, [&] {
            return new_indices(old, blocklength, room / per_block, unit, shift);
        });
        Ints displs;
        for (const std::int64_t i : list.indices)
            displs.push_back(static_cast<std::intptr_t>(static_cast<std::uintptr_t>(i) *
                                                        static_cast<std::uintptr_t>(unit)));
        const TypeMap map =
            type_map(*recipes::hindexed_block(blocklength, displs, old.recipe), {old.map.get()});
        const std::intptr_t before = rng_.between(0, 12), behind = rng_.between(0, 12);
        return recipes::indexed_block_ref(blocklength, list.indices, list.type, unit,
                                          map.true_lb - before, map.true_extent + before + behind,
                                          old.recipe, list.memory);
    }

    IndexMemory new_indices(const RandomType &old, std::intptr_t blocklength, std::size_t room,
                            std::intptr_t unit, int shift) {
        const auto blocks = static_cast<std::size_t>(random_number(room));
        const Ints units =
            displacements(Ints(blocks, blocklength), {old.map.get()}, unit, orderly());
        static const ucd_type_t index_types[] = {UCD_TYPE__INT32_T, UCD_TYPE__UINT32_T,
                                                 UCD_TYPE__INT64_T, UCD_TYPE__UINT64_T};
        IndexMemory list{{units.begin(), units.end()}, index_types[rng_.below(4)], nullptr};
        const bool negative = std::ranges::any_of(units, [](std::intptr_t i) { return i < 0; });
        if (negative && list.type == UCD_TYPE__UINT32_T) list.type = UCD_TYPE__INT32_T;
        const bool wide = list.type == UCD_TYPE__INT64_T || list.type == UCD_TYPE__UINT64_T;
        if (wide && shift > 0)
            for (std::int64_t &i : list.indices)
                if (rng_.chance(5))
                    i = static_cast<std::int64_t>(static_cast<std::uint64_t>(i) +
                                                  (std::uint64_t{1} << (64 - shift)));
        if (!list.indices.empty())
            list.memory = options_.index_memory(rng_, bytes_of_indices(list.indices, list.type));
        return list;
    }

    // `maps`: of each block, or one for all.
    Ints displacements(const Ints &blocklengths, const std::vector<const TypeMap *> &maps,
                       std::intptr_t unit, bool safe) {
        if (!safe) return wild_displacements(rng_, blocklengths.size(), unit, wild_reach());
        std::vector<BlockRange> blocks;
        for (std::size_t i = 0; i < blocklengths.size(); ++i) {
            blocks.push_back(block_range(maps.size() == 1 ? *maps[0] : *maps[i], blocklengths[i]));
        }
        return orderly_displacements(rng_, blocks, unit);
    }

    RandomType structure(int depth, std::size_t budget) {
        const std::size_t members = rng_.chance(3) ? 0 : 1 + rng_.mostly_small(7);
        std::vector<RandomType> old;
        for (std::size_t i = 0; i < members; ++i) {
            // The same member again: one handle used twice, a shape that repeats.
            const bool again = !old.empty() && rng_.chance(35);
            old.push_back(
                again ? old[rng_.below(old.size())]
                      : grow(static_cast<int>(rng_.between(0, depth - 1)), budget / members));
        }
        for (int attempt = 0; attempt < 8; ++attempt) {
            RandomType made = accepted(structure_of(old, budget), old, budget);
            if (made.recipe) return made;
        }
        return old.empty() ? leaf() : with_map(recipes::dup(old[0].recipe), {old[0]});
    }

    RecipePtr structure_of(const std::vector<RandomType> &old, std::size_t budget) {
        const bool safe = orderly();
        Ints blocklengths;
        std::vector<RecipePtr> types;
        std::vector<const TypeMap *> maps;
        for (const RandomType &child : old) {
            const std::size_t room = capacity(*child.map, budget / old.size());
            blocklengths.push_back(
                random_blocklength(*child.map, std::min<std::size_t>(room, 6), safe));
            types.push_back(child.recipe);
            maps.push_back(child.map.get());
        }
        const std::intptr_t grain = std::intptr_t{1} << rng_.between(0, 4);
        const auto enough = [&](const BlockLists &known) {
            return known.displs.size() >= types.size();
        };
        if (const BlockLists *again = pool_.find(rng_, pool_.lists, 25, enough)) {
            Ints displs(again->displs.begin(),
                        again->displs.begin() + static_cast<std::ptrdiff_t>(types.size()));
            return recipes::structure(blocklengths, std::move(displs), types);
        }
        Ints displs = displacements(blocklengths, maps, grain, safe);
        keep_lists(blocklengths, displs, grain);
        for (std::intptr_t &displ : displs) displ *= grain;
        return recipes::structure(blocklengths, displs, types);
    }

    RecipePtr resized(const RandomType &old) {
        const TypeMap &map = *old.map;
        const std::intptr_t extents[] = {map.extent,
                                         map.true_extent,
                                         map.true_extent + random_gap(rng_),
                                         -map.extent,
                                         -(map.true_extent + random_gap(rng_)),
                                         map.extent + 64,
                                         rng_.between(-64, 64),
                                         0};
        const std::intptr_t lbs[] = {map.lb, map.true_lb, 0, rng_.between(-64, 64)};
        if (pool_.is_used() && rng_.chance(30))
            return recipes::resized(old.recipe, lbs[rng_.below(4)], distance_from(map.true_extent));
        const std::size_t kinds = options_.unpack_safe && rng_.chance(90) ? 6 : 8;
        return recipes::resized(old.recipe, lbs[rng_.below(4)], extents[rng_.below(kinds)]);
    }

    // The classic that interleaves copies without overlap: a column whose extent is one element's,
    // repeated. Rare by chance alone.
    RandomType transpose(const RandomType &element, std::size_t budget) {
        const std::size_t room = capacity(*element.map, budget);
        if (room < 4 || element.map->extent == 0) return element;
        const auto columns = static_cast<std::intptr_t>(1 + rng_.mostly_small(room / 2));
        const auto rows = static_cast<std::intptr_t>(
            1 + rng_.mostly_small(room / static_cast<std::size_t>(columns)));
        const std::intptr_t stride = columns + random_gap(rng_);
        const RandomType column =
            accepted(recipes::vector(rows, 1, stride, element.recipe), {element}, budget);
        if (!column.recipe) return element;
        const RandomType narrow =
            accepted(recipes::resized(column.recipe, element.map->lb, element.map->extent),
                     {column}, budget);
        if (!narrow.recipe) return element;
        const RandomType all = accepted(recipes::contig(columns, narrow.recipe), {narrow}, budget);
        return all.recipe ? all : narrow;
    }

    Rng &rng_;
    const RecipeOptions &options_;
    Pool &pool_;
};

bool allows_bytes(const RecipeOptions &options) {
    return options.elements.empty() || std::ranges::count(options.elements, UCD_TYPE__BYTE) > 0;
}

} // namespace

RandomType random_type(Rng &rng, const RecipeOptions &options) {
    // Small types dominate: they are where offsets, lengths and edges are dense.
    std::size_t budget = std::min<std::size_t>(48, options.max_bytes);
    while (budget < options.max_bytes && rng.chance(75)) {
        budget = std::min(2 * budget, options.max_bytes);
    }
    const int depth = static_cast<int>(rng.between(0, options.max_depth));
    // Now and then without a pool, so that parts are as different as they can be.
    Pool own(options.pool == nullptr && rng.chance(75));
    Generator generator(rng, options, options.pool ? *options.pool : own);
    if (options.max_bytes >= 1024 && allows_bytes(options) && rng.chance(12))
        if (RandomType made = generator.alike(); made.recipe) return made;
    return generator.grow(depth, budget);
}

std::size_t random_count(Rng &rng, const RandomType &type, const RecipeOptions &options,
                         std::size_t most) {
    std::size_t count = rng.chance(40) ? 1 : rng.below(most + 1);
    const auto fits = [&](std::size_t n) {
        const TouchedRange range = touched_range(*type.map, n);
        if (range.high - range.low > options.max_span) return false;
        return !options.unpack_safe || !overlaps(*type.map, n);
    };
    while (count > 1 && !fits(count)) --count;
    return count;
}

} // namespace ucdtest
