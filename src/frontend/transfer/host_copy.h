// Layout to layout in host memory.
#pragma once

#include "transfer/context.h"
#include "transfer/transfer.h"

namespace ucd {

// Copies `from.length` bytes of one packed stream to the other, both from their starts, by way of a
// chunk that stays in the cache. With a reduction the streams have the same elements.
Status copy_on_host(Context &context, const Transfer &from, const Transfer &to, Op op,
                    const Limits &limits);

} // namespace ucd
