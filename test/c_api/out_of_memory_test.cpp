// Every allocation that a call makes fails once: the call answers OUT_OF_MEM and leaves everything
// as it was (or does without that memory), and leaks nothing.
#include "c_api/refusal.hpp"
#include "support/moves/move_list.hpp"

#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace out_of_memory_test {

using namespace ucdtest;

namespace {

Outputs out;

// Lets the first allocation of `call` fail, then the second, and so on, until none does. Before
// each time `prepare` makes what the call needs, and `discard` ends that and what the call made.
// Nothing of all that may be left. `needed`: the least number of allocations that the call makes.
template <class Prepare, class Call, class Discard>
void fail_each(const char *function, std::size_t needed, Prepare prepare, Call call,
               Discard discard) {
    INFO(function);
    Outputs before;
    // A first time without failures, for what is made once in a process.
    prepare();
    out.reset();
    REQUIRE(call() == UCD_SUCCESS);
    discard();
    for (std::size_t n = 1;; ++n) {
        REQUIRE(n < 100000);
        out.reset();
        const std::ptrdiff_t live = live_allocations();
        prepare();
        before = out;
        fail_allocation(n);
        const int rc = call();
        const bool none_failed = end_failing();
        const bool unchanged = std::memcmp(&out, &before, sizeof out) == 0;
        discard();
        const std::ptrdiff_t left = live_allocations() - live;
        INFO("allocation " << n);
        REQUIRE(left == 0);
        if (none_failed) {
            REQUIRE(rc == UCD_SUCCESS);
            CHECK(n > needed);
            return;
        }
        if (rc == UCD_SUCCESS) continue; // std::vector::shrink_to_fit does without
        REQUIRE(rc == UCD_ERR__OUT_OF_MEM);
        REQUIRE(unchanged);
        // A list's message names the member whose plan there was no memory for.
        const std::regex expected(std::string(function) +
                                  R"(: ((descs|moves)\[[0-9]+\]: )?out of memory)");
        INFO(ucd_last_error());
        REQUIRE(std::regex_match(ucd_last_error(), expected));
    }
}

// For what makes a type, in out.type.
template <class Call>
void fail_each_creating(const char *function, Call call) {
    const auto is_made = [] {
        ucd_type_t untouched;
        std::memset(static_cast<void *>(&untouched), pattern, sizeof untouched);
        return out.type != untouched;
    };
    fail_each(
        function, 1, [] {}, call,
        [&] {
            if (is_made()) (void)ucd_free(&out.type);
        });
}

// Types whose layouts take different ways through the normaliser, each made anew.
struct Shape {
    const char *name;
    int (*make)(ucd_type_t *);
    bool is_list = false; // that needs no memory at its first use
};

int make_strided(ucd_type_t *t) {
    return ucd_create_vector(30, 2, 4, UCD_TYPE__INT, nullptr, t);
}

int make_list(ucd_type_t *t) {
    std::intptr_t displs[3000];
    for (std::intptr_t i = 0; i < 3000; ++i) displs[i] = i * 8 + i * i % 5;
    return ucd_create_hindexed_block(3000, 1, displs, UCD_TYPE__SHORT, nullptr, t);
}

int make_lengths(ucd_type_t *t) {
    std::intptr_t displs[50], lengths[50];
    for (std::intptr_t i = 0; i < 50; ++i) {
        displs[i] = i * 10;
        lengths[i] = i * i % 7;
    }
    return ucd_create_indexed(50, lengths, displs, UCD_TYPE__INT, nullptr, t);
}

int make_struct(ucd_type_t *t) {
    ucd_type_t parts[] = {UCD_TYPE__DOUBLE, UCD_TYPE__NULL, UCD_TYPE__NULL, UCD_TYPE__INT};
    int rc = make_list(&parts[1]);
    if (rc == UCD_SUCCESS) rc = make_strided(&parts[2]);
    const std::intptr_t lengths[] = {1, 1, 2, 3}, displs[] = {0, 8, 50000, 80000};
    if (rc == UCD_SUCCESS) rc = ucd_create_struct(4, lengths, displs, parts, nullptr, t);
    for (ucd_type_t *part : {&parts[1], &parts[2]})
        if (*part != UCD_TYPE__NULL) (void)ucd_free(part);
    return rc;
}

int make_deep(ucd_type_t *t) {
    ucd_type_t inner = UCD_TYPE__INT;
    for (int i = 0; i < 60; ++i) {
        const ucd_type_t types[] = {inner, UCD_TYPE__INT};
        const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 8 * (i + 1)};
        const int rc = ucd_create_struct(2, lengths, displs, types, nullptr, t);
        if (i > 0) (void)ucd_free(&inner);
        if (rc != UCD_SUCCESS) return rc;
        inner = *t;
    }
    return UCD_SUCCESS;
}

