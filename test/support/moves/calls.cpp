#include "support/moves/calls.hpp"
#include "support/keys.hpp"
#include "support/moves/move_list.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace ucdtest {
namespace {

ucd_info_t random_hints(Rng &rng) {
    if (rng.chance(60)) return UCD_INFO__NULL;
    static const Keys hints[] = {
        {{"ucd.gpu", "none"}},
        {{"ucd.inbuf", "host"}, {"ucd.outbuf", "host"}},
        {{"ucd.engine", "auto"}, {"no.such.key", "ignored"}},
        {{"ucd.threads", "2"}},
    };
    return hints[rng.below(std::size(hints))].get();
}

// What a request is before a call, which has to set it.
ucd_request_t unset_request() {
    static char nothing;
    return reinterpret_cast<ucd_request_t>(&nothing);
}

} // namespace

int finish(Rng &rng, ucd_request_t &request) {
    if (request == unset_request()) throw std::runtime_error("a call did not set its request");
    int rc = UCD_SUCCESS;
    switch (rng.below(3)) {
    case 0: rc = ucd_wait(&request); break;
    case 1: rc = ucd_waitall(1, &request); break;
    default:
        for (int completed = 0; rc == UCD_SUCCESS && !completed;) {
            rc = ucd_test(&request, &completed);
        }
    }
    if (request != UCD_REQUEST__NULL) throw std::runtime_error("a finished request is not reset");
    return rc;
}

namespace {

// An address that is not NULL, which nobody touches: a plan gets the right one later.
template <class Pointer>
Pointer elsewhere(Pointer address) {
    return address == nullptr
               ? address
               : reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(address) ^ 64);
}

int run_plan(Rng &rng, ucd_move_t &move, ucd_info_t info, ucd_op_t op, bool may_rebase) {
    const void *const inbuf = move.inbuf;
    void *const outbuf = move.outbuf;
    const bool is_rebased = may_rebase && rng.chance(30),
               is_started_with = may_rebase && !is_rebased && rng.chance(40);
    if (is_rebased || is_started_with) {
        move.inbuf = elsewhere(inbuf);
        move.outbuf = elsewhere(outbuf);
    }
    ucd_plan_t plan = UCD_PLAN__NULL;
    int rc = ucd_plan_create(&move, 1, info, op, &plan);
    if (rc != UCD_SUCCESS) return rc;
    if (is_rebased) rc = ucd_plan_rebase(plan, 0, 1, &inbuf, &outbuf);
    move.inbuf = nullptr; // the plan has its own
    move.intype = move.outtype = UCD_TYPE__NULL;
    const unsigned starts = op == UCD_OP__REPLACE ? 1 + static_cast<unsigned>(rng.below(2)) : 1;
    for (unsigned i = 0; rc == UCD_SUCCESS && i < starts; ++i) {
        ucd_request_t request = unset_request();
        rc = is_started_with ? ucd_plan_start_with(plan, &inbuf, &outbuf, &request)
                             : ucd_plan_start(plan, &request);
        const bool frees_early = i + 1 == starts && rng.chance(50);
        if (frees_early) ucd_plan_free(&plan);
        if (rc == UCD_SUCCESS) rc = finish(rng, request);
    }
    if (plan != UCD_PLAN__NULL) {
        const int freed = ucd_plan_free(&plan);
        if (rc == UCD_SUCCESS) rc = freed;
    }
    return rc;
}

} // namespace

int call_move(Rng &rng, ucd_move_t move, std::uintptr_t *actual, ucd_info_t info, ucd_op_t op,
              bool may_rebase, std::uintptr_t *consumed) {
    move.actual_bytes = move.consumed_bytes = untouched;
    int rc;
    switch (rng.below(3)) {
    case 0: rc = ucd_move(&move, 1, info, op); break;
    case 1: {
        ucd_request_t request = unset_request();
        rc = ucd_imove(&move, 1, info, op, &request);
        if (rc == UCD_SUCCESS) rc = finish(rng, request);
        break;
    }
    default: rc = run_plan(rng, move, info, op, may_rebase);
    }
    if ((move.actual_bytes == untouched) != (move.consumed_bytes == untouched))
        throw std::runtime_error("one of two sizes is set");
    if (move.actual_bytes == untouched) return rc;
    *actual = move.actual_bytes;
    if (consumed != nullptr) *consumed = move.consumed_bytes;
    if (op < UCD_OP__CONVERT && move.consumed_bytes != move.actual_bytes)
        throw std::runtime_error("consumed_bytes is not actual_bytes");
    return rc;
}

