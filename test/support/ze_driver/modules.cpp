#include "support/ze_driver/modules.h"

#include "support/ze_driver/controls.h"
#include "support/ze_driver/native.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

#ifndef UCD_LLVM_SPIRV
#error "UCD_LLVM_SPIRV is not set"
#endif

namespace zedriver {
namespace {

constexpr uint32_t capability = 17, float64 = 10; // as SPIR-V counts them
constexpr std::size_t header = 5;

bool has_doubles(const ze_module_desc_t &description) {
    std::vector<uint32_t> words(description.inputSize / sizeof(uint32_t));
    std::memcpy(words.data(), description.pInputModule, words.size() * sizeof(uint32_t));
    for (std::size_t i = header; i + 1 < words.size() && (words[i] & 0xffff) == capability;
         i += words[i] >> 16)
        if (words[i + 1] == float64) return true;
    return false;
}

// PoCL takes LLVM's bitcode.
std::vector<unsigned char> bitcode_of(const ze_module_desc_t &description) {
    char folder[] = "/tmp/ucd-ze-driver-XXXXXX";
    if (::mkdtemp(folder) == nullptr) return {};
    const std::string module = std::string(folder) + "/module.spv",
                      bitcode = std::string(folder) + "/module.bc";
    std::ofstream(module, std::ios::binary)
        .write(reinterpret_cast<const char *>(description.pInputModule),
               static_cast<std::streamsize>(description.inputSize));
    const std::string command =
        UCD_LLVM_SPIRV " -r --spirv-target-env=CL1.2 " + module + " -o " + bitcode;
    std::vector<unsigned char> bytes;
    if (std::system(command.c_str()) == 0) {
        std::ifstream in(bitcode, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    ::unlink(module.c_str());
    ::unlink(bitcode.c_str());
    ::rmdir(folder);
    return bytes;
}

} // namespace

namespace {

std::atomic<unsigned> natives{0};

Result make_native_module(Context *context, ze_module_desc_t description, Module *&module) {
    if (description.inputSize < sizeof native_head ||
        std::memcmp(description.pInputModule, native_head, sizeof native_head) != 0)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    description.format = ZE_MODULE_FORMAT_IL_SPIRV;
    description.pInputModule += sizeof native_head;
    description.inputSize -= sizeof native_head;
    const Result result = make_module(context, description, module);
    if (result == ZE_RESULT_SUCCESS) ++natives;
    return result;
}

} // namespace

Result make_module(Context *context, const ze_module_desc_t &description, Module *&module) {
    if (description.stype != ZE_STRUCTURE_TYPE_MODULE_DESC) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (description.format == ZE_MODULE_FORMAT_NATIVE)
        return make_native_module(context, description, module);
    if (description.format != ZE_MODULE_FORMAT_IL_SPIRV) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (!knobs().doubles && has_doubles(description)) return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    const std::vector<unsigned char> bitcode = bitcode_of(description);
    if (bitcode.empty()) return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    OpenCl &cl = *open_cl();
    const unsigned char *bytes = bitcode.data();
    const std::size_t size = bitcode.size();
    const std::lock_guard lock(cl.mutex);
    cl_program program =
        clCreateProgramWithBinary(cl.context, 1, &cl.device, &size, &bytes, nullptr, nullptr);
    if (program == nullptr) return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    if (clBuildProgram(program, 1, &cl.device, "-x spir -spir-std=1.2", nullptr, nullptr) !=
        CL_SUCCESS) {
        clReleaseProgram(program);
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    module = new Module{program, context};
    ++objects;
    return ZE_RESULT_SUCCESS;
}

namespace {

void require(cl_int error) {
    if (error == CL_SUCCESS) return;
    std::fprintf(stderr, "ze_driver: a kernel failed in PoCL: %d\n", error);
    std::abort();
}

} // namespace

namespace {

// What a launch takes of a kernel.
struct Launch {
    cl_kernel kernel;
    std::vector<unsigned char> argument;
    std::size_t local[3], global[3];
};

// PoCL compiles kernels when they are enqueued: at once, as drivers do, and not while others poll
// for what the kernel does.
std::function<void()> enqueue(const Launch &launch) {
    OpenCl &cl = *open_cl();
    cl_int error = CL_SUCCESS;
    cl_event begin = clCreateUserEvent(cl.context, &error);
    require(error);
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(cl.context, cl.device, nullptr, &error);
    require(error);
    {
        const std::lock_guard lock(cl.mutex);
        require(clSetKernelArg(launch.kernel, 0, launch.argument.size(), launch.argument.data()));
        require(clEnqueueNDRangeKernel(queue, launch.kernel, 3, nullptr, launch.global,
                                       launch.local, 1, &begin, nullptr));
    }
    return [queue, begin] {
        require(clSetUserEventStatus(begin, CL_COMPLETE));
        require(clFinish(queue));
        clReleaseCommandQueue(queue);
        clReleaseEvent(begin);
    };
}

} // namespace

std::function<void()> launch(const Kernel &kernel, const ze_group_count_t &groups, bool often) {
    Launch launch{kernel.kernel, kernel.argument, {}, {}};
    const std::size_t counts[] = {groups.groupCountX, groups.groupCountY, groups.groupCountZ};
    for (int i = 0; i < 3; ++i) {
        launch.local[i] = kernel.group[i];
        launch.global[i] = counts[i] * kernel.group[i];
    }
    if (!often) return enqueue(launch);
    return [launch] { enqueue(launch)(); };
}

} // namespace zedriver

unsigned ucd_ze_driver_natives() {
    return zedriver::natives;
}
