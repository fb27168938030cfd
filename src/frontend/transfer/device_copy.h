// Layout to layout where some memory may not be the host's.
#pragma once

#include "transfer/async_operation.h"
#include "transfer/context.h"
#include "transfer/transfer.h"

#include <memory>

namespace ucd {

// Starts copying `source.length` bytes of one packed stream to the other, both from their starts;
// with a reduction the streams have the same elements. `packed` of neither is looked at.
// `operation` stays null if everything was complete on return. A failure starts nothing, and
// nothing waits.
Status start_copy(Context &context, const Transfer &source, const Transfer &target, Op op,
                  const Hints &hints, std::unique_ptr<AsyncOperation> &operation);

} // namespace ucd
