// Memory for packed messages.

#include "preload/packed_memory.h"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace packed_memory_test {

using ucd_mpi::PackedMemory;

namespace {

std::uintptr_t address(const PackedMemory &memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data());
}

// The flags of the mapping that `at` is in, from the kernel; empty if it does not tell.
std::string flags_of_mapping(std::uintptr_t at) {
    std::ifstream mappings("/proc/self/smaps");
    bool found = false;
    for (std::string line; std::getline(mappings, line);) {
        std::istringstream words(line);
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        if (words >> std::hex >> begin >> dash >> end && dash == '-')
            found = begin <= at && at < end;
        else if (found && line.starts_with("VmFlags:"))
            return line + ' ';
    }
    return {};
}

} // namespace

// The first test, since blocks that others left would count.
TEST_CASE("packed memory: small blocks fill huge pages") {
    constexpr std::size_t page = 2 << 20, size = 256 << 10, pages = 20;
    std::vector<PackedMemory> blocks;
    std::set<std::uintptr_t> used;
    while (blocks.size() < pages * page / size) {
        blocks.emplace_back(size);
        used.insert(address(blocks.back()) / page);
    }
    CHECK(used.size() == pages);
    CHECK(address(PackedMemory(page)) % page == 0);
    CHECK(address(PackedMemory(3 * page)) % page == 0);
}

TEST_CASE("packed memory: blocks that are in use do not overlap") {
    constexpr std::size_t sizes[] = {1,    4096,    4097,          65536,         100000,
                                     4096, 1 << 20, (1 << 20) + 1, (2 << 20) + 1, 3 << 20};
    std::vector<PackedMemory> blocks;
    std::vector<std::size_t> bytes;
    for (int round = 0; round < 20; ++round)
        for (const std::size_t size : sizes) {
            blocks.emplace_back(size);
            bytes.push_back(size);
            REQUIRE(blocks.back().data() != nullptr);
            CHECK(address(blocks.back()) % 64 == 0);
            std::memset(blocks.back().data(), static_cast<int>(blocks.size() % 251), size);
        }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto *const data = static_cast<const unsigned char *>(blocks[i].data());
        const bool is_kept =
            std::all_of(data, data + bytes[i], [&](unsigned char c) { return c == (i + 1) % 251; });
        CHECK(is_kept);
    }
}

TEST_CASE("packed memory: a block is used again for messages that need as large a one") {
    for (const std::size_t size : {5000, 1 << 20, 5 << 20}) {
        std::uintptr_t before = 0;
        {
            const PackedMemory memory(size);
            before = address(memory);
        }
        const PackedMemory again(size - 1);
        CHECK(address(again) == before);
    }
}

TEST_CASE("packed memory: it is on huge pages, if there are some") {
    std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string text;
    std::getline(setting, text);
    if (text.find("[madvise]") == std::string::npos && text.find("[always]") == std::string::npos)
        return;
    for (const std::size_t size : {1000, 1 << 20, 2 << 20, 5 << 20}) {
        const PackedMemory memory(size);
        CHECK(flags_of_mapping(address(memory)).find(" hg ") != std::string::npos);
    }
}

TEST_CASE("packed memory: more blocks than are kept are given back, but for parts of pages") {
    constexpr std::size_t page = 2 << 20, kept = 256 << 20;
    for (const std::size_t size : {page / 2, page}) {
        std::vector<PackedMemory> blocks;
        for (std::size_t bytes = 0; bytes <= kept; bytes += size) blocks.emplace_back(size);
        CHECK(blocks.back().data() != nullptr);
    }
    CHECK(PackedMemory(page / 2).data() != nullptr);
}

TEST_CASE("packed memory: no data for no bytes, and for too many") {
    CHECK(PackedMemory().data() == nullptr);
    CHECK(PackedMemory(0).data() == nullptr);
    CHECK(PackedMemory(std::size_t{1} << 50).data() == nullptr);
    CHECK(PackedMemory(std::numeric_limits<std::size_t>::max()).data() == nullptr);
}

} // namespace packed_memory_test
