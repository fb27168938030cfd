#include "cases/mpi/device_data.hpp"
#include "cases/mpi/device_ways.hpp"
#include "cases/mpi/sections.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <ucd.h>
#include <vector>

namespace bench {
namespace {

// The first ways are what users write themselves. The others are the library's typed call, by
// each way that it has.
const std::vector<std::string> all_ways = {"plain",      "copy engine", "kernel, copy", "on device",
                                           "UCD device", "UCD host",    "UCD"};
struct OwnWays {
    Way engines, kernel_and_copy, on_device;
};

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

bool device_section(const std::string &devices, const std::string &only, const Sizes &sizes) {
    const std::string device = own_device(devices, rank);
    if (!on_all_processes(can_use(device))) {
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

} // namespace bench
