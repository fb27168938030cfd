// Bad arguments of what goes into a native stream.
#include "c_api/refusal.hpp"
#include "support/moves/move_list.hpp"

#include <string>

namespace bad_arguments_stream_test {

using namespace ucdtest;

namespace {

const ucd_stream_t cuda = {"cuda", 0, nullptr, nullptr, 0};

// The calls that take a stream, with good arguments but for the stream.
struct StreamCalls {
    Refusals &r;
    ucd_type_t type;
    ucd_move_t move = pack_move(nullptr, 1, type, 0, r.out.data, packed);

    void refused(const ucd_stream_t &stream, int status, std::string_view words) {
        auto &o = r.out;
        void *const nowhere = reinterpret_cast<void *>(std::uintptr_t{64});
        const ucd_op_t op = UCD_OP__REPLACE;
        r.refused("ucd_pack_stream", status, words, [&] {
            return ucd_pack_stream(nowhere, 1, type, 0, o.data, packed, &o.size, nullptr, op,
                                   stream);
        });
        r.refused("ucd_unpack_stream", status, words, [&] {
            return ucd_unpack_stream(o.data, packed, nowhere, 1, type, 0, &o.size, nullptr, op,
                                     stream);
        });
        move.actual_bytes = move.consumed_bytes = 7;
        r.refused("ucd_move_stream", status, words,
                  [&] { return ucd_move_stream(&move, 1, nullptr, op, stream); });
        r.refused("ucd_copy_stream", status, words, [&] {
            return ucd_copy_stream(nowhere, 1, type, o.data, 1, type, &o.size, nullptr, op, stream);
        });
        r.refused("ucd_prepare", status, words,
                  [&] { return ucd_prepare(1, type, op, stream, nullptr); });
        CHECK((move.actual_bytes == 7 && move.consumed_bytes == 7));
    }
};

} // namespace

TEST_CASE_METHOD(Refusing, "Streams of backends that are not available are refused") {
    StreamCalls calls{r, v};
    for (const char *backend : {"cuda", "hip", "ze"}) {
        ucd_backend_desc_t desc = {};
        desc.struct_size = sizeof desc;
        int count = 0;
        REQUIRE(ucd_backend_count(&count) == UCD_SUCCESS);
        bool available = false;
        for (int i = 0; i < count; ++i) {
            REQUIRE(ucd_backend_get(i, &desc) == UCD_SUCCESS);
            available = available || (std::string(desc.name) == backend && desc.available);
        }
        if (!available)
            calls.refused({backend, 0, nullptr, nullptr, 0}, UCD_ERR__NOT_SUPPORTED, backend);
    }
    calls.refused({"nope", 0, nullptr, nullptr, 0}, UCD_ERR__NOT_SUPPORTED, "nope");
    calls.refused({"seq", 0, nullptr, nullptr, 0}, UCD_ERR__NOT_SUPPORTED, "seq");
    calls.refused({nullptr, 0, nullptr, nullptr, 0}, UCD_ERR__INVALID_ARG, "backend is NULL");
}

TEST_CASE_METHOD(Refusing, "Calls with a stream refuse what is wrong besides the stream") {
    const ucd_op_t op = UCD_OP__REPLACE;
    r.invalid("ucd_pack_stream", "actual_pack_bytes is NULL", [&] {
        return ucd_pack_stream(nullptr, 1, v, 0, o.data, packed, nullptr, nullptr, op, cuda);
    });
    r.invalid("ucd_unpack_stream", "actual_unpack_bytes is NULL", [&] {
        return ucd_unpack_stream(o.data, packed, nullptr, 1, v, 0, nullptr, nullptr, op, cuda);
    });
    r.invalid("ucd_move_stream", "moves is NULL",
              [&] { return ucd_move_stream(nullptr, 1, nullptr, op, cuda); });
    r.invalid("ucd_copy_stream", "actual_bytes is NULL", [&] {
        return ucd_copy_stream(o.data, 1, v, o.data, 1, v, nullptr, nullptr, op, cuda);
    });
    r.refused("ucd_copy_stream", UCD_ERR__TRUNCATED, "room for 24 bytes", [&] {
        return ucd_copy_stream(nullptr, 2, v, o.data, 1, v, &o.size, nullptr, op, cuda);
    });
    r.bad_ops("ucd_move_stream",
              [&](ucd_op_t bad) { return ucd_move_stream(nullptr, 0, nullptr, bad, cuda); });
    r.bad_handles("ucd_prepare", "type",
                  [&](ucd_type_t t) { return ucd_prepare(1, t, op, cuda, nullptr); });
    r.bad_ops("ucd_prepare", [&](ucd_op_t bad) { return ucd_prepare(1, v, bad, cuda, nullptr); });
    r.refused("ucd_prepare", UCD_ERR__OVERFLOW, "count is",
              [&] { return ucd_prepare(too_many, v, op, cuda, nullptr); });
    r.refused("ucd_prepare", UCD_ERR__NOT_SUPPORTED, "MAXLOC",
              [&] { return ucd_prepare(1, v, UCD_OP__MAXLOC, cuda, nullptr); });
}

// Whatever is checked first: with two things wrong, the call is refused.
TEST_CASE("Calls with a stream refuse bad types and ops") {
    const Handle v(make_vector);
    std::uintptr_t actual = 7;
    unsigned char data[64];
    for (const std::uintptr_t handle :
         {std::uintptr_t{0}, first_unknown_type(), std::uintptr_t{4095}}) {
        const auto t = reinterpret_cast<ucd_type_t>(handle);
        CHECK(ucd_pack_stream(data, 1, t, 0, data, packed, &actual, nullptr, 0, cuda) !=
              UCD_SUCCESS);
        CHECK(ucd_unpack_stream(data, packed, data, 1, t, 0, &actual, nullptr, 0, cuda) !=
              UCD_SUCCESS);
    }
    CHECK(ucd_pack_stream(data, 1, v, 0, data, packed, &actual, nullptr, UCD_OP__CONVERT_SAT + 1,
                          cuda) != UCD_SUCCESS);
    CHECK(ucd_unpack_stream(data, packed, data, 1, v, 0, &actual, nullptr, -1, cuda) !=
          UCD_SUCCESS);
    CHECK(actual == 7);
}

} // namespace bad_arguments_stream_test
