#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <string_view>
#include <ucd_memory.h>
#include <ucd_mpi.h>
#include <vector>

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

// The device of the process with this number: of a list, as many times as it takes.
std::string own_device(const std::string &list, int number) {
    std::vector<std::string> names{""};
    for (const char c : list)
        if (c == ',')
            names.emplace_back();
        else
            names.back() += c;
    return names[static_cast<std::size_t>(number) % names.size()];
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
    const char *const said = std::getenv("UCD_MPI_GPU_AWARE");
    if (said != nullptr) return *said == '1';
    const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return ask != nullptr && ask() == 1;
}

// The ways of libucd-mpi-preload, in its order, and what it chooses itself.
enum DeviceWay : int { chosen = -1, on_device, on_host, by_mpi };

void set_way(DeviceWay way) {
    static const auto set =
        reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "ucd_mpi_preload_set_gpu_way"));
    if (set != nullptr) set(way);
}

// A layout's data on the device, `blocks` times, and what users stage it in.
class DeviceData {
public:
    DeviceData(const std::string &device, const MpiLayout &layout, int blocks)
        : layout_(layout), blocks_(static_cast<std::size_t>(blocks)),
          data_(allocate(device, UCD_MEMORY__DEVICE, layout.extent * blocks_)),
          packed_(allocate(device, UCD_MEMORY__DEVICE, bytes())),
          staged_(allocate(device, UCD_MEMORY__PINNED, bytes())),
          staged_by_engines_(allocate(device, UCD_MEMORY__PINNED, bytes())) {
        (void)ucd_type_from_mpi(layout.type, UCD_INFO__NULL, &type_);
    }
    DeviceData(const DeviceData &) = delete;
    DeviceData &operator=(const DeviceData &) = delete;
    ~DeviceData() { (void)ucd_free(&type_); }

    // MPI libraries copy each segment by itself, which takes minutes for so many.
    bool has_few_segments() const {
        ucd_advice_t advice;
        advice.struct_size = offsetof(ucd_advice_t, boxes);
        return ucd_get_advice(items(), type_, 0, 0, &advice) == UCD_SUCCESS &&
               advice.segments <= std::size_t{1} << 18;
    }

    bool usable() const {
        return data_ && packed_ && staged_ && staged_by_engines_ && type_ != UCD_TYPE__NULL;
    }
    char *data() const { return data_.get(); }
    char *staged() const { return staged_.get(); }
    // Its own, since what one way leaves in the caches would help the other.
    char *staged_by_engines() const { return staged_by_engines_.get(); }
    char *packed() const { return packed_.get(); }
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
    // By a kernel on the device, where it stays.
    bool pack_there() const { return pack_to(packed_.get(), UCD_INFO__NULL); }
    bool unpack_there() const { return unpack_from(packed_.get(), UCD_INFO__NULL); }
    // By the copy engines only; false for layouts that they do not know.
    bool copy_out() const { return pack_to(staged_by_engines(), copy_engines()); }
    bool copy_in() const { return unpack_from(staged_by_engines(), copy_engines()); }

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
    Memory data_, packed_, staged_, staged_by_engines_;
};

