// Moves on GPU backends, staged ones too, while memory of the host runs out: each allocation that a
// call makes fails once. The call or its request answers OUT_OF_MEM, nothing is under way behind a
// call that failed, and the next call is right.
#include "support/catch.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/device_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace hostgpu_move_exhaustion_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// `all_needed`: the call can do without none of its allocations.
void fail_each(const RecipePtr &recipe, Memory to, ucd_op_t op, const MoveFunction &function,
               bool all_needed = false) {
    mock::Stream stream(0);
    for (std::size_t n = 1;; ++n) {
        INFO(function.name << " of " << to_text(*recipe) << ", " << op_name(op) << ", to "
                           << name_of(to) << ", allocation " << n);
        REQUIRE(n < 1000);
        REQUIRE(ucd_finalize() == UCD_SUCCESS); // so that whatever is kept is made anew
        REQUIRE(mock::counts.live_allocations == 0);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        use_staging(512, 3);
        FreshMove m(recipe, device0, to, op, native(stream));
        function.set_up(m);
        mock::knobs.delay_us = 100;
        fail_allocation(n);
        int rc = function.call(m);
        const bool none_failed = end_failing();
        if (all_needed) CHECK((rc == UCD_SUCCESS) == none_failed);
        if (rc == UCD_SUCCESS) {
            rc = m.wait();
            stream.synchronise();
            if (rc == UCD_SUCCESS) m.check();
        } else {
            const std::vector<std::byte> at_return = m.contents();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            stream.synchronise();
            CHECK((m.contents() == at_return));
        }
        REQUIRE((rc == UCD_SUCCESS || (rc == UCD_ERR__OUT_OF_MEM && !none_failed)));
        mock::knobs.delay_us = 0;
        function.set_up(m);
        REQUIRE(function.call(m) == UCD_SUCCESS);
        REQUIRE(m.wait() == UCD_SUCCESS);
        stream.synchronise();
        m.check();
        if (none_failed) return;
    }
}

// In one list with a copy of the same type in the host's memory, for which the host needs a plan.
int pack_and_copy(FreshMove &m) {
    static unsigned char in[8192], out[8192];
    const ucd_type_t type = m.type();
    std::memset(in, 7, sizeof in);
    std::memset(out, 0, sizeof out);
    ucd_move_t moves[] = {
        pack_move(m.typed.real_base(), 1, type, 0, m.packed.real_base(), m.bytes()),
        copy_move(in, 1, type, out, 1, type)};
    int rc = ucd_imove(moves, std::size(moves), UCD_INFO__NULL, m.op, &m.request);
    if (rc == UCD_SUCCESS) rc = m.wait();
    const auto is_copied = [](std::intptr_t at) { return out[at] == 7; };
    const auto &bytes = m.what.subject.bytes;
    return rc != UCD_SUCCESS || std::all_of(bytes.begin(), bytes.end(), is_copied) ? rc : -1;
}
const MoveFunction packing_and_copying{"ucd_imove of two", false, false, pack_and_copy};

} // namespace

TEST_CASE("each allocation of a call on a device fails") {
    DeviceSession session;
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
    fail_each(vector(320, 1, 3, number), device0, UCD_OP__REPLACE, packing_and_copying, true);
    for (const RecipePtr &recipe : {vector(320, 1, 3, number),
                                    indexed({30, 10, 20, 40, 220}, {0, 70, 200, 110, 300}, number)})
        for (const ucd_op_t op : std::initializer_list<ucd_op_t>{UCD_OP__REPLACE, UCD_OP__SUM})
            for (const Memory to : {device0, pinned, pageable}) {
                fail_each(recipe, to, op, packing_and_copying);
                for (const MoveFunction &function : move_functions)
                    if (to != pageable || !function.in_stream) fail_each(recipe, to, op, function);
            }
}

} // namespace hostgpu_move_exhaustion_test
