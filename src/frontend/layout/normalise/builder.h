// Builds layouts bottom-up. Each function takes children in normal form and returns a node in
// normal form, by trying the rewrites in rewrites.cpp and fold.cpp in a fixed order. Equal nodes
// are stored once, so equal shapes have equal ids.
#pragma once

#include "layout/normalise/list_look.h"
#include "layout/owned_layout.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace ucd {

inline constexpr NodeId no_node = UINT32_MAX;

// A node whose origin lies at displacement `at`. If id is no_node, there are no bytes.
struct Placed {
    int64_t at = 0;
    NodeId id = no_node;
    bool none() const { return id == no_node; }
};

// Blocks (consecutive bytes) of one element kind each, in packed order.
struct BlockList {
    std::vector<int64_t> displs;
    std::vector<uint64_t> bytes;
    Element element = Element::none;
    std::size_t size() const { return displs.size(); }
    void push(int64_t displ, uint64_t length) {
        displs.push_back(displ);
        bytes.push_back(length);
    }
};

// Runs of blocks. Entry i has first[i + 1] - first[i] > 0 units of `each` bytes, which is a power
// of two of at most 16. No two neighbouring runs touch.
struct BlockRuns {
    std::vector<int64_t> displs;
    std::vector<uint64_t> first; // prefix sums: one entry more than displs
    uint64_t each = 1;
    Element element = Element::none;
    std::vector<int64_t> pieces = {}; // see Table::pieces
};

class Builder {
public:
    // Rewrites that expand implied lists stop before the layout takes more than `max_bytes`; lists
    // that a description contains are built in any case. `trace`, if given, receives the name of
    // every rewrite that was applied, in order.
    explicit Builder(std::vector<const char *> *trace = nullptr, uint64_t max_bytes = UINT64_MAX)
        : trace_(trace), max_bytes_(max_bytes),
          allowance_(max_bytes == UINT64_MAX ? first_allowance
                                             : limited_allowance + max_bytes / bytes_per_entry) {}
    Builder(const Builder &) = delete; // the index points to this object
    Builder &operator=(const Builder &) = delete;

    Placed block(int64_t at, uint64_t bytes, Element element);
    // `count` children, `stride` bytes apart.
    Placed strided(uint64_t count, int64_t stride, Placed child);
    // Children at child.at + displs[i]. `look`, if given, is look_at() of the displacements with
    // the step at which children touch.
    Placed indexed_block(std::vector<int64_t> displs, Placed child, const ListLook *look = nullptr);
    // Runs of first[i + 1] - first[i] children, `stride` apart, the first at child.at + displs[i].
    Placed indexed(std::vector<int64_t> displs, std::span<const uint64_t> first, int64_t stride,
                   Placed child);
    Placed fold_blocks(BlockList list); // in fold.cpp
    // Children at displacements that are read when data moves. No rewrite inspects such a list or
    // expands the nodes around it.
    Placed by_reference(uint64_t count, const IndexList &list, Placed child);
    Placed structure(std::vector<Placed> entries);

    // Declares that the description contains a list of `entries`: the rewrites that expand implied
    // lists may then write that many more entries (times a factor).
    void described(uint64_t entries) {
        allowance_ += (max_bytes_ == UINT64_MAX ? per_described_entry : 2) * entries;
    }

    const Node &node(NodeId id) const { return out_->nodes[id]; }
    // Whether children at this distance form one block.
    bool is_dense(NodeId id, int64_t stride) const {
        return node(id).kind == NodeKind::block && stride == static_cast<int64_t>(node(id).bytes);
    }
    const Layout &so_far() const { return out_; }

    // The layout under `root`, without nodes that rewrites left unused. The builder cannot be used
    // afterwards.
    OwnedLayout finish(Placed root);

private:
    struct Extra {
        // Strides over a block, and no segments of two iterations touch: already in normal form.
        bool plain;
        uint32_t depth;  // nodes on the longest path down to a block
        bool mixed;      // blocks of different elements
        Element element; // of all blocks, if they are not mixed
    };

    // Layouts with up to this many segments, unless plain, are normalised from the list of their
    // segments, so that their form depends on nothing else.
    static constexpr uint64_t small = 1024;
    // In a structure of different shapes, children with up to this many segments are joined with
    // their neighbours in one list.
    static constexpr uint64_t tiny = 64;
    // Runs of children that do not touch are kept as runs if their mean length is at least this;
    // otherwise every child becomes an entry of its own.
    static constexpr uint64_t min_run_for_indexed = 4;

    // The list of blocks is kept in addition to the list of their runs if it has at most this many
    // times as many entries.
    static constexpr std::size_t max_kept_pieces = 3;

