// What is yaksa's besides moving data: handles, the empty type, hints, life cycle and refusals.
#include "c_api/allocations.hpp"
#include "support/catch.hpp"

#include "yaksa_build.hpp"

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>

namespace interface_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

bool last_error_has(const std::string &text) {
    return std::string(ucd_yaksa_last_error()).find(text) != std::string::npos;
}

yaksa_type_t contiguous(std::intptr_t count) {
    yaksa_type_t type = 0;
    REQUIRE(yaksa_type_create_contig(count, YAKSA_TYPE__INT, nullptr, &type) == YAKSA_SUCCESS);
    return type;
}

void check_refused(yaksa_type_t type) {
    std::uintptr_t size = 7;
    std::intptr_t lb = 7, extent = 7;
    char bytes[64] = {};
    iovec entry = {};
    yaksa_type_t made = 7;
    const yaksa_type_t types[] = {YAKSA_TYPE__INT, type};
    const std::intptr_t ones[] = {1, 1};
    CHECK(yaksa_type_get_size(type, &size) == YAKSA_ERR__INTERNAL);
    CHECK(last_error_has("yaksa_type_get_size: type is 0x"));
    CHECK(yaksa_type_get_extent(type, &lb, &extent) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_get_true_extent(type, &lb, &extent) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_create_contig(2, type, nullptr, &made) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_create_dup(type, nullptr, &made) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_create_struct(2, ones, ones, types, nullptr, &made) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_pack(bytes, 1, type, 0, bytes + 32, 32, &size, nullptr, YAKSA_OP__REPLACE) ==
          YAKSA_ERR__INTERNAL);
    CHECK(yaksa_unpack(bytes, 32, bytes + 32, 1, type, 0, &size, nullptr, YAKSA_OP__REPLACE) ==
          YAKSA_ERR__INTERNAL);
    CHECK(yaksa_iov_len(1, type, &size) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_iov_len_max(1, type, 9, &size, &size) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_iov(bytes, 1, type, 0, &entry, 1, &size) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_flatten_size(type, &size) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_flatten(type, bytes) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_free(type) == YAKSA_ERR__INTERNAL);
    CHECK((size == 7 && lb == 7 && extent == 7 && made == 7));
}

// A number that is no order, as a caller in C may pass it.
yaksa_subarray_order_e order_of_number(int number) {
    yaksa_subarray_order_e order;
    static_assert(sizeof order == sizeof number);
    std::memcpy(&order, &number, sizeof order);
    return order;
}

// How often the program has initialised libucd, and not ended it; no type may live.
int initialisations_of_libucd() {
    int number = 0;
    while (ucd_finalize() == UCD_SUCCESS) ++number;
    for (int i = 0; i < number; ++i) REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    return number;
}

} // namespace

TEST_CASE("a failure is worded without memory") {
    const yaksa_type_t none = 12345;
    fail_allocation(1);
    const int rc = yaksa_type_free(none);
    const bool took_none = end_failing();
    CHECK(rc == YAKSA_ERR__INTERNAL);
    CHECK(took_none);
    CHECK(last_error_has("yaksa_type_free: "));
}

TEST_CASE("the sentence of a failure stays until the next one") {
    const YaksaSession session;
    REQUIRE(yaksa_type_free(12345) == YAKSA_ERR__INTERNAL);
    const std::string said = ucd_yaksa_last_error();
    std::uintptr_t size = 0;
    REQUIRE(yaksa_type_get_size(YAKSA_TYPE__INT, &size) == YAKSA_SUCCESS);
    REQUIRE(yaksa_iov_len(1, YAKSA_TYPE__INT, &size) == YAKSA_SUCCESS);
    CHECK(ucd_yaksa_last_error() == said);
}

