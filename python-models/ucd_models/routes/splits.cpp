// The extension module ucd_models._routes: the placements of ucd_models._placements, as arithmetic.
#include "routes/layout.h"
#include "routes/spans.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ucd_models {

namespace nb = nanobind;

namespace {

struct Piece {
    int64_t size, unit;
};

int64_t rounded_up(int64_t n, int64_t divisor) {
    return n / divisor + (n % divisor != 0);
}

// The block that a part has of n indices in equal blocks, of which the last ones may be smaller.
struct Share {
    int64_t low, high;
    Share(int64_t n, int64_t parts, int64_t part) {
        const int64_t each = std::max<int64_t>(rounded_up(n, parts), 1);
        low = part < rounded_up(n, each) ? part * each : n;
        high = low + std::min(each, n - low);
    }
    int64_t size() const { return high - low; }
};

// Describes how one dimension of the mesh splits an axis.
struct Split {
    enum class Kind { shard, strided, cyclic, segment };

    int64_t parts;
    Kind kind;
    int64_t number; // strided: split_factor. cyclic: block. segment: groups
    std::vector<Piece> pieces;

    static void add_block(int64_t start, int64_t local, int64_t length, Spans &spans) {
        if (length > 0) spans.push_back({start, local, length});
    }

    static void add_blocks(Span span, Spans &spans) {
        if (span.count == 1) span.stride = span.step = 0;
        if (span.count > 0) spans.push_back(span);
    }

    // Of blocks of equal size, each of which is split over all parts.
    void add_strided(int64_t n, int64_t part, Spans &spans) const {
        const int64_t block = std::max<int64_t>(rounded_up(n, number), 1);
        const int64_t whole = n / block, rest = n % block;
        const Share of_block(block, parts, part), of_rest(rest, parts, part);
        if (of_block.size() > 0)
            add_blocks({of_block.low, 0, of_block.size(), block, of_block.size(), whole}, spans);
        add_block(whole * block + of_rest.low, whole * of_block.size(), of_rest.size(), spans);
    }

    void add_cyclic(int64_t n, int64_t part, Spans &spans) const {
        const int64_t blocks = rounded_up(n, number);
        if (part >= blocks) return;
        const int64_t mine = (blocks - 1 - part) / parts + 1;
        const int64_t last = part + (mine - 1) * parts; // the number of the last block
        const bool is_cut = last == blocks - 1 && n % number != 0;
        const int64_t whole = is_cut ? mine - 1 : mine;
        const int64_t stride = whole > 1 ? parts * number : 0;
        add_blocks({part * number, 0, number, stride, number, whole}, spans);
        if (is_cut) add_block(last * number, whole * number, n % number, spans);
    }

    // Of pieces in a row that are each split by themselves, between units.
    void add_in_a_row(int64_t part, Spans &spans) const {
        int64_t start = 0, local = 0;
        for (const Piece &piece : pieces) {
            const int64_t units = piece.size / piece.unit;
            if (piece.unit > 1 && 0 < units && units < parts) { // a unit is on several ranks
                const int64_t turns = parts / units;
                spans.push_back({start + part / turns * piece.unit, local, piece.unit, 0, 0, 1,
                                 part % turns, turns});
                local += piece.unit;
            } else {
                const Share share(units, parts, part);
                add_block(start + share.low * piece.unit, local, share.size() * piece.unit, spans);
                local += share.size() * piece.unit;
            }
            start += piece.size;
        }
    }

    // Of pieces of `number` equal shares: group after group, the group's share of each piece.
    void add_in_groups(int64_t part, Spans &spans) const {
        const Share groups(number, parts, part);
        int64_t together = 0, start = 0, local = 0;
        for (const Piece &piece : pieces) together += piece.size / number;
        for (const Piece &piece : pieces) {
            const int64_t share = piece.size / number;
            if (share > 0)
                add_blocks(
                    {start + groups.low * share, local, share, share, together, groups.size()},
                    spans);
            local += share;
            start += piece.size;
        }
    }

