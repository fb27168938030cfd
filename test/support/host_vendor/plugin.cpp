// The host vendor's backend as a plugin, and what a driver does for programs that use it.
#include "c_api/device_calls.h"
#include "support/fake_device/fake_driver.h"
#include "support/host_vendor/capture.h"

#include "launch/create_backend.h"
#include "plugin.h"

UCD_PLUGIN(ucd::hostgpu::as_plugin())

namespace {

mock::Stream &stream_of(void *stream) {
    return *static_cast<mock::Stream *>(stream);
}

constexpr device_calls_t calls = {
    .allocate = [](std::size_t bytes) { return mock::allocate(ucd::MemoryKind::device, 0, bytes); },
    .write = mock::write,
    .read = mock::read,
    .make_stream = []() -> void * { return new mock::Stream(0); },
    .synchronise = [](void *stream) { stream_of(stream).synchronise(); },
    .begin_capture = [](void *stream) { ucd::hostgpu::begin_capture(stream_of(stream)); },
    .end_capture = [](void *stream) -> void * {
        return new ucd::hostgpu::Graph(ucd::hostgpu::end_capture(stream_of(stream)));
    },
    .replay =
        [](void *graph, void *stream) {
            ucd::hostgpu::replay(*static_cast<ucd::hostgpu::Graph *>(graph), stream_of(stream));
        },
    .destroy_graph = [](void *graph) { delete static_cast<ucd::hostgpu::Graph *>(graph); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const device_calls_t *device_calls_of_plugin();
const device_calls_t *device_calls_of_plugin() {
    return &calls;
}
