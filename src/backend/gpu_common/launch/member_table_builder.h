// The table of a kernel that runs a batch whose members have parameters of their own: the same that
// a launch of one such member has.
#pragma once

#include "launch/table_builder.h"
#include "params/batch.h"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace ucd::UCD_GPU {

class MemberTableBuilder final : public TableBuilder {
public:
    explicit MemberTableBuilder(const void *kernel) : kernel_(kernel) {}
    const void *kernel() const { return kernel_; }

    // The member's parameters, and the tiles that a launch of it would give out to blocks. All
    // members have parameters of the kernel's type. False if there is no room for it.
    template <class Params>
    bool add(const Params &params, uint64_t tiles) {
        static_assert(std::is_trivially_copyable_v<Params>);
        return add(&params, sizeof params, tiles);
    }
    std::size_t members() const { return members_; }

    // Once all members are there.
    void arrange();
    void write(char *table) const override;

private:
    bool add(const void *params, std::size_t bytes, uint64_t tiles);

    const void *const kernel_;
    std::size_t members_ = 0;
    std::vector<char> params_;
    std::vector<MemberTile> tiles_;
};

} // namespace ucd::UCD_GPU
