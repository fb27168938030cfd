// What waits, frees and destroys fails: what is asked for has a status, nothing is used twice, only
// what the driver refuses to end is left, and the next call works.
#include "support/catch.hpp"
#include "support/test_start.hpp"
#include "ze/driver.hpp"
#include "ze/moves.hpp"
#include "ze/program.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <vector>

namespace failing_ends_test {

using namespace zetest;

namespace {

// Places without a rule, which only a list tells; other ones each time.
class Scattered {
public:
    Scattered() {
        static std::size_t salt = 0;
        ++salt;
        for (std::size_t i = 0; i < blocks; ++i)
            places_.push_back(static_cast<intptr_t>(i * 70 + (i * i + salt) % 53));
        check_ucd(
            ucd_create_hindexed_block(blocks, 16, places_.data(), UCD_TYPE__BYTE, nullptr, &type));
    }
    ~Scattered() { (void)ucd_free(&type); }
    Scattered(const Scattered &) = delete;
    Scattered &operator=(const Scattered &) = delete;

    static constexpr std::size_t blocks = 200, typed_bytes = blocks * 70 + 100,
                                 packed_bytes = blocks * 16;
    int pack(const void *typed, void *packed) const {
        uintptr_t moved = 0;
        return ucd_pack(typed, 1, type, 0, packed, packed_bytes, &moved, nullptr, UCD_OP__REPLACE);
    }
    Bytes packed(const Bytes &typed) const {
        Bytes expected;
        for (const intptr_t place : places_)
            expected.insert(expected.end(), typed.begin() + place, typed.begin() + place + 16);
        return expected;
    }

    ucd_type_t type = nullptr;

private:
    std::vector<intptr_t> places_;
};

struct Buffers {
    Bytes there = some_bytes(Scattered::typed_bytes, 17);
    unsigned char *typed = program().memory(there.size());
    unsigned char *packed = program().memory(there.size());

    Buffers() { copy(typed, there.data(), there.size()); }
    ~Buffers() {
        (void)zeMemFree(program().context, typed);
        (void)zeMemFree(program().context, packed);
    }
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;