TEST_CASE("freed types are refused, and their handles do not come again") {
    const YaksaSession session;
    std::set<yaksa_type_t> seen;
    for (int i = 0; i < 300; ++i) {
        const yaksa_type_t type = contiguous(3);
        REQUIRE(type > UINT32_MAX);
        REQUIRE((type & UINT32_MAX) >= 57);
        REQUIRE(seen.insert(type).second);
        REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
        // The next type may have its place, but not its number.
        if (i % 100 == 0) check_refused(type);
    }
    const yaksa_type_t other = contiguous(2);
    for (const yaksa_type_t type : seen) {
        REQUIRE(yaksa_type_free(type) == YAKSA_ERR__INTERNAL);
    }
    REQUIRE(yaksa_type_free(other) == YAKSA_SUCCESS);
    check_refused(57);
    check_refused(UINT32_MAX);
    check_refused(UINT64_MAX);
    check_refused(yaksa_type_t{1} << 32);
}

TEST_CASE("many types live at once, and types outlive what they are built on") {
    const YaksaSession session;
    std::vector<yaksa_type_t> types;
    for (std::intptr_t i = 0; i < 5000; ++i) {
        const yaksa_type_t old = i == 0 ? YAKSA_TYPE__INT : types.back();
        yaksa_type_t type = 0;
        const int rc = i % 10 == 0
                           ? yaksa_type_create_contig(i + 2, YAKSA_TYPE__INT, nullptr, &type)
                           : yaksa_type_create_resized(old, i, 4, nullptr, &type);
        REQUIRE(rc == YAKSA_SUCCESS);
        types.push_back(type);
    }
    for (std::size_t i = 0; i < types.size(); i += 2)
        REQUIRE(yaksa_type_free(types[i]) == YAKSA_SUCCESS);
    for (std::size_t i = 1; i < types.size(); i += 2) {
        std::uintptr_t size = 0;
        REQUIRE(yaksa_type_get_size(types[i], &size) == YAKSA_SUCCESS);
        REQUIRE(size == (i / 10 * 10 + 2) * 4);
        REQUIRE(yaksa_type_free(types[i]) == YAKSA_SUCCESS);
    }
}

TEST_CASE("predefined types are not freed, and the empty one is left alone") {
    const YaksaSession session;
    CHECK(yaksa_type_free(YAKSA_TYPE__NULL) == YAKSA_SUCCESS);
    for (const YaksaLeaf &leaf : yaksa_leaves()) {
        CHECK(yaksa_type_free(leaf.handle) == YAKSA_ERR__INTERNAL);
        CHECK(last_error_has("predefined"));
        std::uintptr_t size = 0;
        CHECK(yaksa_type_get_size(leaf.handle, &size) == YAKSA_SUCCESS);
    }
}

TEST_CASE("the empty type is a type") {
    const YaksaSession session;
    const yaksa_type_t null = YAKSA_TYPE__NULL;
    std::uintptr_t n = 7, bytes = 7;
    std::intptr_t lb = 7, extent = 7;
    char data[8] = {};
    iovec entry = {};
    REQUIRE(yaksa_type_get_size(null, &n) == YAKSA_SUCCESS);
    CHECK(n == 0);
    REQUIRE(yaksa_type_get_extent(null, &lb, &extent) == YAKSA_SUCCESS);
    CHECK((lb == 0 && extent == 0));
    n = 7;
    REQUIRE(yaksa_pack(nullptr, 5, null, 0, nullptr, 10, &n, nullptr, YAKSA_OP__SUM) ==
            YAKSA_SUCCESS);
    CHECK(n == 0);
    yaksa_request_t request = 7;
    REQUIRE(yaksa_iunpack(data, 8, data, 5, null, 0, &n, nullptr, YAKSA_OP__REPLACE, &request) ==
            YAKSA_SUCCESS);
    CHECK((n == 0 && request == YAKSA_REQUEST__NULL));
    REQUIRE(yaksa_iov_len(4, null, &n) == YAKSA_SUCCESS);
    CHECK(n == 1);
    REQUIRE(yaksa_iov(data, 4, null, 0, &entry, 1, &n) == YAKSA_SUCCESS);
    CHECK((n == 1 && entry.iov_base == data && entry.iov_len == 0));
    REQUIRE(yaksa_iov_len_max(4, null, 0, &n, &bytes) == YAKSA_SUCCESS);
    CHECK((n == 1 && bytes == 0));
    // What is built on it, or has no elements, is it.
    const std::intptr_t none[] = {0, 0}, ones[] = {1, 1};
    const yaksa_type_t types[] = {null, YAKSA_TYPE__INT};
    yaksa_type_t type = 7;
    REQUIRE(yaksa_type_create_contig(3, null, nullptr, &type) == YAKSA_SUCCESS);
    CHECK(type == null);
    REQUIRE(yaksa_type_create_hindexed(2, none, ones, YAKSA_TYPE__INT, nullptr, &(type = 7)) ==
            YAKSA_SUCCESS);
    CHECK(type == null);
    REQUIRE(yaksa_type_create_struct(2, none, ones, types, nullptr, &(type = 7)) == YAKSA_SUCCESS);
    CHECK(type == null);
    REQUIRE(yaksa_type_create_struct(0, nullptr, nullptr, nullptr, nullptr, &(type = 7)) ==
            YAKSA_SUCCESS);
    CHECK(type == null);
    REQUIRE(yaksa_type_create_subarray(1, ones, none, none, YAKSA_SUBARRAY_ORDER__C,
                                       YAKSA_TYPE__INT, nullptr, &(type = 7)) == YAKSA_SUCCESS);
    CHECK(type == null);
    // But for these two, which keep handles of their own.
    REQUIRE(yaksa_type_create_dup(null, nullptr, &type) == YAKSA_SUCCESS);
    CHECK(type > UINT32_MAX);
    REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
    REQUIRE(yaksa_type_create_resized(null, -4, 12, nullptr, &type) == YAKSA_SUCCESS);
    REQUIRE(yaksa_type_get_extent(type, &lb, &extent) == YAKSA_SUCCESS);
    CHECK((lb == -4 && extent == 12));
    REQUIRE(yaksa_iov_len(4, type, &n) == YAKSA_SUCCESS);
    CHECK(n == 0);
    REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
}

