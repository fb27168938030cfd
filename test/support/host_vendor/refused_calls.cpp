#include "support/refused_calls.hpp"

#include "support/catch.hpp"
#include "support/host_vendor/capture.h"

#include <string_view>

namespace ucdtest {

void refuse_call(int n) {
    ucd::hostgpu::failing_call = n;
}

bool stop_refusing() {
    return ucd::hostgpu::failing_call.exchange(0) <= 0;
}

const char *refused_call() {
    const char *const name = ucd::hostgpu::refused_call.load();
    return name != nullptr ? name : "";
}

bool tells_of_memory(const char *call) {
    return call == std::string_view("hipPointerGetAttributes");
}

void check_all_is_given_back() {
    CHECK(mock::counts.live_allocations == 0);
    CHECK(ucd::hostgpu::live_streams == 0);
    CHECK(ucd::hostgpu::live_events == 0);
}

OwnStream::OwnStream() : stream_(new mock::Stream(0)) {}

OwnStream::~OwnStream() {
    delete static_cast<mock::Stream *>(stream_);
}

ucd_stream_t OwnStream::native() const {
    return {mock::backend.name, 0, stream_, nullptr, 0};
}

void OwnStream::synchronise() {
    static_cast<mock::Stream *>(stream_)->synchronise();
}

} // namespace ucdtest
