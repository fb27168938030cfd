// Batches whose members have individual parameters. For each kernel there is a table of those with
// which its members would be launched alone.
#pragma once

#include "launch/table_launch.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <type_traits>
#include <vector>

namespace ucd::UCD_GPU {

// The members of one kernel.
class MemberTable final : public TableBuilder {
public:
    explicit MemberTable(const void *kernel) : kernel_(kernel) {}
    const void *kernel() const { return kernel_; }

    // All members have the kernel's type of parameters. Returns false if there is no room.
    bool add(const void *params, std::size_t bytes, uint64_t tiles);
    Status launch(LaunchTarget &to, uint32_t max_blocks);
    void write(char *table) const override;

private:
    const void *const kernel_;
    uint32_t members_ = 0;
    std::vector<char> params_;
    std::vector<gpu::MemberTile> tiles_;
};

class MemberTables {
public:
    MemberTables(LaunchTarget &to, std::size_t members) : to_(to), pay_(pay(to, members)) {}

    // Whether a table pays for this many members.
    bool pay() const { return pay_; }

    // Adds a member with its parameters, and the number of tiles that a launch of it would divide
    // among blocks. Returns false if there is no room in the table.
    template <class Params>
    bool add(const void *kernel, const Params &params, uint64_t tiles) {
        static_assert(std::is_trivially_copyable_v<Params>);
        return table_of(kernel).add(&params, sizeof params, tiles);
    }
    // Adds a member to the table of `batch`. If tables do not pay or have no room, launches it
    // alone, by the kernel `one`.
    template <class Params>
    Status add_or_launch(const void *one, const void *batch, Params &params, uint64_t tiles,
                         uint32_t max_blocks) {
        if (pay_ && add(batch, params, tiles)) return success;
        return to_.launch(one, tiles, max_blocks, params);
    }
    // Launches what was added, and empties the tables.
    Status launch(uint32_t max_blocks);

private:
    static bool pay(const LaunchTarget &to, std::size_t members);
    MemberTable &table_of(const void *kernel);

    LaunchTarget &to_;
    const bool pay_;
    std::list<MemberTable> tables_;
};

} // namespace ucd::UCD_GPU
