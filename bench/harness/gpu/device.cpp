#include "harness/device.hpp"

#include "harness/content.hpp"
#include "harness/gpu/check_kernels.hpp"
#include "harness/gpu/load.hpp"
#include "harness/gpu/runtime.hpp"
#include "harness/processes.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace bench {
namespace gpu {

void check(gpuError_t error, const char *what, std::source_location where) {
    if (error != gpuSuccess)
        throw std::runtime_error(std::string(what) + ": " + gpuGetErrorString(error) + " (" +
                                 where.file_name() + ":" + std::to_string(where.line()) + ")");
}

namespace {

char *allocate_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    void *memory = std::aligned_alloc(page, (bytes + page) / page * page);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<char *>(memory);
}

class GpuDevice final : public Device {
public:
    explicit GpuDevice(int ordinal) : ordinal_(ordinal) {
        check(gpuSetDevice(ordinal), "choosing a device");
    }
    bool is_gpu() const override { return true; }
    std::string name() const override {
        gpuDeviceProp properties;
        check(gpuGetDeviceProperties(&properties, ordinal_), "asking for a device's name");
        return properties.name;
    }
    std::string hint(MemoryKind kind) const override {
        const std::string device = std::string(vendor_name) + ":";
        switch (kind) {
        case MemoryKind::own: return device + std::to_string(ordinal_);
        case MemoryKind::other_device: return device + std::to_string(other());
        case MemoryKind::managed: return "managed";
        case MemoryKind::pinned:
        case MemoryKind::registered: return "pinned";
        case MemoryKind::pageable: break;
        }
        return "host";
    }

    char *allocate(MemoryKind kind, std::size_t bytes) override {
        void *memory = nullptr;
        switch (kind) {
        case MemoryKind::own: check(gpuMalloc(&memory, bytes), "allocating device memory"); break;
        case MemoryKind::other_device:
            check(gpuSetDevice(other()), "choosing another device");
            check(gpuMalloc(&memory, bytes), "allocating another device's memory");
            check(gpuSetDevice(ordinal_), "choosing a device");
            break;
        case MemoryKind::managed:
            check(gpuMallocManaged(&memory, bytes), "allocating managed memory");
            break;
        case MemoryKind::pinned:
            check(gpuHostMalloc(&memory, bytes), "allocating pinned memory");
            break;
        case MemoryKind::registered:
            memory = allocate_pages(bytes);
            check(gpuHostRegister(memory, bytes, gpuHostRegisterDefault), "registering memory");
            break;
        case MemoryKind::pageable:
            memory = std::memset(allocate_pages(bytes), 0, bytes); // so that it is there
            break;
        }
        return static_cast<char *>(memory);
    }
    void release(MemoryKind kind, char *memory) override {
        switch (kind) {
        case MemoryKind::own:
        case MemoryKind::other_device:
        case MemoryKind::managed: (void)gpuFree(memory); break;
        case MemoryKind::pinned: (void)gpuHostFree(memory); break;
        case MemoryKind::registered: (void)gpuHostUnregister(memory); [[fallthrough]];
        case MemoryKind::pageable: std::free(memory);
        }
    }

    // What counts and fills waits for the whole device: UCD's own streams are ordered after
    // nothing.
    void set(char *memory, int value, std::size_t bytes) override {
        check(gpuMemset(memory, value, bytes), "setting memory");
        wait_for_all();
    }
    void fill(char *memory, std::size_t bytes) override {
        gpu::fill(memory, bytes);
        wait_for_all();
    }
    std::size_t count_different(const char *a, const char *b, std::size_t bytes) override {
        return counted(gpu::count_different(a, b, bytes));
    }
    std::size_t count_filled(const char *memory, std::size_t bytes) override {
        return counted(gpu::count_filled(memory, bytes));
    }
    std::size_t count_foreign(const char *memory, std::size_t bytes) override {
        return counted(gpu::count_foreign(memory, bytes));
    }

    void start_copy(void *to, const void *from, std::size_t bytes) override {
        check(gpuMemcpyAsync(to, from, bytes, gpuMemcpyDefault, nullptr), "copying");
    }
    void start_boxes(const Boxes &b, char *typed, char *packed, bool pack) override {
        const auto width = static_cast<std::size_t>(b.box.block);
        const auto rows = static_cast<std::size_t>(b.box.levels[1].count);
        const auto planes = static_cast<std::size_t>(b.box.levels[0].count);
        const auto pitch = static_cast<std::size_t>(b.box.levels[1].stride);
        for (std::int64_t i = 0; i < b.boxes.count; ++i, packed += b.box.bytes()) {
            char *const at = typed + i * b.boxes.stride;
            if (planes == 1) {
                check(pack ? gpuMemcpy2DAsync(packed, width, at, pitch, width, rows,
                                              gpuMemcpyDefault, nullptr)
                           : gpuMemcpy2DAsync(at, pitch, packed, width, width, rows,
                                              gpuMemcpyDefault, nullptr),
                      "copying rows");
                continue;
            }
            const std::size_t plane_rows = static_cast<std::size_t>(b.box.levels[0].stride) / pitch;
            const gpuPitchedPtr outside{at, pitch, width, plane_rows},
                inside{packed, width, width, rows};
            gpuMemcpy3DParms parms{};
            parms.srcPtr = pack ? outside : inside;
            parms.dstPtr = pack ? inside : outside;
            parms.extent = {width, rows, planes};
            parms.kind = gpuMemcpyDefault;
            check(gpuMemcpy3DAsync(&parms, nullptr), "copying a box");
        }
    }
    void wait() override {
        check(gpuGetLastError(), "starting");
        check(gpuStreamSynchronize(nullptr), "waiting");
    }

    std::unique_ptr<Load> start_load(double share) override {
        return gpu::start_load(*this,
                               {.name = "computing", .work = LoadWork::spin, .share = share});
    }

private:
    int other() const { return ordinal_ == 0 ? 1 : 0; }
    static void wait_for_all() {
        check(gpuGetLastError(), "starting");
        check(gpuDeviceSynchronize(), "waiting for the device");
    }
    static std::size_t counted(std::size_t count) {
        wait_for_all();
        return count;
    }

    int ordinal_;
};

} // namespace
} // namespace gpu

std::unique_ptr<Device> open_gpu(const std::string &vendor, int ordinal) {
    if (vendor != gpu::vendor_name)
        throw std::runtime_error("this program was built without " + vendor);
    return std::make_unique<gpu::GpuDevice>(ordinal);
}

int count_gpus() {
    Board board(1);
    run_processes(1, 60, [&](unsigned seat) {
        int count = 0;
        if (gpuGetDeviceCount(&count) != gpuSuccess) count = 0;
        board.write(seat, &count, sizeof count);
    });
    int count;
    std::memcpy(&count, board.read(0).data(), sizeof count);
    return count;
}

} // namespace bench
