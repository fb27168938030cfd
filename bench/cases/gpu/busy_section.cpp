// Packing beside other work on the device, with few blocks, and by one engine or the other.
#include "baselines/gpu/kernels.hpp"
#include "cases/gpu/layouts.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "harness/gpu/load.hpp"

#include <fmt/core.h>

#include <chrono>
#include <deque>
#include <thread>

namespace bench::gpu {
namespace {

constexpr LoadKind loads[] = {{"computing, 1/4 of the SMs", LoadWork::spin, 0.25},
                              {"computing, 1/2 of the SMs", LoadWork::spin, 0.5},
                              {"computing, all SMs", LoadWork::spin, 1},
                              {"computing, all places", LoadWork::bursts},
                              {"kernels that copy", LoadWork::kernel_copies},
                              {"host to device", LoadWork::host_to_device, 1, 1},
                              {"device to host", LoadWork::device_to_host, 1, 1},
                              {"device to host, 64 in a row", LoadWork::device_to_host, 1, 64}};

std::string name_of(const Layout &layout, MemoryKind memory) {
    return fmt::format("{} to {}", layout.name, memory == MemoryKind::own ? "device" : "pinned");
}

std::vector<Layout> contended_layouts() {
    return {nest_layout("128 B of 512", vector_128_of_512, hand::vector_128_of_512()),
            nest_layout("8 B of 512", vector_8_of_512, hand::vector_8_of_512()),
            nest_layout("rows of a slab", slab_xz_of_32, hand::slab_xz_of_32())};
}

// How much of the load is done while something goes on, in a second.
class LoadMeter {
public:
    explicit LoadMeter(const Load &load) : load_(load), begin_(load.done()), start_(now()) {}
    Result result(const std::string &subject, const LoadKind &kind, const char *beside) const {
        const double seconds = std::chrono::duration<double>(now() - start_).count();
        return {.section = "busy",
                .subject = subject,
                .operation = kind.name,
                .contender = std::string("load, ") + beside,
                .bytes = load_.done() - begin_,
                .timing = {.times = 1, .seconds = {seconds}}};
    }

private:
    static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
    const Load &load_;
    std::uint64_t begin_;
    std::chrono::steady_clock::time_point start_;
};

std::string load_rate(const Result &r, const LoadKind &kind) {
    return kind.computes() ? three_digits(r.gigabytes_per_second() / 1000) + " Tflop/s"
                           : three_digits(r.gigabytes_per_second()) + " GB/s";
}

class Contention {
public:
    Contention(Run &run, Device &device)
        : run_(run), device_(device), table_(run.progress, {{"packing beside a load", 64},
                                                            {"UCD alone", 9},
                                                            {"loaded", 9},
                                                            {"slower", 6},
                                                            {"hand alone", 10},
                                                            {"loaded", 9},
                                                            {"slower", 6},
                                                            {"load alone", 13},
                                                            {"beside UCD", 13},
                                                            {"beside hand", 13}}) {}

    // With what callers may ask for, which `how` says.
    void measure(const Layout &layout, MemoryKind memory, ucd_info_t info, const std::string &how) {
        const std::string subject = name_of(layout, memory) + how;
        run_.progress.say(subject + ": alone");
        LayoutOnDevice placed(layout, device_, MemoryKind::own, memory);
        Moves moves(placed, true);
        moves.add_ucd("UCD", info);
        moves.add_hand();
        const std::size_t bytes = placed.bench.size();
        const Comparison alone = run_.measure("busy", subject, "alone", bytes, moves.contenders());
        for (const LoadKind &kind : loads) {
            const std::string name = fmt::format("{}, {}", subject, kind.name);
            run_.row(name, [&] { beside(kind, subject, name, bytes, moves, alone); });
        }
    }

private:
    // What the load does, and how long a contender takes meanwhile.
    struct Loaded {
        double seconds;
        Result load;
    };
    void beside(const LoadKind &kind, const std::string &subject, const std::string &row,
                std::size_t bytes, const Moves &moves, const Comparison &alone) {
        const auto load = start_load(device_, kind);
        const LoadMeter undisturbed(*load);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const Result load_alone = undisturbed.result(subject, kind, "alone");
        const auto loaded = [&](const char *contender, const char *beside) -> Loaded {
            const std::string &name = alone.find(contender)->contender;
            const LoadMeter meter(*load);
            for (const Contender &c : moves.contenders())
                if (c.name == name) {
                    const Comparison found =
                        run_.measure("busy", subject, kind.name, bytes, {&c, 1});
                    return {found.seconds(name), meter.result(subject, kind, beside)};
                }
            return {};
        };
        const Loaded ucd = loaded("UCD", "beside UCD"), hand = loaded("hand", "beside hand");
        for (const Result &r : {load_alone, ucd.load, hand.load}) run_.add(r);
        table_.row({row, alone.time("UCD"), duration(ucd.seconds),
                    ratio(ucd.seconds / alone.seconds("UCD")), alone.time("hand"),
                    duration(hand.seconds), ratio(hand.seconds / alone.seconds("hand")),
                    load_rate(load_alone, kind), load_rate(ucd.load, kind),
                    load_rate(hand.load, kind)});
    }