    void check(const Scattered &layout) const {
        check_ucd(layout.pack(typed, packed));
        CHECK(read(packed, Scattered::packed_bytes) == layout.packed(there));
    }
};

} // namespace

TEST_CASE("memory that the driver does not free is the driver's") {
    const Driver driver;
    void *memory = nullptr;
    for (const int kind : {UCD_MEMORY__DEVICE, UCD_MEMORY__PINNED}) {
        check_ucd(ucd_memory_alloc("ze:0", kind, 100, &memory));
        const int objects = driver.objects();
        driver.fail("zeMemFree");
        CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
        CHECK(driver.failed() == 1);
        driver.fail("");
        CHECK(driver.objects() == objects);
        CHECK(ucd_memory_free(memory) == UCD_ERR__INVALID_ARG);
        check_ucd(ucd_memory_alloc("ze:0", kind, 100, &memory));
        check_ucd(ucd_memory_free(memory));
        CHECK(driver.objects() == objects);
    }
}

TEST_CASE("lists' memory that is not freed when memory runs out is still there") {
    const Driver driver;
    const Buffers buffers;
    {
        const Scattered gone; // whose memory is kept for later lists
        check_ucd(gone.pack(buffers.typed, buffers.packed));
        check_ucd(gone.pack(buffers.typed, buffers.packed));
    }
    // A longer list, for which there is no room unless the shorter one's memory is freed.
    std::vector<intptr_t> places;
    for (intptr_t i = 0; i < 2000; ++i) places.push_back(i * 5 + i * i % 3);
    ucd_type_t type = nullptr;
    check_ucd(ucd_create_hindexed_block(2000, 2, places.data(), UCD_TYPE__BYTE, nullptr, &type));
    const int objects = driver.objects();
    driver.limit(1);
    driver.fail("zeMemFree");
    uintptr_t moved = 0;
    int rc = UCD_SUCCESS;
    for (int use = 0; use < 2 && rc == UCD_SUCCESS; ++use)
        rc = ucd_pack(buffers.typed, 1, type, 0, buffers.packed, 4000, &moved, nullptr,
                      UCD_OP__REPLACE);
    CHECK(rc == UCD_ERR__DEVICE);
    CHECK(driver.failed() > 0);
    CHECK(driver.objects() == objects);
    driver.fail("");
    driver.limit(0);
    check_ucd(ucd_pack(buffers.typed, 1, type, 0, buffers.packed, 4000, &moved, nullptr,
                       UCD_OP__REPLACE));
    const Bytes all = read(buffers.packed, 4000);
    for (std::size_t i = 0; i < all.size(); ++i)
        REQUIRE(all[i] == buffers.there[static_cast<std::size_t>(places[i / 2]) + i % 2]);
    check_ucd(ucd_free(&type));
    buffers.check(Scattered());
}

TEST_CASE("waiting for the device may fail") {
    const Driver driver;
    const Buffers buffers;
    const Scattered layout;
    const ze_command_list_handle_t list = program().list(program().context);
    const ucd_stream_t stream{"ze", 0, list, program().context, 0};
    driver.fail("zeEventHostSynchronize");
    CHECK(ucd_prepare(1, layout.type, UCD_OP__REPLACE, stream, nullptr) == UCD_ERR__DEVICE);
    CHECK(says("uploading lists"));
    CHECK(driver.failed() == 1);
    driver.fail("");
    check_ucd(ucd_prepare(1, layout.type, UCD_OP__REPLACE, stream, nullptr));
    buffers.check(layout);
    // A launch that fails waits for what it has begun; and that fails, too.
    int objects = 0;
    for (int round = 0; round < 3; ++round) {
        for (const char *both : {"zeCommandListAppendLaunchKernel,zeEventHostSynchronize",
                                 "zeCommandListAppendMemoryCopy,zeEventHostSynchronize"}) {
            INFO(both);
            const Scattered fresh;
            driver.fail(both);
            int rc = UCD_SUCCESS;
            for (int use = 0; use < 2 && rc == UCD_SUCCESS; ++use)
                rc = fresh.pack(buffers.typed, buffers.packed);
            CHECK(rc == UCD_ERR__DEVICE);
            driver.fail("");
            buffers.check(fresh);
        }
        if (round > 0) CHECK(driver.objects() <= objects);
        objects = driver.objects();
    }
    require(zeCommandListDestroy(list));
}

// What the host can read is the host's; the rest is the driver's failure.
TEST_CASE("whose memory an address is may not be told") {
    const Driver driver;
    const Buffers buffers;
    const Thirds thirds(50, 64);
    for (const char *call : {"zeMemGetAllocProperties:1", "zeMemGetAllocProperties:2",
                             "zeMemGetAllocProperties", "zeMemGetAddressRange"}) {
        INFO(call);
        driver.fail(call);
        const int rc = thirds.pack(buffers.typed, buffers.packed);
        CHECK(driver.failed() > 0);
        driver.fail("");
        CHECK((rc == UCD_SUCCESS || rc == UCD_ERR__DEVICE));
        if (rc == UCD_SUCCESS)
            CHECK(read(buffers.packed, thirds.packed_bytes()) == thirds.packed(buffers.there));
        check_ucd(thirds.pack(buffers.typed, buffers.packed));
        CHECK(read(buffers.packed, thirds.packed_bytes()) == thirds.packed(buffers.there));
    }
}

TEST_CASE("copies of rows may fail") {
    const Driver driver;
    const Thirds rows(50, 64);
    const Buffers buffers;
    const Hint dma("ucd.engine", "dma");
    check_ucd(rows.pack(buffers.typed, buffers.packed, dma));
    const int objects = driver.objects();
    for (const char *call :
         {"zeCommandListAppendMemoryCopyRegion", "zeCommandListAppendMemoryCopyRegion:1"}) {
        driver.fail(call);
        CHECK(rows.pack(buffers.typed, buffers.packed, dma) == UCD_ERR__DEVICE);
        CHECK(says("copying"));
        CHECK(driver.failed() == 1);
        driver.fail("");
        CHECK(driver.objects() == objects);
        check_ucd(rows.pack(buffers.typed, buffers.packed, dma));
        CHECK(read(buffers.packed, rows.packed_bytes()) == rows.packed(buffers.there));
    }
}

TEST_CASE("a kernel that cannot be set up, nor destroyed, is made again") {
    const Driver driver;
    const Buffers buffers;
    constexpr uintptr_t numbers = 100; // of a type of which nothing else is reduced here
    const auto reduce = [&] {
        uintptr_t moved = 0;
        return ucd_pack(buffers.typed, numbers, UCD_TYPE__INT16_T, 0, buffers.packed, 2 * numbers,
                        &moved, nullptr, UCD_OP__BXOR);
    };
    copy(buffers.packed, buffers.there.data(), 2 * numbers);
    driver.fail("zeKernelSetIndirectAccess,zeKernelDestroy");
    CHECK(reduce() == UCD_ERR__DEVICE);
    CHECK(driver.failed() == 2);
    driver.fail("");
    const int objects = driver.objects();
    check_ucd(reduce());
    CHECK(driver.objects() == objects + 1); // the kernel
    CHECK(read(buffers.packed, 2 * numbers) == Bytes(2 * numbers));
}

// The last ucd_finalize, and the first ucd_init again.
TEST_CASE("the library ends and starts again, whatever is not destroyed") {
    const Driver driver;
    int objects = 0;
    const auto cycle = [&](const char *failing) {
        {
            const Buffers buffers;
            buffers.check(Scattered());
            driver.fail(failing);
            CHECK(ucd_finalize() == UCD_SUCCESS);
        }
        const unsigned failed = driver.failed();
        driver.fail("");
        const int left = driver.objects() - objects;
        objects = driver.objects();
        REQUIRE(ucdtest::start_library());
        CHECK((failed > 0) == (*failing != '\0'));
        return left - static_cast<int>(failed);
    };
    (void)cycle("");
    // Nothing more is left each time, but for what is refused.
    CHECK(cycle("") == 0);
    CHECK(cycle("zeCommandListDestroy") == 0);
    CHECK(cycle("zeMemFree") == 0);
    CHECK(cycle("") == 0);
    const Buffers buffers;
    buffers.check(Scattered());
}

} // namespace failing_ends_test
