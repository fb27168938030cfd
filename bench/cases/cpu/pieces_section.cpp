// Parts of large layouts, wherever they start; lists of segments in chunks.
#include "cases/cpu/sections.hpp"
#include "cases/moves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace bench::cpu {
namespace {

constexpr std::int64_t piece_bytes = 64 * 1024;
constexpr std::uintptr_t chunk = 1024; // segments

struct Part {
    std::int64_t offset;
    Piece piece;
};

// The packed stream in pieces, and where each starts in the layout: its author would know.
std::vector<Part> cut(const Workbench &bench) {
    std::vector<Part> parts;
    std::int64_t segment = 0, segment_offset = 0;
    for (std::int64_t offset = 0; offset < bench.bytes(); offset += piece_bytes) {
        const auto bytes = [&] {
            return bench.segments()[static_cast<std::size_t>(segment)].bytes;
        };
        for (; segment_offset + bytes() <= offset; ++segment) segment_offset += bytes();
        parts.push_back({offset,
                         {.first = segment,
                          .skip = offset - segment_offset,
                          .bytes = std::min(piece_bytes, bench.bytes() - offset)}});
    }
    return parts;
}

std::vector<Part> shuffled(std::vector<Part> parts) {
    std::mt19937_64 generator{7};
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[generator() % i]);
    return parts;
}

// One large layout, with what all measurements of it need.
class Subject {
public:
    Subject(const Setting &s, const Layout &l)
        : layout(l), bench(*l.type, s.host), type(*l.type), parts(cut(bench)) {}

    const Layout &layout;
    Workbench bench;
    UcdType type;
    std::vector<Part> parts;

    Work by_ucd(std::vector<Part> those, bool pack) const {
        return repeated([whole = bench.move(type), those = std::move(those), pack] {
            for (const Part &part : those) {
                UcdMove move = whole;
                move.packed += part.offset;
                move.offset = static_cast<std::uintptr_t>(part.offset);
                move.bytes = static_cast<std::uintptr_t>(part.piece.bytes);
                pack ? move.pack() : move.unpack();
            }
        });
    }
    Work by_hand(std::vector<Part> those, bool pack) const {
        const PieceLoop loop = pack ? layout.pieces->pack : layout.pieces->unpack;
        return repeated([this, lists = layout.lists.view(), those = std::move(those), loop] {
            for (const Part &part : those)
                loop(lists, part.piece, bench.typed(), bench.packed() + part.offset);
        });
    }
};

// One piece again and again: what it costs to find where it starts shows.
void measure_places(Run &run, Table &table, const Subject &subject, bool pack) {
    const std::size_t last = subject.parts.size() - 2; // the one behind it may be shorter
    const std::pair<const char *, std::size_t> places[] = {
        {"start", 0}, {"middle", last / 2}, {"end", last}};
    std::vector<Contender> contenders;
    for (const auto &[place, index] : places) {
        const std::vector<Part> one{subject.parts[index]};
        contenders.push_back({fmt::format("UCD, {}", place), subject.by_ucd(one, pack)});
        contenders.push_back({fmt::format("hand, {}", place), subject.by_hand(one, pack)});
    }
    const Comparison c = run.measure("one piece", subject.layout.name, operation_name(pack),
                                     static_cast<std::uint64_t>(piece_bytes), contenders);
    std::vector<std::string> cells{subject.layout.name, operation_name(pack)};
    for (const auto &[place, index] : places) {
        const std::string ucd = fmt::format("UCD, {}", place);
        cells.insert(cells.end(), {c.time(ucd), c.speedup(ucd, fmt::format("hand, {}", place))});
    }
    cells.push_back(c.speedup("UCD, start", "UCD, end"));
    table.row(cells);
}

void measure_all_pieces(Run &run, Table &table, Subject &subject, bool pack) {
    const std::vector<Part> mixed = shuffled(subject.parts);
    Moves moves(subject.bench, pack);
    moves.add_ucd(subject.type, "UCD, whole");
    moves.add("UCD, pieces", subject.by_ucd(subject.parts, pack));
    moves.add("UCD, pieces shuffled", subject.by_ucd(mixed, pack));
    moves.add("hand, pieces", subject.by_hand(subject.parts, pack));
    moves.add("hand, pieces shuffled", subject.by_hand(mixed, pack));
    const Comparison c = moves.measure(run, "pieces", subject.layout.name);
    table.row({subject.layout.name, operation_name(pack), c.rate("UCD, whole"),
               c.rate("UCD, pieces"), c.rate("hand, pieces"),
               c.speedup("UCD, pieces", "UCD, whole"), c.speedup("UCD, pieces", "hand, pieces"),
               c.rate("UCD, pieces shuffled"), c.rate("hand, pieces shuffled"),
               c.speedup("UCD, pieces shuffled", "hand, pieces shuffled")});
}

