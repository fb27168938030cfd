#include "core/request.h"

#include <utility>

namespace ucdpy {

Request::Request(ucd_request_t request, uintptr_t bytes, Used used)
    : request_(request), bytes_(bytes), used_(std::move(used)) {
    if (request_ == UCD_REQUEST__NULL) used_ = Used();
}

Request::~Request() {
    // Buffers must not go before the work is complete.
    if (request_ == UCD_REQUEST__NULL) return;
    nb::gil_scoped_release no_gil;
    (void)ucd_wait(&request_);
}

template <class F>
bool Request::advance(F step) {
    Used finished;
    bool complete = false;
    {
        nb::gil_scoped_release no_gil;
        const std::lock_guard lock(mutex_);
        if (request_ != UCD_REQUEST__NULL) {
            const int rc = step();
            if (rc != UCD_SUCCESS) {
                failure_ = rc;
                sentence_ = ucd_last_error();
            }
            if (request_ == UCD_REQUEST__NULL) std::swap(finished, used_);
        }
        complete = request_ == UCD_REQUEST__NULL;
    }
    return complete; // `finished` goes with the GIL held
}

bool Request::done() {
    return advance([this] {
        int completed = 0;
        return ucd_test(&request_, &completed);
    });
}

uintptr_t Request::wait() {
    advance([this] { return ucd_wait(&request_); });
    if (failure_ != UCD_SUCCESS) raise_status(failure_, sentence_.c_str());
    return bytes_;
}

void bind_request(nb::module_ &m) {
    nb::class_<Request>(m, "Request", R"(Work that may not be complete yet.

It keeps the arrays alive until it is. Until then, do not change the input, nor read or write the
output. Progress is made in done() and wait(), or by `await request` in asyncio. Any thread may call
them. A request that is dropped is waited for.)")
        .def("done", &Request::done,
             "Makes progress; True if the work is complete, also if it failed. Does not wait.")
        .def("wait", &Request::wait,
             "Waits until the work is complete, and returns the bytes moved. Raises if it failed.")
        .def_prop_ro("bytes", &Request::bytes, "The packed bytes that the work moves.");
}

} // namespace ucdpy