const Shape all_shapes[] = {{"vector", make_strided},
                            {"list", make_list, true},
                            {"lengths", make_lengths, true},
                            {"struct", make_struct},
                            {"deep", make_deep}};

// First uses: the type is new each time.
template <class Call>
void fail_each_first_use(const char *function, Call call, std::size_t needed = 1,
                         std::size_t spared_by_lists = 0) {
    for (const Shape &shape : all_shapes) {
        INFO(shape.name);
        ucd_type_t type = UCD_TYPE__NULL;
        fail_each(
            function, needed - (shape.is_list ? spared_by_lists : 0),
            [&] { (void)shape.make(&type); }, [&] { return call(type); },
            [&] { (void)ucd_free(&type); });
    }
}

unsigned char memory[1 << 18], stream[1 << 18];

} // namespace

TEST_CASE("Constructors without memory") {
    static const std::intptr_t two[] = {1, 3}, sizes[] = {6, 8};
    static const ucd_type_t types[] = {UCD_TYPE__INT, UCD_TYPE__DOUBLE};
    const ucd_type_t i = UCD_TYPE__INT;
    ucd_type_t *const t = &out.type;
    fail_each_creating("ucd_create_contig", [&] { return ucd_create_contig(3, i, nullptr, t); });
    fail_each_creating("ucd_create_dup", [&] { return ucd_create_dup(i, nullptr, t); });
    fail_each_creating("ucd_create_vector",
                       [&] { return ucd_create_vector(3, 1, 2, i, nullptr, t); });
    fail_each_creating("ucd_create_hvector",
                       [&] { return ucd_create_hvector(3, 1, 8, i, nullptr, t); });
    fail_each_creating("ucd_create_indexed_block",
                       [&] { return ucd_create_indexed_block(2, 1, two, i, nullptr, t); });
    fail_each_creating("ucd_create_hindexed_block",
                       [&] { return ucd_create_hindexed_block(2, 1, two, i, nullptr, t); });
    fail_each_creating("ucd_create_indexed_block_ref", [&] {
        return ucd_create_indexed_block_ref(2, 1, two, UCD_TYPE__INT64_T, 8, 0, 64, i, nullptr, t);
    });
    fail_each_creating("ucd_create_indexed",
                       [&] { return ucd_create_indexed(2, two, two, i, nullptr, t); });
    fail_each_creating("ucd_create_hindexed",
                       [&] { return ucd_create_hindexed(2, two, two, i, nullptr, t); });
    fail_each_creating("ucd_create_struct",
                       [&] { return ucd_create_struct(2, two, two, types, nullptr, t); });
    fail_each_creating("ucd_create_subarray", [&] {
        return ucd_create_subarray(2, sizes, two, two, UCD_ORDER__C, i, nullptr, t);
    });
    for (int rank = 0; rank < 6; ++rank)
        fail_each_creating("ucd_create_darray", [&] {
            static const int distribs[] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC},
                             grid[] = {2, 3};
            static const std::intptr_t all[] = {10, 20}, dargs[] = {5, 3};
            return ucd_create_darray(6, rank, 2, all, distribs, dargs, grid, UCD_ORDER__C, i,
                                     nullptr, t);
        });
    fail_each_creating("ucd_create_ndarray",
                       [&] { return ucd_create_ndarray(2, two, sizes, i, nullptr, t); });
    fail_each_creating("ucd_create_resized",
                       [&] { return ucd_create_resized(i, 0, 9, nullptr, t); });
}

TEST_CASE("Constructors on types of the user's, without memory") {
    // The child keeps its references as they were: it is ended by one ucd_free.
    ucd_type_t child = UCD_TYPE__NULL;
    const auto prepare = [&] { (void)make_strided(&child); };
    const auto discard = [&] { (void)ucd_free(&child); };
    fail_each(
        "ucd_create_struct", 1, prepare,
        [&] {
            const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 4000};
            const ucd_type_t types[] = {child, child};
            ucd_type_t made = UCD_TYPE__NULL;
            const int rc = ucd_create_struct(2, lengths, displs, types, nullptr, &made);
            if (rc == UCD_SUCCESS) (void)ucd_free(&made);
            return rc;
        },
        discard);
    fail_each(
        "ucd_create_subarray", 1, prepare,
        [&] {
            const std::intptr_t sizes[] = {4, 5, 6}, part[] = {2, 3, 4}, starts[] = {1, 1, 1};
            ucd_type_t made = UCD_TYPE__NULL;
            const int rc =
                ucd_create_subarray(3, sizes, part, starts, UCD_ORDER__C, child, nullptr, &made);
            if (rc == UCD_SUCCESS) (void)ucd_free(&made);
            return rc;
        },
        discard);
}

