// Work that may not be complete yet.
#pragma once

#include "core/view.h"

#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace ucdpy {

// What work uses until it is complete. Destroyed with the GIL held.
struct Used {
    std::list<View> views;
    std::vector<Typed> types;
    nb::object owner = nb::none(); // a batch
};

class Request {
public:
    // request may be UCD_REQUEST__NULL: complete already.
    Request(ucd_request_t request, uintptr_t bytes, Used used);
    ~Request();

    // Makes progress; whether the work is complete, also if it failed.
    bool done();
    // Waits without the GIL, and returns the bytes that were moved. Raises if the work failed.
    uintptr_t wait();
    uintptr_t bytes() const noexcept { return bytes_; }

private:
    // With the mutex: makes a step by test or wait, and notes what came of it.
    template <class F>
    bool advance(F step);

    std::mutex mutex_; // a request of libucd is one thread's at a time
    ucd_request_t request_;
    uintptr_t bytes_;
    int failure_ = UCD_SUCCESS;
    std::string sentence_;
    Used used_;
};

void bind_request(nb::module_ &m);

} // namespace ucdpy
