// Lists of moves: many members, one call; all or nothing at the start.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/reducing.hpp"

#include <string>

namespace batch_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// One member: a range of elements of a random layout, and the packed side. With REPLACE ranges are
// of bytes, so that `first` and `last` are offsets instead.
struct Member {
    ReducedSubject what;
    std::unique_ptr<GuardedBuffer> memory, packed;
    std::size_t offset = 0, length = 0;
    std::size_t first = 0, last = 0; // elements, for reductions
    bool packs = true;               // or unpacks
};

// `whole`: the range is all of one object.
Member random_member(Case &one, ucd_op_t op, const RecipeOptions &options, bool whole) {
    Rng &rng = one.rng();
    Member member;
    member.what = with_elements(random_subject(one, options, whole ? 1 : 4, "member"));
    const ReducedSubject &what = member.what;
    member.memory = std::make_unique<GuardedBuffer>(rng, what.subject.range);
    const TouchedRange stream = {0, static_cast<std::intptr_t>(what.subject.size())};
    member.packed = std::make_unique<GuardedBuffer>(rng, stream);
    if (op == UCD_OP__REPLACE) {
        member.offset = whole || rng.chance(50) ? 0 : rng.below(what.subject.size() + 1);
        member.length = rng.below(what.subject.size() - member.offset + 1);
        if (whole || rng.chance(50)) member.length = what.subject.size() - member.offset;
    } else {
        const std::size_t elements = what.elements.size();
        member.first = rng.below(elements + 1);
        member.last = member.first == elements
                          ? elements
                          : member.first + 1 + rng.below(elements - member.first);
        member.offset = what.offset_of(member.first);
        member.length = what.offset_of(member.last) - member.offset;
        set_typed_values(rng, what, place(what.subject, *member.memory));
        set_packed_values(rng, what, member.first, member.last, *member.packed);
    }
    return member;
}

// The packed buffer as a layout: byte `offset` of the stream is its first.
ByteMap packed_bytes(const Member &member) {
    ByteMap bytes(member.what.subject.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::intptr_t>(i) - static_cast<std::intptr_t>(member.offset);
    }
    return bytes;
}

std::vector<std::byte> bytes_at(const Member &member, const MemoryLocation &where) {
    return gathered(where, member.offset, member.offset + member.length);
}

// What the destination should hold afterwards; `spare` values are taken from what it does hold, so
// this is called after the batch with the destination's former content.
void expect_result(const Member &member, ucd_op_t op, const MemoryLocation &to,
                   const std::vector<std::byte> &in, std::vector<std::byte> out) {
    if (op == UCD_OP__REPLACE) {
        for (std::size_t i = 0; i < in.size(); ++i) {
            *to.memory->expected((*to.bytes)[member.offset + i]) = in[i];
        }
        return;
    }
    reduce_stream(op, member.what.elements, member.first, member.last, out.data(), in.data());
    expect_reduced(member.what, to, member.first, member.last, std::move(out));
}

struct Batch {
    ucd_op_t op = UCD_OP__REPLACE;
    std::vector<Member> members;
};

Batch random_batch(Case &one, std::size_t most) {
    Rng &rng = one.rng();
    Batch batch;
    if (rng.chance(40)) batch.op = all_ops()[1 + rng.below(all_ops().size() - 1)].op;
    RecipeOptions options;
    options.max_bytes = 512;
    options.max_span = 8192;
    options.unpack_safe = true;
    options.elements = types_supporting(batch.op);
    const bool whole = rng.chance(40), mixed = rng.chance(50), packs = rng.chance(50);
    for (std::size_t i = rng.below(most + 1); i > 0; --i) {
        batch.members.push_back(random_member(one, batch.op, options, whole));
        batch.members.back().packs = mixed ? rng.chance(50) : packs;
    }
    return batch;
}

MoveList moves_of(const Batch &batch) {
    MoveList moves;
    for (const Member &m : batch.members) {
        const Subject &s = m.what.subject;
        void *const typed = m.memory->base(), *const packed = m.packed->base();
        moves.push_back(m.packs
                            ? pack_move(typed, s.count, s.type(), m.offset, packed, m.length)
                            : unpack_move(packed, m.length, typed, s.count, s.type(), m.offset));
        moves.back().actual_bytes = moves.back().consumed_bytes = untouched;
    }
    return moves;
}

