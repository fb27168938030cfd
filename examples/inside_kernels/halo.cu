// A halo exchange inside of a stencil's kernel. A box is divided between two sides along x, so
// faces are strided. The first blocks of the kernel copy the faces straight into the other side's
// ghost cells and raise a flag; meanwhile the other blocks compute the cells inside. When the other
// side's faces have arrived, the first blocks compute the cells beside them. With "measure", beside
// packing, NCCL, unpacking and a plain stencil kernel.

#include "two_sides.hpp"

#include "flags.cuh"

namespace {

constexpr unsigned threads = 256, face_blocks = 64;

// Of one side: nx by ny by nz cells, with a layer of ghost cells around them. x is adjacent.
struct Box {
    int nx, ny, nz;
    __host__ __device__ std::size_t cells() const {
        return static_cast<std::size_t>(nx + 2) * static_cast<std::size_t>(ny + 2) *
               static_cast<std::size_t>(nz + 2);
    }
    __host__ __device__ std::size_t at(int x, int y, int z) const {
        return (static_cast<std::size_t>(z) * static_cast<std::size_t>(ny + 2) +
                static_cast<std::size_t>(y)) *
                   static_cast<std::size_t>(nx + 2) +
               static_cast<std::size_t>(x);
    }
};

__device__ void update(const Box &box, const double *u, double *next, int x, int y, int z) {
    const std::size_t i = box.at(x, y, z);
    const std::size_t row = static_cast<std::size_t>(box.nx + 2);
    const std::size_t plane = row * static_cast<std::size_t>(box.ny + 2);
    next[i] = 0.4 * u[i] +
              0.1 * (u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane]);
}

// Cells of the columns [first, end), by the blocks from `block` on.
__device__ void update_columns(const Box &box, const double *u, double *next, int first, int end,
                               unsigned block, unsigned blocks) {
    const int width = end - first;
    for (int row = static_cast<int>(block); row < box.ny * box.nz; row += static_cast<int>(blocks))
        for (int x = static_cast<int>(threadIdx.x); x < width; x += static_cast<int>(blockDim.x))
            update(box, u, next, first + x, row % box.ny + 1, row / box.ny + 1);
}

// The cells at both ends in x: neighbouring threads take neighbouring rows.
__device__ void update_ends(const Box &box, const double *u, double *next, unsigned block,
                            unsigned blocks) {
    const unsigned cells = 2u * static_cast<unsigned>(box.ny) * static_cast<unsigned>(box.nz);
    for (unsigned i = block * blockDim.x + threadIdx.x; i < cells; i += blocks * blockDim.x) {
        const int row = static_cast<int>(i / 2);
        update(box, u, next, i % 2 == 0 ? 1 : box.nx, row % box.ny + 1, row / box.ny + 1);
    }
}

// The kernel knows that a face has one double of each row of each plane.
__device__ auto known(const ucd_device_plan_t &plan) {
    return ucd::device::known<8, ucd::device::strided, ucd::device::strided>(plan);
}

struct Faces {
    ucd_device_plan_t inner[2],
        ghost[2]; // the first and the last column, and the ghosts beside them
};

// Each of the first blocks has a flag, and a counter of the steps. The box is periodic in x, so
// both faces go to the other side.
__global__ void __launch_bounds__(threads)
    fused_step(const __grid_constant__ Faces faces, const Box box, const double *u, double *next,
               double *peer_u, unsigned *steps, unsigned *peer_flags, const unsigned *own_flags) {
    if (blockIdx.x >= face_blocks) {
        update_columns(box, u, next, 2, box.nx, blockIdx.x - face_blocks, gridDim.x - face_blocks);
        return;
    }
    const unsigned step = steps[blockIdx.x] + 1;
    const std::uint64_t bytes = faces.inner[0].bytes;
    const std::uint64_t each = (bytes + 16 * face_blocks - 1) / (16 * face_blocks) * 16;
    const std::uint64_t offset = each * blockIdx.x;
    const std::uint64_t share = offset >= bytes ? 0 : offset + each < bytes ? each : bytes - offset;
    // The last column goes to the ghosts before the first one, and the reverse.
    if (share > 0) {
        ucd::device::copy(ucd::device::this_block(), known(faces.inner[1]), u,
                          known(faces.ghost[0]), peer_u, offset, share);
        ucd::device::copy(ucd::device::this_block(), known(faces.inner[0]), u,
                          known(faces.ghost[1]), peer_u, offset, share);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        raise_flag(peer_flags + blockIdx.x, step);
        steps[blockIdx.x] = step;
    }
    if (threadIdx.x < face_blocks) wait_for_flag(own_flags + threadIdx.x, step);
    __syncthreads();
    update_ends(box, u, next, blockIdx.x, face_blocks);
}

