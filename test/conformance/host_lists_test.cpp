// Lists of moves in host memory, of every op and all types that the host takes: all or nothing at
// the start, beside devices or without any.
#include "support/catch.hpp"

#include "support/moves/listed_moves.hpp"

#include <string>
#include <vector>

namespace host_lists_test {

using namespace ucdtest;

namespace {

Listed random_host_list(Case &one) {
    Rng &rng = one.rng();
    ucd_op_t op = UCD_OP__REPLACE;
    if (rng.chance(40)) op = all_ops()[1 + rng.below(all_ops().size() - 1)].op;
    RecipeOptions options = member_options(UCD_OP__REPLACE);
    options.index_memory = [](Rng &, const std::vector<std::byte> &) { return nullptr; };
    options.elements = types_supporting(op);
    return random_list(one, op, {Memory::pageable}, options);
}

// In a call or as a plan.
int call_moves(Rng &rng, MoveList &moves, ucd_op_t op) {
    Keys info;
    if (rng.chance(50)) info.set("ucd.gpu", "none");
    ucd_request_t request = UCD_REQUEST__NULL;
    if (rng.chance(30)) return ucd_move(moves.data(), moves.size(), info, op);
    if (rng.chance(50)) {
        const int rc = start(moves, &request, info, op);
        return rc == UCD_SUCCESS ? finish(rng, request) : rc;
    }
    ucd_plan_t plan = UCD_PLAN__NULL;
    int rc = ucd_plan_create(moves.data(), moves.size(), info, op, &plan);
    if (rc != UCD_SUCCESS) return rc;
    rc = ucd_plan_start(plan, &request);
    if (rc == UCD_SUCCESS) rc = finish(rng, request);
    ucd_plan_free(&plan);
    return rc;
}

// Bytes of elements that hold no value may be anything in the result of a reduction.
void forgive_spare_bytes(const ListedMove &m) {
    using enum ListedMove::Kind;
    DeviceBuffer &out = m.kind == unpack ? *m.first : *m.second;
    out.fetch();
    const ByteMap &bytes = (m.kind == copy ? m.target : m.what).subject.bytes;
    for (const StreamElement &e : m.what.elements) {
        if (e.offset < m.offset || e.offset >= m.offset + m.length) continue;
        const auto place = [&](std::size_t i) {
            const std::size_t at = e.offset + i;
            return m.kind == pack ? static_cast<std::intptr_t>(at - m.offset) : bytes[at];
        };
        std::vector<std::byte> wanted, found;
        for (std::size_t i = 0; i < e.type->size; ++i) {
            wanted.push_back(*out.expected(place(i)));
            found.push_back(*out.actual(place(i)));
        }
        ucdtest::forgive_spare_bytes(*e.type, wanted.data(), found.data());
        for (std::size_t i = 0; i < wanted.size(); ++i) *out.expected(place(i)) = wanted[i];
    }
}

void check_list(Case &one, const Listed &list) {
    list.set_up();
    MoveList moves = list.descs();
    one.succeed(call_moves(one.rng(), moves, list.op), "a list of moves");
    if (list.op != UCD_OP__REPLACE)
        for (const ListedMove &m : list.members) forgive_spare_bytes(m);
    list.check(moves);
}

} // namespace

TEST_CASE("lists of moves in host memory") {
    DeviceSession session;
    run_cases("list of moves", 4000, [](Case &one) { check_list(one, random_host_list(one)); });
}

TEST_CASE("a list with one wrong member starts nothing and names it") {
    DeviceSession session;
    run_cases("wrong list", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const Listed list = random_host_list(one);
        if (list.members.empty()) return;
        // Types that have been moved before are checked otherwise.
        if (rng.chance(50)) check_list(one, list);
        const std::size_t victim = rng.below(list.members.size());
        const ListedMove &m = list.members[victim];
        MoveList moves = list.descs();
        for (ucd_move_t &move : moves) move.actual_bytes = move.consumed_bytes = untouched;
        ucd_move_t &wrong = moves[victim];
        const bool unpacks = m.kind == ListedMove::Kind::unpack;
        switch (rng.below(4)) {
        case 0: (unpacks ? wrong.outoffset : wrong.inoffset) = m.what.subject.size() + 1; break;
        case 1: (unpacks ? wrong.outtype : wrong.intype) = no_type; break;
        case 2:
            // The packed buffer may be null if nothing is moved, and a copy has none.
            if (m.bytes() == 0 || m.kind == ListedMove::Kind::copy) return;
            if (unpacks)
                wrong.inbuf = nullptr;
            else
                wrong.outbuf = nullptr;
            break;
        default: wrong.reserved[rng.below(std::size(wrong.reserved))] = 1;
        }
        for (const ListedMove &each : list.members)
            for (DeviceBuffer *buffer : {each.first.get(), each.second.get()}) {
                buffer->randomise(rng);
                buffer->send();
            }
        const int rc = call_moves(rng, moves, list.op);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("the list returned ", ucd_strerror(rc));
        const std::string message = ucd_last_error();
        if (message.find("moves[" + std::to_string(victim) + "]") == std::string::npos)
            one.fail("the message does not name member ", victim, ": ", message);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            if (moves[i].actual_bytes != untouched || moves[i].consumed_bytes != untouched)
                one.fail("member ", i, " of a refused list has a size");
            list.members[i].check(one, list.op); // nothing has changed
        }
    });
}

} // namespace host_lists_test
