// Copies between two layouts in one pass, where both are nested loops over the same stream.
#include "common_axes.h"
#include "permute.h"

#include "host_functions.h"

#include <algorithm>

namespace ucd {

bool copy_in_one_pass(const HostStream &from, const HostStream &to, uint64_t begin, uint64_t end) {
    using namespace seq;
    Axes from_axes, to_axes, common;
    if (!find_axes(from, from_axes) || !find_axes(to, to_axes)) return false;
    const uint64_t unit = std::min(from_axes.block, to_axes.block);
    common.block = unit;
    if (!find_common_axes(from_axes, unit, to_axes, unit, (end + unit - 1) / unit, common) ||
        !pays_in_one_pass(common))
        return false;
    permute(common, begin, end, origin_of(from), origin_of(to));
    return true;
}

} // namespace ucd
