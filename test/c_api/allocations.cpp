#include "c_api/allocations.hpp"

#include "support/spared_allocations.hpp"
#include "support/test_start.hpp"

#include <ucd.h>

#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

std::atomic<std::ptrdiff_t> live{0}, bytes_live{0}, bytes_peak{0};
thread_local std::size_t until_failure = 0; // 0: no failure is due

bool is_failing_one() {
    if (until_failure == 0 || ucdtest::spared_allocations > 0) return false;
    return --until_failure == 0;
}

void *allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (is_failing_one()) return nullptr;
    if (bytes == 0) bytes = 1;
    void *memory =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(bytes)
            : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory != nullptr) {
        live.fetch_add(1);
        const auto size = static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
        const std::ptrdiff_t now = bytes_live.fetch_add(size) + size;
        for (std::ptrdiff_t peak = bytes_peak.load(); now > peak;)
            if (bytes_peak.compare_exchange_weak(peak, now)) break;
    }
    return memory;
}

void *allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void *memory = allocate(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void give_back(void *memory) noexcept {
    if (memory != nullptr) {
        live.fetch_sub(1);
        bytes_live.fetch_sub(static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
    }
    std::free(memory);
}

} // namespace

namespace ucdtest {

std::ptrdiff_t live_allocations() {
    return live.load();
}

std::ptrdiff_t live_bytes() {
    return bytes_live.load();
}

std::ptrdiff_t peak_bytes() {
    return bytes_peak.load();
}

void reset_peak() {
    bytes_peak.store(bytes_live.load());
}

void fail_allocation(std::size_t n) {
    until_failure = n;
}

std::size_t until_failing() {
    return until_failure;
}

bool end_failing() {
    return std::exchange(until_failure, 0) > 0;
}

bool tests_can_fail() {
    ucd_type_t type = UCD_TYPE__NULL;
    const auto create = [&] { return ucd_create_contig(3, UCD_TYPE__INT, UCD_INFO__NULL, &type); };
    // A first time, for what is made once in a process.
    bool seen = create() == UCD_SUCCESS && ucd_free(&type) == UCD_SUCCESS;
    const std::ptrdiff_t count = live_allocations(), bytes = live_bytes();
    seen = seen && create() == UCD_SUCCESS && live_allocations() > count && live_bytes() > bytes;
    seen = seen && ucd_free(&type) == UCD_SUCCESS && live_allocations() == count &&
           live_bytes() == bytes;
    fail_allocation(1);
    seen = seen && create() == UCD_ERR__OUT_OF_MEM;
    if (end_failing()) seen = false;
    if (!seen)
        std::fprintf(stderr, "The library does not allocate by this program's operator new: the "
                             "tests would count nothing, and let nothing fail.\n");
    return seen;
}

} // namespace ucdtest

using Alignment = std::align_val_t;

void *operator new(std::size_t n) {
    return allocate_or_throw(n, 1);
}
void *operator new[](std::size_t n) {
    return allocate_or_throw(n, 1);
}
void *operator new(std::size_t n, const std::nothrow_t &) noexcept {
    return allocate(n, 1);
}
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept {
    return allocate(n, 1);
}
void *operator new(std::size_t n, Alignment a) {
    return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new[](std::size_t n, Alignment a) {
    return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void *operator new(std::size_t n, Alignment a, const std::nothrow_t &) noexcept {
    return allocate(n, static_cast<std::size_t>(a));
}
void *operator new[](std::size_t n, Alignment a, const std::nothrow_t &) noexcept {
    return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void *p) noexcept {
    give_back(p);
}
void operator delete[](void *p) noexcept {
    give_back(p);
}
void operator delete(void *p, std::size_t) noexcept {
    give_back(p);
}
void operator delete[](void *p, std::size_t) noexcept {
    give_back(p);
}
void operator delete(void *p, Alignment) noexcept {
    give_back(p);
}
void operator delete[](void *p, Alignment) noexcept {
    give_back(p);
}
void operator delete(void *p, std::size_t, Alignment) noexcept {
    give_back(p);
}
void operator delete[](void *p, std::size_t, Alignment) noexcept {
    give_back(p);
}
void operator delete(void *p, const std::nothrow_t &) noexcept {
    give_back(p);
}
void operator delete[](void *p, const std::nothrow_t &) noexcept {
    give_back(p);
}