__global__ void __launch_bounds__(threads)
    plain_step(const Box box, const double *u, double *next) {
    update_columns(box, u, next, 1, box.nx + 1, blockIdx.x, gridDim.x);
}

// As many blocks as the device runs at a time.
template <class Kernel>
unsigned blocks_of(Kernel kernel) {
    int device, processors, each;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return static_cast<unsigned>(processors * each);
}

ucd_type_t column(const Box &box, int x) {
    const std::intptr_t sizes[3] = {box.nz + 2, box.ny + 2, box.nx + 2};
    const std::intptr_t part[3] = {box.nz, box.ny, 1}, start[3] = {1, 1, x};
    ucd_type_t type;
    check(
        ucd_create_subarray(3, sizes, part, start, UCD_ORDER__C, UCD_TYPE__DOUBLE, nullptr, &type),
        "a subarray");
    return type;
}

std::vector<double> initial(const Box &box, int side) {
    std::vector<double> cells(box.cells());
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] = test_byte(i, static_cast<unsigned>(side)) / 256.0;
    return cells;
}

// A step of both sides on the host.
void reference_step(const Box &box, std::vector<double> (&u)[2], std::vector<double> (&next)[2]) {
    for (int s = 0; s < 2; ++s)
        for (int z = 1; z <= box.nz; ++z)
            for (int y = 1; y <= box.ny; ++y) {
                u[s][box.at(0, y, z)] = u[1 - s][box.at(box.nx, y, z)];
                u[s][box.at(box.nx + 1, y, z)] = u[1 - s][box.at(1, y, z)];
            }
    const std::size_t row = static_cast<std::size_t>(box.nx + 2);
    const std::size_t plane = row * static_cast<std::size_t>(box.ny + 2);
    for (int s = 0; s < 2; ++s)
        for (int z = 1; z <= box.nz; ++z)
            for (int y = 1; y <= box.ny; ++y)
                for (int x = 1; x <= box.nx; ++x) {
                    const std::size_t i = box.at(x, y, z);
                    const std::vector<double> &v = u[s];
                    next[s][i] = 0.4 * v[i] + 0.1 * (v[i - 1] + v[i + 1] + v[i - row] + v[i + row] +
                                                     v[i - plane] + v[i + plane]);
                }
}

