// Permutations of the dimensions of an array, packed and unpacked, beside a plain copy of as many
// bytes, and on the host beside HPTT.
#include "baselines/cpu/hptt.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "shapes/permutation.hpp"

#include <fmt/core.h>

#include <optional>

namespace bench {
namespace {

void measure(const Setting &s, Table &table, const Permutation &p, const Hptt *hptt) {
    LayoutOnDevice subject({p.name, p.type()}, s.device);
    for (const bool pack : {true, false}) {
        Moves moves(subject, pack);
        moves.add_ucd();
        moves.add_plain_copy("copy");
        if (hptt != nullptr && Hptt::moves(p)) {
            const Workbench &bench = moves.bench();
            for (const bool patient : {false, true})
                moves.add(patient ? "HPTT, patient" : "HPTT, estimate",
                          repeated(pack ? hptt->plan(p, bench.typed(), bench.packed(), patient)
                                        : hptt->plan(p.inverse(), bench.packed(), bench.typed(),
                                                     patient)));
        }
        table.row(moves.measure(s.run, "permutations"));
    }
}

} // namespace

void run_permutations(const Setting &s) {
    std::optional<Hptt> hptt;
    if (!s.hptt.empty()) hptt.emplace(s.hptt);
    std::vector<Column> columns{column::subject("permutations", 44),
                                column::operation(),
                                column::mib(6),
                                column::time("UCD", 8),
                                column::time("copy", 8),
                                column::speedup("UCD", "copy", 8)};
    if (hptt) {
        columns.push_back(column::time("HPTT, estimate", 8, "estimate"));
        columns.push_back(column::time("HPTT, patient", 8, "patient"));
        columns.push_back(column::speedup("UCD", "HPTT", 8));
    }
    Table table(s.run.progress, columns);
    for (const Permutation &p : permutations())
        s.run.row(p.name, [&] { measure(s, table, p, hptt ? &*hptt : nullptr); });
    fmt::print("\n");
}

} // namespace bench