TEST_CASE("Hints without memory") {
    fail_each(
        "ucd_info_create", 1, [] {}, [] { return ucd_info_create(&out.info); },
        [] {
            ucd_info_t untouched;
            std::memset(static_cast<void *>(&untouched), pattern, sizeof untouched);
            if (out.info != untouched) (void)ucd_info_free(&out.info);
        });
    ucd_info_t info = nullptr;
    fail_each(
        "ucd_info_set", 1, [&] { (void)ucd_info_create(&info); },
        [&] { return ucd_info_set(info, "ucd.backends", "seq,cuda,hip,ze"); },
        [&] { (void)ucd_info_free(&info); });
}

TEST_CASE("First questions without memory") {
    fail_each_first_use("ucd_get_layout",
                        [](ucd_type_t t) { return ucd_get_layout(3, t, &out.layout); });
    fail_each_first_use("ucd_get_advice",
                        [](ucd_type_t t) { return ucd_get_advice(3, t, 0, 0, &out.advice); });
    fail_each_first_use("ucd_iov_len", [](ucd_type_t t) { return ucd_iov_len(3, t, &out.size); });
    fail_each_first_use("ucd_iov_len_max", [](ucd_type_t t) {
        return ucd_iov_len_max(3, t, 50, &out.size, &out.other_size);
    });
    fail_each_first_use("ucd_iov", [](ucd_type_t t) {
        return ucd_iov(memory, 3, t, 2, out.entries, 4, &out.size);
    });
    fail_each_first_use("ucd_iov_bytes", [](ucd_type_t t) {
        return ucd_iov_bytes(memory, 3, t, 5, 40, out.entries, 4, &out.size, &out.other_size);
    });
    fail_each_first_use("ucd_get_boxes", [](ucd_type_t t) {
        return ucd_get_boxes(3, t, 0, out.boxes, 2, &out.size, &out.other_size);
    });
    fail_each_first_use("ucd_element_boundary",
                        [](ucd_type_t t) { return ucd_element_boundary(3, t, 5, &out.size); });
    fail_each_first_use(
        "ucd_get_element_runs",
        [](ucd_type_t t) {
            return ucd_get_element_runs(3, t, 0, out.runs, 2, &out.size, &out.other_size);
        },
        0);
    static char text[1 << 16];
    fail_each_first_use("ucd_describe",
                        [](ucd_type_t t) { return ucd_describe(t, text, sizeof text, &out.size); });
    fail_each_first_use(
        "ucd_op_is_supported",
        [](ucd_type_t t) { return ucd_op_is_supported(UCD_OP__SUM, t, "seq", &out.number); }, 0);
}

TEST_CASE("First moves without memory") {
    using Bytes = std::uintptr_t;
    for (const ucd_op_t op : {replace, ucd_op_t{UCD_OP__SUM}}) {
        const Bytes most = sizeof stream;
        std::memset(memory, 0, sizeof memory);
        std::memset(stream, 0, sizeof stream);
        fail_each_first_use("ucd_pack", [&](ucd_type_t t) {
            return ucd_pack(memory, 2, t, 0, stream, most, &out.size, nullptr, op);
        });
        fail_each_first_use("ucd_unpack", [&](ucd_type_t t) {
            return ucd_unpack(stream, most, memory, 2, t, 0, &out.size, nullptr, op);
        });
        fail_each_first_use(
            "ucd_ipack",
            [&](ucd_type_t t) {
                return ucd_ipack(memory, 1, t, 0, stream, most, &out.size, nullptr, op,
                                 &out.request);
            },
            1, 1);
        fail_each_first_use(
            "ucd_iunpack",
            [&](ucd_type_t t) {
                return ucd_iunpack(stream, most, memory, 1, t, 0, &out.size, nullptr, op,
                                   &out.request);
            },
            1, 1);
        fail_each_first_use("ucd_copy", [&](ucd_type_t t) {
            return ucd_copy(memory, 1, t, stream, 1, t, &out.size, nullptr, op);
        });
        fail_each_first_use("ucd_icopy", [&](ucd_type_t t) {
            return ucd_icopy(memory, 1, t, stream, 1, t, &out.size, nullptr, op, &out.request);
        });
        const std::pair<const char *, std::function<int(ucd_move_t *)>> calls[] = {
            {"ucd_imove", [&](auto *m) { return ucd_imove(m, 2, nullptr, op, &out.request); }},
            {"ucd_move", [&](auto *m) { return ucd_move(m, 2, nullptr, op); }},
            {"ucd_plan_create", [&](auto *m) {
                 ucd_plan_t plan = UCD_PLAN__NULL;
                 const int rc = ucd_plan_create(m, 2, nullptr, op, &plan);
                 if (rc != UCD_SUCCESS) return plan == UCD_PLAN__NULL ? rc : -1;
                 return ucd_plan_free(&plan);
             }}};
        for (const auto &[name, call] : calls)
            for (const bool copies : {false, true})
                fail_each_first_use(name, [&](ucd_type_t t) {
                    ucd_move_t moves[] = {pack_move(memory, 1, UCD_TYPE__INT, 0, stream, 4),
                                          copies
                                              ? copy_move(memory, 1, t, stream + 8, 1, t)
                                              : pack_move(memory, 1, t, 0, stream + 8, most - 8)};
                    for (ucd_move_t &m : moves) m.actual_bytes = m.consumed_bytes = 7;
                    const int rc = call(moves);
                    for (const ucd_move_t &m : moves)
                        for (const std::uintptr_t bytes : {m.actual_bytes, m.consumed_bytes})
                            if ((bytes == 7) != (rc != UCD_SUCCESS)) return -1;
                    return rc;
                });
    }
}

