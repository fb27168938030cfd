// UCD types as UCP datatypes: what UCX's own calls move with them, and the callbacks by themselves.

#include "c_api/allocations.hpp"
#include "datatype/datatype.h"
#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "ucx/pair.hpp"

#include <algorithm>
#include <cstring>

using namespace ucdtest;

namespace {

// What a prepared operand is given to UCP as.
struct Prepared {
    void *buf = nullptr;
    std::size_t count = 0;
    ucp_datatype_t datatype = 0;
    Prepared(void *address, const Subject &s, ucd_info_t info) {
        ok(ucd_ucx_prepare(address, s.count, s.type(), info, &buf, &count, &datatype),
           "ucd_ucx_prepare");
    }
    ~Prepared() {
        if (datatype != 0 || buf != nullptr) CHECK(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    }
};

struct Done {
    ucs_status_t status = UCS_INPROGRESS;
    std::size_t length = 0;
};

void on_sent(void *request, ucs_status_t status, void *done) {
    ucp_request_free(request);
    static_cast<Done *>(done)->status = status;
}

void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *done) {
    ucp_request_free(request);
    static_cast<Done *>(done)->length = info->length;
    static_cast<Done *>(done)->status = status;
}

ucp_request_param_t param_for(Done &done, ucp_datatype_t datatype) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                     UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.user_data = &done;
    p.datatype = datatype;
    return p;
}

// Sends one to the other with ucp_tag_send_nbx and ucp_tag_recv_nbx.
std::pair<Done, Done> exchange(TwoSides &sides, const Prepared &from, const Prepared &to) {
    std::pair<Done, Done> done;
    ucp_request_param_t p = param_for(done.first, from.datatype);
    p.cb.send = on_sent;
    ucp_request_param_t q = param_for(done.second, to.datatype);
    q.cb.recv = on_received;
    const auto receive = ucp_tag_recv_nbx(sides.b.worker, to.buf, to.count, 1, 1, &q);
    const auto send = ucp_tag_send_nbx(sides.a.ep, from.buf, from.count, 1, &p);
    REQUIRE(!UCS_PTR_IS_ERR(receive));
    REQUIRE(!UCS_PTR_IS_ERR(send));
    sides.until([&] {
        return done.first.status != UCS_INPROGRESS && done.second.status != UCS_INPROGRESS;
    });
    return done;
}

} // namespace

TEST_CASE("random layouts in UCX's own calls") {
    const DeviceSession session;
    TwoSides sides;
    std::size_t forms[8] = {};
    run_cases("ucx prepare", 800, [&](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options = device_options(UCD_OP__REPLACE);
        options.max_bytes = rng.chance(10) ? 100000 : 1024;
        options.max_span = options.max_bytes * 16;
        const Subject s = random_subject(one, options);
        DeviceBuffer in(rng, s.range, random_memory(rng)), out(rng, s.range, random_memory(rng));
        for (const std::intptr_t displ : s.bytes) *out.expected(displ) = *in.actual(displ);
        in.send();
        out.send();
        const auto prepare = [&](DeviceBuffer &buffer) {
            Keys keys;
            if (rng.chance(60)) keys.set("ucd.ucx.iov_segment", std::to_string(1 + rng.below(64)));
            if (rng.chance(20)) keys.set("ucd.ucx.form", "generic");
            return Prepared(buffer.real_base(), s, keys.get());
        };
        const Prepared from = prepare(in), to = prepare(out);
        for (const auto &[p, buffer] : {std::pair(&from, &in), std::pair(&to, &out)}) {
            const auto form = p->datatype & UCP_DATATYPE_CLASS_MASK;
            ++forms[form];
            if (on_device(buffer->memory()) && form != UCP_DATATYPE_GENERIC && s.size() > 0)
                one.fail("UCX is given device memory");
        }
        const auto [sent, received] = exchange(sides, from, to);
        if (sent.status != UCS_OK || received.status != UCS_OK)
            one.fail(ucs_status_string(received.status));
        if (received.length != s.size()) one.fail("UCX moved ", received.length, " bytes");
        in.fetch();
        out.fetch();
        require_intact(one, in, "what was sent");
        require_intact(one, out, "what was received");
    });
    CHECK(forms[UCP_DATATYPE_CONTIG] > 0);
    CHECK(forms[UCP_DATATYPE_IOV] > 0);
    CHECK(forms[UCP_DATATYPE_GENERIC] > 0);
}

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

