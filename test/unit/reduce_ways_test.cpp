// Reductions on the CPU go by way of a chunk, or in place from row to row; which of them is chosen
// by the rows' length. Here each layout goes both ways, whole and in parts.
#include "plan.h"
#include "reduce_range.h"

#include "support/catch.hpp"

#include "prepared/type_cache.h"
#include "support/moves/backend_move.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/oracle/reduction_oracle.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace reduce_ways_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

constexpr std::size_t guard = 64;

// A layout in memory with guarded ends, and what its packed stream is made of.
class Reduced {
public:
    Reduced(Case &one, const RandomType &random, std::size_t count, bool by_rows)
        : one_(one), built_(random.recipe), count_(count), bytes_(byte_map(*random.map, count)),
          elements_(stream_elements(*random.map, count)) {
        REQUIRE(ucd::resolve(built_.get(), "type", type_).ok());
        plan_ = std::make_unique<ucd::seq::SeqPlan>(ucd::layout_of(*type_), type_->extent(),
                                                    count > 1, UINT64_MAX);
        plan_->has_long_rows = by_rows;
        low_ = *std::min_element(bytes_.begin(), bytes_.end());
        const auto high = *std::max_element(bytes_.begin(), bytes_.end());
        memory_.resize(static_cast<std::size_t>(high + 1 - low_) + 2 * guard);
        for (std::byte &b : memory_) b = static_cast<std::byte>(one.rng().bits());
    }

    void check(ucd_op_t op, ucd::Op as_ucd, ucd::Direction direction, std::size_t first,
               std::size_t last) {
        const std::size_t begin = offset_of(first), size = offset_of(last) - begin;
        std::vector<std::byte> packed(size + 2 * guard), stream(size);
        for (std::byte &b : packed) b = static_cast<std::byte>(one_.rng().bits());
        for (std::size_t i = 0; i < size; ++i) stream[i] = memory_[place(begin + i)];
        std::vector<std::byte> expected_packed = packed, expected_memory = memory_;
        if (direction == ucd::Direction::pack) {
            reduce_stream(op, elements_, first, last, &expected_packed[guard], stream.data());
        } else {
            reduce_stream(op, elements_, first, last, stream.data(), &packed[guard]);
            for (std::size_t i = 0; i < size; ++i) expected_memory[place(begin + i)] = stream[i];
        }
        char *const stream_at = reinterpret_cast<char *>(&packed[guard]);
        ucd::Move move =
            move_of(*plan_,
                    reinterpret_cast<char *>(reinterpret_cast<std::uintptr_t>(memory_.data()) +
                                             guard - static_cast<std::uintptr_t>(low_)),
                    stream_at, size, direction, count_, begin);
        move.op = as_ucd;
        move.elements = &ucd::elements_of(*type_);
        ucd::seq::reduce_range(move, {begin, size}, stream_at);
        if (packed != expected_packed)
            one_.fail("other packed bytes, elements ", first, " to ", last);
        if (memory_ != expected_memory) one_.fail("other memory, elements ", first, " to ", last);
    }

    std::size_t elements() const { return elements_.size(); }

private:
    std::size_t offset_of(std::size_t i) const {
        return i < elements_.size() ? elements_[i].offset : bytes_.size();
    }
    std::size_t place(std::size_t i) const {
        return static_cast<std::size_t>(bytes_[i] - low_) + guard;
    }

    Case &one_;
    BuiltType built_;
    const ucd::Type *type_ = nullptr;
    std::size_t count_;
    ByteMap bytes_;
    std::vector<StreamElement> elements_;
    std::unique_ptr<ucd::seq::SeqPlan> plan_;
    std::intptr_t low_ = 0;
    std::vector<std::byte> memory_;
};

// Strided rows of whole elements, of lengths about those where the way changes.
RecipePtr rows(Rng &rng, ucd_type_t element) {
    const std::intptr_t block = rng.between(1, 70), count = rng.between(1, 40);
    RecipePtr row = vector(count, block, block + rng.between(0, 3), leaf(element));
    return rng.chance(50) ? row : hvector(rng.between(1, 4), 1, 40000 + rng.between(0, 7), row);
}

} // namespace

TEST_CASE("reductions in place and by way of a chunk are the same") {
    const ucd_type_t elements[] = {UCD_TYPE__INT8_T, UCD_TYPE__UINT16_T, UCD_TYPE__INT32_T,
                                   UCD_TYPE__INT64_T};
    const struct {
        ucd_op_t op;
        ucd::Op as_ucd;
    } ops[] = {
        {UCD_OP__SUM, ucd::Op::sum}, {UCD_OP__MAX, ucd::Op::max}, {UCD_OP__BXOR, ucd::Op::bxor}};
    run_cases("ways of reductions", 1500, [&](Case &one) {
        Rng &rng = one.rng();
        const ucd_type_t element = elements[rng.below(std::size(elements))];
        RecipeOptions options;
        options.unpack_safe = true;
        options.max_bytes = 20000;
        options.elements = {element};
        // By rows, only layouts of one element are reduced in place.
        const bool mixed = rng.chance(20);
        const ucd_type_t other = mixed ? elements[rng.below(std::size(elements))] : element;
        if (mixed) options.elements.push_back(other);
        RandomType random;
        std::size_t count = 1;
        if (rng.chance(50)) {
            random.recipe = rows(rng, element);
            if (mixed)
                random.recipe = structure({1, 1}, {0, 200000}, {random.recipe, rows(rng, other)});
            random.map = std::make_shared<TypeMap>(type_map(*random.recipe));
        } else {
            random = random_type(rng, options);
            count = random_count(rng, random, options);
        }
        if (random.map->size * count == 0) return;
        one.about("type", random.recipe, count);
        const auto &op = ops[rng.below(std::size(ops))];
        for (const bool by_rows : {false, true}) {
            Reduced what(one, random, count, by_rows);
            for (const ucd::Direction d : {ucd::Direction::pack, ucd::Direction::unpack}) {
                what.check(op.op, op.as_ucd, d, 0, what.elements());
                for (int i = 0; i < 3; ++i) {
                    const std::size_t first = rng.below(what.elements());
                    const std::size_t last = first + 1 + rng.below(what.elements() - first);
                    what.check(op.op, op.as_ucd, d, first, last);
                }
            }
        }
    });
}

} // namespace reduce_ways_test
