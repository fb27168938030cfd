#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

namespace bench {

namespace {

void there_and_back(const MpiCalls &calls, void *buffer, const MpiLayout &l) {
    for (int turn = 0; turn < 2; ++turn)
        if (turn == rank)
            calls.send(buffer, l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD);
        else
            calls.recv(buffer, l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

} // namespace

std::vector<double> time_pack(const MpiLayout &l) {
    std::vector<char> data(l.extent), packed(l.bytes);
    return compare(l.bytes, [&](const MpiCalls &calls) {
        int position = 0;
        const auto bytes = static_cast<int>(packed.size());
        calls.pack(data.data(), l.count, l.type, packed.data(), bytes, &position, MPI_COMM_WORLD);
        position = 0;
        calls.unpack(packed.data(), bytes, &position, data.data(), l.count, l.type, MPI_COMM_WORLD);
    });
}

std::vector<double> time_ping_pong(const MpiLayout &l) {
    std::vector<char> data(l.extent);
    return compare(l.bytes, [&](const MpiCalls &calls) { there_and_back(calls, data.data(), l); });
}

std::vector<double> time_exchange(const MpiLayout &l) {
    std::vector<char> sent(l.extent), received(l.extent);
    return compare(l.bytes, [&](const MpiCalls &calls) {
        MPI_Request requests[2];
        calls.irecv(received.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        calls.isend(sent.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        calls.wait_all(2, requests, MPI_STATUSES_IGNORE);
    });
}

std::vector<double> time_alltoall(const MpiLayout &l) {
    const auto all = static_cast<std::size_t>(processes);
    std::vector<char> sent(l.extent * all), received(l.extent * all);
    return compare(l.bytes, [&](const MpiCalls &calls) {
        calls.alltoall(sent.data(), l.count, l.type, received.data(), l.count, l.type,
                       MPI_COMM_WORLD);
    });
}

namespace {

void add_pack(RatioTable &table, const MpiLayout &l) {
    table.add(l.name, l.bytes, time_pack(l), !l.is_contiguous());
}

void add_ping_pong(RatioTable &table, const MpiLayout &l) {
    table.add(l.name, l.bytes, time_ping_pong(l), !l.is_contiguous());
}

} // namespace

void pack_section(const Sizes &sizes) {
    RatioTable table("pack", compared);
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) add_pack(table, l);
}

void ping_pong_section(const Sizes &sizes) {
    RatioTable table("ping-pong", compared);
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) add_ping_pong(table, l);
}

void table_section() {
    {
        RatioTable table("pack", compared);
        for (const MpiLayout &l : table_layouts()) add_pack(table, l);
    }
    if (processes != 2) return;
    RatioTable table("ping-pong", compared);
    for (const MpiLayout &l : table_layouts()) add_ping_pong(table, l);
}

void fresh_section(const Sizes &sizes) {
    if (processes != 2) return;
    RatioTable table("made anew", compared);
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) {
            if (l.is_contiguous()) continue;
            std::vector<char> data(l.extent);
            table.add(l.name, l.bytes,
                      compare(l.bytes,
                              [&](const MpiCalls &calls) {
                                  // A resized type is made in no time, whatever is in it.
                                  MpiLayout fresh = l.resized(calls);
                                  there_and_back(calls, data.data(), fresh);
                                  calls.type_free(&fresh.type);
                                  fresh.type = MPI_DOUBLE;
                              }),
                      true);
        }
}

} // namespace bench
