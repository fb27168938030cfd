#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <ucd_memory.h>
#include <ucd_mpi.h>

namespace bench {
namespace {

struct FreeMemory {
    void operator()(char *memory) const { (void)ucd_memory_free(memory); }
};
using Memory = std::unique_ptr<char, FreeMemory>;

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

bool mpi_reads_devices() {
    const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return ask != nullptr && ask() == 1;
}

// A layout's data on the device, `blocks` times, and what users stage it in.
class DeviceData {
public:
    DeviceData(const std::string &device, const MpiLayout &layout, int blocks)
        : layout_(layout), blocks_(static_cast<std::size_t>(blocks)),
          data_(allocate(device, UCD_MEMORY__DEVICE, layout.extent * blocks_)),
          packed_(allocate(device, UCD_MEMORY__DEVICE, bytes())),
          staged_(allocate(device, UCD_MEMORY__PINNED, bytes())) {
        (void)ucd_type_from_mpi(layout.type, UCD_INFO__NULL, &type_);
    }
    DeviceData(const DeviceData &) = delete;
    DeviceData &operator=(const DeviceData &) = delete;
    ~DeviceData() { (void)ucd_free(&type_); }

    bool usable() const { return data_ && packed_ && staged_ && type_ != UCD_TYPE__NULL; }
    char *data() const { return data_.get(); }
    char *staged() const { return staged_.get(); }
    std::size_t bytes() const { return layout_.bytes * blocks_; }

    // By a kernel on the device, and a copy.
    bool pack() const {
        return layout_.is_contiguous()
                   ? move(staged_.get(), data_.get())
                   : pack_to(packed_.get(), UCD_INFO__NULL) && move(staged_.get(), packed_.get());
    }
    bool unpack() const {
        return layout_.is_contiguous() ? move(data_.get(), staged_.get())
                                       : move(packed_.get(), staged_.get()) &&
                                             unpack_from(packed_.get(), UCD_INFO__NULL);
    }
    // By the copy engines only; false for layouts that they do not know.
    bool copy_out() const { return pack_to(staged_.get(), copy_engines()); }
    bool copy_in() const { return unpack_from(staged_.get(), copy_engines()); }

private:
    std::uintptr_t items() const { return static_cast<std::uintptr_t>(layout_.count) * blocks_; }
    bool pack_to(void *to, ucd_info_t info) const {
        std::uintptr_t moved = 0;
        return ucd_pack(data_.get(), items(), type_, 0, to, bytes(), &moved, info,
                        UCD_OP__REPLACE) == UCD_SUCCESS;
    }
    bool unpack_from(const void *from, ucd_info_t info) const {
        std::uintptr_t moved = 0;
        return ucd_unpack(from, bytes(), data_.get(), items(), type_, 0, &moved, info,
                          UCD_OP__REPLACE) == UCD_SUCCESS;
    }
    bool move(void *to, const void *from) const {
        std::uintptr_t moved = 0;
        return ucd_pack(from, bytes(), UCD_TYPE__BYTE, 0, to, bytes(), &moved, UCD_INFO__NULL,
                        UCD_OP__REPLACE) == UCD_SUCCESS;
    }

    const MpiLayout &layout_;
    std::size_t blocks_;
    ucd_type_t type_ = UCD_TYPE__NULL;
    Memory data_, packed_, staged_;
};

bool on_all_processes(bool here) {
    int mine = here ? 1 : 0, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

// Ways that some process cannot go are left out.
void add(RatioTable &table, const MpiLayout &l, const DeviceData &data, Way plain, Way engines,
         Way hand, Way ucd) {
    if (!mpi_reads_devices()) plain = nullptr;
    if (!on_all_processes(data.copy_out() && data.copy_in())) engines = nullptr;
    table.add(l.name, data.bytes(), in_turns(data.bytes(), {plain, engines, hand, ucd}),
              !l.is_contiguous());
}

void ping_pong(RatioTable &table, const MpiLayout &l, const DeviceData &data) {
    const int peer = 1 - rank, bytes = static_cast<int>(data.bytes());
    const auto turns = [](const auto &send, const auto &receive) {
        return [send, receive] {
            for (int turn = 0; turn < 2; ++turn) turn == rank ? send() : receive();
        };
    };
    const auto typed = [&](const MpiCalls &calls) {
        return turns([&] { calls.send(data.data(), l.count, l.type, peer, 0, MPI_COMM_WORLD); },
                     [&] {
                         calls.recv(data.data(), l.count, l.type, peer, 0, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE);
                     });
    };
    const auto send = [&] { PMPI_Send(data.staged(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD); };
    const auto receive = [&] {
        PMPI_Recv(data.staged(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    add(table, l, data, typed(plain_mpi),
        turns([&, send] { data.copy_out(), send(); }, [&, receive] { receive(), data.copy_in(); }),
        turns([&, send] { data.pack(), send(); }, [&, receive] { receive(), data.unpack(); }),
        typed(with_ucd));
}

void alltoall(RatioTable &table, const MpiLayout &l, const DeviceData &from, const DeviceData &to) {
    const int bytes = static_cast<int>(l.bytes);
    const auto typed = [&](const MpiCalls &calls) {
        return [&] {
            calls.alltoall(from.data(), l.count, l.type, to.data(), l.count, l.type,
                           MPI_COMM_WORLD);
        };
    };
    const auto exchange = [&] {
        PMPI_Alltoall(from.staged(), bytes, MPI_BYTE, to.staged(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    };
    add(
        table, l, from, typed(plain_mpi),
        [&, exchange] { from.copy_out(), exchange(), to.copy_in(); },
        [&, exchange] { from.pack(), exchange(), to.unpack(); }, typed(with_ucd));
}

} // namespace

bool device_section(const std::string &device, const Sizes &sizes) {
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS ||
        !on_all_processes(allocate(device, UCD_MEMORY__DEVICE, 1) != nullptr)) {
        std::fprintf(stderr, "ucd-mpi-bench: %s cannot be used: %s\n", device.c_str(),
                     ucd_last_error());
        return false;
    }
    const std::vector<std::string> ways = {"plain", "copy engine", "kernel, copy", "UCD"};
    if (processes == 2) {
        RatioTable table("ping-pong", ways);
        for (const int size : sizes)
            for (const MpiLayout &l : mpi_layouts(size)) {
                const DeviceData data(device, l, 1);
                if (on_all_processes(data.usable())) ping_pong(table, l, data);
            }
    }
    RatioTable table("alltoall", ways);
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) {
            const DeviceData from(device, l, processes), to(device, l, processes);
            if (on_all_processes(from.usable() && to.usable())) alltoall(table, l, from, to);
        }
    return true;
}

} // namespace bench