    // Adds the indices of 0 to n - 1 that a part has.
    void add_spans(int64_t n, int64_t part, Spans &spans) const {
        switch (kind) {
        case Kind::shard: {
            const Share share(n, parts, part);
            return add_block(share.low, 0, share.size(), spans);
        }
        case Kind::strided: return add_strided(n, part, spans);
        case Kind::cyclic: return add_cyclic(n, part, spans);
        case Kind::segment: break;
        }
        number ? add_in_groups(part, spans) : add_in_a_row(part, spans);
    }

    // The parts that may have something of some spans of n indices, in ascending order: all that
    // do, and few others.
    std::vector<int64_t> candidates(int64_t n, const Spans &spans) const {
        std::vector<int64_t> found;
        if (kind == Kind::shard || kind == Kind::cyclic) {
            int64_t blocks = 0;
            for (const Span &span : spans) blocks += span.count;
            const int64_t block =
                kind == Kind::shard ? std::max<int64_t>(rounded_up(n, parts), 1) : number;
            if (blocks < parts && add_met(spans, block, found)) {
                std::sort(found.begin(), found.end());
                found.erase(std::unique(found.begin(), found.end()), found.end());
                return found;
            }
        }
        found.resize(static_cast<std::size_t>(parts));
        for (int64_t part = 0; part < parts; ++part) found[static_cast<std::size_t>(part)] = part;
        return found;
    }

private:
    // The parts that blocks of the axis meet, which are dealt out in turn. False: they are all.
    bool add_met(const Spans &spans, int64_t block, std::vector<int64_t> &found) const {
        for (const Span &span : spans) {
            for (int64_t k = 0; k < span.count; ++k) {
                const int64_t start = span.start + k * span.stride;
                const int64_t first = start / block, last = (start + span.block - 1) / block;
                if (last - first >= parts - 1) return false;
                for (int64_t met = first; met <= last; ++met) found.push_back(met % parts);
            }
        }
        return true;
    }
};

// Spans as those of indices to themselves: only which indices they are matters.
Spans identical(Spans spans) {
    for (Span &span : spans) span.local = span.start, span.step = span.stride;
    return spans;
}

// The splits of an axis, one after the other, of which the last one's parts are numbered fastest.
class Splits {
public:
    explicit Splits(nb::iterable made) {
        for (nb::handle entry : made) {
            const auto fields = nb::cast<nb::tuple>(entry);
            const auto kind = nb::cast<int>(fields[1]);
            if (fields.size() != 4 || kind < 0 || kind > 3)
                throw nb::value_error("a split is (parts, kind, number, pieces)");
            Split split{nb::cast<int64_t>(fields[0]),
                        static_cast<Split::Kind>(kind),
                        nb::cast<int64_t>(fields[2]),
                        {}};
            for (nb::handle piece : nb::cast<nb::tuple>(fields[3])) {
                const auto pair = nb::cast<nb::tuple>(piece);
                split.pieces.push_back({nb::cast<int64_t>(pair[0]), nb::cast<int64_t>(pair[1])});
            }
            if (split.parts < 1) throw nb::value_error("a split has no parts");
            splits_.push_back(std::move(split));
        }
    }

    // The indices of 0 to n - 1 that a part has after all splits, in place of what `spans` has.
    void get_spans(int64_t n, int64_t part, Spans &spans) const {
        spans.clear();
        if (splits_.size() == 1) return splits_[0].add_spans(n, part, spans);
        if (n > 0) spans.push_back({0, 0, n});
        int64_t after = parts();
        Spans inner;
        for (const Split &split : splits_) {
            after /= split.parts;
            inner.clear();
            split.add_spans(total(spans), part / after % split.parts, inner);
            spans = composed(spans, inner);
        }
    }

    Spans spans(int64_t n, int64_t part) const {
        Spans found;
        get_spans(n, part, found);
        return found;
    }

    int64_t size(int64_t n, int64_t part) const { return total(spans(n, part)); }

