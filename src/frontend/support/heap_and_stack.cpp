#include "support/heap_and_stack.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <pthread.h>
#include <unistd.h>

// The end of the heap, as glibc knows it. Communication libraries hook sbrk, to see the heap
// shrink, and their sbrk asks the kernel. Null with other C libraries.
extern "C" [[gnu::weak]] void *__curbrk;

namespace ucd {
namespace {

struct AddressRange {
    uintptr_t begin = 0, end = 0;
    bool holds(uintptr_t address) const { return address - begin < end - begin; }
};

// Where the heap starts that brk moves the end of: the 47th word of /proc/self/stat. The second
// word is the program's name in parentheses, which may contain anything. All ones if that is not
// told.
uintptr_t find_heap_start() {
    constexpr uintptr_t unknown = UINTPTR_MAX;
    const std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen("/proc/self/stat", "re"),
                                                      std::fclose);
    if (!file) return unknown;
    char text[2048];
    const std::size_t length = std::fread(text, 1, sizeof text - 1, file.get());
    text[length] = '\0';
    const char *at = text + length;
    while (at > text && *at != ')') --at;
    for (int word = 2; word < 47; ++word) {
        while (*at != ' ' && *at != '\0') ++at;
        if (*at == '\0') return unknown;
        ++at;
    }
    const unsigned long long start = std::strtoull(at, nullptr, 10);
    return start == 0 ? unknown : static_cast<uintptr_t>(start);
}

bool in_heap(uintptr_t address) {
    static const uintptr_t start = find_heap_start();
    if (address < start) return false;
    const void *const end = &__curbrk != nullptr ? __curbrk : sbrk(0);
    return address < reinterpret_cast<uintptr_t>(end);
}

AddressRange find_stack() {
    AddressRange stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    void *lowest = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        stack.begin = reinterpret_cast<uintptr_t>(lowest);
        stack.end = stack.begin + bytes;
    }
    pthread_attr_destroy(&attributes);
    return stack;
}

bool in_stack(uintptr_t address) {
    // Found out once: asking takes longer than a small call.
    thread_local constinit bool known = false;
    thread_local constinit AddressRange stack;
    if (!known) {
        stack = find_stack();
        known = true;
    }
    // Coroutines run on stacks of their own.
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return stack.holds(here) && stack.holds(address) && address >= here;
}

} // namespace

bool in_heap_or_stack(const void *address) {
    const auto value = reinterpret_cast<uintptr_t>(address);
    return in_heap(value) || in_stack(value);
}

} // namespace ucd
