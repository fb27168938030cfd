// What a case has drawn before, and draws again: a type then has equal lists at several levels,
// equal displacements under other lengths and children, and one child in several places. Whatever a
// library shares or looks up by a part of a type meets another type that is equal in that part.
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/oracle/type_map.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ucdtest {

struct RandomType {
    RecipePtr recipe;
    std::shared_ptr<const TypeMap> map;
    int depth = 0; // constructors on top of a predefined type
};

// Displacements in bytes, and lengths, of as many blocks.
struct BlockLists {
    Ints displs, lengths;
};

// Indices in memory, which several types may read.
struct IndexMemory {
    std::vector<std::int64_t> indices;
    ucd_type_t type;
    std::shared_ptr<void> memory;
};

class Pool {
public:
    // A pool that is not used forgets everything, so all that is drawn is new.
    explicit Pool(bool is_used) : is_used_(is_used) {}
    bool is_used() const { return is_used_; }

    std::vector<ucd_type_t> elements;
    Ints numbers, distances; // counts and lengths; strides and extents
    std::vector<BlockLists> lists;
    std::vector<IndexMemory> indices;
    std::vector<RandomType> types;

    // One of those drawn before that fits, or a new one.
    template <class T, class Fits, class Make>
    T draw(Rng &rng, std::vector<T> &drawn, const Fits &fits, const Make &make) {
        if (const T *again = find(rng, drawn, 60, fits)) return *again;
        T made = make();
        keep(rng, drawn, made);
        return made;
    }

    // One of those drawn before with this chance in percent, if it fits; else null.
    template <class T, class Fits>
    const T *find(Rng &rng, const std::vector<T> &drawn, unsigned chance, const Fits &fits) const {
        if (drawn.empty() || !rng.chance(chance)) return nullptr;
        const T &again = rng.pick(drawn);
        return fits(again) ? &again : nullptr;
    }

    template <class T>
    void keep(Rng &rng, std::vector<T> &drawn, T made) const {
        constexpr std::size_t most = 3;
        if (!is_used_) return;
        if (drawn.size() < most)
            drawn.push_back(std::move(made));
        else
            drawn[rng.below(most)] = std::move(made);
    }

    // 1 to `most`, which is at least 1.
    std::intptr_t positive(Rng &rng, std::size_t most) {
        const auto limit = static_cast<std::intptr_t>(most);
        const auto fits = [&](std::intptr_t n) { return n <= limit; };
        return draw(rng, numbers, fits,
                    [&] { return 1 + static_cast<std::intptr_t>(rng.mostly_small(most - 1)); });
    }

    std::intptr_t distance(Rng &rng, std::intptr_t low, std::intptr_t high) {
        const auto fits = [&](std::intptr_t n) { return n >= low && n <= high; };
        return draw(rng, distances, fits, [&] { return rng.between(low, high); });
    }

private:
    bool is_used_;
};

} // namespace ucdtest
