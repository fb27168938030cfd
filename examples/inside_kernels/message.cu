// A message from kernel to kernel: the sender's kernel packs a strided layout straight into the
// other side's memory and raises flags there; the receiver's kernel waits for them and unpacks. No
// host is involved, and both kernels are replayed in graphs. With "measure", beside NCCL.

#include "two_sides.hpp"

#include "flags.cuh"

namespace {

constexpr unsigned blocks = 32, threads = 128;

// A round trip of 64 KiB: blocks of 8 bytes, 512 bytes apart.
constexpr int count = 8192, block = 1, stride = 64;

// The kernel knows that the plan has blocks of 8 bytes at equal distances.
__device__ auto known(const ucd_device_plan_t &plan) {
    return ucd::device::known<8, ucd::device::strided>(plan);
}

// What a side shares with the other. Each block of a kernel has flags of its own, so blocks wait
// for nobody but the block with the same number on the other side.
struct Mailbox {
    unsigned char *message; // packed
    unsigned *arrived;      // a flag for each block
};

struct Share {
    std::uint64_t offset, bytes;
};
__device__ Share share_of_block(std::uint64_t bytes) {
    const std::uint64_t each =
        (bytes + 16 * gridDim.x - 1) / (16 * gridDim.x) * 16; // whole vectors
    const std::uint64_t offset = blockIdx.x * each;
    if (offset >= bytes) return {bytes, 0};
    return {offset, offset + each < bytes ? each : bytes - offset};
}

__device__ void send(const ucd_device_plan_t &plan, const void *field, const Mailbox &peer,
                     unsigned round) {
    const Share share = share_of_block(plan.bytes);
    ucd::device::pack(ucd::device::this_block(), known(plan), field, share.offset, share.bytes,
                      peer.message + share.offset);
    __syncthreads();
    if (threadIdx.x == 0) raise_flag(peer.arrived + blockIdx.x, round);
}

__device__ void receive(const ucd_device_plan_t &plan, void *field, const Mailbox &own,
                        unsigned round) {
    const Share share = share_of_block(plan.bytes);
    if (threadIdx.x == 0) wait_for_flag(own.arrived + blockIdx.x, round);
    __syncthreads();
    ucd::device::unpack(ucd::device::this_block(), known(plan), own.message + share.offset, field,
                        share.offset, share.bytes);
}

// One kernel a side. The side that goes second answers with what it has received, so neither writes
// to a mailbox before it was read. `rounds` has a counter for each block, because parameters of a
// graph do not change.
__global__ void __launch_bounds__(threads)
    round_trip(const __grid_constant__ ucd_device_plan_t plan, unsigned char *field,
               const Mailbox own, const Mailbox peer, unsigned *rounds, bool first) {
    const unsigned round = rounds[blockIdx.x] + 1;
    if (first) send(plan, field, peer, round);
    receive(plan, field, own, round);
    if (!first) {
        __syncthreads();
        send(plan, field, peer, round);
    }
    __syncthreads();
    if (threadIdx.x == 0) rounds[blockIdx.x] = round;
}

} // namespace

int main(int argc, char **argv) {
    Side sides[2];
    open(sides);
    ucd_type_t type;
    check(ucd_create_vector(count, block, stride, UCD_TYPE__DOUBLE, nullptr, &type), "a vector");
    const std::size_t span = sizeof(double) * count * stride;
    unsigned char *fields[2], *packed[2], *arriving[2];
    Mailbox mail[2];
    unsigned *rounds[2];
    ucd_device_plan_t plans[2];
    std::vector<unsigned char> before[2] = {test_bytes(span, 1), test_bytes(span, 2)};
    for (int i = 0; i < 2; ++i) {
        plans[i] = sides[i].plan(1, type);
        require(ucd::device::fits<8, ucd::device::strided>(plans[i]), "the plan");
        fields[i] = sides[i].allocate<unsigned char>(span);
        packed[i] = sides[i].allocate<unsigned char>(plans[i].bytes);
        arriving[i] = sides[i].allocate<unsigned char>(plans[i].bytes);
        mail[i] = {sides[i].allocate<unsigned char>(plans[i].bytes),
                   sides[i].allocate<unsigned>(blocks)};
        rounds[i] = sides[i].allocate<unsigned>(blocks);
        put(sides[i], fields[i], before[i]);
    }
    cudaGraphExec_t graphs[2];
    for (int i = 0; i < 2; ++i)
        graphs[i] = capture(sides[i], [&] {
            round_trip<<<blocks, threads, 0, sides[i].stream>>>(plans[i], fields[i], mail[i],
                                                                mail[1 - i], rounds[i], i == 0);
        });
    for (int n = 0; n < 3; ++n)
        for (int i = 0; i < 2; ++i) {
            sides[i].use();
            check(cudaGraphLaunch(graphs[i], sides[i].stream), "cudaGraphLaunch");
        }
    // The receiver's elements are now the sender's, and the bytes between them are as they were.
    std::vector<unsigned char> expected = before[1];
    for (std::size_t k = 0; k < span; ++k)
        if (k % (8 * stride) < 8 * block) expected[k] = before[0][k];
    for (const Side &side : sides) side.wait();
    require(get(sides[1], fields[1], span) == expected, "the receiver's field");
    require(get(sides[0], fields[0], span) == before[0], "the sender's field");
    std::puts("message: correct");

    if (argc > 1 && std::strcmp(argv[1], "measure") == 0) {
        const double fused = replay(sides, graphs) / 2;
        std::printf("message 64 KiB of 8-byte blocks, kernel to kernel: %.2f us\n", fused);
        Nccl nccl;
        if (nccl.open(sides)) {
            cudaGraphExec_t others[2];
            const auto start = [&](int i) {
                const Side &side = sides[i];
                const auto pack = [&] {
                    std::uintptr_t moved;
                    check(ucd_pack_stream(fields[i], 1, type, 0, packed[i], plans[i].bytes, &moved,
                                          nullptr, UCD_OP__REPLACE, side.native()),
                          "ucd_pack_stream");
                    Nccl::check(nccl.send(packed[i], plans[i].bytes, Nccl::bytes, 1 - i,
                                          nccl.comm[i], side.stream));
                };
                const auto unpack = [&] {
                    std::uintptr_t moved;
                    Nccl::check(nccl.recv(arriving[i], plans[i].bytes, Nccl::bytes, 1 - i,
                                          nccl.comm[i], side.stream));
                    check(ucd_unpack_stream(arriving[i], plans[i].bytes, fields[i], 1, type, 0,
                                            &moved, nullptr, UCD_OP__REPLACE, side.native()),
                          "ucd_unpack_stream");
                };
                if (i == 0) pack();
                unpack();
                if (i == 1) pack();
            };
            on_both([&](int i) {
                sides[i].use();
                check(ucd_prepare(1, type, UCD_OP__REPLACE, sides[i].native(), nullptr), "prepare");
                start(i);
                sides[i].wait();
            });
            on_both([&](int i) { others[i] = capture(sides[i], [&] { start(i); }); });
            const double apart = replay(sides, others) / 2;
            std::printf("message pack + NCCL send + unpack: %.2f us; ratio %.2f\n", apart,
                        apart / fused);
        } else {
            std::puts("message: no NCCL between two GPUs to compare with");
        }
    }
    check(ucd_free(&type), "ucd_free");
    check(ucd_finalize(), "ucd_finalize");
}
