// Packing, unpacking and copying through ucd_device.h beside ucd_pack_stream and its kin: 20
// layouts from a grid, for any plan and for plans that the kernel knows, and 1,000 members with a
// block each beside a batch. Prints the library's times, and the ratios of these to the times of
// the kernels of this program; above 1, these are faster. Ends with 1 if a result differs.
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
#include <cstring>
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

template <bool tiles, unsigned word, dev::Level... levels>
__global__ void __launch_bounds__(threads)
    pack_known(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    const auto known = dev::known<word, levels...>(plan);
    if constexpr (tiles) {
        __shared__ uint4 memory[word * 1056 / sizeof(uint4)];
        dev::pack(dev::this_grid(), known, in, 0, plan.bytes, out, {memory, sizeof memory});
    } else {
        dev::pack(dev::this_grid(), known, in, 0, plan.bytes, out);
    }
}
template <bool tiles, unsigned word, dev::Level... levels>
__global__ void __launch_bounds__(threads)
    unpack_known(const __grid_constant__ ucd_device_plan_t plan, const void *in, void *out) {
    const auto known = dev::known<word, levels...>(plan);
    if constexpr (tiles) {
        __shared__ uint4 memory[word * 1056 / sizeof(uint4)];
        dev::unpack(dev::this_grid(), known, in, out, 0, plan.bytes, {memory, sizeof memory});
    } else {
        dev::unpack(dev::this_grid(), known, in, out, 0, plan.bytes);
    }
}
template <unsigned word, dev::Level... levels>
__global__ void __launch_bounds__(threads)
    copy_known(const __grid_constant__ ucd_device_plan_t from,
               const __grid_constant__ ucd_device_plan_t to, const void *in, void *out) {
    dev::copy(dev::this_grid(), dev::known<word, levels...>(from), in,
              dev::known<word, levels...>(to), out, 0, from.bytes);
}

// The kernels for plans of one kind.
using OneSided = void (*)(ucd_device_plan_t, const void *, void *);
struct Kernels {
    OneSided pack, unpack;
    void (*copy)(ucd_device_plan_t, ucd_device_plan_t, const void *, void *);
    bool (*fits)(const ucd_device_plan_t &);
};
template <bool tiles, unsigned word, dev::Level... levels>
Kernels kernels() {
    return {pack_known<tiles, word, levels...>, unpack_known<tiles, word, levels...>,
            copy_known<word, levels...>, dev::fits<word, levels...>};
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
    Kernels known;
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
    constexpr auto s = dev::strided, list = dev::indexed_block, runs = dev::indexed;
    const auto add = [&](std::string name, ucd_type_t type, Kernels known) {
        all.push_back({std::move(name), type, known});
    };
    add("contiguous 16 MiB", bytes_of(16 * mib), kernels<false, 16>());
    add("8 of 512, 1 MiB", strided({mib / 8}, {512}, d), kernels<false, 8, s>());
    add("8 of 512, 16 MiB", strided({2 * mib}, {512}, d), kernels<false, 8, s>());
    add("128 of 512, 1 MiB", strided({mib / 128, 16}, {512, 8}, d), kernels<false, 16, s>());
    add("128 of 512, 16 MiB", strided({mib / 8, 16}, {512, 8}, d), kernels<false, 16, s>());
    add("4 of 8, 16 MiB", strided({4 * mib}, {8}, f), kernels<false, 4, s>());
    add("2 of 6, 8 MiB", strided({4 * mib}, {6}, UCD_TYPE__INT16_T), kernels<false, 2, s>());
    add("1 of 3, 4 MiB", strided({4 * mib}, {3}, b), kernels<false, 1, s>());
    add("cube face xz", strided({512, 512}, {512 * 512 * 8, 8}, d), kernels<false, 16, s>());
    add("cube face yz", strided({512, 512}, {512 * 512 * 8, 512 * 8}, d),
        kernels<false, 8, s, s>());
    add("hypercube 32 of 64",
        strided({32, 32, 32, 32}, {64 * 64 * 64 * 8, 64 * 64 * 8, 64 * 8, 8}, d),
        kernels<false, 16, s, s, s>());
    add("four levels", strided({16, 16, 32, 32}, {544 * 1024, 33 * 1024, 1000, 24}, d),
        kernels<false, 8, s, s, s, s>());
    add("transpose 1024, 8 B", strided({1024, 1024}, {8, 8192}, d), kernels<true, 8, s, s>());
    add("transpose 2048, 4 B", strided({2048, 2048}, {4, 8192}, f), kernels<true, 4, s, s>());
    add("transpose 3 levels, 2 B",
        strided({16, 512, 256}, {2 * 512 * 256, 2, 2 * 512}, UCD_TYPE__INT16_T),
        kernels<true, 2, s, s, s>());
    std::mt19937_64 random(1);
    const auto displacements = [&](std::size_t count, std::intptr_t step) {
        std::vector<std::intptr_t> made(count);
        std::iota(made.begin(), made.end(), 0);
        std::shuffle(made.begin(), made.end(), random);
        for (std::intptr_t &x : made) x *= step;
        return made;
    };
    ucd_type_t type;
    std::vector<std::intptr_t> displs = displacements(mib / 2, 3);
    check(ucd_create_indexed_block(mib / 2, 1, displs.data(), d, nullptr, &type));
    add("random doubles", type, kernels<false, 8, list>());
    displs = displacements(mib / 64, 20);
    check(ucd_create_indexed_block(mib / 64, 16, displs.data(), d, nullptr, &type));
    add("random 128 B", type, kernels<false, 16, list>());
    displs = displacements(mib / 16, 8);
    std::vector<std::intptr_t> lengths(displs.size());
    for (std::intptr_t &n : lengths) n = static_cast<std::intptr_t>(random() % 4 + 1);
    check(ucd_create_indexed(static_cast<std::intptr_t>(displs.size()), lengths.data(),
                             displs.data(), d, nullptr, &type));
    add("runs of 1 to 4 doubles", type, kernels<false, 8, list>());
    std::vector<std::intptr_t> rows(2000), starts(2000);
    for (std::intptr_t i = 0; i < 2000; ++i) {
        rows[static_cast<std::size_t>(i)] = i + 1;
        starts[static_cast<std::size_t>(i)] = i * 2000;
    }
    check(ucd_create_indexed(2000, rows.data(), starts.data(), d, nullptr, &type));
    add("lower triangle", type, kernels<false, 8, runs>());
    const std::intptr_t fields[] = {1, 2, 1}, at[] = {0, 8, 16};
    const ucd_type_t types[] = {d, UCD_TYPE__INT, UCD_TYPE__CHAR};
    ucd_type_t record;
    check(ucd_create_struct(3, fields, at, types, nullptr, &record));
    check(ucd_create_contig(mib / 4, record, nullptr, &type));
    add("structs 17 of 24", type, kernels<false, 1, s, s>());
    return all;
}