    // The parts of these splits that may have some of some indices, in ascending order.
    std::vector<int64_t> candidates(int64_t n, Spans wanted) const {
        // What is wanted of a part of the first splits, by its own indices.
        struct Part {
            int64_t number, size;
            Spans wanted;
        };
        std::vector<Part> level;
        level.push_back({0, n, std::move(wanted)});
        for (std::size_t k = 0; k < splits_.size(); ++k) {
            const Split &split = splits_[k];
            const bool is_last = k + 1 == splits_.size();
            std::vector<Part> next;
            for (const Part &outer : level) {
                for (const int64_t part : split.candidates(outer.size, outer.wanted)) {
                    Part inner{outer.number * split.parts + part, 0, {}};
                    if (!is_last) {
                        Spans spans;
                        split.add_spans(outer.size, part, spans);
                        inner.size = total(spans);
                        inner.wanted = met(spans, outer.wanted);
                        if (inner.wanted.empty()) continue;
                    }
                    next.push_back(std::move(inner));
                }
            }
            level = std::move(next);
        }
        std::vector<int64_t> numbers;
        for (const Part &part : level) numbers.push_back(part.number);
        return numbers;
    }

private:
    std::vector<Split> splits_;

    int64_t parts() const {
        int64_t found = 1;
        for (const Split &split : splits_) found *= split.parts;
        return found;
    }

    // Of indices of the axis, those that a part has, by its own numbers.
    static Spans met(const Spans &of_part, const Spans &wanted) {
        Runs runs;
        for (const Span &a : of_part)
            for (const Span &b : wanted) overlap(a, b, runs);
        Spans found;
        for (const Run &run : runs)
            found.push_back(
                {run.source, run.source, run.block, run.source_step, run.source_step, run.count});
        return found;
    }
};

// What a part of the source, whose spans are given, sends to a part of the target, in place of what
// `runs` has.
void get_common(const Spans &ours, const Spans &theirs, int64_t receiver, Runs &runs) {
    runs.clear();
    for (const Span &a : ours)
        if (a.turns == 1 || receiver % a.turns == a.turn)
            for (const Span &b : theirs) overlap(a, b, runs);
}

nb::tuple tuple_of(const Runs &runs) {
    nb::list list;
    for (const Run &r : runs)
        list.append(
            nb::make_tuple(r.source, r.target, r.block, r.source_step, r.target_step, r.count));
    return nb::tuple(list);
}

nb::tuple common(int64_t n, const Splits &source, int64_t sender, const Splits &target,
                 int64_t receiver) {
    Runs runs;
    get_common(source.spans(n, sender), target.spans(n, receiver), receiver, runs);
    return tuple_of(simplified(std::move(runs)));
}

// Returns what `length` indices from `start` on have in common with a part. Their runs count from
// `start`.
nb::tuple common_with_block(int64_t n, int64_t start, int64_t length, const Splits &target,
                            int64_t part) {
    Runs runs;
    if (length > 0) get_common({{start, 0, length}}, target.spans(n, part), part, runs);
    return tuple_of(simplified(std::move(runs)));
}

// Parts that lie at equal distances in their mesh and have something in common with one part: that
// of the k-th begins k shifts later than that of the first, and is the same otherwise.
struct Group {
    int64_t place, step, count;
    Runs runs; // of the first
    int64_t source_shift, target_shift;

    // Adds a part, if it is the next one. Returns whether it is.
    bool add(int64_t next_place, const Runs &next) {
        if (next.size() != runs.size()) return false;
        const int64_t source = next[0].source - runs[0].source;
        const int64_t target = next[0].target - runs[0].target;
        const int64_t distance = next_place - place;
        if (count == 1)
            step = distance, source_shift = source, target_shift = target;
        else if (distance != step * count || source != source_shift * count ||
                 target != target_shift * count)
            return false;
        for (std::size_t k = 0; k < next.size(); ++k) {
            Run moved = runs[k];
            moved.source += source;
            moved.target += target;
            if (moved != next[k]) return false;
        }
        ++count;
        return true;
    }
};

// Returns the place in a mesh of the first rank that has a part. axes: (stride in the mesh, ranks)
// of each split.
int64_t place_of(int64_t part, const std::vector<std::pair<int64_t, int64_t>> &axes) {
    int64_t place = 0;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        place += part % axis->second * axis->first;
        part /= axis->second;
    }
    return place;
}

