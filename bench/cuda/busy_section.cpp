// Packing beside other work on the device, with few blocks, and by one engine or the other.
#include "busy_load.hpp"
#include "cuda_layouts.hpp"
#include "cuda_work.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

namespace bench::gpu {
namespace {

using busy::Load;
using busy::LoadKind;
using busy::LoadWork;

constexpr LoadKind loads[] = {{"computing, 1/4 of the SMs", LoadWork::spin, 0.25},
                              {"computing, 1/2 of the SMs", LoadWork::spin, 0.5},
                              {"computing, all SMs", LoadWork::spin, 1},
                              {"computing, all places", LoadWork::bursts},
                              {"kernels that copy", LoadWork::kernel_copies},
                              {"host to device", LoadWork::host_to_device, 1, 1},
                              {"device to host", LoadWork::device_to_host, 1, 1},
                              {"device to host, 64 in a row", LoadWork::device_to_host, 1, 64}};

const char *name_of(Memory memory) {
    return memory == Memory::device ? "device" : "pinned";
}

std::string name_of(const Layout &layout, Memory memory) {
    return fmt::format("{} to {}", layout.name, name_of(memory));
}

// One layout, packed to one kind of memory.
class Packing {
public:
    Packing(Layout layout, Memory memory)
        : layout_(std::move(layout)), bench_(*layout_.type, memory), type_(*layout_.type),
          name_(name_of(layout_, memory)) {}

    const std::string &name() const { return name_; }
    std::size_t bytes() const { return bench_.bytes(); }
    // Checked.
    Contender ucd(std::string name = "UCD", ucd_info_t info = UCD_INFO__NULL) {
        const UcdMove move{type_.get(), bench_.laid_out(), bench_.packed(), 0, bytes(), info};
        return checked({std::move(name), repeated([=] { move.pack(); })});
    }
    Contender by_hand(const HandKernel &kernel) {
        return checked({std::string("hand, ") + kernel.way, blocking([this, kernel] {
                            kernel.pack(bench_.laid_out(), bench_.packed(), nullptr);
                        })});
    }
    Contender copies() {
        return checked({"copies", box_work(layout_.box.value(), bench_.laid_out(), bench_.packed(),
                                           true, layout_.boxes)});
    }
    bool has_copies() const { return layout_.box.has_value(); }
    Contender ceiling() const {
        return {"ceiling", copy_work(bench_.packed(), bench_.spare(), bytes())};
    }
    std::span<const HandKernel> hand() const { return layout_.hand; }

private:
    Contender checked(Contender contender) {
        bench_.check_packing(contender);
        return contender;
    }
    Layout layout_;
    Bench bench_;
    UcdType type_;
    std::string name_;
};

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
    explicit Contention(Run &run)
        : run_(run), table_(run.progress, {{"packing beside a load", 64},
                                           {"UCD alone", 9},
                                           {"loaded", 9},
                                           {"slower", 6},
                                           {"hand alone", 10},
                                           {"loaded", 9},
                                           {"slower", 6},
                                           {"load alone", 13},
                                           {"beside UCD", 13},
                                           {"beside hand", 13}}) {}

    void measure(Packing &packing, const Contender &by_ucd, const std::string &subject,
                 Rows &rows) {
        run_.progress.say(subject + ": alone");
        std::vector<Contender> contenders{by_ucd};
        for (const HandKernel &kernel : packing.hand())
            contenders.push_back(packing.by_hand(kernel));
        const auto alone = run_.measure("busy", subject, "alone", packing.bytes(), contenders);
        const double ucd = alone[0].seconds();
        const auto best =
            std::min_element(alone.begin() + 1, alone.end(), [](const Result &a, const Result &b) {
                return a.seconds() < b.seconds();
            });
        const double hand = best->seconds();
        const Contender by_hand = contenders[static_cast<std::size_t>(best - alone.begin())];
        for (const LoadKind &kind : loads) {
            const std::string name = fmt::format("{}, {}", subject, kind.name);
            rows.row(name, [&] {
                run_.progress.say(name);
                beside(kind, name, {subject, packing.bytes()}, by_ucd, ucd, by_hand, hand);
            });
        }
    }

private:
    struct Subject {
        std::string name;
        std::size_t bytes;
    };
    void beside(const LoadKind &kind, const std::string &row, const Subject &subject,
                const Contender &ucd, double ucd_alone, const Contender &hand, double hand_alone) {
        const Load load(kind);
        const LoadMeter undisturbed(load);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const Result alone = undisturbed.result(subject.name, kind, "alone");
        const auto [ucd_seconds, with_ucd] = loaded(subject, kind, load, ucd, "beside UCD");
        const auto [hand_seconds, with_hand] = loaded(subject, kind, load, hand, "beside hand");
        for (const Result &r : {alone, with_ucd, with_hand}) run_.report.add(r);
        table_.row({row, duration(ucd_alone), duration(ucd_seconds), ratio(ucd_seconds / ucd_alone),
                    duration(hand_alone), duration(hand_seconds), ratio(hand_seconds / hand_alone),
                    load_rate(alone, kind), load_rate(with_ucd, kind), load_rate(with_hand, kind)});
    }
    std::pair<double, Result> loaded(const Subject &subject, const LoadKind &kind, const Load &load,
                                     const Contender &contender, const char *beside) {
        const LoadMeter meter(load);
        const double seconds =
            run_.measure("busy", subject.name, kind.name, subject.bytes, {&contender, 1})[0]
                .seconds();
        return {seconds, meter.result(subject.name, kind, beside)};
    }

