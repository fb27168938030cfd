// The all-to-all of Ulysses' attention: a tensor that is divided along one dimension becomes one
// that is divided along another. Each side's kernel copies the other's part straight from its
// tensor to its place in the other's tensor, for any two dimensions, without packed buffers. With
// "measure", beside packing, NCCL and unpacking.

#include "two_sides.hpp"

#include "flags.cuh"

namespace {

constexpr unsigned threads = 256, sides_count = 2;

struct Part {
    ucd_device_plan_t from, to;
    unsigned char *out;
};
struct Parts {
    Part part[sides_count];
};

// A kernel may know that tensors have four dimensions, and that the last one has whole words of 16
// bytes, as those of applications have.
__host__ __device__ bool is_usual(const ucd_device_plan_t &plan) {
    using ucd::device::strided;
    return ucd::device::fits<16, strided, strided, strided>(plan);
}
__device__ auto usual(const ucd_device_plan_t &plan) {
    using ucd::device::strided;
    return ucd::device::known<16, strided, strided, strided>(plan);
}

// All blocks copy to both sides, then tell them. `done` counts the blocks that have copied. The
// host chooses the kernel for the usual plans where they are such.
template <bool plans_are_usual>
__global__ void __launch_bounds__(threads)
    exchange(const __grid_constant__ Parts parts, const unsigned char *in, unsigned long long *done,
             unsigned *peer_flag, const unsigned *own_flag) {
    for (unsigned i = 0; i < sides_count; ++i) {
        const Part &p = parts.part[i];
        if constexpr (plans_are_usual)
            ucd::device::copy(ucd::device::this_grid(), usual(p.from), in, usual(p.to), p.out, 0,
                              p.from.bytes);
        else
            ucd::device::copy(ucd::device::this_grid(), p.from, in, p.to, p.out, 0, p.from.bytes);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        bool last;
        const unsigned round = count_block(done, &last);
        if (last) {
            raise_flag(peer_flag, round);
            // The kernel ends when the other side's part has arrived as well.
            wait_for_flag(own_flag, round);
        }
    }
}

struct Shape {
    std::intptr_t dims[4]; // of one side's input; the last one is contiguous bytes
    int scatter, gather;   // divided among the sides; put together again
};

ucd_type_t part_of(const std::intptr_t (&dims)[4], int dim, int number) {
    std::intptr_t part[4], start[4] = {};
    std::copy_n(dims, 4, part);
    part[dim] = dims[dim] / sides_count;
    start[dim] = part[dim] * number;
    ucd_type_t type;
    check(ucd_create_subarray(4, dims, part, start, UCD_ORDER__C, UCD_TYPE__BYTE, nullptr, &type),
          "a subarray");
    return type;
}

void run(Side (&sides)[2], const Shape &shape, bool measure, const Nccl *nccl) {
    std::intptr_t out_dims[4];
    std::copy_n(shape.dims, 4, out_dims);
    out_dims[shape.scatter] /= sides_count;
    out_dims[shape.gather] *= sides_count;
    const auto bytes =
        static_cast<std::size_t>(shape.dims[0] * shape.dims[1] * shape.dims[2] * shape.dims[3]);
    ucd_type_t from[2], to[2]; // the part for side i; the part of side i
    for (int i = 0; i < 2; ++i) {
        from[i] = part_of(shape.dims, shape.scatter, i);
        to[i] = part_of(out_dims, shape.gather, i);
    }
    unsigned char *in[2], *out[2], *packed[2], *arrived[2];
    unsigned long long *done[2];
    unsigned *flag[2];
    std::vector<unsigned char> values[2];
    for (int i = 0; i < 2; ++i) {
        in[i] = sides[i].allocate<unsigned char>(bytes);
        out[i] = sides[i].allocate<unsigned char>(bytes);
        packed[i] = sides[i].allocate<unsigned char>(bytes);
        arrived[i] = sides[i].allocate<unsigned char>(bytes);
        done[i] = sides[i].allocate<unsigned long long>(1);
        flag[i] = sides[i].allocate<unsigned>(1);
        values[i] = test_bytes(bytes, static_cast<unsigned>(i));
        put(sides[i], in[i], values[i]);
    }
    cudaGraphExec_t graphs[2];
    for (int i = 0; i < 2; ++i) {
        Parts parts;
        bool all_usual = true;
        // The other side first, because its part has the longer way.
        for (int k = 0; k < 2; ++k) {
            const int target = k == 0 ? 1 - i : i;
            parts.part[k] = {sides[i].plan(1, from[target]), sides[i].plan(1, to[i]), out[target]};
            all_usual = all_usual && is_usual(parts.part[k].from) && is_usual(parts.part[k].to);
        }
        const auto kernel = all_usual ? exchange<true> : exchange<false>;
        graphs[i] = capture(sides[i], [&] {
            kernel<<<264, threads, 0, sides[i].stream>>>(parts, in[i], done[i], flag[1 - i],
                                                         flag[i]);
        });
    }
    for (int n = 0; n < 2; ++n)
        for (int i = 0; i < 2; ++i) {
            sides[i].use();
            check(cudaGraphLaunch(graphs[i], sides[i].stream), "cudaGraphLaunch");
        }
    for (const Side &side : sides) side.wait();
    // Element by element, from the definition.
    const auto check_output = [&](int me) {
        const std::vector<unsigned char> found = get(sides[me], out[me], bytes);
        std::size_t at = 0;
        std::intptr_t i[4];
        for (i[0] = 0; i[0] < out_dims[0]; ++i[0])
            for (i[1] = 0; i[1] < out_dims[1]; ++i[1])
                for (i[2] = 0; i[2] < out_dims[2]; ++i[2])
                    for (i[3] = 0; i[3] < out_dims[3]; ++i[3], ++at) {
                        std::intptr_t source[4];
                        std::copy_n(i, 4, source);
                        const std::intptr_t part = shape.dims[shape.gather];
                        const auto side = static_cast<unsigned>(i[shape.gather] / part);
                        source[shape.gather] = i[shape.gather] % part;
                        source[shape.scatter] += me * out_dims[shape.scatter];
                        std::size_t index = 0;
                        for (int d = 0; d < 4; ++d)
                            index = index * static_cast<std::size_t>(shape.dims[d]) +
                                    static_cast<std::size_t>(source[d]);
                        require(found[at] == test_byte(index, side), "an element of the output");
                    }
    };
    for (int i = 0; i < 2; ++i) check_output(i);
    std::printf("all_to_all [%td, %td, %td, %td B] scatter %d gather %d: correct", shape.dims[0],
                shape.dims[1], shape.dims[2], shape.dims[3], shape.scatter, shape.gather);
    if (measure) {
        const double fused = replay(sides, graphs, 20);
        std::printf("; %.1f us", fused);
        if (nccl != nullptr) {
            cudaGraphExec_t others[2];
            const std::size_t half = bytes / 2;
            const auto start = [&](int i) {
                const ucd_stream_t stream = sides[i].native();
                std::uintptr_t moved;
                for (int k = 0; k < 2; ++k)
                    check(ucd_pack_stream(in[i], 1, from[k], 0,
                                          (k == i ? arrived[i] : packed[i]) +
                                              half * static_cast<unsigned>(k),
                                          half, &moved, nullptr, UCD_OP__REPLACE, stream),
                          "ucd_pack_stream");
                nccl->exchange(sides[i], i, packed[i] + half * static_cast<unsigned>(1 - i),
                               arrived[i] + half * static_cast<unsigned>(1 - i), half);
                for (int k = 0; k < 2; ++k)
                    check(ucd_unpack_stream(arrived[i] + half * static_cast<unsigned>(k), half,
                                            out[i], 1, to[k], 0, &moved, nullptr, UCD_OP__REPLACE,
                                            stream),
                          "ucd_unpack_stream");
            };
            for (int i = 0; i < 2; ++i) put(sides[i], out[i], test_bytes(bytes, 77));
            on_both([&](int i) {
                sides[i].use();
                for (int k = 0; k < 2; ++k)
                    for (const ucd_type_t type : {from[k], to[k]})
                        check(ucd_prepare(1, type, UCD_OP__REPLACE, sides[i].native(), nullptr),
                              "prepare");
                start(i);
                sides[i].wait();
            });
            for (int i = 0; i < 2; ++i) check_output(i);
            on_both([&](int i) { others[i] = capture(sides[i], [&] { start(i); }); });
            const double apart = replay(sides, others, 20);
            std::printf("; permute + NCCL + permute %.1f us; ratio %.2f", apart, apart / fused);
        }
    }
    std::puts("");
    for (int i = 0; i < 2; ++i) {
        sides[i].use();
        for (void *memory : {static_cast<void *>(in[i]), static_cast<void *>(out[i]),
                             static_cast<void *>(packed[i]), static_cast<void *>(arrived[i]),
                             static_cast<void *>(done[i]), static_cast<void *>(flag[i])})
            check(cudaFree(memory), "cudaFree");
        check(ucd_free(&from[i]), "ucd_free");
        check(ucd_free(&to[i]), "ucd_free");
    }
}

} // namespace

int main(int argc, char **argv) {
    Side sides[2];
    open(sides);
    const bool measure = argc > 1 && std::strcmp(argv[1], "measure") == 0;
    Nccl nccl;
    const bool compare = measure && nccl.open(sides);
    const Shape small[] = {{{4, 6, 10, 24}, 2, 1},
                           {{4, 6, 10, 24}, 1, 2},
                           {{4, 6, 10, 24}, 3, 0},
                           {{4, 6, 10, 24}, 0, 3},
                           {{4, 6, 10, 24}, 2, 0}};
    for (const Shape &shape : small) run(sides, shape, false, nullptr);
    // [batch, sequence, heads, bytes of a head]: heads to sequence and back, bf16.
    const Shape large[] = {{{1, 4096, 32, 256}, 2, 1},
                           {{1, 8192, 16, 256}, 1, 2},
                           {{2, 2048, 32, 128}, 2, 1},
                           {{4, 1024, 24, 256}, 2, 0}};
    if (measure)
        for (const Shape &shape : large) run(sides, shape, true, compare ? &nccl : nullptr);
    check(ucd_finalize(), "ucd_finalize");
}