TEST_CASE("wrong arguments are refused with a reason") {
    const YaksaSession session;
    const std::intptr_t one[] = {1}, minus[] = {-1};
    std::uintptr_t n = 7;
    yaksa_type_t type = 7;
    yaksa_request_t request = 7;
    int completed = 7;
    char data[8] = {};
    const auto refused = [](int rc, const char *reason) {
        INFO(reason << ": " << ucd_yaksa_last_error());
        CHECK(rc == YAKSA_ERR__INTERNAL);
        CHECK(last_error_has(reason));
    };
    refused(yaksa_type_create_contig(-1, YAKSA_TYPE__INT, nullptr, &type), "count is -1");
    refused(yaksa_type_create_contig(1, YAKSA_TYPE__INT, nullptr, nullptr), "newtype is NULL");
    refused(yaksa_type_create_vector(1, -2, 1, YAKSA_TYPE__INT, nullptr, &type), "-2");
    refused(yaksa_type_create_indexed(1, minus, one, YAKSA_TYPE__INT, nullptr, &type), "-1");
    refused(yaksa_type_create_hindexed_block(1, 1, nullptr, YAKSA_TYPE__INT, nullptr, &type),
            "NULL");
    refused(yaksa_type_create_struct(1, one, one, nullptr, nullptr, &type), "array_of_types");
    // More members than memory can have.
    CHECK(yaksa_type_create_struct(INTPTR_MAX, one, one, &type, nullptr, &type) ==
          YAKSA_ERR__OUT_OF_MEM);
    CHECK(last_error_has("struct: out of memory"));
    refused(yaksa_type_create_subarray(1, one, one, one, YAKSA_SUBARRAY_ORDER__C, YAKSA_TYPE__INT,
                                       nullptr, &type),
            "starts");
    refused(yaksa_type_create_subarray(1, one, one, one, order_of_number(2), YAKSA_TYPE__INT,
                                       nullptr, &type),
            "order is 2");
    refused(yaksa_type_create_contig(INTPTR_MAX, YAKSA_TYPE__INT, nullptr, &type), "exceeds");
    refused(yaksa_type_create_hvector(INTPTR_MAX, 1, INTPTR_MAX, YAKSA_TYPE__INT, nullptr, &type),
            "exceeds");
    REQUIRE(yaksa_type_create_hvector(INTPTR_MAX, 0, INTPTR_MAX, YAKSA_TYPE__INT, nullptr, &type) ==
            YAKSA_SUCCESS);
    CHECK(type == YAKSA_TYPE__NULL);
    refused(yaksa_type_get_size(YAKSA_TYPE__INT, nullptr), "NULL");
    refused(yaksa_pack(data, 1, YAKSA_TYPE__INT, 5, data + 4, 4, &n, nullptr, YAKSA_OP__REPLACE),
            "offset is 5");
    refused(yaksa_pack(data, 1, YAKSA_TYPE__INT, 0, data + 4, 4, &n, nullptr, YAKSA_OP__LAST),
            "op is 11");
    refused(yaksa_pack(data, UINTPTR_MAX / 2, YAKSA_TYPE__INT, 0, data + 4, 4, &n, nullptr,
                       YAKSA_OP__REPLACE),
            "fit");
    refused(
        yaksa_pack(data, 1, YAKSA_TYPE__INT, 0, data + 4, 4, nullptr, nullptr, YAKSA_OP__REPLACE),
        "NULL");
    refused(yaksa_ipack(data, 1, YAKSA_TYPE__INT, 0, data + 4, 4, &n, nullptr, YAKSA_OP__REPLACE,
                        nullptr),
            "request is NULL");
    refused(yaksa_pack_stream(data, 1, YAKSA_TYPE__INT, 0, data + 4, 4, &n, nullptr,
                              YAKSA_OP__REPLACE, nullptr),
            "stream is NULL");
    refused(yaksa_iov(data, 1, YAKSA_TYPE__INT, 0, nullptr, 1, &n), "iov is NULL");
    refused(yaksa_iov_len(1, YAKSA_TYPE__INT, nullptr), "NULL");
    refused(yaksa_request_test(5, &completed), "no request");
    refused(yaksa_request_test(YAKSA_REQUEST__NULL, nullptr), "NULL");
    refused(yaksa_request_wait(5), "no request");
    refused(yaksa_unflatten(nullptr, data), "NULL");
    refused(yaksa_unflatten(&type, nullptr), "NULL");
    refused(yaksa_info_create(nullptr), "NULL");
    refused(yaksa_info_free(nullptr), "NULL");
    CHECK((n == 7 && completed == 7 && request == 7));
    // The empty request is complete.
    REQUIRE(yaksa_request_wait(YAKSA_REQUEST__NULL) == YAKSA_SUCCESS);
    REQUIRE(yaksa_request_test(YAKSA_REQUEST__NULL, &completed) == YAKSA_SUCCESS);
    CHECK(completed == 1);
}

