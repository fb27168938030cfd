#include "ucx/memory.hpp"

#include "ucx/cuda_memory.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

// Starts on a page, as the driver's memory does.
char *allocate_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    void *memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<char *>(memory);
}

class HostMemory final : public Memory {
public:
    bool on_device() const override { return false; }
    // Not both on pages: they would meet in few cache sets.
    char *allocate(std::size_t bytes) override { return allocate_pages(bytes + 256) + 256; }
    char *allocate_staging(std::size_t bytes) override {
        return allocate_pages(bytes + 1024) + 1024;
    }
    void free(char *memory) override { std::free(memory - 256); }
    void free_staging(char *memory) override { std::free(memory - 1024); }
    void write(char *to, const char *from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void read(char *to, const char *from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void pack_rows(char *to, const char *rows, const Rows &shape) override {
        for (std::size_t i = 0; i < shape.count; ++i)
            std::memcpy(to + i * shape.bytes, rows + i * shape.pitch, shape.bytes);
    }
    void unpack_rows(char *rows, const char *from, const Rows &shape) override {
        for (std::size_t i = 0; i < shape.count; ++i)
            std::memcpy(rows + i * shape.pitch, from + i * shape.bytes, shape.bytes);
    }
};

} // namespace

std::unique_ptr<Memory> Memory::open(const std::string &name) {
    if (name == "host") return std::make_unique<HostMemory>();
    int device = -1;
    const char *const end = name.data() + name.size();
    if (name.rfind("cuda:", 0) == 0 && std::from_chars(name.data() + 5, end, device).ptr == end &&
        name.size() > 5)
        return open_cuda_memory(device);
    throw std::runtime_error("\"" + name + "\" is no memory: host or cuda:N");
}

} // namespace bench
