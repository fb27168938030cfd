// Two sides that reach each other's memory: two GPUs, or one GPU twice where there is no second
// one.
#pragma once

#include <cuda_runtime.h>
#include <ucd_device.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

inline void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}
inline void check(int status, const char *what) {
    if (status == UCD_SUCCESS) return;
    std::fprintf(stderr, "%s: %s: %s\n", what, ucd_strerror(status), ucd_last_error());
    std::exit(1);
}

// The device, the stream and the memory of one side.
struct Side {
    int device = 0;
    cudaStream_t stream = nullptr;
    std::string name; // of the device, for UCD

    void use() const { check(cudaSetDevice(device), "cudaSetDevice"); }
    template <class T>
    T *allocate(std::size_t count) const {
        use();
        void *memory = nullptr;
        check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
        check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // it returns before that is done
        return static_cast<T *>(memory);
    }
    void wait() const {
        use();
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    ucd_stream_t native() const { return {"cuda", device, stream, nullptr, 0}; }
    ucd_device_plan_t plan(std::uintptr_t count, ucd_type_t type) const {
        ucd_device_plan_t made = UCD_DEVICE_PLAN__INIT;
        check(ucd_device_plan_create(count, type, name.c_str(), nullptr, &made),
              "ucd_device_plan_create");
        return made;
    }
};

// Exits with 77, which means skipped, if there is no GPU.
inline void open(Side (&sides)[2]) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no GPU");
        std::exit(77);
    }
    int reaches = 0;
    if (devices > 1) check(cudaDeviceCanAccessPeer(&reaches, 0, 1), "cudaDeviceCanAccessPeer");
    for (int i = 0; i < 2; ++i) {
        Side &side = sides[i];
        side.device = reaches ? i : 0;
        side.name = "cuda:" + std::to_string(side.device);
        side.use();
        if (reaches) check(cudaDeviceEnablePeerAccess(1 - i, 0), "cudaDeviceEnablePeerAccess");
        check(cudaStreamCreateWithFlags(&side.stream, cudaStreamNonBlocking), "a stream");
    }
    std::printf("sides: %s and %s\n", sides[0].name.c_str(), sides[1].name.c_str());
    check(ucd_init(nullptr), "ucd_init");
}

// Records what `start` puts into the side's stream, so that it can be replayed.
inline cudaGraphExec_t capture(const Side &side, const std::function<void()> &start) {
    side.use();
    check(cudaStreamBeginCapture(side.stream, cudaStreamCaptureModeThreadLocal), "capture");
    start();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(side.stream, &graph), "capture");
    cudaGraphExec_t ready = nullptr;
    check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    return ready;
}

// The median time in microseconds of a replay of both graphs, which wait for each other. A thread
// for each side, because one that starts both could not keep up.
inline double replay(const Side (&sides)[2], const cudaGraphExec_t (&graphs)[2], int times = 30) {
    std::vector<double> taken;
    for (int repeat = 0; repeat < 9; ++repeat) {
        float milliseconds = 0;
        const auto run = [&](int i) {
            const Side &side = sides[i];
            side.use();
            cudaEvent_t begin, end;
            check(cudaEventCreate(&begin), "an event");
            check(cudaEventCreate(&end), "an event");
            check(cudaGraphLaunch(graphs[i], side.stream), "cudaGraphLaunch");
            check(cudaEventRecord(begin, side.stream), "an event");
            for (int n = 0; n < times; ++n)
                check(cudaGraphLaunch(graphs[i], side.stream), "cudaGraphLaunch");
            check(cudaEventRecord(end, side.stream), "an event");
            check(cudaStreamSynchronize(side.stream), "replaying");
            if (i == 0) check(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
            check(cudaEventDestroy(begin), "an event");
            check(cudaEventDestroy(end), "an event");
        };
        std::thread other(run, 1);
        run(0);
        other.join();
        taken.push_back(1000.0 * milliseconds / times);
    }
    std::nth_element(taken.begin(), taken.begin() + 4, taken.end());
    return taken[4];
}

// NCCL, if it is there: what the fused kernels are compared with.
struct Nccl {
    using Comm = void *;
    int (*init_all)(Comm *, int, const int *) = nullptr;
    int (*send)(const void *, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
    int (*recv)(void *, std::size_t, int, int, Comm, cudaStream_t) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
    Comm comm[2] = {};
    static constexpr int bytes = 0; // ncclInt8

    bool open(const Side (&sides)[2]) {
        if (sides[0].device == sides[1].device) return false;
        void *library = dlopen("libnccl.so.2", RTLD_NOW);
        if (library == nullptr) return false;
        const auto find = [&](auto &function, const char *name) {
            void *found = dlsym(library, name);
            std::memcpy(&function, &found, sizeof found);
        };
        find(init_all, "ncclCommInitAll");
        find(send, "ncclSend");
        find(recv, "ncclRecv");
        find(group_start, "ncclGroupStart");
        find(group_end, "ncclGroupEnd");
        const int devices[2] = {0, 1};
        return init_all(comm, 2, devices) == 0;
    }
    static void check(int result) {
        if (result == 0) return;
        std::fprintf(stderr, "NCCL failed with %d\n", result);
        std::exit(1);
    }
    // Sends to the other side, and receives from it.
    void exchange(const Side &side, int me, const void *out, void *in, std::size_t size) const {
        check(group_start());
        check(send(out, size, bytes, 1 - me, comm[me], side.stream));
        check(recv(in, size, bytes, 1 - me, comm[me], side.stream));
        check(group_end());
    }
};

// Both sides at once, as NCCL wants it.
inline void on_both(const std::function<void(int)> &body) {
    std::thread other(body, 1);
    body(0);
    other.join();
}

// What a byte of a test is.
inline unsigned char test_byte(std::size_t i, unsigned salt) {
    return static_cast<unsigned char>((i * 2654435761u + salt * 40503u) >> 13);
}
inline std::vector<unsigned char> test_bytes(std::size_t count, unsigned salt) {
    std::vector<unsigned char> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = test_byte(i, salt);
    return bytes;
}
template <class T>
void put(const Side &side, T *to, const std::vector<T> &values) {
    side.use();
    check(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
          "cudaMemcpy");
    // From pageable memory, that returns before the data has arrived.
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
inline std::vector<unsigned char> get(const Side &side, const void *from, std::size_t count) {
    side.use();
    std::vector<unsigned char> bytes(count);
    check(cudaMemcpy(bytes.data(), from, count, cudaMemcpyDefault), "cudaMemcpy");
    return bytes;
}
inline void require(bool condition, const char *what) {
    if (condition) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}
