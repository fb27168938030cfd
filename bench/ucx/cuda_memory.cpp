#include "ucx/cuda_memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/core.h>
#include <stdexcept>

namespace bench {
namespace {

// What the driver's interface says, as far as it is needed here.
using Device = int;
using Context = struct OpaqueContext *;
using Address = unsigned long long;
enum MemoryType : unsigned { host_memory = 1, device_memory = 2 };
struct Place {
    std::size_t x, y;
    MemoryType type;
    const void *host;
    Address device;
    void *array;
    std::size_t pitch;
};
struct Copy2D {
    Place from, to;
    std::size_t width, height;
};

class Driver {
public:
    Driver() {
        library_ = dlopen("libcuda.so.1", RTLD_NOW);
        if (library_ == nullptr)
            throw std::runtime_error(fmt::format("no CUDA driver: {}", dlerror()));
        load(init, "cuInit");
        load(error_string, "cuGetErrorString");
        load(device_count, "cuDeviceGetCount");
        load(device_get, "cuDeviceGet");
        load(retain, "cuDevicePrimaryCtxRetain");
        load(set_current, "cuCtxSetCurrent");
        load(allocate, "cuMemAlloc_v2");
        load(free, "cuMemFree_v2");
        load(pin, "cuMemHostRegister_v2");
        load(unpin, "cuMemHostUnregister");
        load(to_device, "cuMemcpyHtoD_v2");
        load(to_host, "cuMemcpyDtoH_v2");
        load(copy_2d, "cuMemcpy2DUnaligned_v2");
    }

    void check(int result, const char *what) const {
        if (result == 0) return;
        const char *text = nullptr;
        if (error_string(result, &text) != 0 || text == nullptr) text = "an error without a name";
        throw std::runtime_error(fmt::format("{}: {}", what, text));
    }

    int (*init)(unsigned flags);
    int (*error_string)(int result, const char **text);
    int (*device_count)(int *count);
    int (*device_get)(Device *device, int ordinal);
    int (*retain)(Context *context, Device device);
    int (*set_current)(Context context);
    int (*allocate)(Address *memory, std::size_t bytes);
    int (*free)(Address memory);
    int (*pin)(void *memory, std::size_t bytes, unsigned flags);
    int (*unpin)(void *memory);
    int (*to_device)(Address to, const void *from, std::size_t bytes);
    int (*to_host)(void *to, Address from, std::size_t bytes);
    int (*copy_2d)(const Copy2D *copy);

private:
    template <class Function>
    void load(Function &function, const char *name) {
        function = reinterpret_cast<Function>(dlsym(library_, name));
        if (function == nullptr)
            throw std::runtime_error(fmt::format("the CUDA driver has no {}", name));
    }
    void *library_; // stays: drivers do not like to be unloaded
};

Address address_of(const char *memory) {
    return reinterpret_cast<std::uintptr_t>(memory);
}

class CudaMemory final : public Memory {
public:
    explicit CudaMemory(int ordinal) {
        driver_.check(driver_.init(0), "cuInit");
        int count;
        driver_.check(driver_.device_count(&count), "cuDeviceGetCount");
        if (ordinal < 0 || ordinal >= count)
            throw std::runtime_error(
                fmt::format("no cuda:{}: the driver has {} devices", ordinal, count));
        Device device;
        driver_.check(driver_.device_get(&device, ordinal), "cuDeviceGet");
        Context context;
        driver_.check(driver_.retain(&context, device), "cuDevicePrimaryCtxRetain");
        driver_.check(driver_.set_current(context), "cuCtxSetCurrent");
    }

    bool on_device() const override { return true; }

    char *allocate(std::size_t bytes) override {
        Address memory;
        driver_.check(driver_.allocate(&memory, bytes), "cuMemAlloc");
        return reinterpret_cast<char *>(static_cast<std::uintptr_t>(memory));
    }
    void free(char *memory) override {
        driver_.check(driver_.free(address_of(memory)), "cuMemFree");
    }

    // Pages of the process's own, which are pinned: UCX may have the kernel copy from one process
    // to the other, which it does not do with pages that a driver maps.
    char *allocate_staging(std::size_t bytes) override {
        constexpr std::size_t page = 4096;
        const std::size_t rounded = (bytes + page - 1) / page * page;
        void *memory = std::aligned_alloc(page, rounded);
        if (memory == nullptr) throw std::bad_alloc();
        driver_.check(driver_.pin(memory, rounded, 0), "cuMemHostRegister");
        return static_cast<char *>(memory);
    }
    void free_staging(char *memory) override {
        driver_.check(driver_.unpin(memory), "cuMemHostUnregister");
        std::free(memory);
    }

    void write(char *to, const char *from, std::size_t bytes) override {
        driver_.check(driver_.to_device(address_of(to), from, bytes), "cuMemcpyHtoD");
    }
    void read(char *to, const char *from, std::size_t bytes) override {
        driver_.check(driver_.to_host(to, address_of(from), bytes), "cuMemcpyDtoH");
    }
    void pack_rows(char *to, const char *rows, const Rows &shape) override {
        copy_rows(place_on_device(rows, shape.pitch), place_on_host(to, shape.bytes), shape);
    }
    void unpack_rows(char *rows, const char *from, const Rows &shape) override {
        copy_rows(place_on_host(from, shape.bytes), place_on_device(rows, shape.pitch), shape);
    }

private:
    static Place place_on_device(const char *memory, std::size_t pitch) {
        return {0, 0, device_memory, nullptr, address_of(memory), nullptr, pitch};
    }
    static Place place_on_host(const char *memory, std::size_t pitch) {
        return {0, 0, host_memory, memory, 0, nullptr, pitch};
    }
    void copy_rows(const Place &from, const Place &to, const Rows &shape) {
        const Copy2D copy = {from, to, shape.bytes, shape.count};
        driver_.check(driver_.copy_2d(&copy), "cuMemcpy2D");
    }

    Driver driver_;
};

} // namespace

std::unique_ptr<Memory> open_cuda_memory(int device) {
    return std::make_unique<CudaMemory>(device);
}

} // namespace bench
