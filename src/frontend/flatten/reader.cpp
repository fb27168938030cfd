// The reader. For any input, time, memory and the size of the resulting type are bounded by the
// number of bytes: the length of a list is limited by the bytes that are left, and what the format
// does not write out (progressions, nests) is not expanded in memory either.
//
// Only the root has the bounds of the original type. The writer turns extents into strides, so
// nodes below the root get the bounds that their strides need, or else their true bounds.

#include "flatten/reader.h"

#include "flatten/format.h"
#include "types/bounds.h"
#include "types/elements.h"
#include "types/predefined.h"

#include <algorithm>
#include <vector>

namespace ucd {
namespace {

using namespace flat;

// Reads numbers. Beyond the end it returns zeros, and beyond_end() becomes true.
class Cursor {
public:
    Cursor(const uint8_t *begin, const uint8_t *end) : at_(begin), end_(end) {}

    bool beyond_end() const { return beyond_end_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    // Skips `count` numbers and returns their address, or null if fewer are left.
    const uint8_t *take(uint64_t count, unsigned width) {
        if (count > left() >> width) {
            beyond_end_ = true;
            return nullptr;
        }
        const uint8_t *from = at_;
        at_ += count << width;
        return from;
    }
    int64_t number(unsigned width) {
        const uint8_t *from = take(1, width);
        return from == nullptr ? 0 : load_signed(from, width);
    }
    uint8_t byte() {
        const uint8_t *from = take(1, 0);
        return from == nullptr ? 0 : *from;
    }

private:
    const uint8_t *at_, *end_;
    bool beyond_end_ = false;
};

Status corrupt(const char *what) {
    return fail(UCD_ERR__CORRUPT, "flattened is no flattened type: %s", what);
}

// Settles a type whose true bounds become its bounds, whatever the bounds of its children.
Status settle(Bounds &bounds, Type &t) {
    bounds.set(0, 0);
    if (!bounds.settle().ok()) return corrupt("a size or displacements that do not fit");
    t.explicit_bounds = false;
    t.lb = t.true_lb;
    t.ub = t.true_ub;
    return success;
}

class Reader {
public:
    Reader(const uint8_t *bytes, std::size_t count)
        : bytes_(bytes), version_(static_cast<uint16_t>(load_unsigned(bytes + version_at, 1))),
          cursor_(bytes + header_bytes, bytes + count) {}

    Status run(NestOwner &type);

private:
    // The parts that all kinds of list have in common.
    struct List {
        uint64_t count = 0;
        std::vector<int64_t> displs;
        const uint8_t *ids = nullptr, *lengths = nullptr;
        Widths widths;
    };

    Status node(TypeOwner &type);
    Status element(TypeOwner &type);
    Status nest(Widths w, TypeOwner &type);
    Status list(Kind kind, uint8_t flags, Widths w, TypeOwner &type);
    Status indexed_block(List list, TypeOwner &type);
    Status indexed(List list, int64_t stride, bool one_length, TypeOwner &type);
    Status structure(List list, TypeOwner &type);
    Status refer(const uint8_t *id, unsigned width, const Type *&type);
    Status root(int64_t start, int64_t lb, int64_t extent, NestOwner &type);

