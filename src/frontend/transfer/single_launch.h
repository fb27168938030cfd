// One launch on a device, under way: what most requests are.
#pragma once

#include "transfer/async_operation.h"
#include "transfer/dispatch.h"

#include <memory>

namespace ucd {

class SingleLaunch final : public AsyncOperation {
public:
    // `operation` stays null if the work was complete on return. It is not asked about here: that
    // would cost as much as starting it.
    static Status start(const Dispatch &dispatch, const Transfer &t,
                        std::unique_ptr<AsyncOperation> &operation);

    bool progress() noexcept override;
    bool staged() const noexcept override { return false; }

private:
    ConstTypeOwner type_; // if the work needs it; its user may free it meanwhile
    std::unique_ptr<Event> done_;
};

} // namespace ucd