TEST_CASE("a failure to pack keeps the length of the message, and is found afterwards") {
    const DeviceSession session;
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

TEST_CASE("prepare chooses by the layout, and refuses forms that it has not") {
    std::vector<char> memory(1 << 20);
    void *buf;
    std::size_t count;
    ucp_datatype_t datatype;
    const auto prepare = [&](ucd_type_t type, std::uintptr_t n, const Keys &keys) {
        return ucd_ucx_prepare(memory.data(), n, type, keys.get(), &buf, &count, &datatype);
    };
    const auto form = [&] { return datatype & UCP_DATATYPE_CLASS_MASK; };

    // Shifted by the true lower bound.
    ucd_type_t shifted;
    const std::intptr_t displ = 40;
    REQUIRE(ucd_create_hindexed_block(1, 3, &displ, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &shifted) ==
            UCD_SUCCESS);
    REQUIRE(prepare(shifted, 1, Keys()) == UCD_SUCCESS);
    CHECK(datatype == ucp_dt_make_contig(1));
    CHECK(buf == memory.data() + 40);
    CHECK(count == 24);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(ucd_free(&shifted) == UCD_SUCCESS);

    ucd_type_t rows; // four of 64 KiB
    REQUIRE(ucd_create_hvector(4, 65536, 200000, UCD_TYPE__BYTE, UCD_INFO__NULL, &rows) ==
            UCD_SUCCESS);
    REQUIRE(prepare(rows, 1, Keys()) == UCD_SUCCESS);
    REQUIRE(form() == UCP_DATATYPE_IOV);
    REQUIRE(count == 4);
    for (int i = 0; i < 4; ++i) {
        CHECK(static_cast<ucp_dt_iov_t *>(buf)[i].buffer == memory.data() + i * 200000);
        CHECK(static_cast<ucp_dt_iov_t *>(buf)[i].length == 65536);
    }
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(prepare(rows, 1, Keys({{"ucd.ucx.iov_segment", "65537"}})) == UCD_SUCCESS);
    CHECK(form() == UCP_DATATYPE_GENERIC);
    CHECK(buf == memory.data());
    CHECK(count == 1);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(prepare(rows, 1, Keys({{"ucd.ucx.iov_entries", "3"}})) == UCD_SUCCESS);
    CHECK(form() == UCP_DATATYPE_GENERIC);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);

    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "contiguous"}})) == UCD_ERR__NOT_SUPPORTED);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "iov"}, {"ucd.ucx.iov_entries", "3"}})) ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "best"}})) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.iov_segment", "0"}})) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(UCD_TYPE__NULL, 1, Keys()) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(rows, UINTPTR_MAX, Keys()) == UCD_ERR__OVERFLOW);
    CHECK(ucd_ucx_prepare(memory.data(), 1, rows, nullptr, nullptr, &count, &datatype) ==
          UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_datatype(rows, nullptr, nullptr) == UCD_ERR__INVALID_ARG);
    REQUIRE(ucd_free(&rows) == UCD_SUCCESS);

    ucp_datatype_t foreign;
    REQUIRE(ucp_dt_create_generic(&ucd_ucx::datatype_callbacks, nullptr, &foreign) == UCS_OK);
    CHECK(ucd_ucx_status(foreign) == UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_release(nullptr, foreign) == UCD_ERR__INVALID_ARG);
    ucp_dt_destroy(foreign);
}
