// UCD types as UCP datatypes: the callbacks by themselves, and what fails in them.

#include "c_api/allocations.hpp"
#include "datatype/datatype.h"
#include "support/device_test.hpp"
#include "ucx/prepared.hpp"

#include <algorithm>
#include <cstring>

namespace datatype_test {

using namespace ucdtest;

TEST_CASE("the callbacks take fragments of any length in any order, and allocate nothing") {
    run_cases("ucx callbacks", 500, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.unpack_safe = true;
        const Subject s = random_nonempty_subject(one, options);
        DeviceBuffer in(rng, s.range, Memory::pageable), out(rng, s.range, Memory::pageable);
        const TouchedRange stream = {0, static_cast<std::intptr_t>(s.size())};
        DeviceBuffer packed(rng, stream, Memory::pageable);
        for (std::size_t i = 0; i < s.size(); ++i) {
            *packed.expected(static_cast<std::intptr_t>(i)) = *in.actual(s.bytes[i]);
            *out.expected(s.bytes[i]) = *in.actual(s.bytes[i]);
        }
        for (DeviceBuffer *b : {&in, &out, &packed}) b->send();

        ucp_datatype_t datatype;
        ok(ucd_ucx_datatype(s.type(), UCD_INFO__NULL, &datatype), "ucd_ucx_datatype");
        const ucp_generic_dt_ops_t &ops = ucd_ucx::datatype_callbacks;
        void *context = ucd_ucx::context_of(datatype);
        void *packing = ops.start_pack(context, in.real_base(), s.count);
        void *unpacking = ops.start_unpack(context, out.real_base(), s.count);
        if (ops.packed_size(packing) != s.size()) one.fail("packed_size is wrong");

        std::vector<std::pair<std::size_t, std::size_t>> fragments;
        for (std::size_t at = 0; at < s.size();) {
            const std::size_t n = std::min(1 + rng.mostly_small(s.size()), s.size() - at);
            fragments.emplace_back(at, n);
            at += n;
        }
        char *const stream_at = static_cast<char *>(packed.real_base());
        // The first fragment may make plans.
        ops.pack(packing, 0, stream_at, 1);
        ops.unpack(unpacking, 0, stream_at, 1);
        rng.shuffle(fragments);
        fail_allocation(1);
        for (const auto &[at, n] : fragments)
            if (ops.pack(packing, at, stream_at + at, n) != n) one.fail("pack was short");
        std::reverse(fragments.begin(), fragments.end());
        for (const auto &[at, n] : fragments)
            if (ops.unpack(unpacking, at, stream_at + at, n) != UCS_OK) one.fail("unpack failed");
        if (!end_failing()) one.fail("a fragment allocated memory");
        if (ops.pack(packing, s.size(), stream_at, 1) != 0) one.fail("pack went beyond the end");
        ops.finish(packing);
        ops.finish(unpacking);
        if (ucd_ucx_release(nullptr, datatype) != UCD_SUCCESS) one.fail(ucd_ucx_last_error());
        for (DeviceBuffer *b : {&in, &out, &packed}) {
            b->fetch();
            require_intact(one, *b, "a buffer");
        }
    });
}

DEVICE_TEST("a failure to pack keeps the length of the message, and is found afterwards") {
    TwoSides sides;
    Case one("ucx failing pack", 0);
    const Subject s =
        make_subject(one, recipes::vector(500, 1, 2, recipes::leaf(UCD_TYPE__INT)), 1);
    DeviceBuffer in(one.rng(), s.range, Memory::device0), out(one.rng(), s.range, Memory::pageable);
    in.send();
    out.send();
    const Prepared from(in.real_base(), s, UCD_INFO__NULL), to(out.real_base(), s, UCD_INFO__NULL);
    mock::knobs.failing_work = 1;
    const auto [sent, received] = exchange(sides, from, to);
    CHECK(sent.status == UCS_OK);
    CHECK(received.status == UCS_OK);
    CHECK(received.length == s.size());
    CHECK(ucd_ucx_status(from.datatype) == UCD_ERR__DEVICE);
    CHECK(std::string(ucd_ucx_last_error()).find("ucd_ucx_status: ") == 0);
    CHECK(ucd_ucx_status(from.datatype) == UCD_SUCCESS);
    CHECK(ucd_ucx_status(to.datatype) == UCD_SUCCESS);
    // And all is well again.
    CHECK(exchange(sides, from, to).second.status == UCS_OK);
    CHECK(ucd_ucx_status(from.datatype) == UCD_SUCCESS);
}

TEST_CASE("a state that cannot be had keeps the length of the message") {
    ucp_datatype_t datatype;
    REQUIRE(ucd_ucx_datatype(UCD_TYPE__DOUBLE, UCD_INFO__NULL, &datatype) == UCD_SUCCESS);
    const ucp_generic_dt_ops_t &ops = ucd_ucx::datatype_callbacks;
    double in[3] = {1, 2, 3};
    void *context = ucd_ucx::context_of(datatype);
    void *state;
    fail_allocation(1);
    state = ops.start_pack(context, in, 3);
    CHECK(!end_failing());
    CHECK(ops.packed_size(state) == 24);
    char out[24];
    std::memset(out, 'x', sizeof out);
    CHECK(ops.pack(state, 4, out + 4, 100) == 20);
    CHECK(std::count(out, out + 24, '\0') == 20);
    CHECK(ops.unpack(state, 0, out, 24) == UCS_ERR_NO_MEMORY);
    ops.finish(state);
    CHECK(ucd_ucx_status(datatype) == UCD_ERR__OUT_OF_MEM);
    // More than there can be: the length is lost, but not the failure.
    state = ops.start_pack(context, in, SIZE_MAX / 2);
    CHECK(ops.packed_size(state) == 0);
    ops.finish(state);
    CHECK(ucd_ucx_release(nullptr, datatype) == UCD_ERR__OVERFLOW);
}

TEST_CASE("a generic datatype of another library is refused") {
    ucp_datatype_t foreign;
    REQUIRE(ucp_dt_create_generic(&ucd_ucx::datatype_callbacks, nullptr, &foreign) == UCS_OK);
    CHECK(ucd_ucx_status(foreign) == UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_release(nullptr, foreign) == UCD_ERR__INVALID_ARG);
    ucp_dt_destroy(foreign);
}

} // namespace datatype_test
