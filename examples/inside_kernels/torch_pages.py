"""Gathers pages of a cache by a page table on the GPU, from a PyTorch extension whose kernel includes ucd_device.h.

    python3 examples/inside_kernels/torch_pages.py --include build/src --include include --library build/src
"""

import argparse
import os

SOURCE = r'''
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>
#include <ucd_device.h>

__global__ void gather_kernel(const __grid_constant__ ucd_device_plan_t plan, const void *cache, char *out) {
    ucd::device::pack(ucd::device::this_grid(), plan, cache, 0, plan.bytes, out);
}

static void check(int rc) { TORCH_CHECK(rc == UCD_SUCCESS, ucd_last_error()); }

// `table` has the numbers of pages; it is read when the kernel runs.
torch::Tensor gather(torch::Tensor cache, torch::Tensor table) {
    TORCH_CHECK(cache.is_cuda() && table.is_cuda() && table.dtype() == torch::kInt64);
    TORCH_CHECK(cache.is_contiguous() && table.is_contiguous());
    const intptr_t page = cache.stride(0) * cache.element_size();
    ucd_type_t type;
    check(ucd_create_indexed_block_ref(table.numel(), page, table.data_ptr(), UCD_TYPE__INT64_T, page, 0,
                                       cache.size(0) * page, UCD_TYPE__BYTE, nullptr, &type));
    ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
    const std::string device = "cuda:" + std::to_string(cache.get_device());
    check(ucd_device_plan_create(1, type, device.c_str(), nullptr, &plan));
    check(ucd_free(&type));
    auto sizes = cache.sizes().vec();
    sizes[0] = table.numel();
    auto out = torch::empty(sizes, cache.options());
    gather_kernel<<<256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(plan, cache.data_ptr(),
                                                                     static_cast<char *>(out.data_ptr()));
    check(ucd_device_plan_free(&plan)); // by reference: there are no lists of its own
    return out;
}
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--include', action='append', default=[])
    parser.add_argument('--library', required=True)
    arguments = parser.parse_args()
    import torch
    from torch.utils.cpp_extension import load_inline

    extension = load_inline(
        'ucd_pages', cpp_sources='torch::Tensor gather(torch::Tensor cache, torch::Tensor table);',
        cuda_sources=SOURCE, functions=['gather'],
        extra_include_paths=[os.path.abspath(folder) for folder in arguments.include],
        extra_ldflags=[f'-L{os.path.abspath(arguments.library)}', '-lucd', f'-Wl,-rpath,{os.path.abspath(arguments.library)}'])
    import ctypes
    ucd = ctypes.CDLL(os.path.join(arguments.library, 'libucd.so'))
    assert ucd.ucd_init(None) == 0
    cache = torch.randn(500, 16, 8, 64, device='cuda', dtype=torch.bfloat16)
    for _ in range(3):
        table = torch.randint(0, 500, (123,), device='cuda')
        assert torch.equal(extension.gather(cache, table), cache[table])
    torch.cuda.synchronize()
    print('torch_pages: correct')


if __name__ == '__main__':
    main()
