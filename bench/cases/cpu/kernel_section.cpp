// Each generated move kernel by itself, in every instruction set that this machine has: the list
// that the tests run through, too.
#include "cases/sections.hpp"

#include "kernel_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace bench::cpu {
namespace {

using namespace ucd::seq;

std::uint64_t block_for(const MoveKernelInfo &kernel) {
    if (kernel.kinds[kernel.levels - 1] == LevelKind::indexed) {
        for (const std::uint64_t unit : {1, 2, 4, 8, 16})
            if (leaf_for_runs(unit) == kernel.leaf) return unit;
    }
    std::uint64_t largest = 0;
    for (std::uint64_t block = 1; block <= 1024; ++block)
        if (leaf_for_block(block) == kernel.leaf) largest = block;
    return largest;
}

// A small nest of the kernel's shape. Every level leaves as much free as it takes.
struct SmallNest {
    Nest nest{};
    Position last{};
    std::vector<std::int64_t> displs[max_levels];
    std::vector<std::uint64_t> first[max_levels];
    std::int64_t span;
    std::uint64_t bytes;

    explicit SmallNest(const MoveKernelInfo &kernel)
        : span(static_cast<std::int64_t>(block_for(kernel))), bytes(block_for(kernel)) {
        nest.block = bytes;
        for (unsigned d = kernel.levels; d-- > 0;) add(d, kernel.kinds[d], d + 1u == kernel.levels);
    }
    SmallNest(const SmallNest &) = delete;
    SmallNest &operator=(const SmallNest &) = delete;

private:
    static constexpr std::uint64_t inner = 32, outer = 6, in_run = 2;

    void add(unsigned d, LevelKind kind, bool innermost) {
        Level &level = nest.level[d];
        level.count = innermost ? inner : outer;
        last.at[d] = level.count - 1;
        bytes *= level.count;
        if (kind == LevelKind::indexed) {
            level.stride = innermost ? span : 2 * span;
            last.in_run[d] = in_run - 1;
            for (std::uint64_t r = 0; r <= level.count; ++r) first[d].push_back(r * in_run);
            level.first = first[d].data();
            bytes *= in_run;
            span += level.stride;
            if (innermost) {
                nest.longest_run = in_run * nest.block;
                nest.runs = level.count;
            }
        }
        const std::int64_t step = 2 * span;
        if (kind == LevelKind::strided) level.stride = step;
        for (std::uint64_t i = 0; i < level.count; ++i)
            displs[d].push_back(static_cast<std::int64_t>(i) * step);
        level.displs = displs[d].data();
        span += displs[d].back();
    }
};

// What the kernel of the set that every machine has makes of it, is right: the tests say so.
void check(const MoveKernelInfo &kernel, const MoveKernelInfo &reference, const SmallNest &small,
           const Buffer &typed, const Buffer &packed) {
    const auto size = static_cast<std::size_t>(small.span);
    const auto filled = [&](const MoveKernelInfo &by) {
        for (std::size_t i = 0; i < size; ++i) typed.data()[i] = static_cast<char>(i * 7);
        for (std::size_t i = 0; i < small.bytes; ++i) packed.data()[i] = static_cast<char>(i * 5);
        by.function(small.nest, typed.data(), packed.data(), Position{}, small.last);
        std::vector<char> all(typed.data(), typed.data() + size);
        all.insert(all.end(), packed.data(), packed.data() + small.bytes);
        return all;
    };
    if (filled(kernel) != filled(reference))
        throw std::runtime_error(fmt::format("{} does not do what the baseline does", kernel.name()));
}

} // namespace

void run_kernels(const Setting &s) {
    const auto sets = kernel_sets();
    // Of x86-64; other processors have one set.
    for (const char *const name : {"avx512", "avx2"})
        if (std::none_of(sets.begin(), sets.end(), [name](const KernelSet *set) {
                return std::strcmp(set->instructions, name) == 0;
            }))
            fmt::print("{}: skipped, this machine does not have it\n", name);
    std::vector<Column> columns{column::subject("kernel, GB/s of packed bytes", 31), {"bytes", 7}};
    for (const KernelSet *set : sets) columns.push_back(column::rate(set->instructions, 8));
    Table table(s.run.progress, columns);
    for (std::size_t i = 0; i < sets.back()->moves.size(); ++i) {
        const MoveKernelInfo &reference = sets.back()->moves[i];
        s.run.row(reference.name(), [&] {
            const SmallNest small(reference);
            const Buffer typed(s.device, static_cast<std::size_t>(small.span)),
                packed(s.device, small.bytes, MemoryKind::own, 21 * 64);
            std::vector<Contender> contenders;
            for (const KernelSet *set : sets) {
                const MoveKernelInfo &kernel = set->moves[i];
                check(kernel, reference, small, typed, packed);
                contenders.push_back(
                    {set->instructions, repeated([&kernel, &small, &typed, &packed] {
                         kernel.function(small.nest, typed.data(), packed.data(), Position{},
                                         small.last);
                     })});
            }
            table.row(s.run.measure("kernels", reference.name(), "move", small.bytes, contenders),
                      {fmt::format("{}", small.bytes)});
        });
    }
    fmt::print("\n");
}

} // namespace bench::cpu
