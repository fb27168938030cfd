// Rates of packing and unpacking in the memory of a Level Zero device, beside the driver's copy of
// as many bytes, as CSV. The conformance tests check data.
//
//     ucd-ze-bench [MIB]    packed MiB of each layout (64)

#include <level_zero/ze_api.h>
#include <ucd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void require(ze_result_t result) {
    if (result != ZE_RESULT_SUCCESS)
        throw std::runtime_error("Level Zero: " + std::to_string(result));
}
void require_ucd(int status) {
    if (status != UCD_SUCCESS) throw std::runtime_error(std::string("UCD: ") + ucd_last_error());
}

constexpr int no_device = 77; // the program's status then, by which tests are skipped

struct NoDevice : std::runtime_error {
    NoDevice() : std::runtime_error("there is no Level Zero device") {}
};

struct Device {
    ze_device_handle_t device = nullptr;
    ze_context_handle_t context = nullptr;
    ze_command_list_handle_t list = nullptr;
    ze_event_handle_t copied = nullptr;

    Device() {
        // After a failed zeInit, no other call may be made.
        if (zeInit(ZE_INIT_FLAG_GPU_ONLY) != ZE_RESULT_SUCCESS) throw NoDevice();
        uint32_t one = 1;
        ze_driver_handle_t driver = nullptr;
        require(zeDriverGet(&one, &driver));
        one = 1;
        if (zeDeviceGet(driver, &one, &device) != ZE_RESULT_SUCCESS || one == 0) throw NoDevice();
        ze_context_desc_t context_description{};
        context_description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        require(zeContextCreate(driver, &context_description, &context));
        ze_command_queue_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
        description.ordinal = queues_that_compute();
        description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
        require(zeCommandListCreateImmediate(context, device, &description, &list));
        ze_event_pool_desc_t pool_description{};
        pool_description.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        pool_description.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        pool_description.count = 1;
        ze_event_pool_handle_t pool = nullptr;
        require(zeEventPoolCreate(context, &pool_description, 1, &device, &pool));
        ze_event_desc_t event_description{};
        event_description.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
        event_description.signal = ZE_EVENT_SCOPE_FLAG_HOST;
        require(zeEventCreate(pool, &event_description, &copied));
    }

    uint32_t queues_that_compute() const {
        uint32_t count = 0;
        require(zeDeviceGetCommandQueueGroupProperties(device, &count, nullptr));
        std::vector<ze_command_queue_group_properties_t> groups(count);
        for (auto &group : groups) group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
        require(zeDeviceGetCommandQueueGroupProperties(device, &count, groups.data()));
        for (uint32_t i = 0; i < count; ++i)
            if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0) return i;
        throw std::runtime_error("the device has no queue that runs kernels");
    }

    std::string name() const {
        ze_device_properties_t properties{};
        properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        require(zeDeviceGetProperties(device, &properties));
        return properties.name;
    }

    unsigned char *allocate(std::size_t bytes) const {
        ze_device_mem_alloc_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
        void *made = nullptr;
        require(zeMemAllocDevice(context, &description, bytes, 4096, device, &made));
        return static_cast<unsigned char *>(made);
    }

    void copy(void *to, const void *from, std::size_t bytes) const {
        require(zeEventHostReset(copied));
        require(zeCommandListAppendMemoryCopy(list, to, from, bytes, copied, 0, nullptr));
        require(zeEventHostSynchronize(copied, UINT64_MAX));
    }
};

struct Layout {
    const char *name;
    ucd_type_t type;
};

// Blocks of `width` bytes, one in each `step` bytes.
ucd_type_t blocks(intptr_t bytes, intptr_t width, intptr_t step) {
    ucd_type_t type = nullptr;
    require_ucd(
        ucd_create_hvector(bytes / width, width, step, UCD_TYPE__BYTE, UCD_INFO__NULL, &type));
    return type;
}

// Blocks that lie in random order, every second one of `width` bytes.
ucd_type_t random_blocks(intptr_t bytes, intptr_t width) {
    std::vector<intptr_t> places(static_cast<std::size_t>(bytes / width));
    for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = 2 * width * static_cast<intptr_t>(i);
    std::shuffle(places.begin(), places.end(), std::mt19937_64(1));
    ucd_type_t type = nullptr;
    require_ucd(ucd_create_hindexed_block(static_cast<intptr_t>(places.size()), width,
                                          places.data(), UCD_TYPE__BYTE, UCD_INFO__NULL, &type));
    return type;
}