    // The number of list entries that rewrites may write in one layout, so that the cost of a
    // description is linear in its size, even if it shares parts. A description that exhausts this,
    // or the bytes that the layout may take, gets a correct layout that is not in normal form.
    static constexpr uint64_t first_allowance = uint64_t{1} << 20;
    static constexpr uint64_t per_described_entry = 16;
    // If the bytes are limited, so is the time. Each entry takes at most bytes_per_entry bytes of a
    // table.
    static constexpr uint64_t limited_allowance = 8192;
    static constexpr uint64_t bytes_per_entry = 24;

    // Counts `entries` against the allowance; false if they exceed it.
    bool pay(uint64_t entries) {
        if (entries > allowance_) return false;
        if (bytes_ > max_bytes_ || entries > (max_bytes_ - bytes_) / bytes_per_entry) return false;
        allowance_ -= entries;
        return true;
    }

    void applied(const char *rewrite) {
        if (trace_ != nullptr) trace_->push_back(rewrite);
    }

    // strided() without its last rewrite.
    Placed strided_without_expansion(uint64_t count, int64_t stride, Placed child);

    // These make nodes without rewrites. `displs` need not start at 0: the node is placed at their
    // first plus child.at.
    Placed make_strided(uint64_t count, int64_t stride, Placed child);
    // `look`, if given, is look_at() of the displacements with the step at which children touch.
    Placed make_indexed_block(std::vector<int64_t> displs, Placed child, const ListLook *look);
    // `first` has the number of children before each run, and their total.
    Placed make_indexed(std::vector<int64_t> displs, std::vector<uint64_t> first, int64_t stride,
                        Placed child, std::vector<int64_t> pieces = {});
    Placed make_structure(const std::vector<Placed> &entries);
    NodeId intern(const Node &node);
    NodeId intern(Node node, TableLists table);
    uint32_t intern(const IndexList &list);
    Extra extra_of(const Node &node) const;
    // Computes bytes, segments, low and high from all entries. entry(i) returns entry i as a node.
    template <class Entry>
    void summarise(Node &node, TableLists &table, Entry entry) const;
    // The same without visiting each entry, for the two most frequent kinds of list; false if the
    // list is of neither kind.
    bool summarise_apart(Node &node, const TableLists &table, const ListLook *look) const;
    bool summarise_dense(Node &node, const TableLists &table) const;

    // fold.cpp
    Placed fold_equal_blocks(std::vector<int64_t> displs, uint64_t bytes, Element element,
                             const ListLook *known);
    // Blocks of (first[i + 1] - first[i]) * each bytes.
    Placed fold_blocks_of(std::vector<int64_t> displs, std::span<const uint64_t> first,
                          uint64_t each, Element element);
    Placed fold_runs(BlockRuns runs);
    Placed fold_displs(std::vector<int64_t> displs, Placed child, const ListLook *look = nullptr);
    Placed fold_indexed(std::vector<int64_t> displs, std::vector<uint64_t> counts, int64_t stride,
                        Placed child);

    // rewrites.cpp
    bool expand(Placed placed, BlockList &list);
    bool expand_all(const std::vector<Placed> &entries, std::size_t begin, std::size_t end,
                    BlockList &list);
    Placed from_segments_if_small(Placed placed);
    void splice_structures(std::vector<Placed> &entries);
    void merge_touching(std::vector<Placed> &entries);
    bool all_blocks(const std::vector<Placed> &entries) const;
    bool same_shape(const std::vector<Placed> &entries) const;
    bool as_indexed(const std::vector<Placed> &entries, NodeKind kind, Placed &result);
    bool indexed_of(const std::vector<Placed> &entries, NodeId shape, int64_t stride,
                    Placed &result);
    bool as_period(const std::vector<Placed> &entries, Placed &result);
    bool group_neighbours(std::vector<Placed> &entries);
    Placed fold_structure(std::vector<Placed> entries);

    // Equal nodes are found by ordered comparison. A hash table could be made slow by a peer that
    // sends types with colliding hashes.
    std::strong_ordering order(const Node &a, const Node &b) const;
    struct NodeLess {
        const Builder *builder;
        bool operator()(NodeId a, NodeId b) const {
            return builder->order(builder->node(a), builder->node(b)) < 0;
        }
    };

    OwnedLayout out_;
    std::vector<Extra> extra_; // per node
    std::set<NodeId, NodeLess> node_index_{NodeLess{this}};
    // A class, not a tuple: a template of std is visible outside of a program's library if it has
    // an enumeration of this library as argument, but not if it has a class.
    struct ListKey {
        const void *indices;
        Element element;
        bool small;
        int64_t unit;
        auto operator<=>(const ListKey &) const = default;
    };
    std::map<ListKey, uint32_t> index_lists_;
    std::vector<const char *> *trace_;
    uint64_t bytes_ = 0; // of all nodes and tables
    uint64_t max_bytes_;
    uint64_t allowance_;
};

} // namespace ucd
