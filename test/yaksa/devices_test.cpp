// Requests and streams, with devices whose work tests can hold up.
#include "support/catch.hpp"

#include "yaksa_build.hpp"

#include "support/moves/strided_move.hpp"

#include <cstring>
#include <memory>
#include <vector>

namespace devices_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

constexpr std::intptr_t count = 400;
constexpr std::uintptr_t packed_bytes = count * sizeof(int);

// Every other int of a buffer in a memory, and a packed buffer in another one.
struct EveryOther {
    explicit EveryOther(Memory memory, Memory other = pinned)
        : rng(5), typed(rng, {0, 2 * packed_bytes}, memory),
          packed(rng, {0, static_cast<std::intptr_t>(packed_bytes)}, other) {
        REQUIRE(yaksa_type_create_vector(count, 1, 2, YAKSA_TYPE__INT, nullptr, &type) ==
                YAKSA_SUCCESS);
        typed.randomise(rng);
        packed.randomise(rng);
        for (std::intptr_t i = 0; i < count; ++i)
            std::memcpy(packed.expected(4 * i), typed.actual(8 * i), 4);
        typed.send();
        packed.send();
    }
    ~EveryOther() { yaksa_type_free(type); }

    int start(yaksa_info_t info = nullptr) {
        return yaksa_ipack(typed.real_base(), 1, type, 0, packed.real_base(), packed_bytes, &actual,
                           info, YAKSA_OP__REPLACE, &request);
    }
    void check() {
        packed.fetch();
        CHECK(packed.difference() == "");
    }

    Rng rng;
    DeviceBuffer typed, packed;
    yaksa_type_t type = 0;
    yaksa_request_t request = 7;
    std::uintptr_t actual = 7;
};

} // namespace

TEST_CASE("requests are numbers that end") {
    DeviceSession devices;
    const YaksaSession session;
    std::vector<yaksa_request_t> seen;
    for (int i = 0; i < 20; ++i) {
        EveryOther move(device0);
        mock::hold();
        REQUIRE(move.start() == YAKSA_SUCCESS);
        CHECK(move.actual == packed_bytes);
        REQUIRE(move.request != YAKSA_REQUEST__NULL);
        for (const yaksa_request_t other : seen) REQUIRE(move.request != other);
        int completed = 7;
        REQUIRE(yaksa_request_test(move.request, &completed) == YAKSA_SUCCESS);
        CHECK(completed == 0);
        mock::let_go();
        if (i % 2 == 0) {
            REQUIRE(yaksa_request_wait(move.request) == YAKSA_SUCCESS);
        } else {
            while (completed == 0)
                REQUIRE(yaksa_request_test(move.request, &completed) == YAKSA_SUCCESS);
        }
        move.check();
        completed = 7;
        CHECK(yaksa_request_wait(move.request) == YAKSA_ERR__INTERNAL);
        CHECK(yaksa_request_test(move.request, &completed) == YAKSA_ERR__INTERNAL);
        CHECK(completed == 7);
        seen.push_back(move.request);
    }
}

TEST_CASE("work that fails ends its request of yaksa") {
    DeviceSession devices;
    const YaksaSession session;
    EveryOther move(device0);
    mock::knobs.failing_work = 1;
    REQUIRE(move.start() == YAKSA_SUCCESS);
    CHECK(yaksa_request_wait(move.request) == YAKSA_ERR__INTERNAL);
    CHECK(yaksa_request_wait(move.request) == YAKSA_ERR__INTERNAL);
    CHECK(std::string(ucd_yaksa_last_error()).find("no request") != std::string::npos);
}

TEST_CASE("the last finalize of yaksa completes requests") {
    DeviceSession devices;
    std::unique_ptr<EveryOther> move;
    {
        const YaksaSession session;
        move = std::make_unique<EveryOther>(device0);
        mock::knobs.delay_us = 50000;
        REQUIRE(move->start() == YAKSA_SUCCESS);
        REQUIRE(move->request != YAKSA_REQUEST__NULL);
    }
    mock::knobs.delay_us = 0;
    move->check();
    CHECK(yaksa_request_wait(move->request) == YAKSA_ERR__INTERNAL);
}