    Run &run_;
    Device &device_;
    Table table_;
};

// What callers may ask for beside a load.
struct Demand {
    const char *name, *key, *value;
};

void run_contention(const Setting &s) {
    const std::vector<Demand> engine{{" by kernel", "ucd.engine", "kernel"}};
    const std::vector<Demand> blocks{{" in 32 blocks", "ucd.max_blocks", "32"},
                                     {" in all blocks", "ucd.max_blocks", "1000000"}};
    Contention contention(s.run, s.device);
    for (const Layout &layout : contended_layouts())
        for (const MemoryKind memory : {MemoryKind::own, MemoryKind::pinned})
            s.run.row(name_of(layout, memory), [&] {
                contention.measure(layout, memory, UCD_INFO__NULL, "");
                if (memory == MemoryKind::own) return;
                for (const Demand &demand : layout.name == "8 B of 512" ? blocks : engine) {
                    const UcdInfo info(demand.key, demand.value);
                    contention.measure(layout, memory, info.get(), demand.name);
                }
            });
}

// Packs of each layout to the device and to pinned memory, by those that `add` adds.
void run_packs(const Setting &s, const std::string &section, Table &table,
               std::span<const Layout> layouts, const std::function<void(Moves &)> &add) {
    for (const Layout &layout : layouts)
        for (const MemoryKind memory : {MemoryKind::own, MemoryKind::pinned}) {
            Layout named = layout;
            named.name = name_of(layout, memory);
            s.run.row(fmt::format("{}, {}", named.name, section), [&] {
                LayoutOnDevice subject(named, s.device, MemoryKind::own, memory);
                Moves moves(subject, true);
                add(moves);
                table.row(moves.measure(s.run, section));
            });
        }
}

void run_blocks(const Setting &s) {
    std::vector<Column> columns{column::subject("GB/s by ucd.max_blocks", 44)};
    std::deque<UcdInfo> limited;
    for (const char *const blocks :
         {"1", "2", "4", "8", "16", "32", "64", "132", "264", "1000000"}) { // the last one: all
        limited.emplace_back("ucd.engine", "kernel");
        limited.back().set("ucd.max_blocks", blocks);
        columns.push_back(column::rate(std::string("UCD, max_blocks ") + blocks, 6, blocks));
    }
    const UcdInfo by_default("ucd.engine", "kernel");
    columns.push_back(column::rate("UCD", 6, "unset"));
    columns.push_back(column::rate("ceiling", 7));
    Table table(s.run.progress, columns);
    run_packs(s, "blocks", table, contended_layouts(), [&](Moves &moves) {
        for (std::size_t i = 0; i < limited.size(); ++i)
            moves.add_ucd("UCD, max_blocks " + columns[i + 1].title, limited[i].get());
        moves.add_ucd("UCD", by_default.get());
        moves.add_plain_copy("ceiling");
    });
}

void run_engines(const Setting &s) {
    constexpr Nest<1> rows_of_1k{1024, {{16 * 1024, 4096}}};
    constexpr Nest<1> few_rows{128, {{512, 512}}};
    const Layout boxes[] = {small_layout(),
                            nest_layout("2-D, 128 B of 512, 64 KiB", few_rows),
                            nest_layout("2-D, 1 KiB of 4, 16 MiB", rows_of_1k),
                            nest_layout("2-D, 128 B of 512, 64 MiB", vector_128_of_512),
                            nest_layout("3-D, 128^3 of 512^3", cube),
                            nest_layout("4-D, 32^4 of 64^4", hypercube),
                            listed_blocks()};
    Table table(s.run.progress,
                {column::subject("time by ucd.engine", 44), column::time("UCD, auto", 8, "auto"),
                 column::time("UCD, kernel", 8, "kernel"), column::time("UCD, dma", 8, "dma"),
                 column::time("ceiling", 8), column::time("copies", 8)});
    const UcdInfo automatic("ucd.engine", "auto"), kernel("ucd.engine", "kernel"),
        dma("ucd.engine", "dma");
    run_packs(s, "engines", table, boxes, [&](Moves &moves) {
        moves.add_ucd("UCD, auto", automatic.get());
        moves.add_ucd("UCD, kernel", kernel.get());
        moves.add_ucd("UCD, dma", dma.get());
        moves.add_plain_copy("ceiling");
        moves.add_boxes();
    });
}

} // namespace

void run_busy(const Setting &s) {
    run_contention(s);
    run_blocks(s);
    run_engines(s);
}

} // namespace bench::gpu