TEST_CASE("initialisations of yaksa are counted, and the last finalize frees all types") {
    std::uintptr_t size = 0;
    CHECK(yaksa_finalize() == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_type_get_size(YAKSA_TYPE__INT, &size) == YAKSA_ERR__INTERNAL);
    CHECK(last_error_has("yaksa_init was not called"));
    REQUIRE(yaksa_init(nullptr) == YAKSA_SUCCESS);
    REQUIRE(yaksa_init(nullptr) == YAKSA_SUCCESS);
    const yaksa_type_t leaked = contiguous(3);
    REQUIRE(yaksa_finalize() == YAKSA_SUCCESS);
    REQUIRE(yaksa_type_get_size(leaked, &size) == YAKSA_SUCCESS);
    REQUIRE(yaksa_finalize() == YAKSA_SUCCESS);
    CHECK(yaksa_type_free(leaked) == YAKSA_ERR__INTERNAL);
    yaksa_type_t type = 0;
    const char bytes[64] = {};
    CHECK(yaksa_unflatten(&type, bytes) == YAKSA_ERR__INTERNAL);
    // Handles of before are refused afterwards.
    const YaksaSession session;
    const yaksa_type_t fresh = contiguous(3);
    CHECK(fresh != leaked);
    check_refused(leaked);
    REQUIRE(yaksa_type_free(fresh) == YAKSA_SUCCESS);
}

