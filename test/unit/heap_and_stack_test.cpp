// What is known of memory without asking a driver: what is the host's, and what hints say.
#include "support/catch.hpp"

#include "support/heap_and_stack.h"
#include "support/keys.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heap_and_stack_test {

using ucd::in_heap_or_stack;

namespace {

const void *move_by(const void *address, std::intptr_t bytes) {
    return reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(address) +
                                          static_cast<std::uintptr_t>(bytes));
}

} // namespace

// An emulator of a process does not tell where its heap starts.
TEST_CASE("what malloc takes from brk is in the heap, up to its end", "[native]") {
    void *const begin = sbrk(64);
    REQUIRE(begin != reinterpret_cast<void *>(-1));
    CHECK(in_heap_or_stack(begin));
    CHECK(in_heap_or_stack(move_by(sbrk(0), -1)));
    CHECK_FALSE(in_heap_or_stack(sbrk(0)));
    CHECK_FALSE(in_heap_or_stack(nullptr));
}

TEST_CASE("mapped memory is neither heap nor stack") {
    constexpr std::size_t bytes = 65536;
    void *const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    CHECK_FALSE(in_heap_or_stack(memory));
    CHECK_FALSE(in_heap_or_stack(move_by(memory, bytes - 1)));
    munmap(memory, bytes);
    static int variable;
    CHECK_FALSE(in_heap_or_stack(&variable));
}

// A driver may map memory of devices far below the program and its heap. The address sanitizer
// leaves this place free.
TEST_CASE("memory that is mapped below the heap is not heap", "[native]") {
    void *const wanted = reinterpret_cast<void *>(std::uintptr_t{0x50000000});
    void *const memory =
        mmap(wanted, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(memory == wanted);
    CHECK_FALSE(in_heap_or_stack(memory));
    munmap(memory, 4096);
}

// Asked once in a process, so another one asks. Its hidden case runs in no other way.
TEST_CASE("no memory is known to be heap if no file can be opened", "[native]") {
    const pid_t other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        execl("/proc/self/exe", "without files", "asks without files",
              static_cast<char *>(nullptr));
        _exit(127);
    }
    int status = 0;
    REQUIRE(waitpid(other, &status, 0) == other);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("asks without files", "[.]") {
    void *const begin = sbrk(64);
    REQUIRE(begin != reinterpret_cast<void *>(-1));
    rlimit before;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none = {0, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const bool heap = in_heap_or_stack(begin);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_FALSE(heap);
}

TEST_CASE("a thread knows its own stack, above where it is, and no other's") {
    char here = 0;
    CHECK(in_heap_or_stack(&here));
    CHECK_FALSE(in_heap_or_stack(move_by(__builtin_frame_address(0), -(1 << 16))));
    bool own = false, first = true;
    std::thread other([&] {
        char there = 0;
        own = in_heap_or_stack(&there);
        first = in_heap_or_stack(&here);
    });
    other.join();
    CHECK(own);
    CHECK_FALSE(first);
}

TEST_CASE("hints name the kinds of memory that drivers know") {
    ucd::LocationHint hint;
    REQUIRE(ucd::parse_location("host", hint));
    CHECK(hint.kind == ucd::MemoryKind::host);
    REQUIRE(ucd::parse_location("pinned", hint));
    CHECK(hint.kind == ucd::MemoryKind::pinned);
    REQUIRE(ucd::parse_location("managed", hint));
    CHECK(hint.kind == ucd::MemoryKind::managed);
    CHECK_FALSE(ucd::parse_location("any", hint));
}

} // namespace heap_and_stack_test
