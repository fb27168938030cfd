// What moves data of a device, beside kernels written by hand and CUDA's copies.
#include "cuda_section.hpp"

#include "cuda_buffers.hpp"
#include "cuda_layouts.hpp"
#include "cuda_work.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace bench {
namespace {

using namespace gpu;

// Of one layout, in one direction.
struct Field {
    const char *operation;
    std::vector<Contender> contenders; // UCD first
    std::size_t first_hand = 1, copies = 0;
};

class CudaSection {
public:
    CudaSection(Run &run, std::string section, Memory packed)
        : run_(run), section_(std::move(section)), packed_(packed),
          table_(run.progress, {{"GB/s of packed bytes, " + section_, 44},
                                {"MiB", 6},
                                {"", 6},
                                {"UCD", 6},
                                {"hand", 6},
                                {"copies", 6},
                                {"ceiling", 7},
                                {"UCD/hand", 8},
                                {"UCD/ceil", 8},
                                {"best by hand", 22}}) {}

    void measure(const Layout &layout) {
        run_.progress.say(layout.name + ": building and checking");
        Bench bench(*layout.type, packed_);
        const UcdType type(*layout.type);
        Buffer list(std::max<std::size_t>(layout.list.size(), 1) * sizeof(std::int32_t),
                    Memory::device);
        check_cuda(cudaMemcpy(list.data(), layout.list.data(),
                              layout.list.size() * sizeof(std::int32_t), cudaMemcpyDefault),
                   "copying a list");
        const auto *entries = reinterpret_cast<const std::int32_t *>(list.data());
        const UcdMove move{.type = type.get(),
                           .laid_out = bench.laid_out(),
                           .packed = bench.packed(),
                           .offset = 0,
                           .bytes = bench.bytes()};
        for (const bool pack : {true, false}) {
            Field field{pack ? "pack" : "unpack", {}};
            field.contenders.push_back(
                {"UCD", repeated([=] { pack ? move.pack() : move.unpack(); })});
            for (const HandKernel &hand : layout.hand) {
                const auto kernel = pack ? hand.pack : hand.unpack;
                field.contenders.push_back({std::string("hand, ") + hand.way, blocking([=, &bench] {
                                                kernel(bench.laid_out(), bench.packed(), entries);
                                            })});
            }
            field.copies = field.contenders.size();
            if (layout.box)
                field.contenders.push_back(
                    {"copies",
                     box_work(*layout.box, bench.laid_out(), bench.packed(), pack, layout.boxes)});
            for (const Contender &c : field.contenders)
                pack ? bench.check_packing(c) : bench.check_unpacking(c);
            field.contenders.push_back(
                {"ceiling", pack ? copy_work(bench.packed(), bench.spare(), bench.bytes())
                                 : copy_work(bench.spare(), bench.packed(), bench.bytes())});
            play(layout, field, bench.bytes());
        }
    }

private:
    void play(const Layout &layout, const Field &field, std::size_t bytes) {
        run_.progress.say(layout.name + ": " + field.operation);
        const std::span<const Result> results =
            run_.measure(section_, layout.name, field.operation, bytes, field.contenders);
        const Result *hand = nullptr;
        for (std::size_t i = field.first_hand; i < field.copies; ++i)
            if (hand == nullptr || results[i].seconds() < hand->seconds()) hand = &results[i];
        const Result &ucd = results[0], &ceiling = results.back();
        const Result *copies = field.copies + 1 < results.size() ? &results[field.copies] : nullptr;
        const auto rate = [](const Result *r) {
            return r == nullptr ? std::string("-") : three_digits(r->gigabytes_per_second());
        };
        table_.row({layout.name, three_digits(static_cast<double>(bytes) / (1 << 20)),
                    field.operation, rate(&ucd), rate(hand), rate(copies), rate(&ceiling),
                    hand ? ratio(hand->seconds() / ucd.seconds()) : "-",
                    ratio(ceiling.seconds() / ucd.seconds()),
                    hand ? hand->contender.substr(6) : "-"});
    }