TEST_CASE("the last finalize of yaksa ends libucd's, and gives back all memory") {
    // What is kept for ever is made the first time.
    { const YaksaSession session; }
    const int initialisations = initialisations_of_libucd();
    const std::ptrdiff_t before = live_allocations();
    for (int i = 0; i < 3; ++i) {
        REQUIRE(yaksa_init(nullptr) == YAKSA_SUCCESS);
        REQUIRE(yaksa_init(nullptr) == YAKSA_SUCCESS);
        REQUIRE(yaksa_finalize() == YAKSA_SUCCESS);
        REQUIRE(yaksa_finalize() == YAKSA_SUCCESS);
    }
    CHECK(initialisations_of_libucd() == initialisations);
    CHECK(live_allocations() == before);
    CHECK(yaksa_type_free(YAKSA_TYPE__NULL) == YAKSA_ERR__INTERNAL);
    CHECK(last_error_has("yaksa_init was not called"));
}

TEST_CASE("hints of yaksa") {
    yaksa_info_t info = nullptr;
    REQUIRE(yaksa_info_create(&info) == YAKSA_SUCCESS);
    const auto append = [&](const char *key, const void *value, unsigned length) {
        return yaksa_info_keyval_append(info, key, value, length);
    };
    // With its NUL and without.
    CHECK(append("yaksa_gpu_driver", "nogpu", 6) == YAKSA_SUCCESS);
    CHECK(append("yaksa_gpu_driver", "nogpu and more", 5) == YAKSA_SUCCESS);
    const int device = 0;
    CHECK(append("yaksa_mapped_device", &device, sizeof device) == YAKSA_SUCCESS);
    CHECK(append("of another library", nullptr, 0) == YAKSA_SUCCESS);
    // struct cudaPointerAttributes, of memory of device 3; and of a kind that is not known.
    const struct {
        int type, device;
        void *device_pointer, *host_pointer;
    } on_device = {2, 3, nullptr, nullptr}, of_no_kind = {99, 3, nullptr, nullptr};
    yaksa_info_t pointers = nullptr;
    REQUIRE(yaksa_info_create(&pointers) == YAKSA_SUCCESS);
    for (const char *const key : {"yaksa_cuda_inbuf_ptr_attr", "yaksa_cuda_outbuf_ptr_attr"}) {
        CHECK(yaksa_info_keyval_append(pointers, key, &on_device, sizeof on_device) ==
              YAKSA_SUCCESS);
        CHECK(yaksa_info_keyval_append(pointers, key, &of_no_kind, sizeof of_no_kind) ==
              YAKSA_SUCCESS);
        CHECK(yaksa_info_keyval_append(pointers, key, &on_device, 4) == YAKSA_SUCCESS);
    }
    REQUIRE(yaksa_info_free(pointers) == YAKSA_SUCCESS);
    CHECK(append("ucd.threads", "2", 1) == YAKSA_SUCCESS);
    CHECK(append("ucd.threads", "many", 4) == YAKSA_ERR__INTERNAL);
    CHECK(last_error_has("yaksa_info_keyval_append: "));
    CHECK(append(nullptr, "", 0) == YAKSA_ERR__INTERNAL);
    CHECK(append("ucd.threads", nullptr, 1) == YAKSA_ERR__INTERNAL);
    const std::string longest(1000, 'k');
    CHECK(append(longest.c_str(), "", 0) == YAKSA_SUCCESS);
    {
        const YaksaSession session(info);
        int values[2] = {3, 0};
        std::uintptr_t n = 0;
        CHECK(yaksa_pack(&values[0], 1, YAKSA_TYPE__INT, 0, &values[1], 4, &n, info,
                         YAKSA_OP__REPLACE) == YAKSA_SUCCESS);
        CHECK((n == 4 && values[1] == 3));
        CHECK(yaksa_unpack(&values[0], 4, &values[1], 1, YAKSA_TYPE__INT, 0, &n, nullptr,
                           YAKSA_OP__SUM) == YAKSA_SUCCESS);
        CHECK(values[1] == 6);
    }
    CHECK(yaksa_info_free(info) == YAKSA_SUCCESS);
}