// Half of each of three dimensions, of elements of a size; rows have `row` elements.
ucd_type_t face(intptr_t bytes, ucd_type_t element, intptr_t size, intptr_t row) {
    const intptr_t planes = std::max<intptr_t>(1, bytes / (row * row * size));
    const intptr_t sizes[] = {2 * planes, 2 * row, 2 * row}, part[] = {planes, row, row};
    const intptr_t starts[] = {1, 1, 1};
    ucd_type_t type = nullptr;
    require_ucd(
        ucd_create_subarray(3, sizes, part, starts, UCD_ORDER__C, element, UCD_INFO__NULL, &type));
    return type;
}

// GB/s of `bytes`: the fastest of several.
template <class Work>
double rate(std::size_t bytes, Work work) {
    work(); // compiles the kernel
    double fastest = 1e9;
    for (int i = 0; i < 10; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        fastest = std::min(fastest, took.count());
    }
    return static_cast<double>(bytes) / fastest * 1e-9;
}

void measure(const Device &device, const Layout &layout) {
    uintptr_t size = 0;
    intptr_t lower = 0, extent = 0;
    require_ucd(ucd_get_size(layout.type, &size));
    require_ucd(ucd_get_true_extent(layout.type, &lower, &extent));
    unsigned char *typed = device.allocate(static_cast<std::size_t>(lower + extent)),
                  *packed = device.allocate(size), *other = device.allocate(size);
    uintptr_t moved = 0;
    const double copy = rate(size, [&] { device.copy(other, packed, size); });
    const double pack = rate(size, [&] {
        require_ucd(ucd_pack(typed, 1, layout.type, 0, packed, size, &moved, UCD_INFO__NULL,
                             UCD_OP__REPLACE));
    });
    const double unpack = rate(size, [&] {
        require_ucd(ucd_unpack(packed, size, typed, 1, layout.type, 0, &moved, UCD_INFO__NULL,
                               UCD_OP__REPLACE));
    });
    std::printf("%s,%.1f,%.1f,%.1f,%.1f,%.2f,%.2f\n", layout.name,
                static_cast<double>(size) / (1 << 20), copy, pack, unpack, pack / copy,
                unpack / copy);
    for (void *memory : {typed, packed, other}) require(zeMemFree(device.context, memory));
}

void run(intptr_t bytes) {
    const Device device;
    ucd_info_t info = nullptr;
    const auto context = std::to_string(reinterpret_cast<uintptr_t>(device.context));
    require_ucd(ucd_info_create(&info));
    require_ucd(ucd_info_set(info, "ucd.ze.context", context.c_str()));
    require_ucd(ucd_init(info));
    require_ucd(ucd_info_free(&info));
    std::printf("# %s\nlayout,MiB,copy GB/s,pack GB/s,unpack GB/s,pack/copy,unpack/copy\n",
                device.name().c_str());
    Layout layouts[] = {
        {"blocks of 4096 bytes; every second one", blocks(bytes, 4096, 8192)},
        {"blocks of 64 bytes; every second one", blocks(bytes, 64, 128)},
        {"blocks of 16 bytes; every second one", blocks(bytes, 16, 32)},
        {"blocks of 8 bytes; every second one", blocks(bytes, 8, 16)},
        {"blocks of 4 bytes; every second one", blocks(bytes, 4, 8)},
        {"bytes; every third one", blocks(bytes, 1, 3)},
        {"doubles 64 bytes apart", blocks(bytes / 8, 8, 64)},
        {"floats 64 bytes apart", blocks(bytes / 16, 4, 64)},
        {"part of a 3-D array of doubles; 64 a row", face(bytes, UCD_TYPE__DOUBLE, 8, 64)},
        {"part of a 3-D array of bytes; 65 a row", face(bytes, UCD_TYPE__BYTE, 1, 65)},
        {"blocks of 16 bytes in random order", random_blocks(bytes, 16)},
        {"blocks of 4 bytes in random order", random_blocks(bytes / 4, 4)},
    };
    for (Layout &layout : layouts) {
        measure(device, layout);
        require_ucd(ucd_free(&layout.type));
    }
    require_ucd(ucd_finalize());
}

} // namespace

int main(int argc, char **argv) {
    const long mib = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
    if (mib < 1 || mib > 1024) {
        std::fprintf(stderr, "usage: ucd-ze-bench [MIB], 1 to 1024\n");
        return 1;
    }
    try {
        run(mib << 20);
    } catch (const NoDevice &error) {
        std::fprintf(stderr, "ucd-ze-bench: %s\n", error.what());
        return no_device;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "ucd-ze-bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