TEST_CASE("A plan that finds no memory for other buffers stays as it was") {
    static int in[3] = {1, 2, 3}, other_in[3] = {4, 5, 6}, got[2] = {};
    ucd_type_t type = UCD_TYPE__NULL;
    ucd_plan_t plan = UCD_PLAN__NULL;
    fail_each(
        "ucd_plan_rebase", 1,
        [&] {
            (void)ucd_create_vector(2, 1, 2, UCD_TYPE__INT, nullptr, &type);
            ucd_move_t m = pack_move(in, 1, type, 0, got, 8);
            (void)ucd_plan_create(&m, 1, nullptr, UCD_OP__REPLACE, &plan);
        },
        [&] {
            const void *const now = other_in;
            const int rc = ucd_plan_rebase(plan, 0, 1, &now, nullptr);
            ucd_request_t request = UCD_REQUEST__NULL;
            int started = UCD_ERR__OUT_OF_MEM;
            for (int tries = 0; tries < 3 && started != UCD_SUCCESS; ++tries)
                started = ucd_plan_start(plan, &request);
            const int first = rc == UCD_SUCCESS ? 4 : 1;
            return started == UCD_SUCCESS && got[0] == first && got[1] == first + 2 ? rc : -1;
        },
        [&] {
            (void)ucd_plan_free(&plan);
            (void)ucd_free(&type);
        });
}

TEST_CASE("A move that found no memory has moved nothing") {
    std::memset(memory, 1, sizeof memory);
    ucd_type_t type = UCD_TYPE__NULL;
    fail_each(
        "ucd_imove", 1, [&] { (void)make_list(&type); },
        [&] {
            std::memset(stream, 0, sizeof stream);
            ucd_move_t descs[] = {pack_move(memory, 1, UCD_TYPE__INT, 0, stream, 4),
                                  pack_move(memory, 1, type, 0, stream + 8, sizeof stream - 8)};
            const int rc = ucd_imove(descs, 2, nullptr, replace, &out.request);
            const bool moved = stream[0] != 0 || stream[8] != 0;
            return moved == (rc == UCD_SUCCESS) ? rc : -1;
        },
        [&] { (void)ucd_free(&type); });
}

TEST_CASE("Flattening without memory") {
    fail_each_first_use("ucd_flatten_size",
                        [](ucd_type_t t) { return ucd_flatten_size(t, &out.size); });
    fail_each_first_use("ucd_flatten",
                        [](ucd_type_t t) { return ucd_flatten(t, stream, sizeof stream); });
    for (const Shape &shape : all_shapes) {
        INFO(shape.name);
        std::uintptr_t size = 0;
        {
            const Handle type(shape.make);
            REQUIRE(ucd_flatten_size(type, &size) == UCD_SUCCESS);
            REQUIRE(ucd_flatten(type, stream, size) == UCD_SUCCESS);
        }
        fail_each_creating("ucd_unflatten", [&] { return ucd_unflatten(&out.type, stream, size); });
    }
}

TEST_CASE("Starting without memory") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    bool running = false;
    fail_each(
        "ucd_init", 1, [&] { running = false; },
        [&] {
            const int rc = ucd_init(UCD_INFO__NULL);
            running = rc == UCD_SUCCESS;
            return rc;
        },
        [&] {
            if (running) (void)ucd_finalize();
        });
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace out_of_memory_test
