// What a test with several vendors in one program needs of each of them.
#pragma once

#include <cstddef>

namespace ucdtest {

// All of them throw std::runtime_error. Memory is of device 0.
struct Vendor {
    const char *name; // of its backend
    void *(*allocate_device)(std::size_t bytes);
    void *(*allocate_pinned)(std::size_t bytes);
    void (*free_device)(void *memory);
    void (*free_pinned)(void *memory);
    // Between memory of any kind and the host's; complete on return.
    void (*write)(void *memory, const void *from, std::size_t bytes);
    void (*read)(void *to, const void *memory, std::size_t bytes);
    void *(*create_stream)();
    void (*synchronise)(void *stream);
    void (*destroy_stream)(void *stream);
};

} // namespace ucdtest
