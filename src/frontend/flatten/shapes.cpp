#include "flatten/shapes.h"

#include "layout/normalise/list_look.h"
#include "types/predefined.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <tuple>

namespace ucd::flat {
namespace {

uint64_t magnitude(int64_t v) {
    return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// Avoids a division where possible, which takes several times as long as all other work for an
// entry.
bool divides(uint64_t divisor, uint64_t n) {
    const uint64_t below = divisor - 1;
    return (divisor & below) == 0 ? (n & below) == 0 : n % divisor == 0;
}

// An arbitrary total order of lists of equal length, chosen to be fast.
template <class T>
int order_of(std::span<const T> a, std::span<const T> b) {
    return a.empty() ? 0 : std::memcmp(a.data(), b.data(), a.size_bytes());
}

} // namespace

Shapes::Steps Shapes::survey(const std::vector<int64_t> &displs) {
    const int64_t first = step_between(displs[0], displs[1]);
    Steps steps{.unit = first};
    uint64_t divisor = magnitude(first);
    int64_t least = first, most = first;
    for (std::size_t i = 2; i < displs.size(); ++i) {
        const int64_t step = step_to(displs, i);
        steps.progression = steps.progression && step == first;
        if (divisor == 0 || !divides(divisor, magnitude(step)))
            divisor = std::gcd(divisor, magnitude(step));
        least = std::min(least, step);
        most = std::max(most, step);
    }
    if (steps.progression) return steps;
    steps.unit = static_cast<int64_t>(divisor);
    steps.width = std::max(width_of_signed(least / steps.unit), width_of_signed(most / steps.unit));
    return steps;
}

ShapeId Shapes::element(const Type &t) {
    const Representation r = representation_of(t.element);
    FlatShape s;
    s.element_class = r.element_class;
    s.element_bytes = r.bytes;
    s.alignment_log = static_cast<uint8_t>(std::countr_zero(t.alignment));
    s.plain = s.dense = pieces_of(t.element).second_bytes == 0;
    s.end = r.bytes;
    return intern(s);
}

ShapeId Shapes::strided(int64_t count, int64_t stride, ShapeId child) {
    if (count == 1) return child;
    const FlatShape &c = shapes_[child];
    const bool touches = stride == c.end;
    FlatShape s;
    s.kind = Kind::nest;
    s.child = child;
    s.count = count;
    s.stride = stride;
    s.plain = c.plain && (!touches || c.dense);
    s.dense = c.dense && touches;
    s.end = displace(c.end, static_cast<uint64_t>(count - 1), stride);
    return intern(s);
}

// The nest for a list that consists of progressions of progressions at every level, or no_shape.
// Only plain shapes lower to the same layout as a list and as a nest.
ShapeId Shapes::nested_progressions(const std::vector<int64_t> &displs, ShapeId child) {
    std::size_t apart = 1; // list entries that one remaining entry stands for
    while (displs.size() > apart) {
        const FlatShape &c = shapes_[child];
        const int64_t step = step_between(displs[0], displs[apart]);
        if (!c.plain || (step == c.end && !c.dense)) return no_shape;
        const std::size_t run = common_run(displs, step, apart);
        if (run == 1) return no_shape;
        child = strided(static_cast<int64_t>(run), step, child);
        apart *= run;
    }
    return child;
}

PlacedShape Shapes::indexed_block(const std::vector<int64_t> &displs, ShapeId child) {
    const int64_t at = displs[0];
    if (displs.size() == 1) return {at, child};
    const Steps steps = survey(displs);
    if (steps.progression)
        return {at, strided(static_cast<int64_t>(displs.size()), steps.unit, child)};
    if (const ShapeId nest = nested_progressions(displs, child); nest != no_shape)
        return {at, nest};
    FlatShape s = list(Kind::indexed_block, displs, steps);
    s.child = child;
    return {at, intern(s)};
}

PlacedShape Shapes::indexed(const std::vector<int64_t> &displs, const std::vector<int64_t> &lengths,
                            int64_t stride, ShapeId child) {
    const int64_t at = displs[0], length = lengths[0];
    if (displs.size() == 1) return {at, strided(length, stride, child)};
    const bool one_length =
        std::all_of(lengths.begin(), lengths.end(), [=](int64_t l) { return l == length; });
    const Steps steps = survey(displs);
    if (one_length) {
        const ShapeId run = strided(length, stride, child);
        if (shapes_[run].dense) return indexed_block(displs, run);
        const auto n = static_cast<int64_t>(displs.size());
        if (steps.progression && steps.unit == displace(0, static_cast<uint64_t>(length), stride))
            return {at, strided(n * length, stride, child)};
        if (steps.progression) return {at, strided(n, steps.unit, run)};
    }
    FlatShape s = list(Kind::indexed, displs, steps);
    s.child = child;
    s.stride = stride;
    s.lengths_width =
        width_of_unsigned(static_cast<uint64_t>(*std::max_element(lengths.begin(), lengths.end())));
    if (one_length) s.flags |= one_length_flag;
    const std::size_t written = one_length ? 1 : lengths.size();
    uint8_t *to = extend(s, written << s.lengths_width);
    for (std::size_t i = 0; i < written; ++i)
        to = store(to, static_cast<uint64_t>(lengths[i]), s.lengths_width);
    return {at, intern(s)};
}

PlacedShape Shapes::structure(const std::vector<int64_t> &displs,
                              const std::vector<ShapeId> &children) {
    FlatShape s = list(Kind::structure, displs, survey(displs));
    s.children_at = children_.size();
    children_.insert(children_.end(), children.begin(), children.end());
    return {displs[0], intern(s)};
}

FlatShape Shapes::list(Kind kind, const std::vector<int64_t> &displs, const Steps &steps) {
    FlatShape s;
    s.kind = kind;
    s.count = static_cast<int64_t>(displs.size());
    s.unit = steps.unit;
    s.list_at = lists_.size();
    if (steps.progression) {
        s.flags = progression_flag;
        return s;
    }
    s.steps_width = steps.width;
    uint8_t *to = extend(s, (displs.size() - 1) << steps.width);
    const auto write = [&](auto in_units) {
        for (std::size_t i = 1; i < displs.size(); ++i)
            to = store(to, static_cast<uint64_t>(in_units(step_to(displs, i))), steps.width);
    };
    if (steps.unit > 0 && std::has_single_bit(static_cast<uint64_t>(steps.unit)))
        write([shift = std::countr_zero(static_cast<uint64_t>(steps.unit))](int64_t step) {
            return step >> shift;
        });
    else
        write([unit = steps.unit](int64_t step) { return step / unit; });
    return s;
}

// Extends the list of the shape under construction, which is the last one.
uint8_t *Shapes::extend(FlatShape &s, std::size_t bytes) {
    lists_.resize(lists_.size() + bytes);
    s.list_bytes += bytes;
    return lists_.data() + lists_.size() - bytes;
}

std::span<const uint8_t> Shapes::list_of(const FlatShape &s) const {
    return std::span(lists_).subspan(s.list_at, s.list_bytes);
}

std::span<const ShapeId> Shapes::children_of(const FlatShape &s) const {
    if (s.kind == Kind::element) return {};
    if (s.kind != Kind::structure) return {&s.child, 1};
    return std::span(children_).subspan(s.children_at, static_cast<std::size_t>(s.count));
}

bool Shapes::Less::operator()(ShapeId a, ShapeId b) const {
    const FlatShape &s = (*shapes)[a], &t = (*shapes)[b];
    const auto key = [](const FlatShape &u) {
        return std::tie(u.kind, u.count, u.stride, u.unit, u.flags, u.element_class,
                        u.element_bytes, u.alignment_log, u.steps_width, u.lengths_width);
    };
    if (key(s) != key(t)) return key(s) < key(t);
    // Kind, count, flags and widths are equal, so the lists have the same length.
    int order = order_of(shapes->children_of(s), shapes->children_of(t));
    if (order == 0) order = order_of(shapes->list_of(s), shapes->list_of(t));
    return order < 0;
}

// The id of the shape under construction, or that of an equal shape if there is one.
ShapeId Shapes::intern(const FlatShape &s) {
    if (shapes_.size() == no_shape) throw std::bad_alloc();
    const auto id = static_cast<ShapeId>(shapes_.size());
    shapes_.push_back(s);
    const auto [equal, is_new] = index_.insert(id);
    if (is_new) return id;
    lists_.resize(lists_.size() - s.list_bytes);
    if (s.kind == Kind::structure) children_.resize(s.children_at);
    shapes_.pop_back();
    return *equal;
}

// The first shape below the levels of a nest, which are written as one node.
const ShapeId &Shapes::below(const FlatShape &nest) const {
    const FlatShape *s = &nest;
    while (shapes_[s->child].kind == Kind::nest) s = &shapes_[s->child];
    return s->child;
}

std::span<const ShapeId> Shapes::written_children(const FlatShape &s) const {
    if (s.kind == Kind::nest) return {&below(s), 1};
    return children_of(s);
}

// Writes the shapes in post-order, children in the order of the list. The order therefore depends
// on the shapes alone, not on the type that they were found in.
Shapes::Written Shapes::write(ShapeId root, std::vector<uint8_t> &bytes) const {
    struct PendingShape {
        ShapeId id;
        std::size_t next; // the child to visit next
    };
    std::vector<uint32_t> renamed(shapes_.size(), no_shape);
    std::vector<PendingShape> stack{{root, 0}};
    Written written;
    while (!stack.empty()) {
        PendingShape &f = stack.back();
        const FlatShape &s = shapes_[f.id];
        const std::span<const ShapeId> children = written_children(s);
        while (f.next < children.size() && renamed[children[f.next]] != no_shape) ++f.next;
        if (f.next < children.size()) {
            stack.push_back({children[f.next], 0});
            continue;
        }
        write_node(s, renamed, bytes);
        if (s.kind == Kind::element)
            written.version = std::max(written.version, version_of(s.element_class));
        renamed[f.id] = written.nodes++;
        stack.pop_back();
    }
    return written;
}

void Shapes::write_node(const FlatShape &s, const std::vector<uint32_t> &renamed,
                        std::vector<uint8_t> &bytes) const {
    const auto put = [&](uint64_t value, unsigned width) {
        uint8_t buffer[8];
        bytes.insert(bytes.end(), buffer, store(buffer, value, width));
    };
    put(static_cast<uint8_t>(static_cast<uint8_t>(s.kind) | s.flags), 0);
    if (s.kind == Kind::element) {
        for (const uint8_t value : {s.element_class, s.element_bytes, s.alignment_log})
            put(value, 0);
        return;
    }
    std::vector<int64_t> scalars;
    if (s.kind == Kind::nest) {
        for (const FlatShape *level = &s; level->kind == Kind::nest;
             level = &shapes_[level->child]) {
            scalars.push_back(level->count);
            scalars.push_back(level->stride);
        }
    } else {
        scalars = {s.count, s.unit};
        if (s.kind == Kind::indexed) scalars.push_back(s.stride);
    }
    const std::span<const ShapeId> children = written_children(s);
    Widths w{.steps = s.steps_width, .lengths = s.lengths_width};
    for (const int64_t value : scalars) w.scalars = std::max(w.scalars, width_of_signed(value));
    for (const ShapeId c : children) w.ids = std::max(w.ids, width_of_unsigned(renamed[c]));
    put(w.code(), 0);
    if (s.kind == Kind::nest) put(scalars.size() / 2, 0);
    for (const int64_t value : scalars) put(static_cast<uint64_t>(value), w.scalars);
    for (const ShapeId c : children) put(renamed[c], w.ids);
    const std::span<const uint8_t> list = list_of(s);
    bytes.insert(bytes.end(), list.begin(), list.end());
}

} // namespace ucd::flat
