// Bad arguments of packing, unpacking and copying, with and without a request, and of requests.
#include "c_api/refusal.hpp"

namespace bad_arguments_move_test {

using namespace ucdtest;

namespace {

const ucd_op_t sum = UCD_OP__SUM;

int make_mixed(ucd_type_t *type) {
    const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 8};
    const ucd_type_t types[] = {UCD_TYPE__DOUBLE, UCD_TYPE__CHAR};
    return ucd_create_struct(2, lengths, displs, types, nullptr, type);
}

// Buffers that no refused call may look at, let alone write to.
void *const nowhere = reinterpret_cast<void *>(std::uintptr_t{64});

// The arguments of the four ways to pack or unpack, good ones at first.
struct Move {
    const void *in = nowhere;
    void *out = nowhere;
    std::uintptr_t count = 1, offset = 0, bytes = packed;
    ucd_type_t type = UCD_TYPE__NULL;
    ucd_op_t op = UCD_OP__REPLACE;
    std::uintptr_t *actual = nullptr;
    ucd_request_t *request = nullptr;
    ucd_info_t info = UCD_INFO__NULL;
};

struct MoveCall {
    const char *name, *count, *offset, *packed_buffer, *actual;
    bool packs, has_request;
    int (*call)(const Move &);
};

const MoveCall move_calls[] = {
    {"ucd_pack", "incount", "inoffset", "outbuf", "actual_pack_bytes", true, false,
     [](const Move &m) {
         return ucd_pack(m.in, m.count, m.type, m.offset, m.out, m.bytes, m.actual, m.info, m.op);
     }},
    {"ucd_ipack", "incount", "inoffset", "outbuf", "actual_pack_bytes", true, true,
     [](const Move &m) {
         return ucd_ipack(m.in, m.count, m.type, m.offset, m.out, m.bytes, m.actual, m.info, m.op,
                          m.request);
     }},
    {"ucd_unpack", "outcount", "outoffset", "inbuf", "actual_unpack_bytes", false, false,
     [](const Move &m) {
         return ucd_unpack(m.in, m.bytes, m.out, m.count, m.type, m.offset, m.actual, m.info, m.op);
     }},
    {"ucd_iunpack", "outcount", "outoffset", "inbuf", "actual_unpack_bytes", false, true,
     [](const Move &m) {
         return ucd_iunpack(m.in, m.bytes, m.out, m.count, m.type, m.offset, m.actual, m.info, m.op,
                            m.request);
     }},
};

// Moves one object, so that later calls find everything that is derived from its type.
void use(const Handle &type) {
    int memory[16] = {};
    char bytes[64];
    std::uintptr_t moved;
    REQUIRE(ucd_pack(memory, 1, type, 0, bytes, sizeof bytes, &moved, nullptr, UCD_OP__REPLACE) ==
            UCD_SUCCESS);
}

} // namespace

