// What a call costs that moves few bytes, and creating and freeing types.
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace bench::cpu {
namespace {

constexpr unsigned name_width = 37;
constexpr std::uintptr_t small = 64; // bytes

Moves small_calls(LayoutOnDevice &subject, const UcdInfo &no_gpu, bool pack) {
    Moves moves(subject, pack);
    moves.add_ucd("UCD, ucd.gpu=none", no_gpu.get());
    moves.add_ucd();
    moves.add_hand(1);
    moves.add_mpi();
    return moves;
}

// The work of one contender in two threads at once, on memory of their own.
Work at_once(Work one, Work other) {
    return [one = std::move(one), other = std::move(other)](std::uint64_t times) {
        std::thread helper([&] { other(times); });
        one(times);
        helper.join();
    };
}

void measure_small_calls(const Setting &s) {
    Table table(s.run.progress, {column::subject("64-byte call", name_width), column::operation(),
                                 column::time("UCD, ucd.gpu=none", 9, "gpu=none"),
                                 column::time("UCD", 9, "no info"), column::time("hand", 9),
                                 column::time("MPI", 9)});
    const UcdInfo no_gpu("ucd.gpu", "none");
    for (const Layout &layout : small_layouts())
        s.run.row(layout.name, [&] {
            LayoutOnDevice first(layout, s.device, MemoryKind::own, MemoryKind::own, s.mpi);
            // MPI was not initialised for several threads.
            LayoutOnDevice second(layout, s.device);
            for (const bool pack : {true, false}) {
                const auto measure = [&](const std::string &name,
                                         std::span<const Contender> contenders) {
                    table.row(s.run.measure("calls", name, operation_name(pack), 0, contenders));
                };
                const Moves one = small_calls(first, no_gpu, pack);
                measure(layout.name, one.contenders());
                std::vector<Contender> both = small_calls(second, no_gpu, pack).contenders();
                for (std::size_t i = 0; i < both.size(); ++i)
                    both[i].work = at_once(one.contenders()[i].work, both[i].work);
                // Long enough that starting a thread does not count.
                const Effort effort = s.run.effort;
                s.run.effort.seconds = std::max(effort.seconds, 5e-3);
                s.run.effort.clock = Clock::wall;
                measure(fmt::format("{}, two threads", layout.name), both);
                s.run.effort = effort;
            }
        });
    fmt::print("\n");
}

// Creates a type with `create`, packs its first bytes if asked to, and frees it.
template <class Create>
Work creation(Create create, const Workbench *packed_from) {
    return repeated([create, packed_from] {
        ucd_type_t type;
        check_ucd(create(&type));
        if (packed_from != nullptr)
            UcdMove{type, packed_from->typed(), packed_from->packed(), 0, small}.pack();
        check_ucd(ucd_free(&type));
    });
}

template <class Create, class CreateMpi>
void measure_creation(const Setting &s, Table &table, const std::string &name, const Recipe &recipe,
                      Create create, CreateMpi create_mpi) {
    s.run.row(name, [&] {
        const Workbench bench(recipe, s.device);
        std::vector<Contender> contenders{{"UCD", creation(create, nullptr)},
                                          {"UCD, with a first pack", creation(create, &bench)}};
        if (s.mpi != nullptr) contenders.push_back({"MPI", repeated(create_mpi)});
        table.row(s.run.measure("creation", name, "create and free", 0, contenders));
    });
}

void measure_creations(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("create and free", name_width), column::time("UCD", 9),
                 column::time("UCD, with a first pack", 19, "with a 64-byte pack"),
                 column::time("MPI", 16, "MPI, with commit")});
    constexpr int count = 1000, stride = 3;
    measure_creation(
        s, table, "vector of 1000 doubles", *recipe(Vector{count, 1, stride, doubles()}),
        [](ucd_type_t *type) {
            return ucd_create_vector(count, 1, stride, UCD_TYPE__DOUBLE, UCD_INFO__NULL, type);
        },
        [&] { s.mpi->create_vector(count, 1, stride); });
    const ListData runs = random_runs(10'000);
    const Ints lengths(runs.lengths.begin(), runs.lengths.end()),
        displs(runs.displs.begin(), runs.displs.end());
    measure_creation(
        s, table, "indexed, 10,000 runs of 1-4 doubles",
        *recipe(Indexed{lengths, displs, doubles()}),
        [&](ucd_type_t *type) {
            return ucd_create_indexed(static_cast<std::intptr_t>(displs.size()), lengths.data(),
                                      displs.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL, type);
        },
        [&] { s.mpi->create_indexed(runs.lengths, runs.displs); });
    fmt::print("\n");
}

} // namespace

void run_calls(const Setting &s) {
    measure_small_calls(s);
    measure_creations(s);
}

} // namespace bench::cpu
