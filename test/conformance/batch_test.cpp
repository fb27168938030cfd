// Batches and lists of moves: many members, one call; all or nothing at the start.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
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
    const bool whole = rng.chance(40);
    for (std::size_t i = rng.below(most + 1); i > 0; --i) {
        batch.members.push_back(random_member(one, batch.op, options, whole));
    }
    return batch;
}

std::vector<ucd_pack_desc_t> pack_descs(const Batch &batch) {
    std::vector<ucd_pack_desc_t> descs;
    for (const Member &member : batch.members) {
        ucd_pack_desc_t desc = {};
        desc.inbuf = member.memory->base();
        desc.incount = member.what.subject.count;
        desc.type = member.what.subject.type();
        desc.inoffset = member.offset;
        desc.outbuf = member.packed->base();
        desc.max_pack_bytes = member.length;
        desc.actual_pack_bytes = untouched;
        descs.push_back(desc);
    }
    return descs;
}

std::vector<ucd_unpack_desc_t> unpack_descs(const Batch &batch) {
    std::vector<ucd_unpack_desc_t> descs;
    for (const Member &member : batch.members) {
        ucd_unpack_desc_t desc = {};
        desc.inbuf = member.packed->base();
        desc.insize = member.length;
        desc.outbuf = member.memory->base();
        desc.outcount = member.what.subject.count;
        desc.type = member.what.subject.type();
        desc.outoffset = member.offset;
        desc.actual_unpack_bytes = untouched;
        descs.push_back(desc);
    }
    return descs;
}

// Members of both directions.
std::vector<ucd_move_t> moves_of(const Batch &batch) {
    std::vector<ucd_move_t> moves;
    for (const Member &m : batch.members) {
        const Subject &s = m.what.subject;
        moves.push_back(m.packs ? ucd_move_t{m.memory->base(),
                                             s.count,
                                             s.type(),
                                             m.offset,
                                             m.packed->base(),
                                             m.length,
                                             UCD_TYPE__NULL,
                                             0,
                                             UINTPTR_MAX,
                                             untouched,
                                             {}}
                                : ucd_move_t{m.packed->base(),
                                             m.length,
                                             UCD_TYPE__NULL,
                                             0,
                                             m.memory->base(),
                                             s.count,
                                             s.type(),
                                             m.offset,
                                             UINTPTR_MAX,
                                             untouched,
                                             {}});
    }
    return moves;
}

// In a call or as a plan.
int call_moves(Rng &rng, std::vector<ucd_move_t> &moves, ucd_op_t op) {
    ucd_request_t request = UCD_REQUEST__NULL;
    if (rng.chance(30)) return ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, op);
    if (rng.chance(50)) {
        const int rc = ucd_imove(moves.data(), moves.size(), UCD_INFO__NULL, op, &request);
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

enum class Form { packs, unpacks, moves };

// Runs all members and checks every one.
void check_batch(Case &one, Batch &batch, Form form) {
    if (form != Form::moves)
        for (Member &member : batch.members) member.packs = form == Form::packs;
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

    ucd_request_t request = UCD_REQUEST__NULL;
    std::vector<std::uintptr_t> actual;
    if (form == Form::moves) {
        std::vector<ucd_move_t> moves = moves_of(batch);
        one.succeed(call_moves(one.rng(), moves, batch.op), "a list of moves");
        for (const auto &move : moves) actual.push_back(move.actual_bytes);
    } else if (form == Form::packs) {
        std::vector<ucd_pack_desc_t> descs = pack_descs(batch);
        one.succeed(ucd_ipack_batch(descs.data(), descs.size(), UCD_INFO__NULL, batch.op, &request),
                    "ucd_ipack_batch");
        for (const auto &desc : descs) actual.push_back(desc.actual_pack_bytes);
    } else {
        std::vector<ucd_unpack_desc_t> descs = unpack_descs(batch);
        one.succeed(
            ucd_iunpack_batch(descs.data(), descs.size(), UCD_INFO__NULL, batch.op, &request),
            "ucd_iunpack_batch");
        for (const auto &desc : descs) actual.push_back(desc.actual_unpack_bytes);
    } // the descriptors are gone before the work is known to be done
    one.succeed(finish(one.rng(), request), "finishing a batch");
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
        const Member &member = batch.members[i];
        if (actual[i] != member.length) {
            one.fail("member ", i, ": ", actual[i], " bytes, not ", member.length);
        }
        expect_result(member, batch.op, member.packs ? packed_place(i) : typed_place(i), in[i],
                      std::move(out[i]));
    }
    require_all_intact(one, batch);
}

} // namespace