TEST_CASE("a stream of a backend that is not there is refused") {
    const YaksaSession session;
    void *stream = nullptr;
    int values[3] = {};
    std::uintptr_t n = 7;
    yaksa_info_t info = nullptr;
    REQUIRE(yaksa_info_create(&info) == YAKSA_SUCCESS);
    REQUIRE(yaksa_info_keyval_append(info, "yaksa_gpu_driver", "hip", 3) == YAKSA_SUCCESS);
    for (const yaksa_info_t hints : {info, yaksa_info_t()}) {
        const int packed = yaksa_pack_stream(values, 1, YAKSA_TYPE__INT, 0, values + 1, 4, &n,
                                             hints, YAKSA_OP__REPLACE, &stream);
        CHECK(packed != YAKSA_SUCCESS);
        const int unpacked = yaksa_unpack_stream(values, 4, values + 1, 1, YAKSA_TYPE__INT, 0, &n,
                                                 hints, YAKSA_OP__REPLACE, &stream);
        CHECK(unpacked != YAKSA_SUCCESS);
    }
    CHECK(yaksa_pack_stream(values, 1, YAKSA_TYPE__2INT, 0, values + 1, 8, &n, nullptr,
                            YAKSA_OP__SUM, &stream) == YAKSA_ERR__NOT_SUPPORTED);
    CHECK(yaksa_unpack_stream(values, 8, values + 1, 1, YAKSA_TYPE__2INT, 0, &n, nullptr,
                              YAKSA_OP__SUM, &stream) == YAKSA_ERR__NOT_SUPPORTED);
    CHECK(n == 7);
    // Nothing to move is no reason to refuse anything.
    for (const yaksa_op_t op : {YAKSA_OP__REPLACE, YAKSA_OP__SUM}) {
        CHECK(yaksa_pack_stream(values, 0, YAKSA_TYPE__2INT, 0, values + 1, 8, &(n = 7), nullptr,
                                op, &stream) == YAKSA_SUCCESS);
        CHECK(n == 0);
        CHECK(yaksa_unpack_stream(values, 0, values + 1, 1, YAKSA_TYPE__2INT, 0, &(n = 7), nullptr,
                                  op, &stream) == YAKSA_SUCCESS);
        CHECK(n == 0);
    }
    REQUIRE(yaksa_info_free(info) == YAKSA_SUCCESS);
}

TEST_CASE("eight threads use one type, and make and free others") {
    const YaksaSession session;
    const YaksaType shared(vector(50, 2, 3, leaf(UCD_TYPE__INT)));
    std::vector<int> typed(150);
    for (std::size_t i = 0; i < typed.size(); ++i) typed[i] = static_cast<int>(i);
    std::atomic<int> wrong = 0, ready = 0;
    std::vector<std::thread> threads;
    for (std::intptr_t id = 0; id < 8; ++id) {
        threads.emplace_back([&, id] {
            ++ready;
            while (ready.load() < 8) std::this_thread::yield();
            for (std::intptr_t i = 0; i < 300; ++i) {
                int packed[100] = {};
                std::uintptr_t n = 0, size = 0;
                yaksa_type_t mine = 0, other = 0;
                bool good = yaksa_init(nullptr) == YAKSA_SUCCESS &&
                            yaksa_pack(typed.data(), 1, shared.get(), 40, packed, 360, &n, nullptr,
                                       YAKSA_OP__REPLACE) == YAKSA_SUCCESS &&
                            n == 360 && packed[0] == 15 && packed[89] == 148 &&
                            yaksa_type_create_contig(id + 2, shared.get(), nullptr, &mine) ==
                                YAKSA_SUCCESS &&
                            yaksa_type_create_dup(mine, nullptr, &other) == YAKSA_SUCCESS &&
                            yaksa_type_free(mine) == YAKSA_SUCCESS &&
                            yaksa_type_get_size(mine, &size) == YAKSA_ERR__INTERNAL &&
                            yaksa_type_get_size(other, &size) == YAKSA_SUCCESS &&
                            size == static_cast<std::uintptr_t>(id + 2) * 400 &&
                            yaksa_type_free(other) == YAKSA_SUCCESS &&
                            yaksa_finalize() == YAKSA_SUCCESS;
                if (!good) ++wrong;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    CHECK(wrong.load() == 0);
}

} // namespace interface_test
