// Something that a callback of the user has to be told. Collected while the engine's lock is held,
// and told without it.
#pragma once

#include <ucd_ucx.h>

namespace ucd_ucx {

// What ucd_ucx_am_set_handler has set.
struct UserHandler {
    ucd_ucx_am_callback_t callback = nullptr;
    void *arg = nullptr;
};

class Notice {
public:
    virtual void tell(const UserHandler &handler) = 0;
    Notice *next = nullptr; // link of a queue

protected:
    ~Notice() = default;
};

} // namespace ucd_ucx
