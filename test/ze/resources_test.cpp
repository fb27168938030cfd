// What the backend does with queues, memory and threads.
#include "support/catch.hpp"
#include "support/moves/move_list.hpp"
#include "ze/driver.hpp"
#include "ze/moves.hpp"
#include "ze/program.hpp"

#include <ucd.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace resources_test {

using namespace zetest;

namespace {

// Memory of the program's context that is freed again.
class Memory {
public:
    explicit Memory(std::size_t bytes) : address_(program().memory(bytes)) {}
    explicit Memory(const Bytes &contents) : Memory(contents.size()) {
        copy(address_, contents.data(), contents.size());
    }
    ~Memory() { (void)zeMemFree(program().context, address_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    operator unsigned char *() const { return address_; }

private:
    unsigned char *address_;
};

} // namespace

TEST_CASE("ucd.engine=dma uses queues that only copy") {
    const Driver driver;
    const Hint dma("ucd.engine", "dma"), kernel("ucd.engine", "kernel");
    const Thirds rows(100, 64), whole(1, 6400);
    const Bytes there = some_bytes(3 * 6400, 5);
    const Memory typed(there), packed(6400);
    for (const Thirds *layout : {&rows, &whole}) {
        unsigned copies = driver.engine_copies();
        check_ucd(layout->pack(typed, packed, dma));
        CHECK(driver.engine_copies() == copies + 1);
        copies = driver.engine_copies();
        CHECK(read(packed, 6400) == layout->packed(there));
        check_ucd(layout->pack(typed, packed, kernel));
        CHECK(driver.engine_copies() == copies);
    }
    // What is one behind the other in a stream stays so, whichever queue does it.
    const Memory other(6400), third(6400);
    unsigned char *const to[] = {packed, other, third};
    ucdtest::MoveList moves;
    for (unsigned char *const place : to)
        moves.push_back(ucdtest::pack_move(typed, 1, rows.type, 0, place, 6400));
    const unsigned copies = driver.engine_copies();
    check_ucd(ucdtest::move_all(moves, dma));
    CHECK(driver.engine_copies() == copies + 3);
    for (const unsigned char *place : to) CHECK(read(place, 6400) == rows.packed(there));
}

// More than there are streams: in each, copies come behind kernels, which are slower.
TEST_CASE("work of kernels and of engines is done when its request is") {
    const Driver driver;
    const Hint kernel("ucd.engine", "kernel"), dma("ucd.engine", "dma");
    const Thirds rows(16, 64);
    const Bytes there = some_bytes(rows.typed_bytes(), 15);
    constexpr std::size_t moves = 30;
    const std::size_t room = rows.packed_bytes();
    const Memory typed(there), packed(Bytes(moves * room));
    check_ucd(rows.pack(typed, packed, kernel)); // the kernel is made
    const ze_command_list_handle_t list = program().list(program().context);
    const ze_event_handle_t done = program().event();
    driver.slow_kernels(20000);
    std::vector<ucd_request_t> requests(moves, UCD_REQUEST__NULL);
    for (std::size_t i = 0; i < moves; ++i) {
        uintptr_t moved = 0;
        check_ucd(ucd_ipack(typed, 1, rows.type, 0, packed + i * room, room, &moved,
                            i % 3 == 2 ? dma : kernel, UCD_OP__REPLACE, &requests[i]));
    }
    for (std::size_t i = moves; i-- > 0;) {
        check_ucd(ucd_wait(&requests[i]));
        // Looked at by a list that knows nothing of the library's.
        Bytes here(room);
        require(zeCommandListAppendMemoryCopy(list, here.data(), packed + i * room, room, done, 0,
                                              nullptr));
        require(zeEventHostSynchronize(done, UINT64_MAX));
        require(zeEventHostReset(done));
        REQUIRE(here == rows.packed(there));
    }
    driver.slow_kernels(0);
    require(zeCommandListDestroy(list));
}

TEST_CASE("no request waits for the device") {
    using Clock = std::chrono::steady_clock;
    const Driver driver;
    const Thirds thirds(4000, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 9);
    const Memory typed(there), packed(thirds.packed_bytes());
    Bytes here(thirds.packed_bytes());
    check_ucd(thirds.pack(typed, here.data())); // all that is made once
    constexpr auto late = std::chrono::milliseconds(300);
    for (void *to : {static_cast<void *>(packed), static_cast<void *>(here.data())}) {
        std::fill(here.begin(), here.end(), 0);
        driver.delay(std::chrono::microseconds(late).count());
        uintptr_t moved = 0;
        int completed = 0;
        ucd_request_t request = UCD_REQUEST__NULL;
        const auto before = Clock::now();
        check_ucd(ucd_ipack(typed, 1, thirds.type, 0, to, thirds.packed_bytes(), &moved, nullptr,
                            UCD_OP__REPLACE, &request));
        check_ucd(ucd_test(&request, &completed));
        CHECK(Clock::now() - before < late / 2);
        CHECK(completed == 0);
        driver.delay(0);
        check_ucd(ucd_wait(&request));
        CHECK(read(to, thirds.packed_bytes()) == thirds.packed(there));
    }
}

TEST_CASE("lists of layouts go from the device when its memory runs out, and come again") {
    const Driver driver;
    constexpr std::size_t block = 8, layouts = 60;
    const Bytes there = some_bytes(40000, 21);
    const Memory typed(there), packed(4096);
    std::vector<ucd_type_t> types(layouts);
    std::vector<std::vector<intptr_t>> places(layouts);
    for (std::size_t k = 0; k < layouts; ++k) {
        for (std::size_t i = 0; i < 500; ++i)
            places[k].push_back(static_cast<intptr_t>(i * 72 + (i * i + k) % 61));
        check_ucd(ucd_create_hindexed_block(500, block, places[k].data(), UCD_TYPE__BYTE, nullptr,
                                            &types[k]));
    }
    const int objects = driver.objects();
    driver.limit(10 * 4096); // a few of the lists
    for (int round = 0; round < 2; ++round)
        for (std::size_t k = 0; k < layouts; ++k) {
            uintptr_t moved = 0;
            // The first use of a type may do without a list; the second does not.
            for (int use = 0; use < 2; ++use)
                check_ucd(ucd_pack(typed, 1, types[k], 0, packed, 500 * block, &moved, nullptr,
                                   UCD_OP__REPLACE));
            const Bytes all = read(packed, 500 * block);
            for (std::size_t i = 0; i < all.size(); ++i)
                REQUIRE(all[i] ==
                        there[static_cast<std::size_t>(places[k][i / block]) + i % block]);
        }
    driver.limit(0);
    CHECK(driver.objects() <= objects + 20);
    for (ucd_type_t &type : types) check_ucd(ucd_free(&type));
}

TEST_CASE("indices are read when data moves, wherever they are") {
    constexpr std::size_t pages = 50, page = 256, chosen = 20;
    const Bytes there = some_bytes(pages * page, 2);
    const Memory cache(there), packed(chosen * page), device_table(chosen * sizeof(int32_t));
    std::vector<int32_t> table(chosen);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < chosen; ++i)
            table[i] = static_cast<int32_t>((i * 7 + static_cast<std::size_t>(round)) % pages);
        copy(device_table, table.data(), chosen * sizeof(int32_t));
        for (const void *indices :
             {static_cast<const void *>(table.data()), static_cast<const void *>(device_table)}) {
            ucd_type_t type = nullptr;
            check_ucd(ucd_create_indexed_block_ref(chosen, page, indices, UCD_TYPE__INT32_T, page,
                                                   0, pages * page, UCD_TYPE__BYTE, nullptr,
                                                   &type));
            uintptr_t moved = 0;
            check_ucd(ucd_pack(cache, 1, type, 0, packed, chosen * page, &moved, nullptr,
                               UCD_OP__REPLACE));
            const Bytes all = read(packed, chosen * page);
            for (std::size_t i = 0; i < all.size(); ++i)
                REQUIRE(all[i] ==
                        there[static_cast<std::size_t>(table[i / page]) * page + i % page]);
            check_ucd(ucd_free(&type));
        }
    }
}

// The driver ends the process if two threads use a list, or a kernel, at once.
TEST_CASE("threads do not meet in command lists and kernels") {
    const Thirds thirds(300, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 13), expected = thirds.packed(there);
    const Memory typed(there);
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            Bytes here(thirds.packed_bytes());
            for (int i = 0; i < 50; ++i) {
                uintptr_t moved = 0;
                std::fill(here.begin(), here.end(), 0);
                const int rc = ucd_pack(typed, 1, thirds.type, 0, here.data(), here.size(), &moved,
                                        nullptr, UCD_OP__REPLACE);
                wrong[t] += rc != UCD_SUCCESS || here != expected;
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
}

} // namespace resources_test