TEST_CASE_METHOD(Refusing, "Packing and unpacking refuse") {
    const bool used = GENERATE(false, true);
    INFO((used ? "types that have been used" : "new types"));
    const Handle mixed(make_mixed);
    if (used) {
        use(v);
        use(mixed);
    }
    for (const MoveCall &c : move_calls) {
        INFO(c.name);
        const auto with = [&](auto change) {
            return [&, change] {
                Move m;
                m.type = v;
                m.actual = &o.size;
                m.request = &o.request;
                change(m);
                return c.call(m);
            };
        };
        const auto refused = [&](int status, const std::string &words, auto change) {
            r.refused(c.name, status, words, with(change));
        };
        const auto invalid = [&](const std::string &words, auto change) {
            r.invalid(c.name, words, with(change));
        };
        r.bad_handles(c.name, "type",
                      [&](ucd_type_t t) { return with([t](Move &m) { m.type = t; })(); });
        r.bad_ops(c.name, [&](ucd_op_t op) { return with([op](Move &m) { m.op = op; })(); });
        invalid(std::string(c.actual) + " is NULL", [](Move &m) { m.actual = nullptr; });
        if (c.has_request) invalid("request is NULL", [](Move &m) { m.request = nullptr; });
        invalid(std::string(c.packed_buffer) + " is NULL",
                [&](Move &m) { c.packs ? m.out = nullptr : m.in = nullptr; });
        for (const std::uintptr_t offset : {packed + 1, UINTPTR_MAX})
            invalid(std::string(c.offset) + " is " + std::to_string(offset),
                    [=](Move &m) { m.offset = offset; });
        invalid(std::string(c.offset) + " is 1", [](Move &m) { m.count = 0, m.offset = 1; });
        for (const std::uintptr_t count : {too_many, UINTPTR_MAX})
            refused(UCD_ERR__OVERFLOW,
                    std::string(c.count) + (count == UINTPTR_MAX
                                                ? " is -1, or " + std::to_string(count)
                                                : " is " + std::to_string(count) + ";"),
                    [=](Move &m) { m.count = count; });
        // With a reduction: no part of an element.
        invalid(std::string(c.offset) + " is 5", [](Move &m) { m.op = sum, m.offset = 5; });
        refused(UCD_ERR__TRUNCATED, "3 bytes", [](Move &m) { m.op = sum, m.bytes = 3; });
        refused(UCD_ERR__TRUNCATED, "0 bytes", [](Move &m) { m.op = sum, m.bytes = 0; });
        refused(UCD_ERR__TRUNCATED, "3 bytes",
                [](Move &m) { m.op = sum, m.offset = 20, m.bytes = 3; });
        invalid(std::string(c.packed_buffer) + " is NULL", [&](Move &m) {
            m.op = sum;
            c.packs ? m.out = nullptr : m.in = nullptr;
        });
        // What the type does not take; the message names the pair.
        const std::tuple<ucd_op_t, ucd_type_t, const char *, const char *> pairs[] = {
            {UCD_OP__MAX, UCD_TYPE__CHAR, "MAX", "CHAR"},
            {UCD_OP__MAXLOC, UCD_TYPE__INT, "MAXLOC", "INT"},
            {UCD_OP__BAND, UCD_TYPE__DOUBLE, "BAND", "DOUBLE"},
            {UCD_OP__MAX, UCD_TYPE__C_COMPLEX, "MAX", "C_COMPLEX"},
            {UCD_OP__SUM, UCD_TYPE__2INT, "SUM", "2INT"},
            {UCD_OP__SUM, UCD_TYPE__BYTE, "SUM", "BYTE"},
            {UCD_OP__BAND, UCD_TYPE___BOOL, "BAND", "_BOOL"},
            {UCD_OP__LAND, UCD_TYPE__WCHAR_T, "LAND", "WCHAR_T"},
            {UCD_OP__SUM, mixed, "SUM", "CHAR"},
            {UCD_OP__BOR, mixed, "BOR", "DOUBLE"},
        };
        for (const auto &[op, type, op_name, type_name] : pairs) {
            const auto change = [op = op, type = type](Move &m) { m.op = op, m.type = type; };
            refused(UCD_ERR__NOT_SUPPORTED, op_name, change);
            refused(UCD_ERR__NOT_SUPPORTED, type_name, change);
        }
    }
}

TEST_CASE_METHOD(Refusing, "Hints that name what is not there are refused") {
    for (const char *place : {"cuda:0", "hip:0", "ze:0"})
        for (const char *key : {"ucd.inbuf", "ucd.outbuf"}) {
            ucd_info_t info = nullptr;
            REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
            REQUIRE(ucd_info_set(info, key, place) == UCD_SUCCESS);
            const std::string backend(place, std::strcspn(place, ":"));
            for (const MoveCall &c : move_calls)
                r.refused(c.name, UCD_ERR__NOT_SUPPORTED, backend, [&] {
                    Move m;
                    m.type = v;
                    m.actual = &o.size;
                    m.request = &o.request;
                    m.info = info;
                    return c.call(m);
                });
            r.refused("ucd_copy", UCD_ERR__NOT_SUPPORTED, backend, [&] {
                return ucd_copy(nowhere, 1, v, nowhere, 1, v, &o.size, info, replace);
            });
            REQUIRE(ucd_info_free(&info) == UCD_SUCCESS);
        }
}

TEST_CASE("Where nothing moves, buffers may be NULL") {
    const Handle v(make_vector),
        empty([](ucd_type_t *t) { return ucd_create_contig(0, UCD_TYPE__INT, nullptr, t); });
    for (const MoveCall &c : move_calls) {
        INFO(c.name);
        std::uintptr_t actual = 7;
        ucd_request_t request = reinterpret_cast<ucd_request_t>(&actual);
        Move m;
        m.in = m.out = nullptr;
        m.actual = &actual;
        m.request = &request;
        const auto nothing_moves = [&] {
            actual = 7;
            request = reinterpret_cast<ucd_request_t>(&actual);
            CHECK(c.call(m) == UCD_SUCCESS);
            CHECK(actual == 0);
            if (c.has_request) CHECK(request == UCD_REQUEST__NULL);
        };
        m.type = v;
        m.bytes = 0;
        nothing_moves();
        m.bytes = packed;
        m.offset = packed; // at the end
        for (const ucd_op_t op : {replace, sum}) {
            m.op = op;
            nothing_moves();
        }
        m.offset = 0;
        m.count = 0;
        nothing_moves();
        m.count = UINTPTR_MAX;
        m.type = empty;
        nothing_moves();
    }
}

