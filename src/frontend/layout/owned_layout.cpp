#include "layout/owned_layout.h"

#include "support/list_memory.h"

namespace ucd {
namespace {

TableLists copy_of(const Table &t) {
    const auto copy = [](auto view, auto &list) { list.assign(view.begin(), view.end()); };
    TableLists lists;
    copy(t.displs, lists.displs);
    copy(t.first, lists.first);
    copy(t.children, lists.children);
    copy(t.segments_first, lists.segments_first);
    copy(t.pieces, lists.pieces);
    return lists;
}

} // namespace

OwnedLayout::OwnedLayout(const Layout &original) : layout_(original) {
    nodes_.assign(original.nodes.begin(), original.nodes.end());
    index_lists_.assign(original.index_lists.begin(), original.index_lists.end());
    layout_.nodes = nodes_;
    layout_.index_lists = index_lists_;
    for (const Table &t : original.tables) add(copy_of(t));
}

OwnedLayout &OwnedLayout::operator=(OwnedLayout &&other) noexcept {
    nodes_ = std::exchange(other.nodes_, {});
    lists_ = std::exchange(other.lists_, {});
    tables_ = std::exchange(other.tables_, {});
    index_lists_ = std::exchange(other.index_lists_, {});
    layout_ = std::exchange(other.layout_, {}); // valid, because the arrays stay where they are
    return *this;
}

NodeId OwnedLayout::add(const Node &node) {
    nodes_.push_back(node);
    layout_.nodes = nodes_;
    return static_cast<NodeId>(nodes_.size() - 1);
}

uint32_t OwnedLayout::add(TableLists lists) {
    lists_.push_back(std::move(lists));
    tables_.push_back(lists_.back().view());
    layout_.tables = tables_;
    return static_cast<uint32_t>(lists_.size() - 1);
}

uint32_t OwnedLayout::add(const Table &view) {
    const uint32_t table = add(TableLists());
    tables_[table] = view;
    return table;
}

uint32_t OwnedLayout::add(const IndexList &list) {
    index_lists_.push_back(list);
    layout_.index_lists = index_lists_;
    return static_cast<uint32_t>(index_lists_.size() - 1);
}

void OwnedLayout::remove_last_node() {
    nodes_.pop_back();
    layout_.nodes = nodes_;
}

void OwnedLayout::remove_last_table() {
    tables_.pop_back();
    lists_.pop_back();
    layout_.tables = tables_;
}

void OwnedLayout::shrink_tables_to_fit() {
    lists_.shrink_to_fit();
    tables_.shrink_to_fit();
    layout_.tables = tables_;
}

void OwnedLayout::set_top(NodeId root, int64_t start, uint32_t depth) {
    layout_.root = root;
    layout_.start = start;
    layout_.depth = depth;
}

void OwnedLayout::set_moved_once(uint64_t bits) {
    layout_.moved_once = true;
    layout_.bits = bits;
}

void OwnedLayout::share(const std::vector<int64_t> &displs, const std::vector<uint64_t> &first) {
    if (layout_.empty()) return;
    const Node &top = layout_.top();
    if (top.kind != NodeKind::indexed_block && top.kind != NodeKind::indexed) return;
    TableLists &own = lists_[top.table];
    Table &table = tables_[top.table];
    const auto refer = [](auto &mine, const auto &theirs, auto &view) {
        if (mine.empty() || mine != theirs) return;
        view = theirs;
        keep_list(mine); // performance only: reuses the memory instead of freeing it
    };
    refer(own.displs, displs, table.displs);
    refer(own.pieces, displs, table.pieces);
    refer(own.first, first, table.first);
}

uint64_t bytes_of(const OwnedLayout &layout) {
    uint64_t bytes = bytes_of(layout.nodes_) + bytes_of(layout.lists_) + bytes_of(layout.tables_) +
                     bytes_of(layout.index_lists_);
    for (const TableLists &t : layout.lists_)
        bytes += bytes_of(t.displs) + bytes_of(t.first) + bytes_of(t.children) +
                 bytes_of(t.segments_first) + bytes_of(t.pieces);
    return bytes;
}

} // namespace ucd
