// Lists of moves as the host's backend gets them: none of them is passed over in silence.
#include "implement.h"

#include "support/catch.hpp"
#include "support/moves/backend_move.hpp"
#include "unit/layouts_by_hand.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace ucd {
Owner<Backend> create_seq_backend();
}

namespace seq_backend_test {

using namespace ucd;
using namespace ucdtest;

namespace {

// Packs of every other byte, each of the next bytes of a buffer.
class Packs final : public MoveMakerOf<Packs> {
public:
    static constexpr std::size_t count = 100, bytes = 8;

    explicit Packs(const Backend &backend, std::size_t members = count) : members_(members) {
        REQUIRE(backend.plan(layout_, 0, false, UINT64_MAX, plan_).ok());
        for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<char>(i % 251);
    }
    std::size_t members() const { return members_; }
    Status make(std::size_t &first, Move &move, MoveAddresses *at, std::size_t room,
                std::size_t &made) {
        move = move_of(*plan_, nullptr, nullptr, bytes);
        for (made = 0; first < members_ && made < room; ++first)
            at[made++] = {&from_[2 * bytes * first], &to_[bytes * first]};
        return success;
    }
    Status divide(unsigned &parts) {
        parts = 1;
        return success;
    }
    MoveMaker *part(unsigned) { return this; }
    Status unite() { return success; }

    // Whether they have all been done since the last call.
    bool are_done() {
        const std::vector<char> found = to_;
        to_.assign(to_.size(), 0);
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i] != from_[2 * i]) return false;
        return true;
    }

private:
    const std::size_t members_;
    const OwnedLayout layout_ = strided(1, bytes, 2);
    Owner<KernelPlan> plan_;
    std::vector<char> from_ = std::vector<char>(2 * bytes * count);
    std::vector<char> to_ = std::vector<char>(bytes * count);
};

class Described final : public KernelPlanOf<Described> {
public:
    explicit Described(std::size_t length) : text_(length, 'a') { text_.back() = 'z'; }
    std::string description() const { return text_; }
    std::size_t memory() const { return 0; }

private:
    std::string text_;
};

} // namespace

TEST_CASE("a plan's description is whole, whatever its length") {
    for (const std::size_t length : {1, 254, 255, 256, 257, 1000}) {
        INFO(length);
        const Described plan(length);
        CHECK(description_of(plan) == plan.description());
    }
}

TEST_CASE("a text of a fixed size has room for all but one of its bytes, and drops what is more") {
    FixedText<8> text("abcdef");
    text += "g";
    CHECK(text == "abcdefg");
    text += "h";
    CHECK(text == "abcdefg");
    CHECK(FixedText<8>("abcdefghi") == "abcdefg");
    text.clear();
    CHECK(text.empty());
}

TEST_CASE("the host's backend runs moves that are made, and launches that are prepared") {
    const Owner<Backend> backend = create_seq_backend();
    Packs packs(*backend);
    Owner<Event> done;
    REQUIRE(backend->launch_made(0, packs, done).ok());
    CHECK(done == nullptr);
    CHECK(packs.are_done());
    Owner<PreparedLaunch> prepared;
    {
        std::vector<Move> moves;
        REQUIRE(make_all(packs, moves).ok());
        REQUIRE(backend->prepare_launch(0, moves, prepared).ok());
    }
    CHECK_FALSE(packs.are_done());
    for (int round = 0; round < 3; ++round) {
        REQUIRE(backend->launch_prepared(*prepared, done).ok());
        CHECK(done == nullptr);
        CHECK(packs.are_done());
    }
    // It has no streams.
    CHECK(backend->launch_made_in(NativeStream{}, packs, nullptr).code() == UCD_ERR__NOT_SUPPORTED);
    CHECK(backend->launch_prepared_in(NativeStream{}, *prepared, nullptr).code() ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK_FALSE(packs.are_done());
    // Where there is nothing to do, that is no failure.
    Packs none(*backend, 0);
    CHECK(backend->launch_made_in(NativeStream{}, none, nullptr).ok());
    CHECK(backend->launch_made(0, none, done).ok());
}

TEST_CASE("the host's backend refuses copies from layout to layout, and conversions of layouts") {
    const Owner<Backend> backend = create_seq_backend();
    const OwnedLayout layout = strided(4, 8, 8);
    Owner<KernelPlan> plan;
    REQUIRE(backend->plan(layout, 0, false, UINT64_MAX, plan).ok());
    const Side side{plan.get(), nullptr, 1, 0};
    const Move copy = copy_of(side, side, 32), nothing;
    Move conversion = copy_of({}, side, 32);
    conversion.op = Op::convert;
    CHECK_FALSE(backend->takes(copy));
    CHECK_FALSE(backend->takes(conversion));
    for (const Move &move : {copy, conversion, nothing}) {
        Owner<Event> done;
        CHECK(backend->launch(0, std::span(&move, 1), done).code() == UCD_ERR__NOT_SUPPORTED);
        Owner<PreparedLaunch> prepared;
        CHECK(backend->prepare_launch(0, std::span(&move, 1), prepared).code() ==
              UCD_ERR__NOT_SUPPORTED);
        CHECK(prepared == nullptr);
    }
}

} // namespace seq_backend_test
