// Packing, unpacking and copying through ucd_device.h beside ucd_pack_stream and its kin: 20
// layouts from a grid, and 1,000 members with a block each beside a batch. Prints the ratio of the
// times; above 1, the kernel of this program is the faster one.
//
//   nvcc -std=c++17 -O3 -DNDEBUG -arch=sm_90 -Iinclude -Ibuild/src bench/device_code/rates.cu
//   -Lbuild/src -lucd

#include <cuda_runtime.h>
#include <ucd_device.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

namespace dev = ucd::device;

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads)
    pack(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    __shared__ uint4 memory[8 * 1056 / sizeof(uint4)]; // for elements of 8 bytes
    dev::pack(dev::this_grid(), plan, in, 0, plan.bytes, out, {memory, sizeof memory});
}
__global__ void __launch_bounds__(threads)
    unpack(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    __shared__ uint4 memory[8 * 1056 / sizeof(uint4)]; // for elements of 8 bytes
    dev::unpack(dev::this_grid(), plan, in, out, 0, plan.bytes, {memory, sizeof memory});
}
__global__ void __launch_bounds__(threads)
    pack_directly(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    dev::pack(dev::this_grid(), plan, in, 0, plan.bytes, out);
}
__global__ void __launch_bounds__(threads)
    unpack_directly(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    dev::unpack(dev::this_grid(), plan, in, out, 0, plan.bytes);
}
__global__ void __launch_bounds__(threads)
    copy(const __grid_constant__ ucd_device_plan_t from,
         const __grid_constant__ ucd_device_plan_t to, const void *in, void *out) {
    dev::copy(dev::this_grid(), from, in, to, out, 0, from.bytes);
}

struct Member {
    const void *in;
    void *out;
};
// A plan in shared memory is read as fast as a parameter.
__device__ void load(ucd_device_plan_t &plan, const ucd_device_plan_t &from) {
    auto *to = reinterpret_cast<std::uint32_t *>(&plan);
    for (unsigned i = threadIdx.x; i < sizeof plan / 4; i += blockDim.x)
        to[i] = reinterpret_cast<const std::uint32_t *>(&from)[i];
    __syncthreads();
}
__global__ void __launch_bounds__(threads)
    pack_members(const ucd_device_plan_t *plans, const Member *members) {
    __shared__ ucd_device_plan_t plan;
    load(plan, plans[blockIdx.x]);
    const Member &m = members[blockIdx.x];
    dev::pack(dev::this_block(), plan, m.in, 0, plan.bytes, m.out);
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}
void check(int rc) {
    if (rc == UCD_SUCCESS) return;
    std::fprintf(stderr, "%s\n", ucd_last_error());
    std::exit(1);
}

cudaStream_t stream;

// The median of 21 times of 20 starts each, in microseconds.
double measure(const std::function<void()> &start) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int i = 0; i < 5; ++i) start();
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 20; ++i) start();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&ready, graph, 0));
    std::vector<float> times;
    for (int i = 0; i < 21; ++i) {
        check(cudaEventRecord(begin, stream));
        check(cudaGraphLaunch(ready, stream));
        check(cudaEventRecord(end, stream));
        check(cudaEventSynchronize(end));
        float ms;
        check(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10] * 1000 / 20;
}

struct Layout {
    std::string name;
    ucd_type_t type;
};

ucd_type_t strided(std::vector<std::intptr_t> shape, std::vector<std::intptr_t> strides,
                   ucd_type_t element) {
    ucd_type_t type;
    check(ucd_create_ndarray(static_cast<int>(shape.size()), shape.data(), strides.data(), element,
                             nullptr, &type));
    return type;
}
ucd_type_t bytes_of(std::intptr_t count) {
    ucd_type_t type;
    check(ucd_create_contig(count, UCD_TYPE__BYTE, nullptr, &type));
    return type;
}

