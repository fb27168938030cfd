#include "layouts.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace bench {
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
    explicit Subject(const Layout &l)
        : layout(l), bench(*l.type), type(*l.type), parts(cut(bench)) {}

    const Layout &layout;
    Workbench bench;
    UcdType type;
    std::vector<Part> parts;

    UcdMove move(const Part &part) const {
        return {.type = type.get(),
                .laid_out = bench.laid_out(),
                .packed = bench.packed() + part.offset,
                .offset = static_cast<std::uintptr_t>(part.offset),
                .bytes = static_cast<std::uintptr_t>(part.piece.bytes)};
    }
    UcdMove whole() const {
        return {.type = type.get(),
                .laid_out = bench.laid_out(),
                .packed = bench.packed(),
                .offset = 0,
                .bytes = static_cast<std::uintptr_t>(bench.bytes())};
    }
    Work by_ucd(std::vector<Part> those, bool pack) const {
        return repeated([this, those = std::move(those), pack] {
            for (const Part &part : those) pack ? move(part).pack() : move(part).unpack();
        });
    }
    Work by_hand(std::vector<Part> those, bool pack) const {
        const PieceLoop loop = pack ? layout.pieces->pack : layout.pieces->unpack;
        return repeated([this, those = std::move(those), loop] {
            for (const Part &part : those)
                loop(layout.lists, part.piece, bench.laid_out(), bench.packed() + part.offset);
        });
    }
    void check(std::string_view name, const Work &work, bool pack) {
        pack ? bench.check_packing(name, work) : bench.check_unpacking(name, work);
    }
};

constexpr const char *operation_name(bool pack) {
    return pack ? "pack" : "unpack";
}

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
    const auto results = run.measure("one piece", subject.layout.name, operation_name(pack),
                                     static_cast<std::uint64_t>(piece_bytes), contenders);
    std::vector<std::string> cells{subject.layout.name, operation_name(pack)};
    for (std::size_t i = 0; i < 3; ++i) {
        const double ucd = results[2 * i].seconds(), hand = results[2 * i + 1].seconds();
        cells.push_back(duration(ucd));
        cells.push_back(ratio(hand / ucd));
    }
    cells.push_back(ratio(results[4].seconds() / results[0].seconds()));
    table.row(cells);
}

void measure_all_pieces(Run &run, Table &table, Subject &subject, bool pack) {
    const std::vector<Part> mixed = shuffled(subject.parts);
    const UcdMove whole = subject.whole();
    const std::vector<Contender> contenders{
        {"UCD, whole", repeated([whole, pack] { pack ? whole.pack() : whole.unpack(); })},
        {"UCD, pieces", subject.by_ucd(subject.parts, pack)},
        {"UCD, pieces shuffled", subject.by_ucd(mixed, pack)},
        {"hand, pieces", subject.by_hand(subject.parts, pack)},
        {"hand, pieces shuffled", subject.by_hand(mixed, pack)},
    };
    for (const Contender &c : contenders) subject.check(c.name, c.work, pack);
    const auto r = run.measure("pieces", subject.layout.name, operation_name(pack),
                               static_cast<std::uint64_t>(subject.bench.bytes()), contenders);
    const auto rate = [&](std::size_t i) { return three_digits(r[i].gigabytes_per_second()); };
    table.row({subject.layout.name, operation_name(pack), rate(0), rate(1), rate(3),
               ratio(r[0].seconds() / r[1].seconds()), ratio(r[3].seconds() / r[1].seconds()),
               rate(2), rate(4), ratio(r[4].seconds() / r[2].seconds())});
}

void list_by_ucd(const Subject &subject, std::vector<iovec> &list, std::uintptr_t at_once) {
    std::uintptr_t done = 0;
    for (std::uintptr_t got = 1; got > 0; done += got) {
        const std::uintptr_t room = std::min<std::uintptr_t>(at_once, list.size() - done);
        if (room == 0) break;
        check_ucd(ucd_iov(subject.bench.laid_out(), 1, subject.type.get(), done, list.data() + done,
                          room, &got));
    }
}

void check_list(const Subject &subject, std::vector<iovec> &list, const Contender &contender) {
    std::fill(list.begin(), list.end(), iovec{});
    contender.work(1);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Segment &s = subject.bench.segments()[i];
        if (list[i].iov_base != subject.bench.laid_out() + s.displacement ||
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
             subject.layout.pieces->list(subject.layout.lists, subject.bench.laid_out(),
                                         list.data());
         })},
    };
    for (const Contender &c : contenders) check_list(subject, list, c);
    const auto r = run.measure("iov", subject.layout.name, "list", 0, contenders);
    const auto rate = [&](std::size_t i) {
        return three_digits(static_cast<double>(segments) / r[i].seconds() * 1e-6);
    };
    table.row({subject.layout.name, fmt::format("{}", segments), rate(0), rate(1), rate(2),
               ratio(r[0].seconds() / r[1].seconds()), ratio(r[2].seconds() / r[0].seconds())});
}

constexpr unsigned name_width = 37;

Table place_table(Progress &progress) {
    return {progress,
            {{"one piece of 64 KiB", name_width},
             {"", 6},
             {"start", 7},
             {"to hand", 7},
             {"middle", 7},
             {"to hand", 7},
             {"end", 7},
             {"to hand", 7},
             {"end/start", 9}}};
}

Table piece_table(Progress &progress) {
    return {progress,
            {{"all in pieces of 64 KiB, GB/s", name_width},
             {"", 6},
             {"whole", 5},
             {"pieces", 6},
             {"hand", 5},
             {"to whole", 8},
             {"to hand", 7},
             {"shuffled", 8},
             {"hand", 5},
             {"to hand", 7}}};
}

Table list_table(Progress &progress) {
    return {progress,
            {{"lists of segments, millions/s", name_width},
             {"segments", 8},
             {"one call", 8},
             {"by 1024", 7},
             {"hand", 5},
             {"by 1024 to one", 14},
             {"one to hand", 11}}};
}

} // namespace

void run_pieces(Run &run) {
    const std::vector<Layout> layouts = large_layouts();
    Table places = place_table(run.progress), pieces = piece_table(run.progress),
          lists = list_table(run.progress);
    const auto each = [&](const auto &measure) {
        for (const Layout &layout : layouts) {
            if (!run.wants(layout.name)) continue;
            run.progress.say(fmt::format("{}: in pieces", layout.name));
            Subject subject(layout);
            measure(subject);
        }
        fmt::print("\n");
    };
    each([&](Subject &subject) {
        for (const bool pack : {true, false}) measure_places(run, places, subject, pack);
    });
    each([&](Subject &subject) {
        for (const bool pack : {true, false}) measure_all_pieces(run, pieces, subject, pack);
    });
    each([&](Subject &subject) { measure_lists(run, lists, subject); });
}

} // namespace bench
