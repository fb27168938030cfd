// Lists that are new every time, in device memory: pages of a cache, rows of a sparse matrix. As a
// type that is created, packed from and freed; as a batch of single pieces; by a type whose indices
// are in device memory.
#include "baselines/gpu/lists.hpp"
#include "cases/sections.hpp"
#include "harness/ucd_peer.hpp"
#include "harness/workbench.hpp"
#include "shapes/fresh_lists.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace bench::gpu {
namespace {

constexpr std::int64_t word = sizeof(double);

class Subject {
public:
    Subject(const FreshList &list, Device &device, MemoryKind to)
        : list_(list), entries_(make_entries(list)),
          bench_(*recipe(IndexedBlock{list.piece / word, entries_.displs, doubles()}), device,
                 MemoryKind::own, to),
          pinned_(device, entries_.displs.size() * sizeof(std::int32_t), MemoryKind::pinned),
          uploaded_(device, pinned_.bytes()), hints_("ucd.inbuf", device.hint(MemoryKind::own)),
          in_threads_("ucd.inbuf", device.hint(MemoryKind::own)) {
        for (UcdInfo *hints : {&hints_, &in_threads_}) hints->set("ucd.outbuf", device.hint(to));
        in_threads_.set("ucd.threads", "4");
        write_indices();
        device.copy(uploaded_.data(), pinned_.data(), pinned_.bytes());
        piece_ = UcdType(contiguous());
        // Twice in a row, so that a batch may start with any of them.
        for (std::size_t i = 0; i < 2 * entries_.displs.size(); ++i) {
            const std::size_t entry = i % entries_.displs.size();
            moves_.push_back(
                list_member(true, piece_.get(), bench_.typed() + entries_.displs[entry] * word,
                            bench_.packed() + static_cast<std::int64_t>(entry) * list.piece,
                            static_cast<std::uintptr_t>(list.piece)));
        }
    }

    void measure(Run &run, Table &table, const std::string &name) {
        std::vector<Contender> contenders{
            {"hand", repeated([this] {
                 write_indices();
                 bench_.device().start_copy(uploaded_.data(), pinned_.data(), pinned_.bytes());
                 by_hand();
             })},
            {"type", repeated([this] { pack(UcdType(created())); })},
            {"hand, indices there", repeated([this] { by_hand(); })},
            {"type by reference", repeated([this] { pack(UcdType(by_reference())); })},
        };
        if (list_.entries <= max_batch) {
            contenders.push_back({"batch, hints", repeated([this] { pack_pieces(hints_.get()); })});
            contenders.push_back(
                {"batch, 4 threads", repeated([this] { pack_pieces(in_threads_.get()); })});
            contenders.push_back({"batch", repeated([this] { pack_pieces(UCD_INFO__NULL); })});
        }
        for (const Contender &c : contenders) bench_.check(c, true);
        table.row(run.measure("fresh", name, "pack", bench_.size(), contenders));
    }

private:
    static constexpr std::int64_t max_batch = 1 << 18;

    void write_indices() {
        auto *const indices = pinned_.as<std::int32_t>();
        for (std::size_t i = 0; i < entries_.displs.size(); ++i)
            indices[i] = static_cast<std::int32_t>(entries_.displs[i] / (list_.piece / word));
    }
    void by_hand() {
        hand::pack_list(static_cast<int>(list_.piece), uploaded_.as<const std::int32_t>(),
                        static_cast<unsigned>(entries_.displs.size()), bench_.typed(),
                        bench_.packed());
        bench_.device().wait();
    }
    ucd_type_t contiguous() const {
        ucd_type_t type;
        check_ucd(ucd_create_contig(list_.piece / word, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
        return type;
    }
    ucd_type_t created() const {
        ucd_type_t type;
        check_ucd(ucd_create_indexed_block(list_.entries, list_.piece / word,
                                           entries_.displs.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                           &type));
        return type;
    }
    ucd_type_t by_reference() const {
        ucd_type_t type;
        check_ucd(ucd_create_indexed_block_ref(
            list_.entries, list_.piece / word, uploaded_.data(), UCD_TYPE__INT32_T, list_.piece, 0,
            bench_.footprint(), UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
        return type;
    }
    void pack(const UcdType &type) const { bench_.move(type, hints_.get()).pack(); }
    void pack_pieces(ucd_info_t info) {
        const std::size_t members = entries_.displs.size();
        ucd_request_t request;
        check_ucd(ucd_imove(moves_.data() + first_, members, info, UCD_OP__REPLACE, &request));
        check_ucd(ucd_wait(&request));
        first_ = (first_ + 1) % members; // another batch every time
    }

    const FreshList list_;
    const FreshEntries entries_;
    Workbench bench_;
    Buffer pinned_, uploaded_;
    UcdInfo hints_, in_threads_;
    UcdType piece_{UCD_TYPE__NULL};
    std::vector<ucd_move_t> moves_;
    std::size_t first_ = 0;
};

} // namespace

void run_fresh(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("a list that is new", 34), column::time("hand", 8),
                 column::time("type", 8), column::time("batch, hints", 12),
                 column::time("batch, 4 threads", 16), column::time("batch", 8),
                 column::speedup("hand", "type", 9, "type/hand"),
                 column::time("hand, indices there", 19),
                 column::time("type by reference", 12, "by reference"),
                 column::speedup("hand, indices there", "type by reference", 5, "/hand")});
    const FreshList lists[] = {
        {FreshKind::random, 16384, 2623},   {FreshKind::random, 512, 1000},
        {FreshKind::random, 512, 32'768},   {FreshKind::random, 4096, 32'768},
        {FreshKind::random, 4096, 131'072}, {FreshKind::random, 512, 254'000},
        {FreshKind::sorted, 512, 254'000},  {FreshKind::random, 8, 8'400'000}};
    for (const FreshList &list : lists)
        for (const MemoryKind to : {MemoryKind::own, MemoryKind::pinned}) {
            const std::string name =
                fmt::format("{}, to {}", list.name(), to == MemoryKind::own ? "device" : "pinned");
            s.run.row(name, [&] { Subject(list, s.device, to).measure(s.run, table, name); });
        }
    fmt::print("\n");
}

} // namespace bench::gpu