TEST_CASE("nogpu says that no buffer is looked up") {
    DeviceSession devices;
    yaksa_info_t info = nullptr;
    REQUIRE(yaksa_info_create(&info) == YAKSA_SUCCESS);
    REQUIRE(yaksa_info_keyval_append(info, "yaksa_gpu_driver", "nogpu", 6) == YAKSA_SUCCESS);
    const auto queries_of = [](yaksa_info_t hints) {
        EveryOther move(pinned, pinned);
        const int before = mock::counts.queries;
        REQUIRE(move.start(hints) == YAKSA_SUCCESS);
        move.check();
        return mock::counts.queries - before;
    };
    {
        const YaksaSession session;
        CHECK(queries_of(nullptr) > 0);
        CHECK(queries_of(info) == 0);
    }
    const YaksaSession session(info);
    CHECK(queries_of(nullptr) == 0);
    REQUIRE(yaksa_info_free(info) == YAKSA_SUCCESS);
}

TEST_CASE("attributes of pointers spare the look-up") {
    DeviceSession devices;
    const YaksaSession session;
    struct {
        int type, device;
        void *device_pointer, *host_pointer;
    } const host = {1, 0, nullptr, nullptr};
    yaksa_info_t info = nullptr;
    REQUIRE(yaksa_info_create(&info) == YAKSA_SUCCESS);
    for (const char *const key : {"yaksa_cuda_inbuf_ptr_attr", "yaksa_cuda_outbuf_ptr_attr"})
        REQUIRE(yaksa_info_keyval_append(info, key, &host, sizeof host) == YAKSA_SUCCESS);
    EveryOther move(pinned, pinned);
    const int before = mock::counts.queries;
    REQUIRE(move.start(info) == YAKSA_SUCCESS);
    move.check();
    CHECK(mock::counts.queries == before);
    REQUIRE(yaksa_info_free(info) == YAKSA_SUCCESS);
}

TEST_CASE("a stream is what the argument points to") {
    DeviceSession devices;
    const YaksaSession session;
    mock::Stream stream(1);
    void *native_stream = native(stream).native;
    yaksa_info_t info = nullptr;
    REQUIRE(yaksa_info_create(&info) == YAKSA_SUCCESS);
    REQUIRE(yaksa_info_keyval_append(info, "yaksa_gpu_driver", mock::backend.name,
                                     static_cast<unsigned>(std::strlen(mock::backend.name))) ==
            YAKSA_SUCCESS);
    EveryOther move(device1);
    REQUIRE(yaksa_pack_stream(move.typed.real_base(), 1, move.type, 0, move.packed.real_base(),
                              packed_bytes, &move.actual, info, YAKSA_OP__REPLACE,
                              &native_stream) == YAKSA_SUCCESS);
    CHECK(move.actual == packed_bytes);
    // Back to where it was: in the stream's order.
    std::uintptr_t actual = 0;
    REQUIRE(yaksa_unpack_stream(move.packed.real_base(), packed_bytes - 2, move.typed.real_base(),
                                1, move.type, 0, &actual, info, YAKSA_OP__REPLACE,
                                &native_stream) == YAKSA_SUCCESS);
    CHECK(actual == packed_bytes - 4);
    stream.synchronise();
    move.check();
    move.typed.fetch();
    CHECK(move.typed.difference() == "");
    REQUIRE(yaksa_info_free(info) == YAKSA_SUCCESS);
}