std::vector<Layout> layouts() {
    constexpr std::intptr_t mib = 1 << 20;
    const ucd_type_t d = UCD_TYPE__DOUBLE, f = UCD_TYPE__FLOAT, b = UCD_TYPE__BYTE;
    std::vector<Layout> all;
    const auto add = [&](std::string name, ucd_type_t type) {
        all.push_back({std::move(name), type});
    };
    add("contiguous 16 MiB", bytes_of(16 * mib));
    add("8 of 512, 1 MiB", strided({mib / 8}, {512}, d));
    add("8 of 512, 16 MiB", strided({2 * mib}, {512}, d));
    add("128 of 512, 1 MiB", strided({mib / 128, 16}, {512, 8}, d));
    add("128 of 512, 16 MiB", strided({mib / 8, 16}, {512, 8}, d));
    add("4 of 8, 16 MiB", strided({4 * mib}, {8}, f));
    add("2 of 6, 8 MiB", strided({4 * mib}, {6}, UCD_TYPE__INT16_T));
    add("1 of 3, 4 MiB", strided({4 * mib}, {3}, b));
    add("cube face xz", strided({512, 512}, {512 * 512 * 8, 8}, d));
    add("cube face yz", strided({512, 512}, {512 * 512 * 8, 512 * 8}, d));
    add("hypercube 32 of 64",
        strided({32, 32, 32, 32}, {64 * 64 * 64 * 8, 64 * 64 * 8, 64 * 8, 8}, d));
    add("four levels", strided({16, 16, 32, 32}, {544 * 1024, 33 * 1024, 1000, 24}, d));
    add("transpose 1024, 8 B", strided({1024, 1024}, {8, 8192}, d));
    add("transpose 2048, 4 B", strided({2048, 2048}, {4, 8192}, f));
    add("transpose 3 levels, 2 B",
        strided({16, 512, 256}, {2 * 512 * 256, 2, 2 * 512}, UCD_TYPE__INT16_T));
    std::mt19937_64 random(1);
    const auto displacements = [&](std::size_t count, std::intptr_t step) {
        std::vector<std::intptr_t> displs(count);
        std::iota(displs.begin(), displs.end(), 0);
        std::shuffle(displs.begin(), displs.end(), random);
        for (std::intptr_t &x : displs) x *= step;
        return displs;
    };
    ucd_type_t type;
    std::vector<std::intptr_t> list = displacements(mib / 2, 3);
    check(ucd_create_indexed_block(mib / 2, 1, list.data(), d, nullptr, &type));
    add("random doubles", type);
    list = displacements(mib / 64, 20);
    check(ucd_create_indexed_block(mib / 64, 16, list.data(), d, nullptr, &type));
    add("random 128 B", type);
    list = displacements(mib / 16, 8);
    std::vector<std::intptr_t> lengths(list.size());
    for (std::intptr_t &n : lengths) n = static_cast<std::intptr_t>(random() % 4 + 1);
    check(ucd_create_indexed(static_cast<std::intptr_t>(list.size()), lengths.data(), list.data(),
                             d, nullptr, &type));
    add("runs of 1 to 4 doubles", type);
    std::vector<std::intptr_t> rows(2000), starts(2000);
    for (std::intptr_t i = 0; i < 2000; ++i) {
        rows[static_cast<std::size_t>(i)] = i + 1;
        starts[static_cast<std::size_t>(i)] = i * 2000;
    }
    check(ucd_create_indexed(2000, rows.data(), starts.data(), d, nullptr, &type));
    add("lower triangle", type);
    const std::intptr_t fields[] = {1, 2, 1}, at[] = {0, 8, 16};
    const ucd_type_t types[] = {d, UCD_TYPE__INT, UCD_TYPE__CHAR};
    ucd_type_t record;
    check(ucd_create_struct(3, fields, at, types, nullptr, &record));
    check(ucd_create_contig(mib / 4, record, nullptr, &type));
    add("structs 17 of 24", type);
    return all;
}

} // namespace