void run(Side (&sides)[2], const Box &box, bool measure, const Nccl *nccl) {
    ucd_type_t types[4] = {column(box, 1), column(box, box.nx), column(box, 0),
                           column(box, box.nx + 1)};
    // Two sides on one device share it.
    const unsigned sharing = sides[0].device == sides[1].device ? 2 : 1;
    const unsigned blocks = blocks_of(plain_step), fused_blocks = blocks_of(fused_step) / sharing;
    require(fused_blocks > face_blocks, "a device with more blocks than send faces");
    double *u[2][2]; // side, and which of two that take turns
    unsigned *steps[2], *flags[2];
    unsigned char *packed[2], *arrived[2];
    Faces faces[2];
    const std::size_t face =
        static_cast<std::size_t>(box.ny) * static_cast<std::size_t>(box.nz) * sizeof(double);
    for (int s = 0; s < 2; ++s) {
        for (double *&cells : u[s]) {
            cells = sides[s].allocate<double>(box.cells());
            put(sides[s], cells, initial(box, s));
        }
        steps[s] = sides[s].allocate<unsigned>(face_blocks);
        flags[s] = sides[s].allocate<unsigned>(face_blocks);
        packed[s] = sides[s].allocate<unsigned char>(2 * face);
        arrived[s] = sides[s].allocate<unsigned char>(2 * face);
        for (int i = 0; i < 2; ++i) {
            faces[s].inner[i] = sides[s].plan(1, types[i]);
            faces[s].ghost[i] = sides[s].plan(1, types[2 + i]);
            for (const ucd_device_plan_t &plan : {faces[s].inner[i], faces[s].ghost[i]})
                require(ucd::device::fits<8, ucd::device::strided, ucd::device::strided>(plan),
                        "a plan");
        }
    }
    // Two steps, so that the arrays are in their places again.
    cudaGraphExec_t fused[2];
    for (int s = 0; s < 2; ++s)
        fused[s] = capture(sides[s], [&] {
            for (int i = 0; i < 2; ++i)
                fused_step<<<fused_blocks, threads, 0, sides[s].stream>>>(
                    faces[s], box, u[s][i], u[s][1 - i], u[1 - s][i], steps[s], flags[1 - s],
                    flags[s]);
        });
    const auto check_steps = [&](const cudaGraphExec_t(&graphs)[2], const char *what) {
        std::vector<double> now[2], next[2];
        for (int s = 0; s < 2; ++s) {
            now[s] = initial(box, s);
            next[s] = now[s];
            for (double *cells : u[s]) put(sides[s], cells, now[s]);
        }
        for (int n = 0; n < 2; ++n)
            for (int s = 0; s < 2; ++s) {
                sides[s].use();
                check(cudaGraphLaunch(graphs[s], sides[s].stream), "cudaGraphLaunch");
            }
        for (const Side &side : sides) side.wait();
        for (int n = 0; n < 4; ++n) {
            reference_step(box, now, next);
            for (int s = 0; s < 2; ++s) std::swap(now[s], next[s]);
        }
        for (int s = 0; s < 2; ++s) {
            std::vector<double> found(box.cells());
            check(
                cudaMemcpy(found.data(), u[s][0], box.cells() * sizeof(double), cudaMemcpyDefault),
                "cudaMemcpy");
            for (int z = 1; z <= box.nz; ++z)
                for (int y = 1; y <= box.ny; ++y)
                    for (int x = 1; x <= box.nx; ++x) {
                        const double difference = found[box.at(x, y, z)] - now[s][box.at(x, y, z)];
                        require(difference < 1e-12 && difference > -1e-12, what);
                    }
        }
    };
    if (!measure) check_steps(fused, "a cell after fused steps");
    std::printf("halo %d x %d x %d", box.nx, box.ny, box.nz);
    if (!measure) std::printf(": correct");
    if (measure) {
        const double together = replay(sides, fused, 20) / 2;
        std::printf(": fused step %.1f us", together);
        if (nccl != nullptr) {
            cudaGraphExec_t others[2];
            const auto start = [&](int s) {
                const ucd_stream_t stream = sides[s].native();
                std::uintptr_t moved;
                for (int i = 0; i < 2; ++i) {
                    for (int k = 0; k < 2; ++k)
                        check(ucd_pack_stream(u[s][i], 1, types[1 - k], 0,
                                              packed[s] + face * static_cast<unsigned>(k), face,
                                              &moved, nullptr, UCD_OP__REPLACE, stream),
                              "ucd_pack_stream");
                    nccl->exchange(sides[s], s, packed[s], arrived[s], 2 * face);
                    for (int k = 0; k < 2; ++k)
                        check(ucd_unpack_stream(arrived[s] + face * static_cast<unsigned>(k), face,
                                                u[s][i], 1, types[2 + k], 0, &moved, nullptr,
                                                UCD_OP__REPLACE, stream),
                              "ucd_unpack_stream");
                    plain_step<<<blocks, threads, 0, sides[s].stream>>>(box, u[s][i], u[s][1 - i]);
                }
            };
            on_both([&](int s) {
                sides[s].use();
                for (const ucd_type_t type : types)
                    check(ucd_prepare(1, type, UCD_OP__REPLACE, sides[s].native(), nullptr),
                          "prepare");
                start(s);
                sides[s].wait();
            });
            on_both([&](int s) { others[s] = capture(sides[s], [&] { start(s); }); });
            const double apart = replay(sides, others, 20) / 2;
            std::printf("; pack + NCCL + unpack + step %.1f us; ratio %.2f", apart,
                        apart / together);
        }
    }
    std::puts("");
    for (ucd_type_t &type : types) check(ucd_free(&type), "ucd_free");
}

} // namespace

int main(int argc, char **argv) {
    Side sides[2];
    open(sides);
    const bool measure = argc > 1 && std::strcmp(argv[1], "measure") == 0;
    Nccl nccl;
    const bool compare = measure && nccl.open(sides);
    run(sides, {37, 22, 19}, false, nullptr);
    run(sides, {64, 40, 33}, false, nullptr);
    if (measure)
        for (const int side : {128, 192, 256})
            run(sides, {side, side, side}, true, compare ? &nccl : nullptr);
    check(ucd_finalize(), "ucd_finalize");
}