TEST_CASE_METHOD(Refusing, "ucd_copy and ucd_icopy refuse") {
    const Handle mixed(make_mixed);
    struct Copy {
        std::uintptr_t in_count = 1, out_count = 1;
        ucd_type_t in, out;
        ucd_op_t op = UCD_OP__REPLACE;
        std::uintptr_t *actual;
        ucd_request_t *request;
    };
    for (const bool waits : {true, false}) {
        const char *const f = waits ? "ucd_copy" : "ucd_icopy";
        const auto with = [&](auto change) {
            return [&, change] {
                Copy c;
                c.in = c.out = v;
                c.actual = &o.size;
                c.request = &o.request;
                change(c);
                return waits ? ucd_copy(nowhere, c.in_count, c.in, nowhere, c.out_count, c.out,
                                        c.actual, nullptr, c.op)
                             : ucd_icopy(nowhere, c.in_count, c.in, nowhere, c.out_count, c.out,
                                         c.actual, nullptr, c.op, c.request);
            };
        };
        r.bad_handles(f, "intype",
                      [&](ucd_type_t t) { return with([t](Copy &c) { c.in = t; })(); });
        r.bad_handles(f, "outtype",
                      [&](ucd_type_t t) { return with([t](Copy &c) { c.out = t; })(); });
        r.bad_ops(f, [&](ucd_op_t op) { return with([op](Copy &c) { c.op = op; })(); });
        r.invalid(f, "actual_bytes is NULL", with([](Copy &c) { c.actual = nullptr; }));
        if (!waits) r.invalid(f, "request is NULL", with([](Copy &c) { c.request = nullptr; }));
        r.refused(f, UCD_ERR__OVERFLOW, "incount is", with([](Copy &c) { c.in_count = too_many; }));
        r.refused(f, UCD_ERR__OVERFLOW, "outcount is",
                  with([](Copy &c) { c.out_count = too_many; }));
        r.refused(f, UCD_ERR__TRUNCATED, "48", with([](Copy &c) { c.in_count = 2; }));
        r.refused(f, UCD_ERR__TRUNCATED, "0", with([](Copy &c) { c.out_count = 0; }));
        r.refused(f, UCD_ERR__NOT_SUPPORTED, "MAXLOC",
                  with([](Copy &c) { c.op = UCD_OP__MAXLOC; }));
        r.refused(f, UCD_ERR__NOT_SUPPORTED, "CHAR", with([&](Copy &c) {
                      c.op = sum;
                      c.in = c.out = mixed;
                  }));
        // A reduction needs the same elements on both sides, which matters before their sizes.
        const std::tuple<ucd_type_t, std::uintptr_t, const char *> others[] = {
            {UCD_TYPE__UNSIGNED, 6, "UINT32_T"},
            {UCD_TYPE__FLOAT, 6, "FLOAT"},
            {UCD_TYPE__DOUBLE, 3, "DOUBLE"},
            {UCD_TYPE__SHORT, 12, "INT16_T"},
            {UCD_TYPE__UNSIGNED, 1, "UINT32_T"},
            {UCD_TYPE__FLOAT, 5, "FLOAT"},
            {UCD_TYPE__DOUBLE, 1, "DOUBLE"},
            {UCD_TYPE__SHORT, 1, "INT16_T"},
            {mixed, 1, "DOUBLE"}};
        for (const auto &[type, count, name] : others)
            r.invalid(f,
                      "outtype has other elements than intype: " + std::string(name) +
                          " where that has INT32_T; ",
                      with([t = type, n = count](Copy &c) {
                          c.op = UCD_OP__MAX;
                          c.out = t;
                          c.out_count = n;
                      }));
    }
}

TEST_CASE_METHOD(Refusing, "ucd_test, ucd_wait and ucd_waitall refuse") {
    ucd_request_t none = UCD_REQUEST__NULL;
    r.invalid("ucd_test", "request is NULL", [&] { return ucd_test(nullptr, &o.number); });
    r.invalid("ucd_test", "completed is NULL", [&] { return ucd_test(&none, nullptr); });
    r.invalid("ucd_wait", "request is NULL", [&] { return ucd_wait(nullptr); });
    r.invalid("ucd_waitall", "requests is NULL", [&] { return ucd_waitall(1, nullptr); });
    r.invalid("ucd_waitall", "count is -2, or ",
              [&] { return ucd_waitall(static_cast<std::uintptr_t>(-2), &none); });
    int completed = 7;
    CHECK(ucd_test(&none, &completed) == UCD_SUCCESS);
    CHECK((completed == 1 && none == UCD_REQUEST__NULL));
    CHECK(ucd_wait(&none) == UCD_SUCCESS);
    CHECK(ucd_waitall(0, nullptr) == UCD_SUCCESS);
    ucd_request_t several[3] = {};
    CHECK(ucd_waitall(3, several) == UCD_SUCCESS);
    // A success leaves the sentence of the failure before it.
    CHECK(ucd_test(nullptr, nullptr) == UCD_ERR__INVALID_ARG);
    const std::string sentence = ucd_last_error();
    CHECK_FALSE(sentence.empty());
    CHECK(ucd_waitall(3, several) == UCD_SUCCESS);
    CHECK(ucd_last_error() == sentence);
}

} // namespace bad_arguments_move_test
