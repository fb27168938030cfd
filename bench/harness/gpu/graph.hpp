// Streams of the vendor's, and what is captured in one and replayed.
#pragma once

#include "harness/gpu/runtime.hpp"
#include "harness/measure.hpp"

#include <functional>

namespace bench::gpu {

// One that does not wait for the null stream.
class Stream {
public:
    Stream() { check(gpuStreamCreateWithFlags(&stream_, gpuStreamNonBlocking), "making a stream"); }
    ~Stream() { (void)gpuStreamDestroy(stream_); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    gpuStream_t get() const { return stream_; }
    void wait() const { check(gpuStreamSynchronize(stream_), "waiting for a stream"); }

private:
    gpuStream_t stream_ = nullptr;
};

class Graph {
public:
    explicit Graph(const std::function<void(gpuStream_t)> &start) {
        check(gpuStreamBeginCapture(stream_.get(), gpuStreamCaptureModeRelaxed), "capturing");
        start(stream_.get());
        gpuGraph_t graph;
        check(gpuStreamEndCapture(stream_.get(), &graph), "capturing");
        check(gpuGraphInstantiate(&replayed_, graph, 0), "making a graph");
        check(gpuGraphDestroy(graph), "making a graph");
    }
    ~Graph() { (void)gpuGraphExecDestroy(replayed_); }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;

    // Many in a row, waited for at the end, so that nothing but the device counts.
    Work work() const {
        return [this](std::uint64_t times) {
            for (; times > 0; --times)
                check(gpuGraphLaunch(replayed_, stream_.get()), "replaying a graph");
            stream_.wait();
        };
    }

private:
    Stream stream_;
    gpuGraphExec_t replayed_ = nullptr;
};

} // namespace bench::gpu
