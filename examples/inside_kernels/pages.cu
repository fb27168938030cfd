// Pages of a cache that are listed in a table, which changes: the plan refers to the table by its
// address (ucd_create_indexed_block_ref), and kernels read it when data moves. A block gathers the
// pages of one sequence; another kernel scatters them to other pages.

#include "two_sides.hpp"

namespace {

constexpr int sequences = 40, pages_each = 7, pages = 400, page_bytes = 2048;

struct Plans {
    const ucd_device_plan_t *plan; // of each sequence, in device memory
};

__global__ void gather(const Plans plans, const unsigned char *cache, unsigned char *out) {
    const ucd_device_plan_t &plan = plans.plan[blockIdx.x];
    ucd::device::pack(ucd::device::this_block(), plan, cache, 0, plan.bytes,
                      out + blockIdx.x * plan.bytes);
}
__global__ void scatter(const Plans plans, const unsigned char *in, unsigned char *cache) {
    const ucd_device_plan_t &plan = plans.plan[blockIdx.x];
    // A warp moves whole pages here, as if each did something else with its own.
    const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (unsigned page = warp; page < pages_each; page += warps)
        ucd::device::unpack(ucd::device::this_warp(), plan,
                            in + blockIdx.x * plan.bytes + std::uint64_t{page} * page_bytes, cache,
                            std::uint64_t{page} * page_bytes, page_bytes);
}

} // namespace

int main() {
    Side sides[2];
    open(sides);
    const Side &side = sides[0];
    auto *table = side.allocate<int>(sequences * pages_each);
    auto *cache = side.allocate<unsigned char>(pages * page_bytes);
    auto *out = side.allocate<unsigned char>(sequences * pages_each * page_bytes);
    std::vector<ucd_device_plan_t> made;
    for (int s = 0; s < sequences; ++s) {
        ucd_type_t type;
        check(ucd_create_indexed_block_ref(
                  pages_each, page_bytes, table + s * pages_each, UCD_TYPE__INT32_T, page_bytes, 0,
                  std::intptr_t{pages} * page_bytes, UCD_TYPE__BYTE, nullptr, &type),
              "ucd_create_indexed_block_ref");
        made.push_back(side.plan(1, type));
        check(ucd_free(&type), "ucd_free");
    }
    auto *plans = side.allocate<ucd_device_plan_t>(sequences);
    put(side, plans, made);
    const std::vector<unsigned char> values = test_bytes(pages * page_bytes, 5);
    put(side, cache, values);
    for (const int step : {7, 11, 391}) { // the table changes between kernels, the plans do not
        std::vector<int> table_values(sequences * pages_each);
        for (int i = 0; i < sequences * pages_each; ++i)
            table_values[static_cast<std::size_t>(i)] = (i * step + step) % pages;
        put(side, table, table_values);
        gather<<<sequences, 128, 0, side.stream>>>({plans}, cache, out);
        check(cudaMemsetAsync(cache, 0xee, pages * page_bytes, side.stream), "cudaMemset");
        scatter<<<sequences, 128, 0, side.stream>>>({plans}, out, cache);
        side.wait();
        check(cudaGetLastError(), "the kernels");
        const std::vector<unsigned char> packed =
            get(side, out, sequences * pages_each * page_bytes);
        std::vector<unsigned char> scattered(pages * page_bytes, 0xee);
        for (std::size_t i = 0; i < packed.size(); ++i) {
            const std::size_t at =
                static_cast<std::size_t>(table_values[i / page_bytes]) * page_bytes +
                i % page_bytes;
            require(packed[i] == values[at], "a byte that was gathered");
            scattered[at] = values[at];
        }
        require(get(side, cache, scattered.size()) == scattered, "a byte that was scattered");
        put(side, cache, values);
    }
    std::puts("pages: correct");
    for (ucd_device_plan_t &plan : made) check(ucd_device_plan_free(&plan), "ucd_device_plan_free");
    check(ucd_finalize(), "ucd_finalize");
}
