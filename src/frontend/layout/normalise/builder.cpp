// Makes nodes without rewrites: computes their summaries, keeps equal nodes once, and finishes the
// layout.

#include "layout/normalise/builder.h"
#include "layout_walk.h"
#include "support/list_memory.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace ucd {
namespace {

bool has_table(const Node &n) {
    return n.kind == NodeKind::indexed_block || n.kind == NodeKind::indexed ||
           n.kind == NodeKind::structure;
}

// An arbitrary total order of lists, chosen to be fast.
template <class T>
int order_of(Span<T> a, Span<T> b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.empty() ? 0 : std::memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

// Shrinks a list to its size if the memory saved is worth the copy.
template <class T>
void fit(std::vector<T> &list) {
    if (list.capacity() - list.size() <= list.size() / 8) return;
    std::vector<T> exact = take_list<T>(list.size());
    exact.assign(list.begin(), list.end());
    keep_list(list);
    list = std::move(exact);
}

// Excludes the pieces, which are kept only if the size of the layout is not limited.
uint64_t bytes_of_table(const TableLists &t) {
    return sizeof t + sizeof(Table) +
           (t.displs.size() + t.first.size() + t.segments_first.size()) * 8 +
           t.children.size() * sizeof(NodeId);
}

} // namespace

// Orders nodes by what identifies them: by their own members, then by the lists of their tables.
// All else follows from these: the count from the bytes and the child, or from a list. Pieces may
// be there or not.
std::strong_ordering Builder::order(const Node &a, const Node &b) const {
    const auto members = [](const Node &n) {
        return std::tuple(n.bytes, n.stride, n.child, n.kind, n.element,
                          n.kind == NodeKind::by_reference ? n.table : 0);
    };
    const auto by_members = members(a) <=> members(b);
    if (by_members != 0 || !has_table(a)) return by_members;
    const Table &t = out_->tables[a.table], &u = out_->tables[b.table];
    int by_lists = order_of(t.displs, u.displs);
    if (by_lists == 0) by_lists = order_of(t.first, u.first);
    if (by_lists == 0) by_lists = order_of(t.children, u.children);
    return by_lists <=> 0;
}

Builder::Extra Builder::extra_of(const Node &n) const {
    if (n.kind == NodeKind::block) return {true, 1, false, n.element};
    if (n.kind != NodeKind::structure) {
        Extra e = extra_[n.child];
        e.plain = e.plain && n.kind == NodeKind::strided &&
                  !touches(out_->nodes[n.child].segments, n.stride);
        ++e.depth;
        return e;
    }
    const auto &children = out_->tables[n.table].children;
    Extra e = extra_[children[0]];
    for (NodeId c : children) {
        e.depth = std::max(e.depth, extra_[c].depth);
        e.mixed = e.mixed || extra_[c].mixed || extra_[c].element != e.element;
    }
    e.plain = false;
    ++e.depth;
    return e;
}

NodeId Builder::intern(const Node &n) {
    // A linear search is faster for a few nodes, and most layouts have no more.
    constexpr std::size_t few = 16;
    const std::size_t size = out_->nodes.size();
    for (std::size_t i = 0; i < std::min(size, few); ++i)
        if (order(out_->nodes[i], n) == 0) return static_cast<NodeId>(i);
    const auto id = static_cast<NodeId>(size);
    extra_.push_back(extra_of(n));
    out_.add(n);
    if (size >= few) {
        const auto [equal, is_new] = node_index_.insert(id);
        if (!is_new) {
            extra_.pop_back();
            out_.remove_last_node();
            return *equal;
        }
    }
    bytes_ += sizeof n;
    return id;
}

// A table belongs to one node, since parts of it depend on the node's child and stride.
NodeId Builder::intern(Node n, TableLists t) {
    // A list that grew entry by entry, or was shortened, has spare capacity.
    fit(t.displs);
    fit(t.first);
    const uint64_t bytes = bytes_of_table(t);
    n.table = out_.add(std::move(t));
    const std::size_t nodes_before = out_->nodes.size();
    const NodeId id = intern(n);
    if (id == nodes_before)
        bytes_ += bytes;
    else
        out_.remove_last_table();
    return id;
}

uint32_t Builder::intern(const IndexList &list) {
    const auto [known, is_new] =
        index_lists_.try_emplace(ListKey{list.indices, list.element, list.small, list.unit},
                                 static_cast<uint32_t>(out_->index_lists.size()));
    if (is_new) out_.add(list);
    return known->second;
}

Placed Builder::block(int64_t at, uint64_t bytes, Element element) {
    if (bytes == 0) return {};
    Node n;
    n.kind = NodeKind::block;
    n.element = element;
    n.bytes = bytes;
    n.high = static_cast<int64_t>(bytes);
    n.segments.count = 1;
    n.segments.first_bytes = n.segments.last_bytes = bytes;
    n.segments.last_end = n.high;
    return {at, intern(n)};
}

Placed Builder::make_strided(uint64_t count, int64_t stride, Placed child) {
    Node n = repeat(node(child.id), child.id, count, stride);
    return {child.at, intern(n)};
}

template <class Entry>
void Builder::summarise(Node &n, TableLists &t, Entry entry) const {
    n.count = t.displs.size();
    bool merges = false;
    uint64_t previous_count = 0;
    bool uniform = true;
    for (std::size_t i = 0; i < t.displs.size(); ++i) {
        const Node e = entry(i);
        const int64_t at = t.displs[i];
        n.bytes += e.bytes;
        n.has_reference = n.has_reference || e.has_reference;
        if (i == 0) {
            n.segments = e.segments;
            n.low = e.low;
            n.high = e.high;
        } else {
            merges = merges || touches(n.segments, at);
            uniform = uniform && e.segments.count == previous_count;
            n.segments = concatenate(n.segments, e.segments, at);
            n.low = std::min(n.low, displace(at, e.low));
            n.high = std::max(n.high, displace(at, e.high));
        }
        previous_count = e.segments.count;
    }
    if (!merges && uniform) return;
    t.segments_first.reserve(t.displs.size() + 1);
    Segments so_far;
    for (std::size_t i = 0; i < t.displs.size(); ++i) {
        t.segments_first.push_back(so_far.count);
        const Segments s = entry(i).segments;
        so_far = i == 0 ? s : concatenate(so_far, s, t.displs[i]);
    }
    t.segments_first.push_back(so_far.count);
}

namespace {

// Makes the displacements relative to the first, and returns the first.
int64_t rebase(std::vector<int64_t> &displs) {
    const int64_t base = displs[0];
    if (base == 0) return 0;
    for (int64_t &d : displs) d = step_between(base, d);
    return base;
}

} // namespace

bool Builder::summarise_apart(Node &n, const TableLists &t, const ListLook *look) const {
    const Node &child = node(n.child);
    const std::size_t count = t.displs.size();
    if (count < 2 || child.has_reference) return false;
    const ListLook own = look != nullptr ? *look : look_at(t.displs, child.segments.last_end);
    if (own.steps > 0) return false;
    n.count = count;
    n.bytes = child.bytes * count;
    n.low = own.least + child.low;
    n.high = own.most + child.high;
    n.segments = repeat_segments(child.segments, count, t.displs[1]);
    n.segments.last_end = displace(t.displs.back(), child.segments.last_end);
    return true;
}

bool Builder::summarise_dense(Node &n, const TableLists &t) const {
    const Node &child = node(n.child);
    const std::size_t count = t.displs.size();
    if (count < 2 || child.kind != NodeKind::block || n.stride != static_cast<int64_t>(child.bytes))
        return false;
    Segments s;
    s.count = count;
    int64_t low = 0, high = 0, end = 0;
    const auto bytes_of_run = [&](std::size_t i) {
        return (t.first[i + 1] - t.first[i]) * child.bytes;
    };
    s.first_bytes = bytes_of_run(0);
    high = end = static_cast<int64_t>(s.first_bytes);
    for (std::size_t i = 1; i < count; ++i) {
        const int64_t at = t.displs[i];
        const uint64_t bytes = bytes_of_run(i);
        end = displace(at, static_cast<int64_t>(bytes));
        low = std::min(low, at);
        high = std::max(high, end);
        s.last_bytes = bytes;
        // The inner extremes exclude the first and the last segment.
        if (i + 1 == count) break;
        s.inner_min = std::min(s.inner_min, bytes);
        s.inner_max = std::max(s.inner_max, bytes);
    }
    s.last_end = end;
    n.count = count;
    n.bytes = t.first[count] * child.bytes;
    n.low = low;
    n.high = high;
    n.segments = s;
    return true;
}

Placed Builder::make_indexed_block(std::vector<int64_t> displs, Placed child,
                                   const ListLook *look) {
    const int64_t base = rebase(displs), at = displace(child.at, base);
    ListLook moved;
    if (look != nullptr) {
        moved = {look->steps, step_between(base, look->least), step_between(base, look->most)};
        look = &moved;
    }
    Node n;
    TableLists t;
    n.kind = NodeKind::indexed_block;
    n.child = child.id;
    t.displs = std::move(displs);
    if (!summarise_apart(n, t, look))
        summarise(n, t, [&](std::size_t) -> const Node & { return node(child.id); });
    return {at, intern(n, std::move(t))};
}

Placed Builder::make_indexed(std::vector<int64_t> displs, std::vector<uint64_t> first,
                             int64_t stride, Placed child, std::vector<int64_t> pieces) {
    const int64_t at = displace(child.at, rebase(displs));
    Node n;
    TableLists t;
    n.kind = NodeKind::indexed;
    n.child = child.id;
    n.stride = stride;
    t.displs = std::move(displs);
    t.first = std::move(first);
    t.pieces = std::move(pieces);
    if (!t.pieces.empty()) rebase(t.pieces);
    if (!summarise_dense(n, t))
        summarise(n, t, [&](std::size_t i) {
            return repeat(node(child.id), child.id, t.first[i + 1] - t.first[i], stride);
        });
    return {at, intern(n, std::move(t))};
}

Placed Builder::make_structure(const std::vector<Placed> &entries) {
    Node n;
    TableLists t;
    n.kind = NodeKind::structure;
    uint64_t bytes = 0;
    t.displs.reserve(entries.size());
    t.children.reserve(entries.size());
    t.first.reserve(entries.size() + 1);
    for (const Placed &e : entries) {
        t.displs.push_back(e.at);
        t.children.push_back(e.id);
        t.first.push_back(bytes);
        bytes += node(e.id).bytes;
    }
    t.first.push_back(bytes);
    const int64_t at = rebase(t.displs);
    summarise(n, t, [&](std::size_t i) -> const Node & { return node(entries[i].id); });
    return {at, intern(n, std::move(t))};
}

Placed Builder::by_reference(uint64_t count, const IndexList &list, Placed child) {
    if (count == 0 || child.none()) {
        applied("drop-empty");
        return {};
    }
    const Node &c = node(child.id);
    Node n;
    n.kind = NodeKind::by_reference;
    n.has_reference = true;
    n.child = child.id;
    n.count = count;
    n.bytes = count * c.bytes;
    n.segments.count = count * c.segments.count;
    n.table = intern(list);
    return {child.at, intern(n)};
}

OwnedLayout Builder::finish(Placed root) {
    OwnedLayout finished;
    if (root.none()) return finished;
    // Children have smaller ids than their parents.
    const NodeId end = root.id + 1;
    std::vector<bool> used(end, false);
    used[root.id] = true;
    NodeId used_count = 0;
    for (NodeId id = end; id-- > 0;) {
        if (!used[id]) continue;
        ++used_count;
        const Node &n = out_->nodes[id];
        if (n.kind == NodeKind::block) continue;
        if (n.kind != NodeKind::structure) {
            used[n.child] = true;
            continue;
        }
        for (NodeId c : out_->tables[n.table].children) used[c] = true;
    }
    std::vector<NodeId> renamed(end, no_node);
    finished.reserve_nodes(used_count);
    for (const IndexList &list : out_->index_lists) finished.add(list); // they keep their numbers
    for (NodeId id = 0; id < end; ++id) {
        if (!used[id]) continue;
        Node n = out_->nodes[id];
        if (n.kind != NodeKind::block && n.kind != NodeKind::structure) n.child = renamed[n.child];
        if (has_table(n)) {
            TableLists lists = out_.take_lists(n.table);
            for (NodeId &c : lists.children) c = renamed[c];
            n.table = finished.add(std::move(lists));
        }
        renamed[id] = finished.add(n);
    }
    finished.shrink_tables_to_fit();
    finished.set_top(renamed[root.id], root.at, extra_[root.id].depth);
    return finished;
}

} // namespace ucd