TEST_CASE("pairs in device memory are combined by their members") {
    DeviceSession devices;
    const YaksaSession session;
    Rng rng(6);
    struct Pair {
        float value;
        int index;
    };
    DeviceBuffer source(rng, {0, 8 * sizeof(Pair)}, device0);
    DeviceBuffer target(rng, {0, 8 * sizeof(Pair)}, device1);
    for (int i = 0; i < 8; ++i) {
        const Pair in = {0.5f + static_cast<float>(i), i}, out = {2.0f, 3},
                   sum = {2.5f + static_cast<float>(i), 3 + i};
        const auto at = static_cast<std::intptr_t>(sizeof(Pair)) * i;
        std::memcpy(source.actual(at), &in, sizeof in);
        std::memcpy(target.actual(at), &out, sizeof out);
        std::memcpy(target.expected(at), &sum, sizeof sum);
    }
    source.send();
    target.send();
    std::uintptr_t actual = 0;
    yaksa_request_t request = 7;
    REQUIRE(yaksa_iunpack(source.real_base(), 8 * sizeof(Pair), target.real_base(), 8,
                          YAKSA_TYPE__FLOAT_INT, 0, &actual, nullptr, YAKSA_OP__SUM,
                          &request) == YAKSA_SUCCESS);
    CHECK((actual == 8 * sizeof(Pair) && request == YAKSA_REQUEST__NULL));
    target.fetch();
    CHECK(target.difference() == "");
}

TEST_CASE("members at absolute displacements may be in several memories") {
    DeviceSession devices;
    const YaksaSession session;
    Rng rng(7);
    // Ints on two devices and on the host, as MPI_BOTTOM has them.
    constexpr std::intptr_t each = 6 * sizeof(int);
    DeviceBuffer first(rng, {0, each}, device0), second(rng, {0, each}, pageable),
        third(rng, {0, each}, device1);
    DeviceBuffer packed(rng, {0, 3 * each}, pageable);
    DeviceBuffer *const members[] = {&first, &second, &third};
    std::intptr_t displs[3], lengths[3] = {6, 6, 6};
    const yaksa_type_t types[3] = {YAKSA_TYPE__INT, YAKSA_TYPE__INT, YAKSA_TYPE__INT};
    for (std::intptr_t i = 0; i < 3; ++i) {
        DeviceBuffer &member = *members[i];
        member.randomise(rng);
        member.send();
        displs[i] = reinterpret_cast<std::intptr_t>(member.real_base());
        std::memcpy(packed.expected(i * each), member.actual(0), each);
    }
    yaksa_type_t type = 0;
    REQUIRE(yaksa_type_create_struct(3, lengths, displs, types, nullptr, &type) == YAKSA_SUCCESS);
    packed.send();
    std::uintptr_t actual = 0;
    yaksa_request_t request = 7;
    REQUIRE(yaksa_ipack(nullptr, 1, type, 0, packed.real_base(), 3 * each, &actual, nullptr,
                        YAKSA_OP__REPLACE, &request) == YAKSA_SUCCESS);
    if (request != YAKSA_REQUEST__NULL) REQUIRE(yaksa_request_wait(request) == YAKSA_SUCCESS);
    CHECK(actual == 3 * each);
    packed.fetch();
    CHECK(packed.difference() == "");
    // And back, into other content.
    for (DeviceBuffer *member : members) {
        std::vector<char> before(each);
        std::memcpy(before.data(), member->expected(0), each);
        member->randomise(rng);
        std::memcpy(member->expected(0), before.data(), each);
        member->send();
    }
    REQUIRE(yaksa_iunpack(packed.real_base(), 3 * each, nullptr, 1, type, 0, &actual, nullptr,
                          YAKSA_OP__REPLACE, &request) == YAKSA_SUCCESS);
    if (request != YAKSA_REQUEST__NULL) REQUIRE(yaksa_request_wait(request) == YAKSA_SUCCESS);
    for (DeviceBuffer *member : members) {
        member->fetch();
        CHECK(member->difference() == "");
    }
    REQUIRE(yaksa_type_free(type) == YAKSA_SUCCESS);
}

} // namespace devices_test