int main() {
    check(ucd_init(nullptr));
    check(cudaSetDevice(0));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const ucd_stream_t native = {"cuda", 0, stream, nullptr};
    constexpr std::size_t room = std::size_t{1536} << 20;
    char *in, *out;
    check(cudaMalloc(reinterpret_cast<void **>(&in), room));
    check(cudaMalloc(reinterpret_cast<void **>(&out), room));
    check(cudaMemset(in, 1, room));
    std::printf("%-26s %9s | %8s %8s %8s | %8s %8s %8s | %8s %8s %6s\n", "layout", "MiB", "pack us",
                "header", "ratio", "unpack", "header", "ratio", "copy", "header", "ratio");
    double geometric[3] = {1, 1, 1};
    int rows = 0;
    for (Layout &layout : layouts()) {
        ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
        check(ucd_device_plan_create(1, layout.type, "cuda:0", nullptr, &plan));
        check(ucd_prepare(1, layout.type, UCD_OP__REPLACE, native, nullptr));
        const std::uint64_t vectors = (plan.bytes + 15) / 16;
        const bool tiles = plan.row < plan.levels;
        std::uintptr_t moved;
        const auto best = [&](auto kernel, auto tiled, const void *a, void *b) {
            double least = 1e30;
            for (const std::uint64_t per_thread : {1, 4}) {
                const auto blocks = static_cast<unsigned>((vectors + threads * per_thread - 1) /
                                                          (threads * per_thread));
                least = std::min(least, measure([&] {
                                     if (tiles)
                                         tiled<<<blocks, threads, 0, stream>>>(plan, a, b);
                                     else
                                         kernel<<<blocks, threads, 0, stream>>>(plan, a, b);
                                 }));
            }
            return least;
        };
        const double packed = measure([&] {
            check(ucd_pack_stream(in, 1, layout.type, 0, out, plan.bytes, &moved, nullptr,
                                  UCD_OP__REPLACE, native));
        });
        const double own_packed = best(pack_directly, pack, in, out);
        const double unpacked = measure([&] {
            check(ucd_unpack_stream(in, plan.bytes, out, 1, layout.type, 0, &moved, nullptr,
                                    UCD_OP__REPLACE, native));
        });
        const double own_unpacked = best(unpack_directly, unpack, in, out);
        const double copied = measure([&] {
            check(ucd_copy_stream(in, 1, layout.type, out, 1, layout.type, &moved, nullptr,
                                  UCD_OP__REPLACE, native));
        });
        double own_copied = 1e30;
        for (const std::uint64_t per_thread : {1, 4})
            own_copied =
                std::min(own_copied, measure([&] {
                             copy<<<static_cast<unsigned>((vectors + threads * per_thread - 1) /
                                                          (threads * per_thread)),
                                    threads, 0, stream>>>(plan, plan, in, out);
                         }));
        std::printf("%-26s %9.2f | %8.2f %8.2f %8.2f | %8.2f %8.2f %8.2f | %8.2f %8.2f %6.2f\n",
                    layout.name.c_str(), static_cast<double>(plan.bytes) / (1 << 20), packed,
                    own_packed, packed / own_packed, unpacked, own_unpacked,
                    unpacked / own_unpacked, copied, own_copied, copied / own_copied);
        std::fflush(stdout);
        geometric[0] *= packed / own_packed;
        geometric[1] *= unpacked / own_unpacked;
        geometric[2] *= copied / own_copied;
        ++rows;
        check(ucd_device_plan_free(&plan));
        check(ucd_free(&layout.type));
    }
    std::printf("geometric means of %d rows: pack %.3f unpack %.3f copy %.3f\n", rows,
                std::pow(geometric[0], 1.0 / rows), std::pow(geometric[1], 1.0 / rows),
                std::pow(geometric[2], 1.0 / rows));
    // 1,000 members, a block each.
    constexpr int members = 1000;
    for (const std::intptr_t rows_each : {64, 512}) {
        std::vector<ucd_device_plan_t> plans;
        std::vector<Member> places;
        std::vector<ucd_pack_desc_t> descs(members);
        std::vector<ucd_type_t> types;
        char *at = in, *to = out;
        for (int i = 0; i < members; ++i) {
            const std::intptr_t stride = 256 + 8 * (i % 16);
            types.push_back(strided({rows_each, 8}, {stride, 8}, UCD_TYPE__DOUBLE));
            ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
            check(ucd_device_plan_create(1, types.back(), "cuda:0", nullptr, &plan));
            plans.push_back(plan);
            places.push_back({at, to});
            descs[static_cast<std::size_t>(i)] = {at,         1, types.back(), 0, to,
                                                  plan.bytes, 0, {0, 0}};
            check(ucd_prepare(1, types.back(), UCD_OP__REPLACE, native, nullptr));
            at += rows_each * stride;
            to += plan.bytes;
        }
        void *device_plans, *device_members;
        check(cudaMalloc(&device_plans, members * sizeof plans[0]));
        check(cudaMalloc(&device_members, members * sizeof places[0]));
        check(cudaMemcpy(device_plans, plans.data(), members * sizeof plans[0], cudaMemcpyDefault));
        check(cudaMemcpy(device_members, places.data(), members * sizeof places[0],
                         cudaMemcpyDefault));
        const double own = measure([&] {
            pack_members<<<members, threads, 0, stream>>>(
                static_cast<ucd_device_plan_t *>(device_plans),
                static_cast<Member *>(device_members));
        });
        // A plan of moves: tables uploaded once.
        std::vector<ucd_move_t> moves(members);
        for (std::size_t i = 0; i < moves.size(); ++i)
            moves[i] = {descs[i].inbuf, 1, types[i],    0, descs[i].outbuf, descs[i].max_pack_bytes,
                        UCD_TYPE__NULL, 0, UINTPTR_MAX, 0, {0, 0}};
        ucd_plan_t plan;
        check(ucd_plan_create(moves.data(), members, nullptr, UCD_OP__REPLACE, &plan));
        const double batch = measure([&] { check(ucd_plan_start_stream(plan, native)); });
        std::printf("1,000 members of %td KiB: batch %.2f us, a block each %.2f us, ratio %.2f\n",
                    rows_each * 64 / 1024, batch, own, batch / own);
        check(ucd_plan_free(&plan));
    }
    return 0;
}