bool on_all_processes(bool here) {
    int mine = here ? 1 : 0, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

// The first ways are what users write themselves. The others are the library's typed call, by
// each way that it has.
const std::vector<std::string> all_ways = {"plain",      "copy engine", "kernel, copy", "on device",
                                           "UCD device", "UCD host",    "UCD"};
struct OwnWays {
    Way engines, kernel_and_copy, on_device;
};

Way by_way(DeviceWay way, const Way &typed) {
    return [way, typed] { set_way(way), typed(); };
}

// Ways that some process cannot go are left out. `typed` makes the calls by one of both.
template <class Typed>
void add(RatioTable &table, const MpiLayout &l, const DeviceData &data, const Typed &typed,
         OwnWays own) {
    const bool reads = mpi_reads_devices();
    if (!on_all_processes(data.copy_out() && data.copy_in())) own.engines = nullptr;
    if (!reads) own.on_device = nullptr;
    const Way ucd = typed(with_ucd);
    // Apart: MPI may take a thousand times as long, and devices that are idle meanwhile start
    // slowly.
    std::vector<double> seconds(1);
    if (reads && data.has_few_segments()) seconds = in_turns(data.bytes(), {Way(typed(plain_mpi))});
    for (const double s :
         in_turns(data.bytes(), {own.engines, own.kernel_and_copy, own.on_device,
                                 reads ? by_way(on_device, ucd) : nullptr,
                                 reads ? by_way(on_host, ucd) : nullptr, by_way(chosen, ucd)}))
        seconds.push_back(s);
    table.add(l.name, data.bytes(), seconds, !l.is_contiguous());
}

// Packs, exchanges packed bytes by `exchange(from, to)`, and unpacks.
template <class Exchange>
OwnWays own_ways(const DeviceData &from, const DeviceData &to, const Exchange &exchange) {
    return {[&, exchange] {
                from.copy_out(), exchange(from.staged_by_engines(), to.staged_by_engines()),
                    to.copy_in();
            },
            [&, exchange] { from.pack(), exchange(from.staged(), to.staged()), to.unpack(); },
            [&, exchange] {
                from.pack_there(), exchange(from.packed(), to.packed()), to.unpack_there();
            }};
}

// One message there and one back.
void ping_pong(RatioTable &table, const MpiLayout &l, const DeviceData &data) {
    const int peer = 1 - rank, bytes = static_cast<int>(data.bytes());
    const auto turns = [](const auto &send, const auto &receive) {
        return Way([send, receive] {
            for (int turn = 0; turn < 2; ++turn) turn == rank ? send() : receive();
        });
    };
    const auto typed = [&](const MpiCalls &calls) {
        return turns([&] { calls.send(data.data(), l.count, l.type, peer, 0, MPI_COMM_WORLD); },
                     [&] {
                         calls.recv(data.data(), l.count, l.type, peer, 0, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE);
                     });
    };
    const auto send = [=](char *from) {
        PMPI_Send(from, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    };
    const auto receive = [=](char *to) {
        PMPI_Recv(to, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    add(table, l, data, typed,
        {turns([&, send] { data.copy_out(), send(data.staged_by_engines()); },
               [&, receive] { receive(data.staged_by_engines()), data.copy_in(); }),
         turns([&, send] { data.pack(), send(data.staged()); },
               [&, receive] { receive(data.staged()), data.unpack(); }),
         turns([&, send] { data.pack_there(), send(data.packed()); },
               [&, receive] { receive(data.packed()), data.unpack_there(); })});
}

// Both ways at once, by nonblocking calls.
void exchange(RatioTable &table, const MpiLayout &l, const DeviceData &from, const DeviceData &to) {
    const int peer = 1 - rank, bytes = static_cast<int>(from.bytes());
    const auto both = [=](const MpiCalls &calls, char *out, char *in, int count,
                          MPI_Datatype type) {
        MPI_Request requests[2];
        calls.irecv(in, count, type, peer, 0, MPI_COMM_WORLD, &requests[0]);
        calls.isend(out, count, type, peer, 0, MPI_COMM_WORLD, &requests[1]);
        calls.wait_all(2, requests, MPI_STATUSES_IGNORE);
    };
    add(
        table, l, from,
        [&](const MpiCalls &calls) {
            return Way([&, both] { both(calls, from.data(), to.data(), l.count, l.type); });
        },
        own_ways(from, to,
                 [=](char *out, char *in) { both(plain_mpi, out, in, bytes, MPI_BYTE); }));
}

void alltoall(RatioTable &table, const MpiLayout &l, const DeviceData &from, const DeviceData &to) {
    const int bytes = static_cast<int>(l.bytes);
    add(
        table, l, from,
        [&](const MpiCalls &calls) {
            return Way([&] {
                calls.alltoall(from.data(), l.count, l.type, to.data(), l.count, l.type,
                               MPI_COMM_WORLD);
            });
        },
        own_ways(from, to, [bytes](char *out, char *in) {
            PMPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        }));
}

using Measure = void (*)(RatioTable &, const MpiLayout &, const DeviceData &, const DeviceData &);

void section(const char *name, const std::string &device, const Sizes &sizes, int blocks,
             Measure measure) {
    RatioTable table(name, all_ways);
    for (const int size : sizes)
        for (const MpiLayout &l : device_layouts(size)) {
            const DeviceData from(device, l, blocks), to(device, l, blocks);
            if (on_all_processes(from.usable() && to.usable())) measure(table, l, from, to);
        }
    set_way(chosen);
}

} // namespace

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

bool device_section(const std::string &devices, const std::string &only, const Sizes &sizes) {
    const std::string device = own_device(devices, rank);
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS ||
        !on_all_processes(allocate(device, UCD_MEMORY__DEVICE, 1) != nullptr)) {
        std::fprintf(stderr, "ucd-mpi-bench: %s cannot be used: %s\n", device.c_str(),
                     ucd_last_error());
        return false;
    }
    const auto wanted = [&](std::string_view name) { return only.empty() || only == name; };
    if (processes == 2 && wanted("ping-pong"))
        section("ping-pong", device, sizes, 1,
                [](RatioTable &table, const MpiLayout &l, const DeviceData &data,
                   const DeviceData &) { ping_pong(table, l, data); });
    if (processes == 2 && wanted("exchange")) section("exchange", device, sizes, 1, exchange);
    if (wanted("collectives")) section("alltoall", device, sizes, processes, alltoall);
    return true;
}

namespace {

// The sizes of the device's table, and the mean segments.
constexpr int table_sizes[] = {256,       1 << 10, 4 << 10, 16 << 10, 64 << 10,
                               256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
constexpr int table_segments[] = {8, 32, 128, 512, 2 << 10, 8 << 10, 64 << 10, 512 << 10};

// The median seconds of each way, of a message there and back, and of messages in both directions
// at once: the shares of the quickest way, multiplied.
std::vector<double> relative_times(const MpiLayout &l, const DeviceData &from,
                                   const DeviceData &to) {
    const auto there_and_back = [&] {
        for (int turn = 0; turn < 2; ++turn)
            if (turn == rank)
                MPI_Send(from.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(to.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    };
    const auto both = [&] {
        MPI_Request requests[2];
        MPI_Irecv(to.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(from.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    };
    std::vector<double> all(3, 1.0);
    for (const Way &typed : {Way(there_and_back), Way(both)}) {
        std::vector<double> seconds =
            in_turns(from.bytes(), {by_way(on_device, typed), by_way(on_host, typed)});
        seconds.push_back(1e3); // if there are too many segments to be tried
        if (from.has_few_segments())
            seconds[by_mpi] = in_turns(from.bytes(), {by_way(by_mpi, typed)}).front();
        const double best = std::min({seconds[0], seconds[1], seconds[2]});
        for (std::size_t way = 0; way < all.size(); ++way) all[way] *= seconds[way] / best;
    }
    PMPI_Bcast(all.data(), static_cast<int>(all.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
}

// The longest row of sizes for which `way` is the quickest one. The largest size stands for all
// beyond it.
std::string quickest_sizes(const std::vector<DeviceWay> &quickest, DeviceWay way) {
    std::size_t first = 0, longest = 0;
    for (std::size_t i = 0, begin = 0; i < quickest.size(); ++i) {
        if (quickest[i] != way) begin = i + 1;
        if (i + 1 - begin > longest) {
            longest = i + 1 - begin;
            first = begin;
        }
    }
    if (longest == 0) return "{}";
    const std::size_t last = first + longest - 1;
    const int least = first == 0 ? 1 : table_sizes[first];
    return "{" + std::to_string(least) + ", " +
           (last + 1 < quickest.size() ? std::to_string(table_sizes[last + 1] - 1) : "any_size") +
           "}";
}

} // namespace

bool write_device_tuning(const std::string &devices, const std::string &path) {
    if (!has_preload() || processes != 2 || !mpi_reads_devices() ||
        ucd_init(UCD_INFO__NULL) != UCD_SUCCESS)
        return false;
    std::FILE *const file = rank == 0 ? std::fopen(path.c_str(), "w") : nullptr;
    if (!on_all_processes(rank != 0 || file != nullptr)) return false;
    if (rank == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(library, &length);
        std::fprintf(file,
                     "// Written by ucd-mpi-bench --gpu --write-table: by MPI, through the host.\n"
                     "// %.*s, %s\n",
                     static_cast<int>(std::strcspn(library, "\n,")), library, devices.c_str());
    }
    const std::string device = own_device(devices, rank);
    if (!on_all_processes(allocate(device, UCD_MEMORY__DEVICE, 1) != nullptr)) return false;
    for (const int segment : table_segments) {
        std::vector<DeviceWay> quickest;
        std::string seen;
        for (const int bytes : table_sizes) {
            // Without a gap there is nothing to pack.
            const MpiLayout l = rows_layout(std::max(bytes, 2 * segment), segment);
            const DeviceData from(device, l, 1), to(device, l, 1);
            if (!on_all_processes(from.usable() && to.usable())) break;
            const std::vector<double> times = relative_times(l, from, to);
            // The device's way unless another one is clearly quicker.
            const double margin = 1.05;
            DeviceWay best = on_device;
            for (const DeviceWay way : {on_host, by_mpi})
                if (times[static_cast<std::size_t>(way)] * (best == on_device ? margin : 1) <
                    times[static_cast<std::size_t>(best)])
                    best = way;
            quickest.push_back(best);
            char text[48];
            std::snprintf(text, sizeof text, "  %.2f %.2f %.2f", times[0], times[1], times[2]);
            seen += text;
        }
        if (rank != 0) continue;
        std::fprintf(file, "{%d, %s, %s},\n", segment, quickest_sizes(quickest, by_mpi).c_str(),
                     quickest_sizes(quickest, on_host).c_str());
        std::printf("%6d%s\n", segment, seen.c_str());
        std::fflush(stdout);
    }
    set_way(chosen);
    return rank != 0 || std::fclose(file) == 0;
}

} // namespace bench
