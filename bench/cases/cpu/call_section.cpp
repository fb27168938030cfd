// What a call costs that moves few bytes, and creating and freeing types.
#include "cases/cpu/sections.hpp"
#include "cases/moves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace bench::cpu {
namespace {

constexpr unsigned name_width = 37;
constexpr std::uintptr_t small = 64; // bytes

Moves small_calls(const Layout &layout, Workbench &bench, const UcdType &type,
                  const UcdInfo &no_gpu, const MpiType *mpi, bool pack) {
    Moves moves(bench, pack);
    moves.add_ucd(type, "UCD, ucd.gpu=none", no_gpu.get());
    moves.add_ucd(type);
    moves.add_hand(layout.hand.first(1), layout.lists.view());
    moves.add_mpi(mpi);
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

void print(Table &table, const std::string &name, bool pack, const Comparison &c) {
    table.row({name, operation_name(pack), c.time("UCD, ucd.gpu=none"), c.time("UCD"),
               c.time("hand"), c.time("MPI")});
}

void measure_small_calls(const Setting &s) {
    Table table(s.run.progress, {{"64-byte call", name_width},
                                 {"", 6},
                                 {"gpu=none", 9},
                                 {"no info", 9},
                                 {"hand", 9},
                                 {"MPI", 9}});
    const UcdInfo no_gpu("ucd.gpu", "none");
    for (const Layout &layout : small_layouts())
        s.run.row(layout.name, [&] {
            Workbench bench(*layout.type, s.host), second_bench(*layout.type, s.host);
            const UcdType type(*layout.type);
            const std::unique_ptr<MpiType> mpi = s.mpi ? s.mpi->build(*layout.type) : nullptr;
            for (const bool pack : {true, false}) {
                const Moves one = small_calls(layout, bench, type, no_gpu, mpi.get(), pack);
                const auto measure = [&](const std::string &name,
                                         std::span<const Contender> contenders) {
                    print(table, name, pack,
                          s.run.measure("calls", name, operation_name(pack), 0, contenders));
                };
                measure(layout.name, one.contenders());
                // MPI was not initialised for several threads.
                const Moves other = small_calls(layout, second_bench, type, no_gpu, nullptr, pack);
                std::vector<Contender> both = other.contenders();
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
        const Workbench bench(recipe, s.host);
        std::vector<Contender> contenders{{"UCD", creation(create, nullptr)},
                                          {"UCD, with a first pack", creation(create, &bench)}};
        if (s.mpi != nullptr) contenders.push_back({"MPI", repeated(create_mpi)});
        const Comparison c = s.run.measure("creation", name, "create and free", 0, contenders);
        table.row({name, c.time("UCD"), c.time("UCD, with a first pack"), c.time("MPI")});
    });
}

void measure_creations(const Setting &s) {
    Table table(s.run.progress, {{"create and free", name_width},
                                 {"UCD", 9},
                                 {"with a 64-byte pack", 19},
                                 {"MPI, with commit", 16}});
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