TEST_CASE("batches of random members") {
    run_cases("batch", 2500, [](Case &one) {
        Batch batch = random_batch(one, one.rng().chance(5) ? 100 : 10);
        check_batch(one, batch, Form::packs);
        for (Member &member : batch.members) {
            if (batch.op == UCD_OP__REPLACE) {
                member.packed->randomise(one.rng());
            } else {
                set_packed_values(one.rng(), member.what, member.first, member.last,
                                  *member.packed);
            }
        }
        check_batch(one, batch, Form::unpacks);
    });
}

TEST_CASE("lists of packs and unpacks") {
    run_cases("list of moves", 1500, [](Case &one) {
        Batch batch = random_batch(one, one.rng().chance(5) ? 100 : 10);
        for (Member &member : batch.members) member.packs = one.rng().chance(50);
        check_batch(one, batch, Form::moves);
    });
}

TEST_CASE("a batch with one wrong member starts nothing and names it") {
    run_cases("wrong batch", 2000, [](Case &one) {
        Rng &rng = one.rng();
        Batch batch = random_batch(one, 12);
        if (batch.members.empty()) return;
        // Types that have been moved before are checked otherwise.
        if (rng.chance(50)) check_batch(one, batch, Form::packs);
        const std::size_t victim = rng.below(batch.members.size());
        std::vector<ucd_pack_desc_t> packs = pack_descs(batch);
        std::vector<ucd_unpack_desc_t> unpacks = unpack_descs(batch);
        std::vector<ucd_move_t> moves = moves_of(batch);
        switch (rng.below(4)) {
        case 0:
            packs[victim].inoffset = batch.members[victim].what.subject.size() + 1;
            unpacks[victim].outoffset = packs[victim].inoffset;
            moves[victim].inoffset = packs[victim].inoffset;
            break;
        case 1:
            packs[victim].type = unpacks[victim].type = UCD_TYPE__NULL;
            moves[victim].intype = reinterpret_cast<ucd_type_t>(std::uintptr_t{4000});
            break;
        case 2:
            if (batch.members[victim].length == 0) return; // the buffer may be null then
            packs[victim].outbuf = moves[victim].outbuf = nullptr;
            unpacks[victim].inbuf = nullptr;
            break;
        default:
            packs[victim].reserved[1] = unpacks[victim].reserved[0] = 1;
            moves[victim].reserved[rng.below(2)] = 1;
            break;
        }
        const auto check_refusal = [&](int rc) {
            if (rc != UCD_ERR__INVALID_ARG) one.fail("the batch returned ", ucd_strerror(rc));
            const std::string message = ucd_last_error();
            if (message.find(std::to_string(victim)) == std::string::npos) {
                one.fail("the message does not name member ", victim, ": ", message);
            }
            require_all_intact(one, batch);
        };
        ucd_request_t request = UCD_REQUEST__NULL;
        check_refusal(
            ucd_ipack_batch(packs.data(), packs.size(), UCD_INFO__NULL, batch.op, &request));
        check_refusal(
            ucd_iunpack_batch(unpacks.data(), unpacks.size(), UCD_INFO__NULL, batch.op, &request));
        check_refusal(call_moves(rng, moves, batch.op));
        for (std::size_t i = 0; i < packs.size(); ++i) {
            if (packs[i].actual_pack_bytes != untouched ||
                unpacks[i].actual_unpack_bytes != untouched || moves[i].actual_bytes != untouched) {
                one.fail("member ", i, " of a refused batch has an actual size");
            }
        }
    });
}

TEST_CASE("an empty batch is complete, with or without an array") {
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(ucd_ipack_batch(nullptr, 0, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    REQUIRE(request == UCD_REQUEST__NULL);
    REQUIRE(ucd_iunpack_batch(nullptr, 0, UCD_INFO__NULL, UCD_OP__SUM, &request) == UCD_SUCCESS);
    REQUIRE(request == UCD_REQUEST__NULL);
}

} // namespace batch_test
