// The table that a kernel for reductions reads, made of moves that are of its kind.
#pragma once

#include "launch/reduction.h"
#include "launch/table_builder.h"

#include <span>
#include <vector>

namespace ucd::UCD_GPU {

class ReduceTableBuilder final : public TableBuilder {
public:
    explicit ReduceTableBuilder(const ReduceKernel *own) : own_(own) {}

    bool is_for(const ReductionNumbers &numbers) const { return own_ == numbers.own; }
    const void *kernel() const { return own_ != nullptr ? own_->batch : reduce_any_batch_kernel(); }

    // False if there is no room for it.
    bool add(const ReductionNumbers &numbers);
    std::size_t members() const { return own_ != nullptr ? elements_.size() : any_.size(); }
    // What a member's numbers refer to.
    void refer_to(std::span<const ListsAt> lists);

    // Once all members are there.
    void arrange();
    void write(char *table) const override;

private:
    const ReduceKernel *const own_;
    std::vector<ReduceParams> elements_; // if it is for elements of one kind
    std::vector<ReduceAnyParams> any_;   // if not
    std::vector<ReduceTile> tiles_;
};

} // namespace ucd::UCD_GPU
