#include "cases/mpi/device_data.hpp"

#include "cases/mpi/sections.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <ucd_memory.h>
#include <ucd_mpi.h>
#include <vector>

namespace bench {
namespace {

Memory allocate(const std::string &device, int kind, std::size_t bytes) {
    void *memory = nullptr;
    (void)ucd_memory_alloc(device.c_str(), kind, bytes, &memory);
    return Memory(static_cast<char *>(memory));
}

// Hints for the copy engines: what users write with their vendor's copies of boxes.
ucd_info_t copy_engines() {
    static const ucd_info_t info = [] {
        ucd_info_t made = UCD_INFO__NULL;
        (void)ucd_info_create(&made);
        (void)ucd_info_set(made, "ucd.engine", "dma");
        return made;
    }();
    return info;
}

} // namespace

std::string own_device(const std::string &list, int number) {
    std::vector<std::string> names{""};
    for (const char c : list)
        if (c == ',')
            names.emplace_back();
        else
            names.back() += c;
    return names[static_cast<std::size_t>(number) % names.size()];
}

bool can_use(const std::string &device) {
    return ucd_init(UCD_INFO__NULL) == UCD_SUCCESS &&
           allocate(device, UCD_MEMORY__DEVICE, 1) != nullptr;
}

// As programs choose their device: MPI libraries work in the context that is current, and Open
// MPI's smcuda needs one in MPI_Init.
void use_device(const std::string &devices) {
    const char *number = nullptr;
    for (const char *variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK"})
        if (number == nullptr) number = std::getenv(variable);
    const std::string device = own_device(devices, number == nullptr ? 0 : std::atoi(number));
    void *const driver = device.starts_with("cuda:") ? dlopen("libcuda.so.1", RTLD_NOW) : nullptr;
    if (driver == nullptr) return;
    const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto retain =
        reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
    const auto set = reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuCtxSetCurrent"));
    void *context = nullptr;
    if (initialise(0) == 0 && retain(&context, std::atoi(device.c_str() + 5)) == 0) set(context);
}

void FreeMemory::operator()(char *memory) const {
    (void)ucd_memory_free(memory);
}

DeviceData::DeviceData(const std::string &device, const MpiLayout &layout, int blocks)
    : layout_(layout), blocks_(static_cast<std::size_t>(blocks)),
      data_(allocate(device, UCD_MEMORY__DEVICE, layout.extent * blocks_)),
      packed_(allocate(device, UCD_MEMORY__DEVICE, bytes())),
      staged_(allocate(device, UCD_MEMORY__PINNED, bytes())),
      staged_by_engines_(allocate(device, UCD_MEMORY__PINNED, bytes())) {
    (void)ucd_type_from_mpi(layout.type, UCD_INFO__NULL, &type_);
}

bool DeviceData::has_few_segments() const {
    ucd_advice_t advice;
    advice.struct_size = offsetof(ucd_advice_t, boxes);
    return ucd_get_advice(items(), type_, 0, 0, &advice) == UCD_SUCCESS &&
           advice.segments <= std::size_t{1} << 18;
}

bool DeviceData::pack() const {
    return layout_.is_contiguous()
               ? move(staged_.get(), data_.get())
               : pack_to(packed_.get(), UCD_INFO__NULL) && move(staged_.get(), packed_.get());
}

bool DeviceData::unpack() const {
    return layout_.is_contiguous()
               ? move(data_.get(), staged_.get())
               : move(packed_.get(), staged_.get()) && unpack_from(packed_.get(), UCD_INFO__NULL);
}

bool DeviceData::copy_out() const {
    return pack_to(staged_by_engines(), copy_engines());
}

bool DeviceData::copy_in() const {
    return unpack_from(staged_by_engines(), copy_engines());
}

bool DeviceData::pack_to(void *to, ucd_info_t info) const {
    std::uintptr_t moved = 0;
    return ucd_pack(data_.get(), items(), type_, 0, to, bytes(), &moved, info, UCD_OP__REPLACE) ==
           UCD_SUCCESS;
}

bool DeviceData::unpack_from(const void *from, ucd_info_t info) const {
    std::uintptr_t moved = 0;
    return ucd_unpack(from, bytes(), data_.get(), items(), type_, 0, &moved, info,
                      UCD_OP__REPLACE) == UCD_SUCCESS;
}

bool DeviceData::move(void *to, const void *from) const {
    std::uintptr_t moved = 0;
    return ucd_pack(from, bytes(), UCD_TYPE__BYTE, 0, to, bytes(), &moved, UCD_INFO__NULL,
                    UCD_OP__REPLACE) == UCD_SUCCESS;
}

} // namespace bench