    Run &run_;
    Table table_;
};

constexpr const char *block_counts[] = {"1",  "2",  "4",   "8",   "16",
                                        "32", "64", "132", "264", "1000000"}; // the last one: all

void run_blocks(Run &run, Rows &rows) {
    std::vector<Table::Column> columns{{"GB/s by ucd.max_blocks", 44}};
    for (const char *blocks : block_counts) columns.push_back({blocks, 6});
    columns.push_back({"unset", 6});
    columns.push_back({"ceiling", 7});
    Table table(run.progress, columns);
    for (const Layout &layout : contended_layouts())
        for (const Memory memory : {Memory::device, Memory::pinned})
            rows.row(name_of(layout, memory) + ", blocks", [&] {
                Packing packing(layout, memory);
                run.progress.say(packing.name() + ": blocks");
                std::deque<UcdInfo> infos;
                std::vector<Contender> contenders;
                infos.emplace_back("ucd.engine", "kernel");
                const ucd_info_t unset = infos.back().get();
                for (const char *blocks : block_counts) {
                    infos.emplace_back("ucd.engine", "kernel");
                    infos.back().set("ucd.max_blocks", blocks);
                    contenders.push_back(
                        packing.ucd(std::string("UCD, max_blocks ") + blocks, infos.back().get()));
                }
                contenders.push_back(packing.ucd("UCD", unset));
                contenders.push_back(packing.ceiling());
                std::vector<std::string> cells{packing.name()};
                for (const Result &r :
                     run.measure("blocks", packing.name(), "pack", packing.bytes(), contenders))
                    cells.push_back(three_digits(r.gigabytes_per_second()));
                if (!packing.has_copies()) cells.push_back("-");
                table.row(cells);
            });
}

void run_engines(Run &run, Rows &rows) {
    constexpr Nest<1> rows_of_1k{1024, {{16 * 1024, 4096}}};
    constexpr Nest<1> few_rows{128, {{512, 512}}};
    const Layout boxes[] = {small_layout(),
                            nest_layout("2-D, 128 B of 512, 64 KiB", few_rows, {}),
                            nest_layout("2-D, 1 KiB of 4, 16 MiB", rows_of_1k, {}),
                            nest_layout("2-D, 128 B of 512, 64 MiB", vector_128_of_512, {}),
                            nest_layout("3-D, 128^3 of 512^3", cube, {}),
                            nest_layout("4-D, 32^4 of 64^4", hypercube, {}),
                            listed_blocks()};
    Table table(run.progress, {{"time by ucd.engine", 44},
                               {"auto", 8},
                               {"kernel", 8},
                               {"dma", 8},
                               {"ceiling", 8},
                               {"copies", 8}});
    for (const Layout &layout : boxes)
        for (const Memory memory : {Memory::device, Memory::pinned})
            rows.row(name_of(layout, memory) + ", engines", [&] {
                Packing packing(layout, memory);
                run.progress.say(packing.name() + ": engines");
                std::deque<UcdInfo> infos;
                std::vector<Contender> contenders;
                for (const char *engine : {"auto", "kernel", "dma"}) {
                    infos.emplace_back("ucd.engine", engine);
                    contenders.push_back(
                        packing.ucd(std::string("UCD, ") + engine, infos.back().get()));
                }
                contenders.push_back(packing.ceiling());
                if (packing.has_copies()) contenders.push_back(packing.copies());
                std::vector<std::string> cells{packing.name()};
                for (const Result &r :
                     run.measure("engines", packing.name(), "pack", packing.bytes(), contenders))
                    cells.push_back(duration(r.seconds()));
                table.row(cells);
            });
}

// What callers may ask for beside a load.
struct Way {
    const char *name, *key, *value;
};

void run_contention(Run &run, Rows &rows) {
    const std::vector<Way> engine{{"by kernel", "ucd.engine", "kernel"}};
    const std::vector<Way> blocks{{"in 32 blocks", "ucd.max_blocks", "32"},
                                  {"in all blocks", "ucd.max_blocks", "1000000"}};
    Contention contention(run);
    const auto measure = [&](const Layout &layout, Memory memory, const std::vector<Way> &ways) {
        rows.row(name_of(layout, memory), [&] {
            Packing packing(layout, memory);
            contention.measure(packing, packing.ucd(), packing.name(), rows);
            for (const Way &way : ways) {
                const UcdInfo info(way.key, way.value);
                contention.measure(packing, packing.ucd("UCD", info.get()),
                                   fmt::format("{} {}", packing.name(), way.name), rows);
            }
        });
    };
    for (const Layout &layout : contended_layouts()) {
        measure(layout, Memory::device, {});
        measure(layout, Memory::pinned, layout.name == "8 B of 512" ? blocks : engine);
    }
}

} // namespace

void run_busy(Run &run, Rows &rows) {
    run_contention(run, rows);
    run_blocks(run, rows);
    run_engines(run, rows);
}

} // namespace bench::gpu