CopyRange random_range(Rng &rng, std::size_t source, std::size_t target) {
    CopyRange range;
    range.is_part = true;
    range.in_offset = rng.chance(30) ? 0 : rng.below(source + 1);
    range.out_offset = rng.chance(30) ? 0 : rng.below(target + 1);
    range.bytes = std::min(source - range.in_offset, target - range.out_offset);
    range.limit = rng.chance(50) ? UINTPTR_MAX : range.bytes + rng.below(10);
    if (rng.chance(50)) range.limit = range.bytes = rng.below(range.bytes + 1);
    return range;
}

int call_any(Rng &rng, const ucd_move_t &m, std::uintptr_t *actual, ucd_info_t info, ucd_op_t op,
             bool may_rebase) {
    const bool packs = m.outtype == UCD_TYPE__NULL, unpacks = m.intype == UCD_TYPE__NULL;
    const bool is_part =
        m.bytes != UINTPTR_MAX || (!packs && !unpacks && (m.inoffset | m.outoffset));
    const bool is_plain = packs && unpacks; // which only a list moves
    if (is_part || (!is_plain && rng.chance(30))) {
        ucd_move_t move = m;
        // Either of the two limits it.
        if (!is_part && packs && rng.chance(50)) std::swap(move.bytes, move.outcount);
        if (!is_part && unpacks && rng.chance(50)) std::swap(move.bytes, move.incount);
        return call_move(rng, move, actual, info, op, may_rebase);
    }
    ucd_request_t request = unset_request();
    const bool waits = rng.chance(70);
    int rc;
    if (packs)
        rc = waits ? ucd_pack(m.inbuf, m.incount, m.intype, m.inoffset, m.outbuf, m.outcount,
                              actual, info, op)
                   : ucd_ipack(m.inbuf, m.incount, m.intype, m.inoffset, m.outbuf, m.outcount,
                               actual, info, op, &request);
    else if (unpacks)
        rc = waits ? ucd_unpack(m.inbuf, m.incount, m.outbuf, m.outcount, m.outtype, m.outoffset,
                                actual, info, op)
                   : ucd_iunpack(m.inbuf, m.incount, m.outbuf, m.outcount, m.outtype, m.outoffset,
                                 actual, info, op, &request);
    else
        rc = waits ? ucd_copy(m.inbuf, m.incount, m.intype, m.outbuf, m.outcount, m.outtype, actual,
                              info, op)
                   : ucd_icopy(m.inbuf, m.incount, m.intype, m.outbuf, m.outcount, m.outtype,
                               actual, info, op, &request);
    return waits || rc != UCD_SUCCESS ? rc : finish(rng, request);
}

int call_pack(Rng &rng, const void *inbuf, std::uintptr_t count, ucd_type_t type,
              std::uintptr_t offset, void *outbuf, std::uintptr_t room, std::uintptr_t *actual,
              ucd_op_t op) {
    return call_any(rng, pack_move(inbuf, count, type, offset, outbuf, room), actual,
                    random_hints(rng), op, true);
}

int call_unpack(Rng &rng, const void *inbuf, std::uintptr_t size, void *outbuf,
                std::uintptr_t count, ucd_type_t type, std::uintptr_t offset,
                std::uintptr_t *actual, ucd_op_t op) {
    return call_any(rng, unpack_move(inbuf, size, outbuf, count, type, offset), actual,
                    random_hints(rng), op, true);
}

int call_copy(Rng &rng, const void *inbuf, std::uintptr_t incount, ucd_type_t intype, void *outbuf,
              std::uintptr_t outcount, ucd_type_t outtype, std::uintptr_t *actual, ucd_op_t op) {
    const ucd_info_t info = random_hints(rng);
    std::uintptr_t in_size = 0, out_size = 0;
    if (ucd_get_size(intype, &in_size) != UCD_SUCCESS ||
        ucd_get_size(outtype, &out_size) != UCD_SUCCESS ||
        incount * in_size > outcount * out_size) // a copy is refused, a move is not
        return ucd_copy(inbuf, incount, intype, outbuf, outcount, outtype, actual, info, op);
    return call_any(rng, copy_move(inbuf, incount, intype, outbuf, outcount, outtype), actual, info,
                    op, true);
}

} // namespace ucdtest
