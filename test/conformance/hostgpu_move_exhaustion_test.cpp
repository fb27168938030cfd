// Moves on GPU backends, staged ones too, while memory of the host runs out: each allocation that a
// call makes fails once. The call or its request answers OUT_OF_MEM, nothing is under way behind a
// call that failed, and the next call is right.
#include "support/catch.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/strided_move.hpp"
#include "support/spared_allocations.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace hostgpu_move_exhaustion_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Both buffers, made anew for each type; a new type has lists to upload.
struct Packing {
    Case one{"out of memory", 0};
    ReducedSubject what;
    DeviceBuffer typed, packed;
    ucd_op_t op;
    mock::Stream &stream;
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;

    Packing(const RecipePtr &recipe, Memory to, ucd_op_t o, mock::Stream &s)
        : what(with_elements(make_subject(one, recipe, 1))),
          typed(one.rng(), what.subject.range, device0),
          packed(one.rng(), {0, static_cast<std::intptr_t>(size())}, to), op(o), stream(s) {}

    std::size_t size() const { return what.subject.size(); }
    DeviceMove move() { return {one, op, what, typed, packed, 0, size()}; }
    std::vector<std::byte> result() {
        packed.fetch();
        return {packed.actual(0), packed.actual(static_cast<std::intptr_t>(size()))};
    }
    MoveList members() {
        constexpr std::size_t count = 40;
        const std::size_t each = op == UCD_OP__REPLACE ? size() / count : size();
        const SpareAllocations spared;
        MoveList descs;
        char *const to = static_cast<char *>(packed.real_base());
        for (std::size_t at = 0; at < size(); at += each)
            descs.push_back(
                pack_move(typed.real_base(), 1, what.subject.type(), at, to + at, each));
        return descs;
    }
};

using Call = std::function<int(Packing &)>;

// `all_needed`: the call can do without none of its allocations.
void fail_each(const RecipePtr &recipe, Memory to, ucd_op_t op, const Call &call,
               bool all_needed = false) {
    mock::Stream stream(0);
    for (std::size_t n = 1;; ++n) {
        INFO(to_text(*recipe) << ", " << op_name(op) << ", to " << name_of(to) << ", allocation "
                              << n);
        REQUIRE(n < 1000);
        REQUIRE(ucd_finalize() == UCD_SUCCESS); // so that whatever is kept is made anew
        REQUIRE(mock::counts.live_allocations == 0);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        use_staging(512, 3);
        Packing p(recipe, to, op, stream);
        set_up_pack(p.move());
        mock::knobs.delay_us = 100;
        fail_allocation(n);
        int rc = call(p);
        const bool none_failed = end_failing();
        if (all_needed) CHECK((rc == UCD_SUCCESS) == none_failed);
        if (rc == UCD_SUCCESS) {
            rc = ucd_wait(&p.request);
            stream.synchronise();
            if (rc == UCD_SUCCESS) check_result(p.move());
        } else {
            const std::vector<std::byte> at_return = p.result();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            stream.synchronise();
            CHECK((p.result() == at_return));
        }
        REQUIRE((rc == UCD_SUCCESS || (rc == UCD_ERR__OUT_OF_MEM && !none_failed)));
        mock::knobs.delay_us = 0;
        set_up_pack(p.move());
        REQUIRE(call(p) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&p.request) == UCD_SUCCESS);
        stream.synchronise();
        check_result(p.move());
        if (none_failed) return;
    }
}

int pack(Packing &p) {
    return ucd_ipack(p.typed.real_base(), 1, p.what.subject.type(), 0, p.packed.real_base(),
                     p.size(), &p.actual, UCD_INFO__NULL, p.op, &p.request);
}
int pack_list(Packing &p) {
    MoveList moves = p.members();
    return start(moves, &p.request, UCD_INFO__NULL, p.op);
}
// In one list with a copy of the same type in the host's memory, for which the host needs a plan.
int pack_and_copy(Packing &p) {
    static unsigned char in[8192], out[8192];
    const ucd_type_t type = p.what.subject.type();
    std::memset(in, 7, sizeof in);
    std::memset(out, 0, sizeof out);
    ucd_move_t moves[] = {
        pack_move(p.typed.real_base(), 1, type, 0, p.packed.real_base(), p.size()),
        copy_move(in, 1, type, out, 1, type)};
    int rc = ucd_imove(moves, std::size(moves), UCD_INFO__NULL, p.op, &p.request);
    if (rc == UCD_SUCCESS) rc = ucd_wait(&p.request);
    const auto is_copied = [](std::intptr_t at) { return out[at] == 7; };
    const auto &bytes = p.what.subject.bytes;
    return rc != UCD_SUCCESS || std::all_of(bytes.begin(), bytes.end(), is_copied) ? rc : -1;
}
int pack_in_stream(Packing &p) {
    return ucd_pack_stream(p.typed.real_base(), 1, p.what.subject.type(), 0, p.packed.real_base(),
                           p.size(), &p.actual, UCD_INFO__NULL, p.op, native(p.stream));
}
int pack_list_in_stream(Packing &p) {
    MoveList moves = p.members();
    return start_in(p.stream, moves, UCD_INFO__NULL, p.op);
}

} // namespace

TEST_CASE("each allocation of a call on a device fails") {
    DeviceSession session;
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
    fail_each(vector(320, 1, 3, number), device0, UCD_OP__REPLACE, pack_and_copy, true);
    for (const RecipePtr &recipe : {vector(320, 1, 3, number),
                                    indexed({30, 10, 20, 40, 220}, {0, 70, 200, 110, 300}, number)})
        for (const ucd_op_t op : std::initializer_list<ucd_op_t>{UCD_OP__REPLACE, UCD_OP__SUM})
            for (const Memory to : {device0, pinned, pageable}) {
                fail_each(recipe, to, op, pack);
                fail_each(recipe, to, op, pack_list);
                fail_each(recipe, to, op, pack_and_copy);
                if (to == pageable) continue;
                fail_each(recipe, to, op, pack_in_stream);
                fail_each(recipe, to, op, pack_list_in_stream);
            }
}

} // namespace hostgpu_move_exhaustion_test
