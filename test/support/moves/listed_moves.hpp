// Lists of random moves of all kinds, between all memories.
#pragma once

#include "support/moves/device_moves.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ucdtest {

// A member of a list, and its two buffers.
struct ListedMove {
    enum class Kind { pack, unpack, copy };
    Kind kind;
    ReducedSubject what; // and its typed buffer, or the source
    ReducedSubject target;
    Memory first_memory, second_memory;
    std::unique_ptr<DeviceBuffer> first, second;
    std::size_t offset = 0, length = 0;
    CopyRange range;

    TouchedRange second_range() const {
        if (kind == Kind::copy) return target.subject.range;
        return {0, static_cast<std::intptr_t>(what.subject.size())};
    }
    void allocate(Rng &rng) {
        first = std::make_unique<DeviceBuffer>(rng, what.subject.range, first_memory);
        second = std::make_unique<DeviceBuffer>(rng, second_range(), second_memory);
    }
    DeviceMove move(Case &one, ucd_op_t op) const {
        return {one, op, what, *first, *second, offset, length};
    }
    DeviceCopy copy(Case &one, ucd_op_t op) const {
        return {one, op, what, *first, target, *second, range};
    }
    void set_up(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return set_up_copy(copy(one, op));
        ucdtest::set_up(move(one, op), kind == Kind::pack);
    }
    ucd_move_t desc(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return copy_of(copy(one, op));
        return (kind == Kind::pack ? pack_of : unpack_of)(move(one, op));
    }
    std::size_t bytes() const { return kind == Kind::copy ? range.bytes : length; }
    void check(Case &one, ucd_op_t op) const {
        if (kind == Kind::copy) return check_result(copy(one, op));
        check_result(move(one, op));
    }
};

inline ListedMove::Kind random_kind(Rng &rng) {
    return static_cast<ListedMove::Kind>(rng.below(3));
}
inline RecipeOptions member_options(ucd_op_t op) {
    RecipeOptions options = device_options(op);
    options.max_bytes = 512;
    return options;
}

inline ListedMove random_member(Case &one, ucd_op_t op, ListedMove::Kind kind,
                                const RecipeOptions &options, const std::vector<Memory> &memories) {
    Rng &rng = one.rng();
    ListedMove m;
    m.kind = kind;
    m.what = with_elements(random_subject(one, options, 3, "member"));
    m.first_memory = memories[rng.below(memories.size())];
    m.second_memory = memories[rng.below(memories.size())];
    const std::size_t elements = m.what.elements.size();
    const std::size_t first = rng.below(elements + 1),
                      last = first == elements ? first : first + 1 + rng.below(elements - first);
    m.offset = m.what.offset_of(first);
    m.length = m.what.offset_of(last) - m.offset;
    if (m.kind == ListedMove::Kind::copy) {
        // To another place in the same type: the elements are the same there.
        m.target =
            with_elements(make_subject(one, m.what.subject.recipe, m.what.subject.count, "target"));
        m.range = {true, m.offset, m.offset, m.length, m.length};
        if (op == UCD_OP__REPLACE)
            m.range = random_range(rng, m.what.subject.size(), m.target.subject.size());
    }
    m.allocate(rng);
    return m;
}

struct Listed {
    Case &one;
    ucd_op_t op;
    std::vector<ListedMove> members;

    MoveList descs() const {
        MoveList moves;
        for (const ListedMove &m : members) moves.push_back(m.desc(one, op));
        return moves;
    }
    void set_up() const {
        for (const ListedMove &m : members) m.set_up(one, op);
    }
    // Gives members new buffers.
    MoveBuffers allocate(std::size_t first, std::size_t count) {
        MoveList now;
        for (std::size_t i = first; i < first + count; ++i) {
            members[i].allocate(one.rng());
            now.push_back(members[i].desc(one, op));
        }
        return MoveBuffers(now);
    }
    // Gives some members new buffers, and tells the plan that was made of the list.
    void rebase(ucd_plan_t plan) {
        Rng &rng = one.rng();
        const std::size_t first = rng.below(members.size() + 1),
                          count = rng.below(members.size() - first + 1);
        const MoveBuffers now = allocate(first, count);
        one.succeed(ucd_plan_rebase(plan, first, count, now.in.data(), now.out.data()),
                    "ucd_plan_rebase");
    }
    // Gives all members other buffers, in which run(inbufs, outbufs) moves the data, and takes back
    // their own.
    template <class Run>
    void run_with_others(const MoveList &moves, Run run) {
        std::vector<std::pair<std::unique_ptr<DeviceBuffer>, std::unique_ptr<DeviceBuffer>>> own;
        for (ListedMove &m : members) own.emplace_back(std::move(m.first), std::move(m.second));
        const MoveBuffers others = allocate(0, members.size());
        set_up();
        run(others.in.data(), others.out.data());
        check(moves);
        for (std::size_t i = 0; i < members.size(); ++i)
            std::tie(members[i].first, members[i].second) = std::move(own[i]);
    }
    void check(const MoveList &moves) const {
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (const std::uintptr_t bytes : {moves[i].actual_bytes, moves[i].consumed_bytes})
                if (bytes != members[i].bytes())
                    one.fail("member ", i, " moved ", bytes, " bytes, not ", members[i].bytes());
            members[i].check(one, op);
        }
    }
};

inline Listed random_list(Case &one, ucd_op_t op, const std::vector<Memory> &memories,
                          RecipeOptions options) {
    Listed list{one, op, {}};
    Rng &rng = one.rng();
    // Often all of one kind and of one kind of element, which is one launch.
    const bool is_mixed = rng.chance(50);
    const ListedMove::Kind kind = random_kind(rng);
    if (!options.elements.empty() && rng.chance(50))
        options.elements = {rng.pick(options.elements)};
    for (std::size_t i = rng.below(rng.chance(10) ? 60 : 8); i > 0; --i)
        list.members.push_back(
            random_member(one, op, is_mixed ? random_kind(rng) : kind, options, memories));
    return list;
}

inline Listed random_list(Case &one, ucd_op_t op, const std::vector<Memory> &memories) {
    return random_list(one, op, memories, member_options(op));
}

inline const std::vector<Memory> everywhere(std::begin(all_memories), std::end(all_memories));

} // namespace ucdtest
