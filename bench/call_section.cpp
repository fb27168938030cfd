#include "layouts.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace bench {
namespace {

constexpr unsigned name_width = 37;
constexpr std::uintptr_t small = 64; // bytes

// The contenders for a call that moves few bytes, in the order of the columns.
std::vector<Contender> small_calls(const Run &run, const Layout &layout, const Workbench &bench,
                                   const UcdType &type, const UcdInfo &no_gpu, const MpiType *mpi,
                                   bool pack) {
    const auto by_ucd = [&](ucd_info_t info) {
        const UcdMove move{.type = type.get(),
                           .laid_out = bench.laid_out(),
                           .packed = bench.packed(),
                           .offset = 0,
                           .bytes = small,
                           .info = info};
        return pack ? repeated([move] { move.pack(); }) : repeated([move] { move.unpack(); });
    };
    const MoveLoop loop = pack ? layout.hand.front().pack : layout.hand.front().unpack;
    std::vector<Contender> all{
        {"UCD, ucd.gpu=none", by_ucd(no_gpu.get())},
        {"UCD", by_ucd(UCD_INFO__NULL)},
        {"hand", repeated([loop, &lists = layout.lists, laid_out = bench.laid_out(),
                           packed = bench.packed()] { loop(lists, laid_out, packed); })},
    };
    if (mpi != nullptr && run.mpi != nullptr)
        all.push_back({"MPI", pack ? mpi->packing(bench.laid_out(), bench.packed(), small)
                                   : mpi->unpacking(bench.laid_out(), bench.packed(), small)});
    return all;
}

// The work of one contender in two threads at once, on memory of their own.
Work at_once(Work one, Work other) {
    return [one = std::move(one), other = std::move(other)](std::uint64_t times) {
        std::thread helper([&] { other(times); });
        one(times);
        helper.join();
    };
}

std::vector<std::string> cells_of(std::string name, const char *operation,
                                  std::span<const Result> results) {
    std::vector<std::string> cells{std::move(name), operation};
    for (const Result &r : results) cells.push_back(duration(r.seconds()));
    if (results.size() == 3) cells.push_back("-");
    return cells;
}

void measure_small_calls(Run &run) {
    Table table(run.progress, {{"64-byte call", name_width},
                               {"", 6},
                               {"gpu=none", 9},
                               {"no info", 9},
                               {"hand", 9},
                               {"MPI", 9}});
    const UcdInfo no_gpu("ucd.gpu", "none");
    for (const Layout &layout : small_layouts()) {
        if (!run.wants(layout.name)) continue;
        run.progress.say(fmt::format("{}: calls", layout.name));
        Workbench bench(*layout.type), second_bench(*layout.type);
        const UcdType type(*layout.type);
        const std::unique_ptr<MpiType> mpi = run.mpi ? run.mpi->build(*layout.type) : nullptr;
        for (const bool pack : {true, false}) {
            const char *const operation = pack ? "pack" : "unpack";
            auto contenders = small_calls(run, layout, bench, type, no_gpu, mpi.get(), pack);
            for (const Contender &c : contenders)
                pack ? bench.check_packing(c.name, c.work) : bench.check_unpacking(c.name, c.work);
            table.row(cells_of(layout.name, operation,
                               run.measure("calls", layout.name, operation, 0, contenders)));
            // MPI was not initialised for several threads.
            auto seconds = small_calls(run, layout, second_bench, type, no_gpu, nullptr, pack);
            contenders.resize(seconds.size());
            for (std::size_t i = 0; i < seconds.size(); ++i)
                contenders[i].work = at_once(contenders[i].work, seconds[i].work);
            Run patient = run;
            // Long enough that starting a thread does not count.
            patient.effort.seconds = std::max(run.effort.seconds, 5e-3);
            patient.effort.clock = Clock::wall;
            const std::string name = fmt::format("{}, two threads", layout.name);
            table.row(cells_of(name, operation,
                               patient.measure("calls", name, operation, 0, contenders)));
        }
    }
    fmt::print("\n");
}

// Creates a type with `create`, packs its first bytes if asked to, and frees it.
template <class Create>
Work creation(Create create, const Workbench *packed_from) {
    return repeated([create, packed_from] {
        ucd_type_t type;
        check_ucd(create(&type));
        if (packed_from != nullptr)
            UcdMove{.type = type,
                    .laid_out = packed_from->laid_out(),
                    .packed = packed_from->packed(),
                    .offset = 0,
                    .bytes = small}
                .pack();
        check_ucd(ucd_free(&type));
    });
}

template <class Create>
void measure_creation(Run &run, Table &table, const std::string &name, const Recipe &recipe,
                      Create create, Work by_mpi) {
    if (!run.wants(name)) return;
    run.progress.say(fmt::format("{}: creation", name));
    const Workbench bench(recipe);
    std::vector<Contender> contenders{{"UCD", creation(create, nullptr)},
                                      {"UCD, with a first pack", creation(create, &bench)}};
    if (by_mpi) contenders.push_back({"MPI", std::move(by_mpi)});
    const auto results = run.measure("creation", name, "create and free", 0, contenders);
    std::vector<std::string> cells{name};
    for (const Result &r : results) cells.push_back(duration(r.seconds()));
    if (!run.mpi) cells.push_back("-");
    table.row(cells);
}

void measure_creations(Run &run) {
    Table table(run.progress, {{"create and free", name_width},
                               {"UCD", 9},
                               {"with a 64-byte pack", 19},
                               {"MPI, with commit", 16}});
    const RecipePtr doubles = predefined(Element::float64);
    constexpr int count = 1000, stride = 3;
    measure_creation(
        run, table, "vector of 1000 doubles", *recipe(Vector{count, 1, stride, doubles}),
        [](ucd_type_t *type) {
            return ucd_create_vector(count, 1, stride, UCD_TYPE__DOUBLE, UCD_INFO__NULL, type);
        },
        run.mpi ? run.mpi->vector_creation(count, 1, stride) : Work());
    const IndexedArguments runs = random_runs(10'000);
    measure_creation(
        run, table, "indexed, 10,000 runs of 1-4 doubles",
        *recipe(Indexed{runs.blocklengths, runs.displs, doubles}),
        [&runs](ucd_type_t *type) {
            return ucd_create_indexed(static_cast<std::intptr_t>(runs.displs.size()),
                                      runs.blocklengths.data(), runs.displs.data(),
                                      UCD_TYPE__DOUBLE, UCD_INFO__NULL, type);
        },
        run.mpi ? run.mpi->indexed_creation(runs.blocklengths, runs.displs) : Work());
    fmt::print("\n");
}

} // namespace

void run_calls(Run &run) {
    measure_small_calls(run);
    measure_creations(run);
}

} // namespace bench
