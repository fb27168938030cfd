// A type of the user's, given in the language of the tool.
#include "roofline.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"

#include "language/build.hpp"
#include "language/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace bench {
namespace {

constexpr std::int64_t part = 64 * 1024;

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

Work in_parts(UcdMove move, std::int64_t bytes, bool pack) {
    return repeated([=] {
        for (std::int64_t offset = 0; offset < bytes; offset += part) {
            UcdMove one = move;
            one.offset = static_cast<std::uintptr_t>(offset);
            one.packed += offset;
            one.bytes = static_cast<std::uintptr_t>(std::min(part, bytes - offset));
            pack ? one.pack() : one.unpack();
        }
    });
}

Work by_segments(const Workbench &bench, bool pack) {
    return repeated([&bench, pack] {
        char *packed = bench.packed();
        for (const Segment &s : bench.segments()) {
            const auto bytes = static_cast<std::size_t>(s.bytes);
            char *const place = bench.laid_out() + s.displacement;
            pack ? std::memcpy(packed, place, bytes) : std::memcpy(place, packed, bytes);
            packed += s.bytes;
        }
    });
}

} // namespace

void run_type(Run &run, const std::string &expression, std::int64_t count) {
    const UcdType type = build_type(expression, count);
    const RecipePtr segments = as_segments(type.get());
    std::int64_t bytes = 0;
    for (const Segment &s : segments_of(*segments)) bytes += s.bytes;
    Table table(run.progress, {{fmt::format("GB/s, {} KiB packed", bytes / 1024), 31},
                               {"UCD", 6},
                               {"in parts", 8},
                               {"by segments", 11},
                               {"MPI", 6},
                               {"memcpy", 6},
                               {"UCD/roof", 8}});
    for (const bool pack : {true, false}) {
        run.progress.say("building and checking");
        Workbench bench(*segments);
        const Roofline roofline(bench);
        const std::unique_ptr<MpiType> mpi = run.mpi ? run.mpi->build(*segments) : nullptr;
        const UcdMove move{.type = type.get(),
                           .laid_out = bench.laid_out(),
                           .packed = bench.packed(),
                           .offset = 0,
                           .bytes = static_cast<std::uintptr_t>(bench.bytes())};
        std::vector<Contender> contenders{
            {"UCD", pack ? repeated([move] { move.pack(); }) : repeated([move] { move.unpack(); })},
            {"UCD, parts of 64 KiB", in_parts(move, bench.bytes(), pack)},
            {"segment by segment", by_segments(bench, pack)}};
        if (mpi)
            contenders.push_back(
                {"MPI", pack ? mpi->packing(bench.laid_out(), bench.packed(), bench.bytes())
                             : mpi->unpacking(bench.laid_out(), bench.packed(), bench.bytes())});
        for (const Contender &c : contenders)
            pack ? bench.check_packing(c.name, c.work) : bench.check_unpacking(c.name, c.work);
        contenders.push_back(
            {"memcpy", pack ? memcpy_work(bench.packed(), bench.spare(), bench.bytes())
                            : memcpy_work(bench.spare(), bench.packed(), bench.bytes())});
        contenders.push_back({"roofline", roofline.work()});
        const auto r = run.measure("type", expression, pack ? "pack" : "unpack",
                                   static_cast<std::uint64_t>(bench.bytes()), contenders);
        const auto rate = [&](std::size_t i) { return three_digits(r[i].gigabytes_per_second()); };
        table.row({pack ? "pack" : "unpack", rate(0), rate(1), rate(2), mpi ? rate(3) : "-",
                   rate(r.size() - 2), ratio(r.back().seconds() / r[0].seconds())});
    }
    fmt::print("\n");
}

} // namespace bench