// Times in microseconds of packing, unpacking and copying.
struct Row {
    double library[3], any[3], known[3];
};

class Means {
public:
    void add(const Row &row) {
        for (int k = 0; k < 3; ++k) {
            any_[k] += std::log(row.library[k] / row.any[k]);
            known_[k] += std::log(row.library[k] / row.known[k]);
        }
        ++rows_;
    }
    void print() const {
        const char *names[] = {"pack", "unpack", "copy"};
        std::printf("geometric means of %d rows:", rows_);
        for (int k = 0; k < 3; ++k)
            std::printf(" %s %.3f, known %.3f;", names[k], std::exp(any_[k] / rows_),
                        std::exp(known_[k] / rows_));
        std::puts("");
    }

private:
    double any_[3] = {}, known_[3] = {};
    int rows_ = 0;
};

// A sum of the words of a packed stream that depends on their places.
std::uint64_t sum_of(const void *device, std::size_t bytes) {
    check(cudaStreamSynchronize(stream));
    std::vector<unsigned char> data(bytes);
    check(cudaMemcpy(data.data(), device, bytes, cudaMemcpyDefault));
    std::uint64_t sum = 0;
    for (const unsigned char byte : data) sum = sum * 31 + byte;
    return sum;
}

} // namespace

int main() {
    check(ucd_init(nullptr));
    check(cudaSetDevice(0));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const ucd_stream_t native = {"cuda", 0, stream, nullptr, 0};
    constexpr std::size_t room = std::size_t{1536} << 20;
    char *in, *out;
    check(cudaMalloc(reinterpret_cast<void **>(&in), room));
    check(cudaMalloc(reinterpret_cast<void **>(&out), room));
    std::vector<unsigned char> random_bytes(room);
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < room; i += 8) {
        const std::uint64_t word = random();
        std::memcpy(random_bytes.data() + i, &word, sizeof word);
    }
    check(cudaMemcpy(in, random_bytes.data(), room, cudaMemcpyDefault));
    std::printf("%-26s %9s | %8s %6s %6s | %8s %6s %6s | %8s %6s %6s\n", "layout", "MiB", "pack us",
                "any", "known", "unpack", "any", "known", "copy", "any", "known");
    Means means;
    bool same = true;
    for (Layout &layout : layouts()) {
        ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
        check(ucd_device_plan_create(1, layout.type, "cuda:0", nullptr, &plan));
        check(ucd_prepare(1, layout.type, UCD_OP__REPLACE, native, nullptr));
        if (!layout.known.fits(plan)) {
            std::printf("%s: not the kernel's plan: %u levels of words of 2^%u bytes\n",
                        layout.name.c_str(), plan.levels, plan.word);
            return 1;
        }
        const std::uint64_t vectors = (plan.bytes + 15) / 16;
        const bool tiles = plan.row < plan.levels;
        std::uintptr_t moved;
        // The better of two numbers of blocks.
        const auto best = [&](auto launch) {
            double least = 1e30;
            for (const std::uint64_t per_thread : {1, 4}) {
                const auto blocks = static_cast<unsigned>((vectors + threads * per_thread - 1) /
                                                          (threads * per_thread));
                least = std::min(least, measure([&] { launch(blocks); }));
            }
            return least;
        };
        const auto one_sided = [&](OneSided kernel, const void *a, void *b) {
            return best(
                [&](unsigned blocks) { kernel<<<blocks, threads, 0, stream>>>(plan, a, b); });
        };
        const auto two_sided = [&](auto kernel, const void *a, void *b) {
            return best(
                [&](unsigned blocks) { kernel<<<blocks, threads, 0, stream>>>(plan, plan, a, b); });
        };
        Row row;
        row.library[0] = measure([&] {
            check(ucd_pack_stream(in, 1, layout.type, 0, out, plan.bytes, &moved, nullptr,
                                  UCD_OP__REPLACE, native));
        });
        const std::uint64_t packed = sum_of(out, plan.bytes);
        row.any[0] = one_sided(tiles ? pack : pack_directly, in, out);
        same = same && sum_of(out, plan.bytes) == packed;
        check(cudaMemsetAsync(out, 2, plan.bytes, stream));
        row.known[0] = one_sided(layout.known.pack, in, out);
        same = same && sum_of(out, plan.bytes) == packed;
        row.library[1] = measure([&] {
            check(ucd_unpack_stream(in, plan.bytes, out, 1, layout.type, 0, &moved, nullptr,
                                    UCD_OP__REPLACE, native));
        });
        row.any[1] = one_sided(tiles ? unpack : unpack_directly, in, out);
        row.known[1] = one_sided(layout.known.unpack, in, out);
        row.library[2] = measure([&] {
            check(ucd_copy_stream(in, 1, layout.type, out, 1, layout.type, &moved, nullptr,
                                  UCD_OP__REPLACE, native));
        });
        row.any[2] = two_sided(copy, in, out);
        row.known[2] = two_sided(layout.known.copy, in, out);
        if (!same) {
            std::printf("%s: the results differ\n", layout.name.c_str());
            return 1;
        }
        std::printf("%-26s %9.2f", layout.name.c_str(),
                    static_cast<double>(plan.bytes) / (1 << 20));
        for (int k = 0; k < 3; ++k)
            std::printf(" | %8.2f %6.2f %6.2f", row.library[k], row.library[k] / row.any[k],
                        row.library[k] / row.known[k]);
        std::puts("");
        std::fflush(stdout);
        means.add(row);
        check(ucd_device_plan_free(&plan));
        check(ucd_free(&layout.type));
    }
    means.print();
    // 1,000 members, a block each.
    constexpr int members = 1000;
    for (const std::intptr_t rows_each : {64, 512}) {
        std::vector<ucd_device_plan_t> plans;
        std::vector<Member> places;
        std::vector<ucd_move_t> moves(members, UCD_MOVE__INIT);
        std::vector<ucd_type_t> types;
        char *at = in, *to = out;
        for (int i = 0; i < members; ++i) {
            const std::intptr_t stride = 256 + 8 * (i % 16);
            types.push_back(strided({rows_each, 8}, {stride, 8}, UCD_TYPE__DOUBLE));
            ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
            check(ucd_device_plan_create(1, types.back(), "cuda:0", nullptr, &plan));
            plans.push_back(plan);
            places.push_back({at, to});
            ucd_move_t &move = moves[static_cast<std::size_t>(i)];
            move.inbuf = at;
            move.incount = 1;
            move.intype = types.back();
            move.outbuf = to;
            move.outcount = plan.bytes;
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
        ucd_plan_t plan;
        check(ucd_plan_create(moves.data(), members, nullptr, UCD_OP__REPLACE, &plan));
        const double batch = measure([&] { check(ucd_plan_start_stream(plan, native)); });
        std::printf("1,000 members of %td KiB: batch %.2f us, a block each %.2f us, ratio %.2f\n",
                    rows_each * 64 / 1024, batch, own, batch / own);
        check(ucd_plan_free(&plan));
    }
    return 0;
}
