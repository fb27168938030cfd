// The experiments of two papers, each with its layouts and its ways to device and host.
#include "papers_layouts.hpp"

#include "cuda_work.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace bench::gpu {
namespace {

class Stream {
public:
    Stream() {
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    ucd_stream_t ucd() const { return {"cuda", 0, stream_, nullptr}; }
    void pack(ucd_type_t type, const char *from, char *to, std::size_t bytes) const {
        std::uintptr_t moved;
        check_ucd(ucd_pack_stream(from, 1, type, 0, to, bytes, &moved, UCD_INFO__NULL,
                                  UCD_OP__REPLACE, ucd()));
    }
    void copy(char *to, const char *from, std::size_t bytes) const {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copying");
    }
    void wait() const { check_cuda(cudaStreamSynchronize(stream_), "waiting for a stream"); }

private:
    cudaStream_t stream_ = nullptr;
};

// What was found for one layout and one kind of memory, in seconds.
struct Found {
    std::optional<double> ucd, staged, hand, copies, ceiling;
    std::size_t bytes = 0;

    std::string rate(std::optional<double> seconds) const {
        return seconds ? three_digits(static_cast<double>(bytes) / *seconds * 1e-9) : "-";
    }
    std::string against(std::optional<double> seconds) const {
        return seconds ? ratio(*seconds / *ucd) : "-";
    }
};

Found measure_layout(Run &run, const Layout &layout, Memory memory) {
    const bool pinned = memory == Memory::pinned;
    run.progress.say(fmt::format("{}: {}", layout.name, pinned ? "to pinned" : "to device"));
    Bench bench(*layout.type, memory);
    const UcdType type(*layout.type);
    const Stream stream;
    Buffer list(std::max<std::size_t>(layout.list.size(), 1) * sizeof(std::int32_t),
                Memory::device);
    check_cuda(cudaMemcpy(list.data(), layout.list.data(),
                          layout.list.size() * sizeof(std::int32_t), cudaMemcpyDefault),
               "copying a list");
    const auto *entries = reinterpret_cast<const std::int32_t *>(list.data());
    char *const from = bench.laid_out(), *const to = bench.packed(), *const spare = bench.spare();
    const std::size_t bytes = bench.bytes();

    std::vector<Contender> contenders{
        {"UCD", repeated([move = UcdMove{type.get(), from, to, 0, bytes}] { move.pack(); })}};
    if (pinned)
        contenders.push_back({"UCD, then copied", repeated([=, &type, &stream] {
                                  stream.pack(type.get(), from, spare, bytes);
                                  stream.copy(to, spare, bytes);
                                  stream.wait();
                              })});
    const std::size_t first_hand = contenders.size();
    for (const HandKernel &hand : layout.hand)
        contenders.push_back({std::string("hand, ") + hand.way,
                              blocking([=, pack = hand.pack] { pack(from, to, entries); })});
    const std::size_t copies = contenders.size();
    if (layout.box)
        contenders.push_back({"copies", box_work(*layout.box, from, to, true, layout.boxes)});
    for (const Contender &c : contenders) bench.check_packing(c);
    contenders.push_back({"ceiling", copy_work(to, spare, bytes)});

    const auto r = run.measure(pinned ? "papers, to pinned" : "papers, to device", layout.name,
                               "pack", bytes, contenders);
    Found found{.ucd = r[0].seconds(), .ceiling = r.back().seconds(), .bytes = bytes};
    if (pinned) found.staged = r[1].seconds();
    for (std::size_t i = first_hand; i < copies; ++i)
        found.hand = std::min(found.hand.value_or(r[i].seconds()), r[i].seconds());
    if (layout.box) found.copies = r[copies].seconds();
    return found;
}

std::string ours(Yardstick yardstick, const Found &device, const Found &pinned) {
    switch (yardstick) {
    case Yardstick::none: break;
    case Yardstick::pinned_copies: return pinned.against(pinned.copies) + " x copy";
    case Yardstick::pinned_hand: return pinned.against(pinned.hand) + " x hand";
    case Yardstick::device_ceiling: return device.against(device.ceiling) + " x ceil";
    }
    return "";
}

void run_layouts_of_papers(Run &run, Rows &rows) {
    Table table(run.progress, {{"GB/s packed: to device | to pinned", 36},
                               {"MiB", 6},
                               {"UCD", 5},
                               {"hand", 5},
                               {"copies", 6},
                               {"ceil", 5},
                               {"| UCD", 6},
                               {"staged", 6},
                               {"hand", 5},
                               {"copies", 6},
                               {"ceil", 5},
                               {"ours", 13},
                               {"paper", 9}});
    for (const PaperLayout &paper : paper_layouts())
        rows.row(paper.name, [&] {
            const Layout layout = paper.make();
            const Found device = measure_layout(run, layout, Memory::device);
            const Found pinned = measure_layout(run, layout, Memory::pinned);
            table.row(
                {paper.name, three_digits(static_cast<double>(device.bytes) / (1 << 20)),
                 device.rate(device.ucd), device.rate(device.hand), device.rate(device.copies),
                 device.rate(device.ceiling), pinned.rate(pinned.ucd), pinned.rate(pinned.staged),
                 pinned.rate(pinned.hand), pinned.rate(pinned.copies), pinned.rate(pinned.ceiling),
                 ours(paper.published.against, device, pinned), paper.published.ratio});
        });
}

// A vector on one side, consecutive bytes on the other, without a pack buffer between.
void run_vector_to_contiguous(Run &run, Rows &rows) {
    Table table(run.progress,
                {{"GB/s, vector to contiguous, 64 MiB", 36}, {"UCD copy", 8}, {"copies", 8}});
    for (const auto &[name, nest] :
         {std::pair{"vector to contiguous, 8 B of 512", vector_8_of_512},
          std::pair{"vector to contiguous, 128 B of 512", vector_128_of_512}})
        rows.row(name, [&, nest = nest, name = name] {
            const Layout layout = nest_layout(name, nest, {});
            run.progress.say(name);
            Bench bench(*layout.type, Memory::device);
            const UcdType type(*layout.type);
            const Contender contenders[] = {
                {"UCD copy", repeated([&] {
                     std::uintptr_t moved;
                     check_ucd(ucd_copy(bench.laid_out(), 1, type.get(), bench.packed(),
                                        bench.bytes(), UCD_TYPE__BYTE, &moved, UCD_INFO__NULL,
                                        UCD_OP__REPLACE));
                 })},
                {"copies", box_work(*layout.box, bench.laid_out(), bench.packed(), true)}};
            for (const Contender &c : contenders) bench.check_packing(c);
            const auto r = run.measure("papers, copy", name, "copy", bench.bytes(), contenders);
            table.row({name, three_digits(r[0].gigabytes_per_second()),
                       three_digits(r[1].gigabytes_per_second())});
        });
}

// What a pack to the host consists of, and what a type costs that was never used before.
void measure_components(Run &run, Table &table, const Layout &layout, const std::string &name) {
    run.progress.say(name);
    Bench bench(*layout.type, Memory::pinned);
    const UcdType type(*layout.type);
    const Stream stream;
    char *const from = bench.laid_out(), *const to = bench.packed(), *const spare = bench.spare();
    const std::size_t bytes = bench.bytes();
    bench.check_packing({"UCD, fresh type", repeated([&] {
                             const UcdType fresh(*layout.type);
                             UcdMove{fresh.get(), from, to, 0, bytes}.pack();
                         })});
    const Contender contenders[] = {
        {"create", repeated([&] { const UcdType fresh(*layout.type); })},
        {"create, prepare", repeated([&] {
             const UcdType fresh(*layout.type);
             check_ucd(ucd_prepare(1, fresh.get(), UCD_OP__REPLACE, stream.ucd(), UCD_INFO__NULL));
         })},
        {"create, pack to device", repeated([&] {
             const UcdType fresh(*layout.type);
             UcdMove{fresh.get(), from, spare, 0, bytes}.pack();
         })},
        {"pack to device", repeated([&] {
             UcdMove{type.get(), from, spare, 0, bytes}.pack();
         })},
        // Many in a row, so that nothing but the kernel counts.
        {"kernel",
         [&](std::uint64_t times) {
             for (; times > 0; --times) stream.pack(type.get(), from, spare, bytes);
             stream.wait();
         }},
        {"copy to pinned", copy_work(to, spare, bytes)},
        {"pack to pinned", repeated([&] {
             UcdMove{type.get(), from, to, 0, bytes}.pack();
         })}};
    const auto r = run.measure("papers, components", name, "pack", 0, contenders);
    std::vector<std::string> cells{name};
    for (const Result &result : r) cells.push_back(duration(result.seconds()));
    cells.push_back(ratio(r[2].seconds() / r[3].seconds()));
    table.row(cells);
}

void run_components(Run &run, Rows &rows) {
    Table table(run.progress, {{"time", 48},
                               {"create", 8},
                               {"+prepare", 8},
                               {"+pack", 8},
                               {"pack", 8},
                               {"kernel", 8},
                               {"D2H", 8},
                               {"to pinned", 9},
                               {"new/used", 8}});
    for (const PaperLayout &paper : paper_layouts()) {
        const bool shown =
            paper.name == "vector 8 B of 512, 4096 KiB" ||
            paper.name == "vector 128 B of 512, 4096 KiB" ||
            paper.name == "indexed_block as vector 8 B, 4 MiB" ||
            paper.name == "indexed, runs of 1-4 doubles" ||
            paper.name == "4-D subarray 16^4 of 64^4" || paper.name == "sub-matrix, N=4096" ||
            paper.name == "lower triangle, N=2048" || paper.name == "lower triangle, N=4096" ||
            paper.name == "transpose, N=2048";
        const std::string name = "components: " + paper.name;
        if (shown) rows.row(name, [&] { measure_components(run, table, paper.make(), name); });
    }
}

} // namespace

void run_papers(Run &run, Rows &rows) {
    run_layouts_of_papers(run, rows);
    run_vector_to_contiguous(run, rows);
    run_components(run, rows);
}

} // namespace bench::gpu