    const uint8_t *bytes_;
    const uint16_t version_;
    Cursor cursor_;
    std::vector<TypeOwner> nodes_;
    std::vector<bool> used_;
};

Status Reader::run(NestOwner &type) {
    const uint8_t flags = bytes_[flags_at], alignment_log = bytes_[alignment_at];
    if ((flags & ~root_flags_mask) != 0) return corrupt("flags that are not defined");
    if (alignment_log > max_alignment_log) return corrupt("an alignment that no type has");
    const unsigned width = flags >> root_width_shift;
    const int64_t start = cursor_.number(width), lb = cursor_.number(width),
                  extent = cursor_.number(width);
    const uint64_t count = load_unsigned(bytes_ + node_count_at, 2);
    if (cursor_.beyond_end() || count > cursor_.left() / min_node_bytes)
        return corrupt("it has too few bytes for its nodes");
    nodes_.reserve(count);
    used_.resize(count);
    for (uint64_t i = 0; i < count; ++i) {
        TypeOwner made;
        UCD_TRY(node(made));
        if (cursor_.beyond_end()) return corrupt("it ends within a node");
        nodes_.push_back(std::move(made));
    }
    if (cursor_.left() > 0) return corrupt("bytes follow the last node");
    for (std::size_t id = 0; id + 1 < nodes_.size(); ++id)
        if (!used_[id]) return corrupt("a node that none refers to");
    UCD_TRY(root(start, lb, extent, type));
    type->explicit_bounds = (flags & explicit_flag) != 0;
    type->alignment = uint32_t{1} << alignment_log;
    return success;
}

Status Reader::node(TypeOwner &type) {
    const uint8_t first = cursor_.byte(), flags = first & ~kind_mask;
    const auto kind = static_cast<Kind>(first & kind_mask);
    if (kind == Kind::element && flags == 0) return element(type);
    // At least one of a list's columns must be written out, so that each entry takes up bytes:
    // otherwise a few bytes could describe any number of entries.
    const bool progression = (flags & progression_flag) != 0;
    const uint8_t defined = kind == Kind::indexed ? progression ? progression_flag : one_length_flag
                            : kind == Kind::structure ? progression_flag
                                                      : 0;
    const Widths w = Widths::of(cursor_.byte());
    if ((flags & ~defined) != 0 || w.ids > 2 || (kind != Kind::indexed && w.lengths != 0) ||
        ((kind == Kind::nest || progression) && w.steps != 0))
        return corrupt("flags that are not defined");
    switch (kind) {
    case Kind::nest: return nest(w, type);
    case Kind::indexed_block:
    case Kind::indexed:
    case Kind::structure: return list(kind, flags, w, type);
    default: return corrupt("a node of a kind that is not defined");
    }
}

Status Reader::element(TypeOwner &type) {
    const uint8_t element_class = cursor_.byte(), bytes = cursor_.byte(),
                  alignment_log = cursor_.byte();
    const Element element = representation_with(element_class, bytes).element;
    if (element == Element::none || version_of(element_class) > version_)
        return corrupt("an element that is not defined");
    if (alignment_log > max_alignment_log) return corrupt("an alignment that no type has");
    const uint32_t alignment = uint32_t{1} << alignment_log;
    const unsigned here = predefined_with(element);
    if (here != 0 && predefined_type(here).alignment == alignment) {
        type.reset(const_cast<Type *>(&predefined_type(here)));
        return success;
    }
    TypeOwner t(new Type);
    const ElementPieces pieces = pieces_of(element);
    t->element = element;
    t->predefined = static_cast<uint8_t>(here);
    t->alignment = alignment;
    t->ops = supported_by(element);
    t->size = bytes;
    t->elements = elements_in(element);
    t->true_ub = pieces.second_bytes == 0 ? bytes : pieces.second_at + pieces.second_bytes;
    t->ub = t->true_ub;
    type = std::move(t);
    return success;
}

Status Reader::refer(const uint8_t *id, unsigned width, const Type *&type) {
    const uint64_t value = load_unsigned(id, width);
    if (value >= nodes_.size()) return corrupt("a reference to a node that is not before it");
    used_[value] = true;
    type = nodes_[value].get();
    return success;
}

Status Reader::nest(Widths w, TypeOwner &type) {
    const unsigned dims = cursor_.byte();
    if (dims == 0 || dims > max_dims) return corrupt("a nest of a depth that is not defined");
    const uint8_t *levels = cursor_.take(uint64_t{2} * dims, w.scalars),
                  *id = cursor_.take(1, w.ids);
    if (cursor_.beyond_end()) return success;
    const Type *child = nullptr;
    UCD_TRY(refer(id, w.ids, child));
    const auto number = [&](unsigned i) {
        return load_signed(levels + (std::size_t{i} << w.scalars), w.scalars);
    };
    // If the innermost stride is the extent, its level was a contig or the blocks of a vector.
    const bool dense = number(2 * dims - 1) == child->extent();
    const Combiner combiner = dims == 1 && dense          ? Combiner::contig
                              : dims == (dense ? 2u : 1u) ? Combiner::hvector
                                                          : Combiner::ndarray;
    NestOwner t(new NestType(combiner, *child));
    if (combiner == Combiner::hvector && !dense) t->levels.push_back({1, child->extent()});
    for (unsigned level = dims; level-- > 0;) {
        if (number(2 * level) < 2) return corrupt("a nest with a level of fewer than two");
        t->levels.push_back({number(2 * level), number(2 * level + 1)});
    }
    Bounds bounds(*t);
    bounds.add_nest(0, t->levels.span(), *child);
    UCD_TRY(settle(bounds, *t));
    type = std::move(t);
    return success;
}

Status Reader::list(Kind kind, uint8_t flags, Widths w, TypeOwner &type) {
    const int64_t n = cursor_.number(w.scalars), unit = cursor_.number(w.scalars);
    const int64_t stride = kind == Kind::indexed ? cursor_.number(w.scalars) : 0;
    if (n < 2) return corrupt("a list of fewer than two entries");
    const bool progression = (flags & progression_flag) != 0,
               one_length = (flags & one_length_flag) != 0;
    List l;
    l.count = static_cast<uint64_t>(n);
    l.widths = w;
    l.ids = cursor_.take(kind == Kind::structure ? l.count : 1, w.ids);
    const uint8_t *steps = progression ? nullptr : cursor_.take(l.count - 1, w.steps);
    if (kind == Kind::indexed) l.lengths = cursor_.take(one_length ? 1 : l.count, w.lengths);
    if (cursor_.beyond_end()) return success;

    l.displs.resize(l.count);
    l.displs[0] = 0;
    int64_t step = unit;
    for (uint64_t i = 1; i < l.count; ++i) {
        const uint64_t at = (i - 1) << w.steps;
        const bool far = (!progression &&
                          __builtin_mul_overflow(unit, load_signed(steps + at, w.steps), &step)) ||
                         __builtin_add_overflow(l.displs[i - 1], step, &l.displs[i]);
        if (far) return corrupt("displacements that do not fit");
    }
    if (kind == Kind::indexed_block) return indexed_block(std::move(l), type);
    if (kind == Kind::indexed) return indexed(std::move(l), stride, one_length, type);
    return structure(std::move(l), type);
}

Status Reader::indexed_block(List l, TypeOwner &type) {
    const Type *child = nullptr;
    UCD_TRY(refer(l.ids, l.widths.ids, child));
    TypeOwnerOf<IndexedBlockType> t(new IndexedBlockType(Combiner::hindexed_block, *child));
    const auto [least, most] = std::minmax_element(l.displs.begin(), l.displs.end());
    Bounds bounds(*t);
    bounds.add_many(*least, *most, static_cast<int64_t>(l.count), 1, *child);
    t->displs = std::move(l.displs);
    UCD_TRY(settle(bounds, *t));
    type = std::move(t);
    return success;
}

// The child, resized to the extent `stride`.
Status with_extent(int64_t stride, const Type *child, TypeOwner &type) {
    TypeOwner t(new NestType(Combiner::resized, *child));
    Bounds bounds(*t);
    bounds.add_range(0, 0, 1, *child);
    UCD_TRY(settle(bounds, *t));
    t->lb = 0;
    t->ub = stride;
    type = std::move(t);
    return success;
}

Status Reader::indexed(List l, int64_t stride, bool one_length, TypeOwner &type) {
    const Type *child = nullptr;
    UCD_TRY(refer(l.ids, l.widths.ids, child));
    TypeOwner resized;
    if (child->extent() != stride) {
        if (stride == INT64_MIN) return corrupt("a stride that does not fit");
        UCD_TRY(with_extent(stride, child, resized));
        child = resized.get();
    }
    TypeOwnerOf<IndexedType> t(new IndexedType(Combiner::hindexed, *child));
    t->first.resize(l.count + 1);
    Bounds bounds(*t);
    for (uint64_t i = 0; i < l.count; ++i) {
        const std::size_t at = one_length ? 0 : i << l.widths.lengths;
        const uint64_t length = load_unsigned(l.lengths + at, l.widths.lengths);
        if (length == 0 || length > INT64_MAX) return corrupt("a length that does not fit");
        t->first[i + 1] = t->first[i] + length;
        t->lengths.add(static_cast<int64_t>(length), static_cast<int64_t>(length));
        bounds.add_many(l.displs[i], l.displs[i], 1, static_cast<int64_t>(length), *child);
    }
    t->displs = std::move(l.displs);
    UCD_TRY(settle(bounds, *t));
    type = std::move(t);
    return success;
}

Status Reader::structure(List l, TypeOwner &type) {
    TypeOwnerOf<StructureType> t(new StructureType);
    t->children.reserve(l.count);
    t->first.resize(l.count + 1);
    Bounds bounds(*t);
    for (uint64_t i = 0; i < l.count; ++i) {
        const Type *child = nullptr;
        UCD_TRY(refer(l.ids + (i << l.widths.ids), l.widths.ids, child));
        retain(*child);
        t->children.push_back(child);
        t->first[i + 1] = i + 1;
        bounds.add_range(l.displs[i], l.displs[i], 1, *child);
    }
    t->displs = std::move(l.displs);
    UCD_TRY(settle(bounds, *t));
    keep_member_places(*t);
    type = std::move(t);
    return success;
}

// The last node, displaced to the start of the original type and with its bounds. Always creates a
// new type.
Status Reader::root(int64_t start, int64_t lb, int64_t extent, NestOwner &type) {
    TypeOwner placed;
    if (nodes_.empty()) {
        if (start != 0) return corrupt("a start of nothing");
        placed.reset(new StructureType);
        UCD_TRY(Bounds(*placed).settle());
    } else if (start == 0) {
        placed = std::move(nodes_.back());
    } else {
        // A displacement costs less to lower than a list of one entry; ucd_describe still shows it
        // as such a list.
        NestOwner displaced(new NestType(Combiner::hindexed_block, *nodes_.back()));
        displaced->at = start;
        Bounds bounds(*displaced);
        bounds.add_range(start, start, 1, *displaced->child);
        UCD_TRY(settle(bounds, *displaced));
        placed = std::move(displaced);
    }
    NestOwner t(new NestType(Combiner::resized, *placed));
    Bounds bounds(*t);
    bounds.add_range(0, 0, 1, *placed);
    bounds.set(lb, static_cast<int128>(lb) + extent);
    if (!bounds.settle().ok()) return corrupt("bounds that do not fit");
    type = std::move(t);
    return success;
}

Status check_magic(const uint8_t *bytes) {
    return std::equal(magic, magic + sizeof magic, bytes) ? success
                                                          : corrupt("it starts with other bytes");
}

Status check_version(const uint8_t *bytes) {
    const auto written_by = static_cast<unsigned>(load_unsigned(bytes + version_at, 1));
    if (written_by > version)
        return fail(
            UCD_ERR__NOT_SUPPORTED,
            "flattened is of version %u of the format; this library reads versions up to %u",
            written_by, unsigned{version});
    return written_by > 0 ? success : corrupt("its version is 0");
}

} // namespace

Status flattened_size(const uint8_t *bytes, std::size_t available, uint64_t &size) {
    constexpr std::size_t needed = total_at + sizeof size;
    static_assert(needed == 16);
    if (available < needed)
        return fail(UCD_ERR__TRUNCATED, "available is %zu; the size needs the first %zu bytes",
                    available, needed);
    UCD_TRY(check_magic(bytes));
    UCD_TRY(check_version(bytes));
    const uint64_t total = load_unsigned(bytes + total_at, 3);
    if (total < header_bytes) return corrupt("it is shorter than a header");
    size = total;
    return success;
}

Status unflatten(const uint8_t *bytes, std::size_t count, TypeOwner &type) {
    if (count < header_bytes) return corrupt("it is shorter than a header");
    UCD_TRY(check_magic(bytes));
    const uint64_t total = load_unsigned(bytes + total_at, 3);
    if (total != count)
        return fail(UCD_ERR__CORRUPT, "flattened_size is %zu; the flattened type says %ju", count,
                    static_cast<uintmax_t>(total));
    if (load_unsigned(bytes + checksum_at, 2) != checksum(bytes, count))
        return corrupt("its checksum differs");
    UCD_TRY(check_version(bytes));
    NestOwner root;
    UCD_TRY(Reader(bytes, count).run(root));
    root->unflattened = true;
    root->flattened_bytes = count;
    type = std::move(root);
    return success;
}

} // namespace ucd
