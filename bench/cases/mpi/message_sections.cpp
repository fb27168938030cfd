#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

namespace bench {

namespace {

void add_pack(RatioTable &table, const MpiLayout &l) {
    std::vector<char> data(l.extent), packed(l.bytes);
    const auto by = [&](const MpiCalls &calls) {
        return [&] {
            int position = 0;
            const auto bytes = static_cast<int>(packed.size());
            calls.pack(data.data(), l.count, l.type, packed.data(), bytes, &position,
                       MPI_COMM_WORLD);
            position = 0;
            calls.unpack(packed.data(), bytes, &position, data.data(), l.count, l.type,
                         MPI_COMM_WORLD);
        };
    };
    table.add(l.name, l.bytes, in_turns(l.bytes, {by(plain_mpi), by(with_ucd)}),
              !l.is_contiguous());
}

void add_ping_pong(RatioTable &table, const MpiLayout &l) {
    std::vector<char> data(l.extent);
    const auto by = [&](const MpiCalls &calls) {
        return [&] {
            for (int turn = 0; turn < 2; ++turn)
                if (turn == rank)
                    calls.send(data.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD);
                else
                    calls.recv(data.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD,
                               MPI_STATUS_IGNORE);
        };
    };
    table.add(l.name, l.bytes, in_turns(l.bytes, {by(plain_mpi), by(with_ucd)}),
              !l.is_contiguous());
}

} // namespace

void pack_section(const Sizes &sizes) {
    RatioTable table("pack", {"plain", "UCD"});
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) add_pack(table, l);
}

void ping_pong_section(const Sizes &sizes) {
    RatioTable table("ping-pong", {"plain", "UCD"});
    for (const int size : sizes)
        for (const MpiLayout &l : mpi_layouts(size)) add_ping_pong(table, l);
}

void table_section() {
    {
        RatioTable table("pack", {"plain", "UCD"});
        for (const MpiLayout &l : table_layouts()) add_pack(table, l);
    }
    if (processes != 2) return;
    RatioTable table("ping-pong", {"plain", "UCD"});
    for (const MpiLayout &l : table_layouts()) add_ping_pong(table, l);
}

} // namespace bench
