// Lists that are new every time: a type is created, packed from once and freed.
#include "baselines/cpu/lists.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "shapes/fresh_lists.hpp"

#include <fmt/core.h>

namespace bench::cpu {
namespace {

// As the program that has the list would make the type.
ucd_type_t create(const FreshList &list, const FreshEntries &entries) {
    const auto count = static_cast<std::intptr_t>(entries.displs.size());
    ucd_type_t type;
    if (list.kind == FreshKind::bytes)
        check_ucd(ucd_create_hindexed(count, entries.lengths.data(), entries.bytes.data(),
                                      UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
    else
        check_ucd(entries.lengths.empty()
                      ? ucd_create_indexed_block(count, list.piece / 8, entries.displs.data(),
                                                 UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type)
                      : ucd_create_indexed(count, entries.lengths.data(), entries.displs.data(),
                                           UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
    return type;
}

RecipePtr recipe_of(const FreshList &list, const FreshEntries &entries) {
    if (entries.lengths.empty())
        return recipe(IndexedBlock{list.piece / 8, entries.displs, doubles()});
    return recipe(Indexed{entries.lengths, entries.displs, doubles()});
}

void run_list(const Setting &s, Table &table, const FreshList &list) {
    const FreshEntries entries = make_entries(list);
    LayoutOnDevice subject({list.name(), recipe_of(list, entries)}, s.device);
    Moves moves(subject, true);
    const Workbench &bench = subject.bench;
    moves.add("UCD", repeated([&] { bench.move(UcdType(create(list, entries))).pack(); }));
    const UcdType known(create(list, entries));
    moves.add("again", repeated([&] { bench.move(known).pack(); }));
    moves.add_unchecked("create", repeated([&] { const UcdType type(create(list, entries)); }));
    const std::span<const ListWay> ways =
        list.kind == FreshKind::runs ? hand::lists_of_runs() : hand::lists_of_pieces(list.piece);
    for (const ListWay &way : ways)
        moves.add(fmt::format("hand, {}", way.way), repeated([&, loop = way.pack] {
                      loop(entries.displs.data(), entries.lengths.data(), list.entries,
                           bench.typed(), bench.packed());
                  }));
    table.row(moves.measure(s.run, "fresh"));
}

} // namespace

void run_fresh(const Setting &s) {
    // The lists themselves, and what checks them, take several times as much.
    constexpr std::int64_t max_footprint = std::int64_t{320} << 20;
    Table table(s.run.progress,
                {column::subject("a list that is new, created, packed, freed", 43),
                 column::time("UCD", 8), column::time("create", 8), column::time("again", 8),
                 column::time("hand", 8), column::speedup("hand", "UCD", 8, "UCD/hand")});
    for (const FreshList &list : fresh_lists(max_footprint))
        s.run.row(list.name(), [&] { run_list(s, table, list); });
    fmt::print("\n");
}

} // namespace bench::cpu
