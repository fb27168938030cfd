// A type of the user's, given in the language of the tool.
#include "cases/moves.hpp"
#include "cases/sections.hpp"

#include "language/build.hpp"
#include "language/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace bench::cpu {
namespace {

constexpr std::uintptr_t part = 64 * 1024;

UcdType build_type(const std::string &expression, std::int64_t count) {
    const ucd::Type one = ucdtool::build(ucdtool::parse(expression));
    ucd_type_t type;
    check_ucd(ucd_create_contig(count, one.get(), UCD_INFO__NULL, &type));
    return UcdType(type);
}

// Its segments as blocks of bytes: what is measured is checked against those, and MPI is given
// them.
RecipePtr as_segments(ucd_type_t type) {
    std::uintptr_t number = 0, written = 0;
    check_ucd(ucd_iov_len(1, type, &number));
    std::vector<iovec> segments(number);
    check_ucd(ucd_iov(nullptr, 1, type, 0, segments.data(), number, &written));
    Struct all;
    const RecipePtr byte = predefined(Element::byte);
    for (const iovec &s : segments) {
        all.displs.push_back(reinterpret_cast<std::intptr_t>(s.iov_base));
        all.blocklengths.push_back(static_cast<std::intptr_t>(s.iov_len));
        all.types.push_back(byte);
    }
    return recipe(std::move(all));
}

Work in_parts(const UcdMove &move, bool pack) {
    return repeated([=] {
        for (std::uintptr_t offset = 0; offset < move.bytes; offset += part) {
            UcdMove one = move;
            one.offset = offset;
            one.packed += offset;
            one.bytes = std::min(part, move.bytes - offset);
            one.run(pack);
        }
    });
}

Work by_segments(const Workbench &bench, bool pack) {
    return repeated([&bench, pack] {
        char *packed = bench.packed();
        for (const Segment &s : bench.segments()) {
            const auto bytes = static_cast<std::size_t>(s.bytes);
            char *const at = bench.typed() + s.displacement;
            pack ? std::memcpy(packed, at, bytes) : std::memcpy(at, packed, bytes);
            packed += s.bytes;
        }
    });
}

} // namespace

void run_type(const Setting &s) {
    const UcdType type = build_type(s.type, s.count);
    LayoutOnDevice segments({s.type, as_segments(type.get())}, s.device, MemoryKind::own,
                            MemoryKind::own, s.mpi);
    const Workbench &bench = segments.bench;
    Table table(s.run.progress,
                {{fmt::format("GB/s, {} KiB packed", bench.bytes() / 1024), 31,
                  [](const Comparison &c) { return c.results().front().operation; }},
                 column::rate("UCD", 6),
                 column::rate("UCD, parts of 64 KiB", 8, "in parts"),
                 column::rate("segment by segment", 11, "by segments"),
                 column::rate("MPI", 6),
                 column::rate("memcpy", 6),
                 column::speedup("UCD", "roofline", 8, "UCD/roof")});
    for (const Comparison &c : measure_both_ways(s.run, "type", segments, [&](Moves &moves) {
             s.run.progress.say(operation_name(moves.pack()));
             moves.add("UCD", bench.ucd(type, moves.pack()));
             moves.add("UCD, parts of 64 KiB", in_parts(bench.move(type), moves.pack()));
             moves.add("segment by segment", by_segments(bench, moves.pack()));
             moves.add_mpi();
             moves.add_plain_copy("memcpy");
             moves.add_roofline();
         }))
        table.row(c);
    fmt::print("\n");
}

} // namespace bench::cpu