    Run &run_;
    std::string section_;
    Memory packed_;
    Table table_;
};

// Times of small calls.
void run_latency(Run &run) {
    Table table(run.progress, {{"time of 1 KiB", 44},
                               {"", 6},
                               {"UCD", 8},
                               {"UCD, hints", 10},
                               {"hand", 8},
                               {"copies", 8},
                               {"plain copy", 10}});
    const Layout layout = small_layout();
    for (const Memory packed : {Memory::device, Memory::pinned}) {
        Bench bench(*layout.type, packed);
        const UcdType type(*layout.type);
        UcdInfo hints("ucd.inbuf", "cuda:0");
        check_ucd(ucd_info_set(hints.get(), "ucd.outbuf",
                               packed == Memory::device ? "cuda:0" : "pinned"));
        UcdMove move{type.get(), bench.laid_out(), bench.packed(), 0, bench.bytes()};
        UcdMove hinted = move;
        hinted.info = hints.get();
        const auto kernel = layout.hand[0].pack;
        const std::vector<Contender> contenders{
            {"UCD", repeated([=] { move.pack(); })},
            {"UCD, hints", repeated([=] { hinted.pack(); })},
            {"hand", blocking([=, &bench] { kernel(bench.laid_out(), bench.packed(), nullptr); })},
            {"copies", box_work(*layout.box, bench.laid_out(), bench.packed(), true)},
            {"plain copy", copy_work(bench.packed(), bench.spare(), bench.bytes())}};
        const std::string subject =
            packed == Memory::device ? "device to device" : "device to pinned";
        const auto results = run.measure("latency", subject, "pack", 0, contenders);
        std::vector<std::string> cells{subject, "pack"};
        for (const Result &r : results) cells.push_back(duration(r.seconds()));
        table.row(cells);
    }
}

// A large type in pieces, several of them under way, as a communication library sends it.
void run_pipeline(Run &run) {
    constexpr std::size_t in_flight = 4;
    Table table(run.progress, {{"GB/s, 256 MiB of 8 B blocks to pinned, 4 pieces in flight", 58},
                               {"UCD", 6},
                               {"ceiling", 7},
                               {"UCD/ceil", 8}});
    constexpr Nest<1> nest{8, {{256 * mib / 8, 64}}};
    const RecipePtr type_recipe = recipe(HVector{nest.levels[0].count, 1, nest.levels[0].stride,
                                                 recipe(Contig{1, predefined(Element::float64)})});
    const UcdType type(*type_recipe);
    const auto bytes = static_cast<std::size_t>(nest.bytes());
    Buffer laid_out(static_cast<std::size_t>(nest.levels[0].count * nest.levels[0].stride),
                    Memory::device),
        packed(bytes, Memory::pinned), spare(bytes, Memory::device);
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{8} << 20}) {
        const auto packs = [&, piece] {
            ucd_request_t requests[in_flight] = {};
            for (std::size_t at = 0, slot = 0; at < bytes;
                 at += piece, slot = (slot + 1) % in_flight) {
                check_ucd(ucd_wait(&requests[slot]));
                std::uintptr_t moved;
                check_ucd(ucd_ipack(laid_out.data(), 1, type.get(), at, packed.data() + at, piece,
                                    &moved, UCD_INFO__NULL, UCD_OP__REPLACE, &requests[slot]));
            }
            check_ucd(ucd_waitall(in_flight, requests));
        };
        const std::vector<Contender> contenders{
            {"UCD", repeated(packs)}, {"ceiling", copy_work(packed.data(), spare.data(), bytes)}};
        const std::string subject = fmt::format("pieces of {} MiB", piece >> 20);
        const auto results = run.measure("pipeline", subject, "pack", bytes, contenders);
        table.row({subject, three_digits(results[0].gigabytes_per_second()),
                   three_digits(results[1].gigabytes_per_second()),
                   ratio(results[1].seconds() / results[0].seconds())});
    }
}

} // namespace

unsigned run_cuda(Run &run, const CudaOptions &options) {
    run.effort.clock = Clock::wall;
    cudaDeviceProp properties;
    check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the device");
    fmt::print("device: {}\n", properties.name);
    Rows rows(run, options.budget);
    if (!options.asks_for_parts()) {
        for (const Memory packed : {Memory::device, Memory::pinned}) {
            CudaSection section(
                run, packed == Memory::device ? "device to device" : "device, pinned", packed);
            for (const Layout &layout : layouts())
                rows.row(layout.name, [&] { section.measure(layout); });
        }
        if (run.filter.empty()) {
            rows.row("latency", [&] { run_latency(run); });
            rows.row("pipeline", [&] { run_pipeline(run); });
        }
    }
    if (options.reductions) run_reductions(run, rows);
    if (options.batches) run_batches(run, rows);
    if (options.copies) run_copies(run, rows);
    if (options.memories) run_memories(run, rows);
    if (options.busy) run_busy(run, rows);
    if (options.suite == "papers") run_papers(run, rows);
    return rows.failures();
}

} // namespace bench
