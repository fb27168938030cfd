// Copies from one layout to another on a device, beside kernels written for the pair, and beside
// what packing and unpacking would take.
#include "baselines/gpu/copies.hpp"
#include "cases/sections.hpp"
#include "harness/content.hpp"
#include "harness/workbench.hpp"

#include <fmt/core.h>

#include <cstring>
#include <stdexcept>

namespace bench::gpu {
namespace {

struct Pair {
    std::string name;
    RecipePtr from, to;
    hand::CopyByHand by_hand, by_cub = nullptr;
};

RecipePtr blocks_of(std::intptr_t block, std::intptr_t stride) {
    return recipe(
        HVector{hand::copied_blocks_bytes / block, block, stride, predefined(Element::byte)});
}

std::vector<Pair> pairs() {
    constexpr std::intptr_t side = 4096;
    const auto box = [](std::intptr_t of) {
        return recipe(Subarray{{of, of, of}, {128, 128, 128}, {0, 0, 0}, doubles()});
    };
    const auto small_box = [](std::intptr_t of) {
        return recipe(
            Subarray{{of, of, of}, {64, 64, 64}, {0, 0, 0}, predefined(Element::float32)});
    };
    return {
        {"matrix to its transpose, N=4096", recipe(Contig{side * side, doubles()}),
         transposed(side), hand::copy_transposed_4096},
        {"128^3 of 512^3 to 128^3 of 256^3", box(512), box(256), hand::copy_box_to_box,
         hand::cub_box_to_box()},
        {"64^3 of 128^3 to 64^3 of 96^3, 4 B", small_box(128), small_box(96),
         hand::copy_small_box_to_box, hand::cub_small_box_to_box()},
        {"8 B of 512 to 128 B of 512", blocks_of(8, 512), blocks_of(128, 512),
         hand::copy_blocks_8_to_128},
        {"128 B of 512 to 128 B of 1024", blocks_of(128, 512), blocks_of(128, 1024),
         hand::copy_blocks_128_to_128},
    };
}

// The typed side of the second workbench is what is copied to.
void check_copy(const Contender &c, const Workbench &from, Workbench &to) {
    const std::vector<char> stream = packed_content(from.segments());
    std::vector<char> expected(static_cast<std::size_t>(to.footprint()), static_cast<char>(blank)),
        found(expected.size());
    const char *p = stream.data();
    for (const Segment &s : to.segments()) {
        std::memcpy(&expected[static_cast<std::size_t>(s.displacement)], p,
                    static_cast<std::size_t>(s.bytes));
        p += s.bytes;
    }
    to.blank_typed();
    c.work(1);
    to.device().copy(found.data(), to.typed(), found.size());
    if (found != expected)
        throw std::runtime_error(fmt::format("{} does not copy as it should", c.name));
}

void measure(Run &run, Device &device, Table &table, const Pair &pair) {
    const Workbench from(*pair.from, device);
    Workbench to(*pair.to, device);
    const UcdType from_type(*pair.from), to_type(*pair.to);
    UcdInfo hints("ucd.inbuf", device.hint(MemoryKind::own));
    hints.set("ucd.outbuf", device.hint(MemoryKind::own));
    const auto by_ucd = [&](ucd_info_t info) {
        return repeated([&, info] {
            std::uintptr_t moved;
            check_ucd(ucd_copy(from.typed(), 1, from_type.get(), to.typed(), 1, to_type.get(),
                               &moved, info, UCD_OP__REPLACE));
        });
    };
    std::vector<Contender> contenders{
        {"UCD", by_ucd(UCD_INFO__NULL)},
        {"UCD, hints", by_ucd(hints.get())},
        {"hand", blocking(device, [&] { pair.by_hand(from.typed(), to.typed()); })},
        {"pack, unpack", repeated([&] {
             from.move(from_type).pack();
             UcdMove back = to.move(to_type);
             back.packed = from.packed();
             back.unpack();
         })}};
    if (pair.by_cub != nullptr)
        contenders.push_back(
            {"CCCL", blocking(device, [&] { pair.by_cub(from.typed(), to.typed()); })});
    for (const Contender &c : contenders) check_copy(c, from, to);
    contenders.push_back({"ceiling", copy_work(device, to.packed(), from.packed(), to.size())});
    table.row(run.measure("copies", pair.name, "copy", to.size(), contenders));
}

} // namespace

void run_copies(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("GB/s, layout to layout on the device", 44), column::mib(5),
                 column::rate("UCD", 5), column::rate("UCD, hints", 10), column::rate("hand", 5),
                 column::speedup("UCD", "hand", 8), column::rate("pack, unpack", 12),
                 column::rate("ceiling", 7), column::rate("CCCL", 5),
                 column::speedup("UCD", "CCCL", 9, "UCD/CCCL")});
    for (const Pair &pair : pairs())
        s.run.row(pair.name, [&] { measure(s.run, s.device, table, pair); });
    fmt::print("\n");
}

} // namespace bench::gpu
