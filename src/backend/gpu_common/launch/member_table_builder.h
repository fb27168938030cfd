// The table for batches whose members have individual parameters: for each member, those with which
// it would be launched alone.
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

    // Adds a member with its parameters, and the number of tiles that a launch of it would divide
    // among blocks. All members have the kernel's type of parameters. Returns false if there is no
    // room.
    template <class Params>
    bool add(const Params &params, uint64_t tiles) {
        static_assert(std::is_trivially_copyable_v<Params>);
        return add(&params, sizeof params, tiles);
    }
    std::size_t members() const { return members_; }

    // Called once, after all members were added.
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
