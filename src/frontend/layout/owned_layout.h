// Layouts with the memory of their arrays.
#pragma once

#include "layout.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace ucd {

// The lists of a Table.
struct TableLists {
    std::vector<int64_t> displs;
    std::vector<uint64_t> first;
    std::vector<NodeId> children;
    std::vector<uint64_t> segments_first;
    std::vector<int64_t> pieces;
    Table view() const { return {displs, first, children, segments_first, pieces}; }
};

// A layout that owns its arrays. It is a layout as long as it lives, so a temporary is not
// converted. After an exception of a function that adds, it can only be destroyed.
class OwnedLayout {
public:
    OwnedLayout() = default;
    explicit OwnedLayout(const Layout &original);
    OwnedLayout(OwnedLayout &&other) noexcept { *this = std::move(other); }
    OwnedLayout &operator=(OwnedLayout &&other) noexcept;
    ~OwnedLayout() = default;

    operator const Layout &() const & { return layout_; }
    operator const Layout &() && = delete;
    const Layout *operator->() const { return &layout_; }

    void reserve_nodes(std::size_t count) { nodes_.reserve(count); }
    NodeId add(const Node &node);
    // Return the index of the table. Lists of a view stay where they are.
    uint32_t add(TableLists lists);
    uint32_t add(const Table &view);
    uint32_t add(const IndexList &list);
    void remove_last_node();
    void remove_last_table();
    void shrink_tables_to_fit();
    void set_top(NodeId root, int64_t start, uint32_t depth);
    // Sets Layout::moved_once.
    void set_moved_once(uint64_t bits);
    // Refers to these lists, which live longer, in the place of equal ones of the top node's table.
    void share(const std::vector<int64_t> &displs, const std::vector<uint64_t> &first);

    // Sets where the indices of a list are.
    void set_indices(std::size_t list, const void *indices) {
        index_lists_[list].indices = indices;
    }
    // Moves the lists of a table out of the layout. The table must not be used afterwards.
    TableLists take_lists(uint32_t table) { return std::move(lists_[table]); }

    friend uint64_t bytes_of(const OwnedLayout &layout);

private:
    std::vector<Node> nodes_;
    std::vector<TableLists> lists_;
    std::vector<Table> tables_; // views of lists_, or of lists elsewhere
    std::vector<IndexList> index_lists_;
    Layout layout_; // views of the arrays above
};

// The memory of a layout, in bytes.
uint64_t bytes_of(const OwnedLayout &layout);

} // namespace ucd