void list_by_ucd(const Subject &subject, std::vector<iovec> &list, std::uintptr_t at_once) {
    std::uintptr_t done = 0;
    for (std::uintptr_t got = 1; got > 0; done += got) {
        const std::uintptr_t room = std::min<std::uintptr_t>(at_once, list.size() - done);
        if (room == 0) break;
        check_ucd(ucd_iov(subject.bench.typed(), 1, subject.type.get(), done, list.data() + done,
                          room, &got));
    }
}

void check_list(const Subject &subject, std::vector<iovec> &list, const Contender &contender) {
    std::fill(list.begin(), list.end(), iovec{});
    contender.work(1);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Segment &s = subject.bench.segments()[i];
        if (list[i].iov_base != subject.bench.typed() + s.displacement ||
            list[i].iov_len != static_cast<std::size_t>(s.bytes))
            throw std::runtime_error(fmt::format("{}: segment {} is wrong", contender.name, i));
    }
}

void measure_lists(Run &run, Table &table, const Subject &subject) {
    std::uintptr_t segments = 0;
    check_ucd(ucd_iov_len(1, subject.type.get(), &segments));
    if (segments != subject.bench.segments().size())
        throw std::runtime_error("UCD: the number of segments is wrong");
    std::vector<iovec> list(segments);
    const std::vector<Contender> contenders{
        {"UCD, one call", repeated([&] { list_by_ucd(subject, list, list.size()); })},
        {"UCD, chunks of 1024", repeated([&] { list_by_ucd(subject, list, chunk); })},
        {"hand, all", repeated([&] {
             subject.layout.pieces->list(subject.layout.lists.view(), subject.bench.typed(),
                                         list.data());
         })},
    };
    for (const Contender &c : contenders) check_list(subject, list, c);
    const Comparison c = run.measure("iov", subject.layout.name, "list", 0, contenders);
    const auto rate = [&](const char *name) {
        return three_digits(static_cast<double>(segments) / c.seconds(name) * 1e-6);
    };
    table.row({subject.layout.name, fmt::format("{}", segments), rate("UCD, one call"),
               rate("UCD, chunks of 1024"), rate("hand, all"),
               c.speedup("UCD, chunks of 1024", "UCD, one call"),
               c.speedup("UCD, one call", "hand, all")});
}

} // namespace

void run_pieces(const Setting &s) {
    constexpr unsigned name_width = 37;
    Table places(s.run.progress, {{"one piece of 64 KiB", name_width},
                                  {"", 6},
                                  {"start", 7},
                                  {"to hand", 7},
                                  {"middle", 7},
                                  {"to hand", 7},
                                  {"end", 7},
                                  {"to hand", 7},
                                  {"end/start", 9}});
    Table pieces(s.run.progress, {{"all in pieces of 64 KiB, GB/s", name_width},
                                  {"", 6},
                                  {"whole", 5},
                                  {"pieces", 6},
                                  {"hand", 5},
                                  {"to whole", 8},
                                  {"to hand", 7},
                                  {"shuffled", 8},
                                  {"hand", 5},
                                  {"to hand", 7}});
    Table lists(s.run.progress, {{"lists of segments, millions/s", name_width},
                                 {"segments", 8},
                                 {"one call", 8},
                                 {"by 1024", 7},
                                 {"hand", 5},
                                 {"by 1024 to one", 14},
                                 {"one to hand", 11}});
    const std::vector<Layout> layouts = large_layouts();
    const auto each = [&](const auto &measure) {
        for (const Layout &layout : layouts)
            s.run.row(layout.name, [&] {
                Subject subject(s, layout);
                measure(subject);
            });
        fmt::print("\n");
    };
    each([&](Subject &subject) {
        for (const bool pack : {true, false}) measure_places(s.run, places, subject, pack);
    });
    each([&](Subject &subject) {
        for (const bool pack : {true, false}) measure_all_pieces(s.run, pieces, subject, pack);
    });
    each([&](Subject &subject) { measure_lists(s.run, lists, subject); });
}

} // namespace bench::cpu
