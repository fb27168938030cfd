// Many small packs in one call, beside one kernel written for them and beside a call for each.
#include "cases/gpu/batch_cases.hpp"
#include "cases/sections.hpp"
#include "harness/gpu/graph.hpp"

#include <fmt/core.h>

namespace bench::gpu {
namespace {

using hand::BoxMember;

// One batch, with all that moves it.
class Subject {
public:
    Subject(const GpuBatchCase &c, Device &device, MemoryKind to)
        : case_(c), batch_(c.batch, device, to),
          list_(device, c.batch.members.size() * sizeof(BoxMember)),
          hints_("ucd.inbuf", device.hint(MemoryKind::own)),
          where_(to == MemoryKind::own ? "device" : "pinned") {
        hints_.set("ucd.outbuf", device.hint(to));
        const ucd_stream_t stream{vendor_name, 0, nullptr, nullptr, 0};
        for (const UcdType &type : batch_.types())
            check_ucd(ucd_prepare(1, type.get(), c.batch.op, stream, UCD_INFO__NULL));
        // The members as a kernel by hand wants them.
        std::vector<BoxMember> boxes;
        for (std::size_t i = 0; i < c.batch.members.size(); ++i) {
            const ucd_move_t &d = batch_.packs()[i];
            const Member &m = c.batch.members[i];
            boxes.push_back({static_cast<const char *>(d.inbuf), static_cast<char *>(d.outbuf),
                             m.row_stride, m.plane_stride, m.row, m.rows, m.planes});
        }
        device.copy(list_.data(), boxes.data(), list_.bytes());
    }

    void measure_call(Run &run, Table &table) {
        std::vector<Contender> contenders{{"UCD, hints", batch_.in_one(true, hints_.get())},
                                          {"UCD", batch_.in_one(true)},
                                          by_hand(true)};
        if (case_.one_by_one)
            contenders.push_back({"UCD, each by itself", batch_.one_by_one(true, hints_.get())});
        table.row(measured(run, "batches", contenders),
                  {case_.batch.name, where_, fmt::format("{}", batch_.members()),
                   duration(batch_.start_cost(hints_.get()))});
    }

    // Without what the host does before.
    void measure_kernel(Run &run, Table &table) {
        const Graph by_ucd([this](gpuStream_t in) {
            const ucd_stream_t stream{vendor_name, 0, in, nullptr, 0};
            std::vector<ucd_move_t> moves = batch_.packs();
            check_ucd(
                ucd_move_stream(moves.data(), moves.size(), hints_.get(), case_.batch.op, stream));
        });
        const Contender contenders[] = {{"UCD", by_ucd.work()}, by_hand(false)};
        table.row(measured(run, "batches, kernels", contenders), {case_.batch.name, where_});
    }

private:
    // Each waited for, or many in a row.
    Contender by_hand(bool each) {
        return {"hand", [this, each](std::uint64_t times) {
                    for (; times > 0; --times) {
                        case_.by_hand(list_.as<const BoxMember>(),
                                      static_cast<unsigned>(batch_.members()));
                        if (each || times == 1) batch_.bench().device().wait();
                    }
                }};
    }
    Comparison measured(Run &run, const char *section, std::span<const Contender> contenders) {
        for (const Contender &c : contenders) batch_.check(c, true);
        return run.measure(section, fmt::format("{}, to {}", case_.batch.name, where_), "pack",
                           batch_.bench().size(), contenders);
    }

    const GpuBatchCase &case_;
    Batch batch_;
    Buffer list_;
    UcdInfo hints_;
    const char *where_;
};

} // namespace

void run_batches(const Setting &s) {
    Run &run = s.run;
    Table table(run.progress, {{"time of a batch", 36},
                               {"to", 6},
                               {"members", 7},
                               column::rate("UCD, hints", 5, "GB/s"),
                               column::time("UCD, hints", 9, "hints"),
                               column::time("UCD", 9, "no hints"),
                               column::time("hand", 9),
                               column::time("UCD, each by itself", 14, "each by itself"),
                               column::speedup("hand", "UCD, hints", 10, "hints/hand"),
                               {"host, a member", 14}});
    const std::function<GpuBatchCase()> cases[] = {vectors, sums, halos, pages};
    for (const auto &make : cases) {
        const GpuBatchCase c = make();
        for (const MemoryKind to : {MemoryKind::own, MemoryKind::pinned})
            if (to == MemoryKind::own || c.one_by_one)
                run.row(c.batch.name, [&] { Subject(c, s.device, to).measure_call(run, table); });
    }
    fmt::print("\n");
    Table kernels(run.progress, {{"kernels alone, replayed from graphs", 36},
                                 {"to", 6},
                                 column::rate("UCD", 5),
                                 column::rate("hand", 5),
                                 column::time("UCD", 9),
                                 column::time("hand", 9),
                                 column::speedup("hand", "UCD", 14, "UCD/hand, time")});
    std::vector<std::function<GpuBatchCase()>> replayed(std::begin(cases), std::end(cases));
    for (const std::int32_t bytes : {512, 1024, 2048, 4096})
        replayed.push_back([bytes] { return pages_of(bytes); });
    for (const auto &make : replayed) {
        const GpuBatchCase c = make();
        run.row(c.batch.name + ", kernel alone",
                [&] { Subject(c, s.device, MemoryKind::own).measure_kernel(run, kernels); });
    }
    fmt::print("\n");
}

} // namespace bench::gpu
