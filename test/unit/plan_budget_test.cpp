// Plans of the CPU backend that may hold little memory, or none: they move what all others move.
#include "support/catch.hpp"

#include "prepared/type_cache.h"
#include "registry.h"
#include "support/moves/backend_move.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"
#include "transfer/context.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace plan_budget_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

class Mover {
public:
    Mover() : backend_(ucd::registry()[0].open(reason_)) {}

    // The packed bytes [offset, offset + length) of `count` of the type at `buffer`.
    std::vector<char> packed(const ucd::Type &type, uint64_t count, char *buffer, uint64_t offset,
                             uint64_t length, uint64_t max_bytes, std::size_t &held) {
        ucd::Owner<ucd::KernelPlan> plan;
        REQUIRE(
            backend_->plan(ucd::layout_of(type), type.extent(), count > 1, max_bytes, plan).ok());
        held = plan->memory();
        std::vector<char> bytes(length);
        launch(*plan, ucd::Direction::pack, count, buffer, offset, bytes);
        return bytes;
    }

    // Those bytes to where they belong.
    void unpack(const ucd::Type &type, uint64_t count, char *buffer, uint64_t offset,
                std::vector<char> bytes, uint64_t max_bytes) {
        ucd::Owner<ucd::KernelPlan> plan;
        REQUIRE(
            backend_->plan(ucd::layout_of(type), type.extent(), count > 1, max_bytes, plan).ok());
        launch(*plan, ucd::Direction::unpack, count, buffer, offset, bytes);
    }

private:
    void launch(const ucd::KernelPlan &plan, ucd::Direction direction, uint64_t count, char *buffer,
                uint64_t offset, std::vector<char> &bytes) {
        const ucd::Move move =
            move_of(plan, buffer, bytes.data(), bytes.size(), direction, count, offset);
        ucd::Owner<ucd::Event> done;
        REQUIRE(backend_->launch(0, std::vector<ucd::Move>{move}, done).ok());
    }

    std::string reason_;
    ucd::Owner<ucd::Backend> backend_;
};

} // namespace

TEST_CASE("Plans within any budget move the same bytes") {
    Mover mover;
    std::size_t cases = 0, frugal = 0;
    run_cases("plan budgets", 3000, [&](Case &one) {
        RecipeOptions options;
        options.max_span = 1 << 20;
        const RandomType random = random_type(one.rng(), options);
        one.about("type", random.recipe);
        const BuiltType built(random.recipe);
        const ucd::Type *type = nullptr;
        REQUIRE(ucd::resolve(built.get(), "type", type).ok());
        const auto count = static_cast<uint64_t>(random_count(one.rng(), random, options));
        const uint64_t total = type->size * count;
        if (total == 0) return;
        ++cases;
        // All memory that it touches.
        const int64_t reach = static_cast<int64_t>(count - 1) * type->extent();
        const int64_t low = type->true_lb + std::min<int64_t>(reach, 0),
                      high = type->true_ub + std::max<int64_t>(reach, 0);
        std::vector<char> memory(static_cast<std::size_t>(high - low));
        for (char &c : memory) c = static_cast<char>(one.rng().bits());
        char *const buffer = reinterpret_cast<char *>(
            reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(low));
        const uint64_t offset = one.rng().below(total),
                       length = 1 + one.rng().below(total - offset);
        std::size_t wanted_memory = 0, held = 0;
        const std::vector<char> wanted =
            mover.packed(*type, count, buffer, offset, length, UINT64_MAX, wanted_memory);
        for (const uint64_t most : {uint64_t{0}, uint64_t{1000}, uint64_t{wanted_memory - 1}}) {
            if (mover.packed(*type, count, buffer, offset, length, most, held) != wanted)
                one.fail("other bytes within ", most, " bytes");
            if (held > std::max<std::size_t>(most, 700)) one.fail("a plan of ", held, " bytes");
            frugal += held < wanted_memory;
            if (most > 0 || memory.size() > 65536) continue;
            // Unpacked where there was something else, and nothing beside it.
            const std::vector<char> before = memory;
            for (std::size_t i = 0; i < memory.size(); ++i)
                memory[i] = static_cast<char>(~memory[i]);
            const std::vector<char> beside = memory;
            mover.unpack(*type, count, buffer, offset, wanted, most);
            if (mover.packed(*type, count, buffer, offset, length, UINT64_MAX, held) != wanted)
                one.fail("other bytes unpacked within ", most, " bytes");
            std::size_t moved = 0;
            for (std::size_t i = 0; i < memory.size(); ++i) {
                if (memory[i] != before[i] && memory[i] != beside[i])
                    one.fail("a byte that is of neither, within ", most, " bytes");
                moved += memory[i] == before[i];
            }
            if (moved > length) one.fail("more bytes than there are, within ", most, " bytes");
            memory = before;
        }
    });
    CHECK(frugal > cases / 20);
}

TEST_CASE("plans of a type from bytes share what its layout leaves") {
    const BuiltType listed(indexed_block(1, {0, 5, 7, 20, 22, 40, 57}, leaf(UCD_TYPE__DOUBLE)));
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(listed.get(), &size) == UCD_SUCCESS);
    std::vector<char> bytes(size);
    REQUIRE(ucd_flatten(listed.get(), bytes.data(), size) == UCD_SUCCESS);
    ucd_type_t handle = UCD_TYPE__NULL;
    REQUIRE(ucd_unflatten(&handle, bytes.data(), size) == UCD_SUCCESS);
    const BuiltType type(handle);
    const ucd::TypeCache &cache = ucd::cache_of(*reinterpret_cast<const ucd::Type *>(handle));
    const ucd::Backend &host = ucd::running_context.load()->host();
    uint64_t left = cache.bytes_left;
    CHECK(left < UINT64_MAX);
    for (const bool repeated : {false, true}) {
        const ucd::KernelPlan *plan = nullptr;
        REQUIRE(ucd::make_plan(*reinterpret_cast<const ucd::Type *>(handle), host,
                               ucd::Context::host_index, repeated, plan)
                    .ok());
        REQUIRE(plan->memory() > 0);
        REQUIRE(plan->memory() < left);
        left -= plan->memory();
        CHECK(cache.bytes_left == left);
    }
}

TEST_CASE("the elements of a type from bytes take their part of its budget") {
    const BuiltType described(
        structure({1, 1, 1}, {0, 100, 200},
                  {vector(50, 1, 2, leaf(UCD_TYPE__BYTE)), leaf(UCD_TYPE__DOUBLE),
                   indexed_block(1, {0, 5, 7, 20, 22, 40, 57}, leaf(UCD_TYPE__INT))}));
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(described.get(), &size) == UCD_SUCCESS);
    std::vector<char> bytes(size);
    REQUIRE(ucd_flatten(described.get(), bytes.data(), size) == UCD_SUCCESS);
    ucd_type_t handle = UCD_TYPE__NULL;
    REQUIRE(ucd_unflatten(&handle, bytes.data(), size) == UCD_SUCCESS);
    const BuiltType type(handle);
    const ucd::Type &resolved = *reinterpret_cast<const ucd::Type *>(handle);
    const ucd::TypeCache &cache = ucd::cache_of(resolved);
    const uint64_t before = cache.bytes_left;
    (void)ucd::elements_of(resolved);
    const ucd::OwnedElements *const made = cache.elements.load();
    REQUIRE(made != nullptr);
    const uint64_t runs = ucd::bytes_of(made->owned_runs);
    REQUIRE(runs > 0);
    REQUIRE(sizeof *made + runs < before);
    CHECK(cache.bytes_left == before - sizeof *made - runs);
}

} // namespace plan_budget_test