// In a call or as a plan.
int call_moves(Rng &rng, MoveList &moves, ucd_op_t op) {
    ucd_request_t request = UCD_REQUEST__NULL;
    if (rng.chance(30)) return ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, op);
    if (rng.chance(50)) {
        const int rc = start(moves, &request, UCD_INFO__NULL, op);
        return rc == UCD_SUCCESS ? finish(rng, request) : rc;
    }
    ucd_plan_t plan = UCD_PLAN__NULL;
    int rc = ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan);
    if (rc != UCD_SUCCESS) return rc;
    rc = ucd_plan_start(plan, &request);
    if (rc == UCD_SUCCESS) rc = finish(rng, request);
    ucd_plan_free(&plan);
    return rc;
}

void require_all_intact(const Case &one, const Batch &batch) {
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
        const std::string member = " of member " + std::to_string(i);
        require_intact(one, *batch.members[i].memory, ("layout" + member).c_str());
        require_intact(one, *batch.members[i].packed, ("packed buffer" + member).c_str());
    }
}

// Runs all members and checks every one.
void check_batch(Case &one, Batch &batch) {
    std::vector<ByteMap> maps;
    std::vector<std::vector<std::byte>> in, out;
    for (const Member &member : batch.members) maps.push_back(packed_bytes(member));
    const auto packed_place = [&](std::size_t i) {
        return MemoryLocation{batch.members[i].packed.get(), nullptr, UCD_TYPE__NULL, 0, &maps[i]};
    };
    const auto typed_place = [&](std::size_t i) {
        return place(batch.members[i].what.subject, *batch.members[i].memory);
    };
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
        const Member &member = batch.members[i];
        in.push_back(bytes_at(member, member.packs ? typed_place(i) : packed_place(i)));
        out.push_back(bytes_at(member, member.packs ? packed_place(i) : typed_place(i)));
    }

    MoveList moves = moves_of(batch);
    one.succeed(call_moves(one.rng(), moves, batch.op), "a list of moves");
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
        const Member &member = batch.members[i];
        for (const std::uintptr_t bytes : {moves[i].actual_bytes, moves[i].consumed_bytes})
            if (bytes != member.length)
                one.fail("member ", i, ": ", bytes, " bytes, not ", member.length);
        expect_result(member, batch.op, member.packs ? packed_place(i) : typed_place(i), in[i],
                      std::move(out[i]));
    }
    require_all_intact(one, batch);
}

} // namespace

// Half of the lists have one direction, which is then one launch or loop.
TEST_CASE("lists of packs and unpacks") {
    run_cases("list of moves", 4000, [](Case &one) {
        Rng &rng = one.rng();
        Batch batch = random_batch(one, rng.chance(5) ? 100 : 10);
        check_batch(one, batch);
    });
}

TEST_CASE("a list with one wrong member starts nothing and names it") {
    run_cases("wrong list", 4000, [](Case &one) {
        Rng &rng = one.rng();
        Batch batch = random_batch(one, 12);
        if (batch.members.empty()) return;
        // Types that have been moved before are checked otherwise.
        if (rng.chance(50)) check_batch(one, batch);
        const std::size_t victim = rng.below(batch.members.size());
        const Member &m = batch.members[victim];
        MoveList moves = moves_of(batch);
        ucd_move_t &wrong = moves[victim];
        switch (rng.below(4)) {
        case 0: (m.packs ? wrong.inoffset : wrong.outoffset) = m.what.subject.size() + 1; break;
        case 1: (m.packs ? wrong.intype : wrong.outtype) = no_type; break;
        case 2:
            if (m.length == 0) return; // the buffer may be null then
            if (m.packs)
                wrong.outbuf = nullptr;
            else
                wrong.inbuf = nullptr;
            break;
        default: wrong.reserved[rng.below(std::size(wrong.reserved))] = 1;
        }
        const int rc = call_moves(rng, moves, batch.op);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("the list returned ", ucd_strerror(rc));
        const std::string message = ucd_last_error();
        if (message.find("moves[" + std::to_string(victim) + "]") == std::string::npos)
            one.fail("the message does not name member ", victim, ": ", message);
        require_all_intact(one, batch);
        for (const ucd_move_t &move : moves)
            if (move.actual_bytes != untouched || move.consumed_bytes != untouched)
                one.fail("a member of a refused list has a size");
    });
}

} // namespace batch_test
