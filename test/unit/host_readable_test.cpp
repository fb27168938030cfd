// Whether the host can read an address, which GPU backends ask where a driver knows of no memory.
#include "runtime/host_readable.h"

#include "support/catch.hpp"

#include <cstddef>

#include <sys/mman.h>

namespace host_readable_test {

TEST_CASE("pages are readable or not, each by itself, however often they are asked about") {
    // More than are remembered, so that some take the places of others.
    constexpr std::size_t page = 4096, pages = 200;
    char *const memory = static_cast<char *>(
        mmap(nullptr, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    for (std::size_t i = 0; i < pages; i += 3)
        REQUIRE(mprotect(memory + i * page, page, PROT_NONE) == 0);
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < pages; ++i)
            for (const std::size_t at : {std::size_t{0}, std::size_t{1}, page / 2, page - 1}) {
                INFO("page " << i << ", byte " << at);
                CHECK(ucd::gpu::is_host_readable(memory + i * page + at) == (i % 3 != 0));
            }
    REQUIRE(munmap(memory, pages * page) == 0);
    for (int round = 0; round < 2; ++round) {
        CHECK_FALSE(ucd::gpu::is_host_readable(reinterpret_cast<const void *>(std::size_t{64})));
        CHECK(ucd::gpu::is_host_readable(&round));
    }
}

} // namespace host_readable_test
