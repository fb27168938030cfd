// Many plans, and plans of many moves.
#include "arena.hpp"
#include "extremes.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/recipe_build.hpp"

#include <cstdio>
#include <vector>

using namespace ucdtest;

namespace extremes {
namespace {

// Move i packs 8 of the 16 bytes of its own in one arena, every other one, to its own 8 bytes of
// another arena.
constexpr std::uint64_t bytes = 8, span = 2 * bytes;

struct Packs {
    Packs(std::uint64_t moves, bool on_device)
        : typed(moves * span, on_device), packed(moves * bytes, on_device),
          type(recipes::vector(bytes, 1, 2, recipes::leaf(UCD_TYPE__BYTE))) {}

    ucd_move_t move(std::uint64_t i) const {
        return pack_move(in(i), 1, type.get(), 0, out(i), bytes);
    }
    const void *in(std::uint64_t i) const {
        return static_cast<const char *>(typed.address()) + i * span;
    }
    void *out(std::uint64_t i) const { return static_cast<char *>(packed.address()) + i * bytes; }

    void fill(std::uint64_t salt) {
        typed.fill<std::uint8_t>([=](std::uint64_t i) { return byte(i, salt); });
        packed.fill<std::uint8_t>([](std::uint64_t) { return std::uint8_t{0}; });
    }
    // `from` says whose bytes move i has packed.
    template <class From>
    void check(std::uint64_t salt, const From &from) {
        packed.check<std::uint8_t>("packed by plans", [&](std::uint64_t i) {
            return byte(from(i / bytes) * span + 2 * (i % bytes), salt);
        });
    }

    Arena typed, packed;
    BuiltType type;
};

} // namespace

void start_and_wait(ucd_plan_t plan) {
    ucd_request_t request = UCD_REQUEST__NULL;
    must(ucd_plan_start(plan, &request) == UCD_SUCCESS, "ucd_plan_start");
    must(ucd_wait(&request) == UCD_SUCCESS, "a start of a plan");
}

void many_plans(std::uint64_t number, bool on_device) {
    Packs packs(number, on_device);
    packs.fill(1);
    const std::ptrdiff_t allocations = live_allocations(), before = live_bytes();
    std::vector<ucd_plan_t> plans(number);
    for (std::uint64_t i = 0; i < number; ++i) {
        ucd_move_t move = packs.move(i);
        must(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plans[i]) == UCD_SUCCESS &&
                 move.actual_bytes == bytes,
             "ucd_plan_create");
    }
    const auto each = static_cast<double>(live_bytes() - before) / static_cast<double>(number);
    for (const ucd_plan_t plan : plans) start_and_wait(plan);
    packs.check(1, [](std::uint64_t i) { return i; });
    // In another order than they were made.
    for (const std::uint64_t turn : {2, 0, 1})
        for (std::uint64_t i = turn; i < number; i += 3)
            must(ucd_plan_free(&plans[i]) == UCD_SUCCESS, "ucd_plan_free");
    require_all_given_back(allocations, "plans that were freed");
    std::printf("%llu plans alive and started, %.0f bytes each\n",
                static_cast<unsigned long long>(number), each);
}

void many_members(std::uint64_t number, bool on_device) {
    Packs packs(number, on_device);
    const std::ptrdiff_t allocations = live_allocations(), before = live_bytes();
    ucd_plan_t plan = UCD_PLAN__NULL;
    {
        std::vector<ucd_move_t> moves(number);
        for (std::uint64_t i = 0; i < number; ++i) moves[i] = packs.move(i);
        must(ucd_plan_create(moves.data(), number, UCD_INFO__NULL, UCD_OP__REPLACE, &plan) ==
                 UCD_SUCCESS,
             "ucd_plan_create");
        for (const ucd_move_t &move : moves) must(move.actual_bytes == bytes, "bytes of a member");
    }
    const auto each = static_cast<double>(live_bytes() - before) / static_cast<double>(number);
    for (const std::uint64_t salt : {1, 2}) {
        packs.fill(salt);
        start_and_wait(plan);
        packs.check(salt, [](std::uint64_t i) { return i; });
    }
    // The second half packs what the first half did, backwards.
    const std::uint64_t half = number / 2, moved = number - half;
    std::vector<const void *> in(moved);
    for (std::uint64_t i = 0; i < moved; ++i) in[i] = packs.in(moved - 1 - i);
    must(ucd_plan_rebase(plan, half, moved, in.data(), nullptr) == UCD_SUCCESS, "ucd_plan_rebase");
    packs.fill(3);
    start_and_wait(plan);
    packs.check(3, [=](std::uint64_t i) { return i < half ? i : moved - 1 - (i - half); });
    must(ucd_plan_free(&plan) == UCD_SUCCESS, "ucd_plan_free");
    require_all_given_back(allocations, "a plan that was freed");
    std::printf("%llu moves in one plan, %.0f bytes each\n",
                static_cast<unsigned long long>(number), each);
}

} // namespace extremes
