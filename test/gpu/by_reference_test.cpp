// Pages of a cache by a table in device memory that kernels write: no value of it passes the host.
#include "support/catch.hpp"

#include "names.hpp"
#include "spin.hpp"

#include <ucd.h>

#include <stdexcept>
#include <vector>

namespace by_reference_test {

using ucdtest::Spinning;
using ucdtest::write_numbers;

namespace {

void check(gpuError_t error) {
    if (error != gpuSuccess) throw std::runtime_error(gpuGetErrorString(error));
}
void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

constexpr int pages = 256, chosen = 40, page = 1024; // ints of a page
constexpr std::size_t packed_bytes = sizeof(int) * chosen * page;

class Cache {
public:
    Cache() {
        check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
        check(gpuMalloc(&memory, sizeof(int) * pages * page));
        check(gpuMalloc(&packed, packed_bytes));
        check(gpuMalloc(&table, sizeof(int) * chosen));
        write_numbers(memory, pages * page, 0, stream);
        // A table that the library must not look at yet: its pages are far outside.
        check(gpuMemsetAsync(table, 0x7f, sizeof(int) * chosen, stream));
        check(gpuMemsetAsync(packed, 0, packed_bytes, stream));
        check(gpuStreamSynchronize(stream));
        check_ucd(ucd_create_indexed_block_ref(chosen, page, table, UCD_TYPE__INT32_T,
                                               sizeof(int) * page, 0, sizeof(int) * pages * page,
                                               UCD_TYPE__INT, UCD_INFO__NULL, &type));
    }
    ~Cache() {
        (void)ucd_free(&type);
        (void)gpuFree(table);
        (void)gpuFree(packed);
        (void)gpuFree(memory);
        (void)gpuStreamDestroy(stream);
    }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;

    ucd_stream_t native() const { return {ucd::UCD_GPU::vendor_name, 0, stream, nullptr, 0}; }
    void pack() {
        std::uintptr_t actual = 0;
        check_ucd(ucd_pack_stream(memory, 1, type, 0, packed, packed_bytes, &actual, UCD_INFO__NULL,
                                  UCD_OP__REPLACE, native()));
        CHECK(actual == packed_bytes);
    }
    // Pages first, first + 1, and so on, one after the other.
    bool holds_pages_from(int first) {
        check(gpuStreamSynchronize(stream));
        std::vector<int> values(chosen * page);
        check(gpuMemcpy(values.data(), packed, packed_bytes, gpuMemcpyDefault));
        for (int i = 0; i < chosen * page; ++i)
            if (values[static_cast<std::size_t>(i)] != first * page + i) return false;
        return true;
    }

    gpuStream_t stream = nullptr;
    int *memory = nullptr, *packed = nullptr, *table = nullptr;
    ucd_type_t type = UCD_TYPE__NULL;
};

} // namespace

TEST_CASE("a table that a kernel writes is read after it, in the order of the stream") {
    Cache cache;
    write_numbers(cache.table, chosen, 3, cache.stream);
    cache.pack(); // loads kernels
    CHECK(cache.holds_pages_from(3));
    check(gpuMemset(cache.table, 0x7f, sizeof(int) * chosen));
    {
        const Spinning spinning; // nothing else runs: the call returns before the table is written
        write_numbers(cache.table, chosen, 11, cache.stream);
        cache.pack();
        CHECK(gpuStreamQuery(cache.stream) == gpuErrorNotReady);
    }
    CHECK(cache.holds_pages_from(11));
}

TEST_CASE("a graph whose table is rewritten between replays moves other pages") {
    Cache cache;
    check_ucd(ucd_prepare(1, cache.type, UCD_OP__REPLACE, cache.native(), UCD_INFO__NULL));
    gpuGraph_t graph;
    gpuGraphExec_t replayable;
    check(gpuStreamBeginCapture(cache.stream, gpuStreamCaptureModeThreadLocal));
    cache.pack();
    check(gpuStreamEndCapture(cache.stream, &graph));
    // One kernel is all that the call asks of the driver: no copy of the table.
    std::size_t count = 0;
    check(gpuGraphGetNodes(graph, nullptr, &count));
    REQUIRE(count == 1);
    gpuGraphNode_t node;
    gpuGraphNodeType kind;
    check(gpuGraphGetNodes(graph, &node, &count));
    check(gpuGraphNodeGetType(node, &kind));
    CHECK(kind == gpuGraphNodeTypeKernel);
    check(gpuGraphInstantiate(&replayable, graph, 0));
    check(gpuGraphDestroy(graph));
    for (const int first : {0, 100, 7, pages - chosen}) {
        write_numbers(cache.table, chosen, first, cache.stream);
        check(gpuGraphLaunch(replayable, cache.stream));
        CHECK(cache.holds_pages_from(first));
    }
    check(gpuGraphExecDestroy(replayable));
}

} // namespace by_reference_test