// The parts of `others` with which a part of `mine` has something in common. It receives from them,
// or else sends to them.
nb::list partners(int64_t n, const Splits &mine, int64_t part, const Splits &others,
                  nb::iterable axes, bool receives) {
    std::vector<std::pair<int64_t, int64_t>> strides;
    for (nb::handle axis : axes) {
        const auto pair = nb::cast<nb::tuple>(axis);
        strides.emplace_back(nb::cast<int64_t>(pair[0]), nb::cast<int64_t>(pair[1]));
        if (strides.back().second < 1) throw nb::value_error("an axis has no ranks");
    }
    const Spans spans = mine.spans(n, part);
    std::vector<Group> groups;
    Spans theirs;
    Runs runs;
    if (!spans.empty())
        for (const int64_t other : others.candidates(n, identical(spans))) {
            others.get_spans(n, other, theirs);
            if (receives)
                get_common(theirs, spans, part, runs);
            else
                get_common(spans, theirs, other, runs);
            if (runs.empty()) continue;
            runs = simplified(std::move(runs));
            const int64_t place = place_of(other, strides);
            // A step of 0 would be a part twice.
            if (groups.empty() || !groups.back().add(place, runs))
                groups.push_back({place, 0, 1, runs, 0, 0});
        }
    nb::list list;
    for (const Group &g : groups)
        list.append(nb::make_tuple(g.place, g.step, g.count, tuple_of(g.runs), g.source_shift,
                                   g.target_shift));
    return list;
}

Runs runs_of(nb::iterable given) {
    Runs runs;
    for (nb::handle entry : given) {
        const auto f = nb::cast<nb::tuple>(entry);
        if (f.size() != 6) throw nb::value_error("a run has six numbers");
        int64_t numbers[6];
        for (std::size_t k = 0; k < 6; ++k) numbers[k] = nb::cast<int64_t>(f[k]);
        runs.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]});
    }
    return runs;
}

nb::tuple layout(nb::iterable given) {
    std::vector<Fan> fans;
    for (nb::handle entry : given) {
        const auto f = nb::cast<nb::tuple>(entry);
        fans.push_back({nb::cast<int64_t>(f[0]), nb::cast<int64_t>(f[1]), nb::cast<int64_t>(f[2]),
                        nb::cast<int64_t>(f[3])});
    }
    const Layout found = layout_of(fans);
    const auto bytes_of = [](const std::vector<int64_t> &numbers) {
        return nb::bytes(numbers.data(), numbers.size() * sizeof(int64_t));
    };
    nb::list shares;
    for (const auto &stretches : found.shares) {
        nb::list list;
        for (const Stretch &s : stretches)
            list.append(nb::make_tuple(s.k, s.count, s.stride, s.position, s.step));
        shares.append(list);
    }
    return nb::make_tuple(bytes_of(found.peers), bytes_of(found.begins), shares);
}

nb::tuple clipped_runs(nb::iterable runs, int64_t start, int64_t stop) {
    return tuple_of(clipped(runs_of(runs), start, stop));
}

nb::tuple part_of_runs(nb::iterable runs, int64_t number, int64_t parts) {
    if (number < 0 || number >= parts) throw nb::value_error("there is no such part");
    return tuple_of(part_of(runs_of(runs), number, parts));
}

} // namespace

} // namespace ucd_models

NB_MODULE(_routes, m) {
    using namespace ucd_models;
    using nb::arg;
    nb::set_leak_warnings(false);
    nb::class_<Splits>(m, "Splits")
        .def(nb::init<nb::iterable>(), arg("splits"))
        .def("size", &Splits::size, arg("n"), arg("part"));
    m.def("common", &common, arg("n"), arg("source"), arg("sender"), arg("target"),
          arg("receiver"));
    m.def("common_with_block", &common_with_block, arg("n"), arg("start"), arg("length"),
          arg("target"), arg("part"));
    m.def("partners", &partners, arg("n"), arg("mine"), arg("part"), arg("others"), arg("axes"),
          arg("receives"));
    m.def("layout", &layout, arg("fans"));
    m.def("clipped", &clipped_runs, arg("runs"), arg("start"), arg("stop"));
    m.def("part", &part_of_runs, arg("runs"), arg("number"), arg("parts"));
}
