// Parts of large layouts, wherever they start; lists of segments in chunks.
#include "cases/moves.hpp"
#include "cases/sections.hpp"

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
class Subject : public LayoutOnDevice {
public:
    Subject(const Layout &l, Device &device) : LayoutOnDevice(l, device), parts(cut(bench)) {}

    const std::vector<Part> parts;

    Work by_ucd(std::vector<Part> those, bool pack) const {
        return repeated([whole = bench.move(type), those = std::move(those), pack] {
            for (const Part &part : those) {
                UcdMove move = whole;
                move.packed += part.offset;
                move.offset = static_cast<std::uintptr_t>(part.offset);
                move.bytes = static_cast<std::uintptr_t>(part.piece.bytes);
                move.run(pack);
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
    table.row(run.measure("one piece", subject.layout.name, operation_name(pack),
                          static_cast<std::uint64_t>(piece_bytes), contenders));
}

void measure_all_pieces(Run &run, Table &table, Subject &subject, bool pack) {
    const std::vector<Part> mixed = shuffled(subject.parts);
    Moves moves(subject, pack);
    moves.add_ucd("UCD, whole");
    moves.add("UCD, pieces", subject.by_ucd(subject.parts, pack));
    moves.add("UCD, pieces shuffled", subject.by_ucd(mixed, pack));
    moves.add("hand, pieces", subject.by_hand(subject.parts, pack));
    moves.add("hand, pieces shuffled", subject.by_hand(mixed, pack));
    table.row(moves.measure(run, "pieces"));
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
    table.row(run.measure("iov", subject.layout.name, "list", 0, contenders),
              {fmt::format("{}", segments)});
}

} // namespace

void run_pieces(const Setting &s) {
    constexpr unsigned name_width = 37;
    std::vector<Column> of_places{column::subject("one piece of 64 KiB", name_width),
                                  column::operation()};
    for (const std::string place : {"start", "middle", "end"}) {
        of_places.push_back(column::time("UCD, " + place, 7, place));
        of_places.push_back(column::speedup("UCD, " + place, "hand, " + place, 7, "to hand"));
    }
    of_places.push_back(column::speedup("UCD, start", "UCD, end", 9, "end/start"));
    Table places(s.run.progress, of_places);
    Table pieces(s.run.progress,
                 {column::subject("all in pieces of 64 KiB, GB/s", name_width), column::operation(),
                  column::rate("UCD, whole", 5, "whole"), column::rate("UCD, pieces", 6, "pieces"),
                  column::rate("hand, pieces", 5, "hand"),
                  column::speedup("UCD, pieces", "UCD, whole", 8, "to whole"),
                  column::speedup("UCD, pieces", "hand, pieces", 7, "to hand"),
                  column::rate("UCD, pieces shuffled", 8, "shuffled"),
                  column::rate("hand, pieces shuffled", 5, "hand"),
                  column::speedup("UCD, pieces shuffled", "hand, pieces shuffled", 7, "to hand")});
    std::size_t segments = 0; // of the row
    const auto millions = [&segments](const char *contender, unsigned width, const char *title) {
        return Column{title, width, [&segments, contender](const Comparison &c) {
                          return three_digits(static_cast<double>(segments) / c.seconds(contender) *
                                              1e-6);
                      }};
    };
    Table lists(s.run.progress,
                {column::subject("lists of segments, millions/s", name_width),
                 {"segments", 8},
                 millions("UCD, one call", 8, "one call"),
                 millions("UCD, chunks of 1024", 7, "by 1024"),
                 millions("hand, all", 5, "hand"),
                 column::speedup("UCD, chunks of 1024", "UCD, one call", 14, "by 1024 to one"),
                 column::speedup("UCD, one call", "hand, all", 11, "one to hand")});
    const std::vector<Layout> layouts = large_layouts();
    const auto each = [&](const auto &measure) {
        for (const Layout &layout : layouts)
            s.run.row(layout.name, [&] {
                Subject subject(layout, s.device);
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
    each([&](Subject &subject) {
        segments = subject.bench.segments().size();
        measure_lists(s.run, lists, subject);
    });
}

} // namespace bench::cpu
